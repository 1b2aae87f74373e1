"""Small remembered choices."""

from __future__ import annotations

from storage.connections import Connections
from storage.driver import Connection
from storage.holders import is_alive, pid_of, this_process


class FileSettings:
    """Implements ``workbench.ports.SettingsRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def get(self, key: str, default: str = "") -> str:
        """The stored value, or ``default``."""
        with self._connections.read() as c:
            row = c.execute("SELECT value FROM setting WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else default

    def set(self, key: str, value: str) -> None:
        """Stores it."""
        statement = (
            "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        )
        self._connections.write(lambda c: c.execute(statement, (key, value)))

    def claim(self, work: str) -> int:
        """See the port; read within the writer's transaction, so that of several processes one gets it."""

        def take(c: Connection) -> int:
            row = c.execute("SELECT value FROM setting WHERE key = ?", (_key(work),)).fetchone()
            other = _other(str(row[0])) if row else 0
            if not other:
                c.execute("INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)", (_key(work), this_process()))
            return other

        return self._connections.write(take)

    def claimed(self, work: str) -> int:
        """The living process that claimed it, unless it is this one; else 0."""
        return _other(self.get(_key(work)))

    def release(self, work: str) -> None:
        """It is free again, where this process held it."""
        held = (_key(work), this_process())
        self._connections.write(lambda c: c.execute("DELETE FROM setting WHERE key = ? AND value = ?", held))


def _key(work: str) -> str:
    return f"claim.{work}"


def _other(holder: str) -> int:
    return pid_of(holder) if holder and holder != this_process() and is_alive(holder) else 0
