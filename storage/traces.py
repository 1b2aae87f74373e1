"""Questions asked and their whole story: the record as JSON, and its spans as rows that SQL can sum."""

from __future__ import annotations

import json
from datetime import UTC

from storage.connections import Connections
from storage.driver import Connection, storable
from storage.rows import after_prefix
from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.ports import TraceSummary
from workbench.records.answers import Trace
from workbench.records.codec import decode, encode
from workbench.traces.outcomes import outcome_of

_UPSERT = """
    INSERT INTO trace (id, created, query, collection, outcome, duration_ms, complete, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET created = excluded.created, query = excluded.query,
        collection = excluded.collection, outcome = excluded.outcome, duration_ms = excluded.duration_ms,
        complete = excluded.complete, body = excluded.body
    RETURNING key
"""


class FileTraces:
    """Implements ``workbench.ports.TraceRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def save(self, trace: Trace) -> None:
        """In one transaction. Saving an id again replaces it."""
        row = (
            trace.id,
            trace.created.astimezone(UTC).isoformat(timespec="microseconds"),
            storable(trace.query),
            trace.manifest.collection,
            outcome_of(trace),
            max((span.start_ms + span.duration_ms for span in trace.spans), default=0.0),
            trace.complete,
            json.dumps(encode(trace)),
        )

        def work(c: Connection) -> None:
            key = c.execute(_UPSERT, row).fetchone()[0]
            c.execute("DELETE FROM trace_span WHERE trace_key = ?", (key,))
            c.executemany(
                "INSERT INTO trace_span (trace_key, position, name, start_ms, duration_ms) VALUES (?, ?, ?, ?, ?)",
                ((key, n, span.name, span.start_ms, span.duration_ms) for n, span in enumerate(trace.spans)),
            )

        self._connections.write(work)

    def trace(self, trace_id: str) -> Trace:
        """By id or unambiguous prefix ("last" for the newest). Raises NotFoundError."""
        with self._connections.read() as c:
            if trace_id == "last":
                rows = c.execute("SELECT id, body FROM trace ORDER BY created DESC, key DESC LIMIT 1").fetchall()
            else:
                rows = c.execute(
                    "SELECT id, body FROM trace WHERE id >= ? AND id < ? ORDER BY id LIMIT 4",
                    (trace_id, after_prefix(trace_id)),
                ).fetchall()
        exact = [row for row in rows if row[0] == trace_id] or rows
        if not exact or not trace_id:
            raise _no_such_trace(trace_id)
        if len(exact) > 1:
            raise NotFoundError(
                tr("More than one trace"),
                tr("Several traces start with “{id}”: {ids}.", id=trace_id, ids=", ".join(row[0] for row in exact)),
                tr("Give more of the id."),
            )
        return decode(Trace, json.loads(exact[0][1]))

    def delete(self, trace_id: str) -> None:
        """With its spans; the whole id. Raises NotFoundError."""
        gone = self._connections.write(lambda c: c.execute("DELETE FROM trace WHERE id = ?", (trace_id,)).rowcount)
        if not gone:
            raise _no_such_trace(trace_id)

    def recent(self, limit: int = 50, text: str = "") -> tuple[TraceSummary, ...]:
        """Newest first; only questions that hold every word of ``text``, in any case."""
        statement = """
            SELECT id, created, query, collection, outcome, duration_ms FROM trace
            WHERE NOT EXISTS (SELECT 1 FROM json_each(?) WHERE instr(casefold(query), casefold(value)) = 0)
            ORDER BY created DESC, key DESC LIMIT ?
        """
        with self._connections.read() as c:
            rows = c.execute(statement, (json.dumps(storable(text).split()), limit))
            return tuple(TraceSummary(*row) for row in rows)


def _no_such_trace(trace_id: str) -> NotFoundError:
    return NotFoundError(
        tr("No such trace"),
        tr("There is no trace “{id}”.", id=trace_id),
        tr("Ask something first, or list them."),
    )
