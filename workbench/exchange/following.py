"""Work that tells how far it is through a call, as an iterator that can be followed and left."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TypeAlias

from workbench.ports import Cancel
from workbench.records.exchange import ExchangeProgress

Tell: TypeAlias = Callable[[ExchangeProgress], None]


class _Stop(threading.Event):
    """Set when the person stopped the work, or nobody follows it any more."""

    def __init__(self, asked: Cancel | None) -> None:
        super().__init__()
        self._asked = asked

    def is_set(self) -> bool:
        return super().is_set() or (self._asked is not None and self._asked.is_set())


def follow(work: Callable[[Tell, Cancel], ExchangeProgress], cancel: Cancel | None) -> Iterator[ExchangeProgress]:
    """Runs ``work`` on a thread of its own and yields what it tells, then what it returns; raises what it raises.

    Closing the iterator stops the work and waits for its end.
    """
    told: queue.SimpleQueue[ExchangeProgress | None] = queue.SimpleQueue()
    ended: list[ExchangeProgress] = []
    failed: list[BaseException] = []
    stop = _Stop(cancel)

    def run() -> None:
        try:
            ended.append(work(told.put, stop))
        except BaseException as error:  # noqa: BLE001 -- raised again where the work is followed
            failed.append(error)
        told.put(None)

    thread = threading.Thread(target=run, name="workbench-exchange", daemon=True)
    thread.start()
    try:
        while progress := told.get():
            yield progress
    finally:
        stop.set()
        thread.join()
    if failed:
        raise failed[0]
    yield ended[0]
