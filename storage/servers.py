"""Addresses of model servers."""

from __future__ import annotations

from storage.connections import Connections
from storage.driver import Connection
from storage.rows import now
from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.records.servers import Endpoint


class FileServers:
    """Implements ``workbench.ports.ServerRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def put(self, endpoint: Endpoint) -> None:
        """Remembers it, in place of one with the same address."""
        statement = (
            "INSERT INTO server (url, key_variable, added) VALUES (?, ?, ?) "
            "ON CONFLICT (url) DO UPDATE SET key_variable = excluded.key_variable"
        )
        self._connections.write(lambda c: c.execute(statement, (endpoint.url, endpoint.key_variable, now())))

    def all(self) -> tuple[Endpoint, ...]:
        """In the order they were first given."""
        with self._connections.read() as c:
            rows = c.execute("SELECT url, key_variable FROM server ORDER BY added, url")
            return tuple(Endpoint(url, variable) for url, variable in rows)

    def remove(self, url: str) -> None:
        """Raises NotFoundError."""

        def work(c: Connection) -> int:
            return c.execute("DELETE FROM server WHERE url = ?", (url,)).rowcount

        if not self._connections.write(work):
            raise NotFoundError(
                tr("No such server"),
                tr("“{url}” is not among the addresses of this file.", url=url),
                tr("workbench servers lists them."),
            )
