"""The ledger of model calls, and the small records that a person writes down."""

from __future__ import annotations

from typing import Protocol, TypeVar

from workbench.records.usage import Call, UsageSum

R = TypeVar("R")


class CallRepository(Protocol):
    """Calls of language models. The newest are kept one by one, all of them as sums of a day: growth is bounded."""

    def add(self, call: Call) -> None:
        """One more."""
        ...

    def calls(self, limit: int = 1000, model: str = "", server: str | None = None) -> tuple[Call, ...]:
        """Newest first; only of that model and server when given."""
        ...

    def sums(self) -> tuple[UsageSum, ...]:
        """All calls ever, by day, server, model and purpose; newest day first."""
        ...


class EntryRepository(Protocol):
    """Records that a person writes down, or that are found, one by a name of its kind: prices, offers, contracts."""

    def put(self, name: str, entry: object) -> None:
        """Stores a record, in place of one of its class with that name."""
        ...

    def all(self, kind: type[R]) -> tuple[R, ...]:
        """Those of a class, by name. One that an other version wrote and this can't read is left out."""
        ...

    def get(self, kind: type[R], name: str) -> R | None:
        """None when there is none of that name."""
        ...

    def remove(self, kind: type[object], name: str) -> bool:
        """Whether there was one."""
        ...
