"""Working ahead: the next documents are parsed and cut in a thread while the present ones are embedded."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue
from typing import Final, Generic, TypeAlias, TypeVar

T = TypeVar("T")

_DEPTH: Final = 32  # items that wait, at most
_PATIENCE_S: Final = 0.5
_LAST_WAIT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Item(Generic[T]):
    value: T


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None


_Queue: TypeAlias = "Queue[_Item[T] | _End]"


def ahead(items: Iterable[T]) -> Generator[list[T], None, None]:
    """Iterates ``items`` in a thread and yields what is ready, in order; an empty list after half a second of waiting.

    What ``items`` raises is raised here, after all that came before it. Closing the iterator stops the thread at its
    next item and waits for it, five seconds at most.
    """
    ready: _Queue[T] = Queue(_DEPTH)
    stop = threading.Event()
    thread = threading.Thread(target=_fill, args=(items, ready, stop), name="ahead", daemon=True)
    thread.start()
    try:
        end: _End | None = None
        while end is None:
            batch, end = _take_ready(ready)
            if batch or end is None:
                yield batch
        if end.error:
            raise end.error
    finally:
        stop.set()
        with suppress(Empty):  # room for the item that the thread may be waiting to put
            while True:
                ready.get_nowait()
        thread.join(_LAST_WAIT_S)


def _fill(items: Iterable[T], ready: _Queue[T], stop: threading.Event) -> None:
    error: BaseException | None = None
    try:
        for item in items:
            ready.put(_Item(item))
            if stop.is_set():
                return
    except BaseException as caught:  # noqa: BLE001 -- not handled here: it is raised in the thread that iterates
        error = caught
    ready.put(_End(error))


def _take_ready(ready: _Queue[T]) -> tuple[list[T], _End | None]:
    """Waits for one item, then takes those that are there too; and the end, when it is reached."""
    batch: list[T] = []
    with suppress(Empty):
        entry = ready.get(timeout=_PATIENCE_S)
        while isinstance(entry, _Item):
            batch.append(entry.value)
            entry = ready.get_nowait()
        return batch, entry
    return batch, None
