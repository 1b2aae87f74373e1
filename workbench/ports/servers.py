"""Addresses of model servers in the file."""

from __future__ import annotations

from typing import Protocol

from workbench.records.servers import Endpoint


class ServerRepository(Protocol):
    """Addresses a person gave. Keys are never stored: only the names of the variables that hold them."""

    def put(self, endpoint: Endpoint) -> None:
        """Remembers it, in place of one with the same address."""
        ...

    def all(self) -> tuple[Endpoint, ...]:
        """In the order they were first given."""
        ...

    def remove(self, url: str) -> None:
        """Raises NotFoundError."""
        ...
