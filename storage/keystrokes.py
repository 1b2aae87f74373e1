"""Saved sessions of typing, each one record as JSON."""

from __future__ import annotations

import json
from datetime import UTC

from storage.connections import Connections
from storage.driver import storable
from storage.rows import after_prefix
from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.records.codec import decode, encode
from workbench.records.keystrokes import KeystrokeSession, SessionSummary

_COLUMNS = "id, created, collection, question, keystrokes, seconds"


class FileKeystrokes:
    """Implements ``workbench.ports.KeystrokeRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def save(self, session: KeystrokeSession) -> None:
        """In one transaction."""
        last = session.keystrokes[-1]
        row = (
            session.id,
            session.created.astimezone(UTC).isoformat(timespec="microseconds"),
            storable(session.collection),
            storable(last.query),
            len(session.keystrokes),
            last.at,
            json.dumps(encode(session)),
        )
        statement = f"INSERT INTO keystroke_session ({_COLUMNS}, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
        self._connections.write(lambda c: c.execute(statement, row))

    def session(self, session_id: str) -> KeystrokeSession:
        """By id or unambiguous prefix ("last" for the newest). Raises NotFoundError."""
        with self._connections.read() as c:
            if session_id == "last":
                newest = "SELECT body FROM keystroke_session ORDER BY created DESC, key DESC LIMIT 1"
                rows = c.execute(newest).fetchall()
            else:
                rows = c.execute(
                    "SELECT body FROM keystroke_session WHERE id >= ? AND id < ? LIMIT 2",
                    (session_id, after_prefix(session_id)),
                ).fetchall()
        if len(rows) != 1 or not session_id:
            raise NotFoundError(
                tr("More than one session") if len(rows) > 1 else tr("No such session"),
                tr("“{id}” begins the id of {count} saved sessions.", id=session_id, count=len(rows)),
                tr("workbench keystrokes lists them."),
            )
        return decode(KeystrokeSession, json.loads(rows[0][0]))

    def recent(self, limit: int) -> tuple[SessionSummary, ...]:
        """Newest first."""
        statement = f"SELECT {_COLUMNS} FROM keystroke_session ORDER BY created DESC, key DESC LIMIT ?"
        with self._connections.read() as c:
            return tuple(SessionSummary(*row) for row in c.execute(statement, (limit,)))

    def delete(self, session_id: str) -> None:
        """Drops one."""
        self._connections.write(lambda c: c.execute("DELETE FROM keystroke_session WHERE id = ?", (session_id,)))
