"""Small remembered choices."""

from __future__ import annotations

from storage.connections import Connections


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
