"""Ingest's child process: ``python -m workbench.corpus.child``, started by ``workbench.corpus.workshop``.

Parsers are partly native code that reads files from anywhere, and loading a tokenizer holds the interpreter lock for
most of a second: here neither can crash, hang or freeze the workbench.
"""

from __future__ import annotations

import queue
import signal
from collections.abc import Sequence

from workbench.corpus.cutting import Cutter
from workbench.corpus.tasks import Event, Ready, Request, Setup, Task, Vectors, Wanted
from workbench.i18n import choose_language
from workbench.ports import Vector
from workbench.processes.child import give_way, serve
from workbench.processes.wire import Wire


class CutServer:
    """One ingest's reading and cutting, one task after the other."""

    def __init__(self, wire: Wire[Request, Event]) -> None:
        self._wire = wire
        self._setup: queue.SimpleQueue[Setup] = queue.SimpleQueue()
        self._tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
        self._vectors: queue.SimpleQueue[Vectors] = queue.SimpleQueue()
        self._time_limit_s = 0.0

    def receive(self, request: Request) -> None:
        """See ``workbench.processes.child.Server``."""
        match request:
            case Setup():
                self._setup.put(request)
            case Vectors():
                self._vectors.put(request)
            case _:
                self._tasks.put(request)

    def run(self) -> None:
        """See ``workbench.processes.child.Server``."""
        give_way()
        setup = self._setup.get()
        choose_language(setup.language)
        self._time_limit_s = setup.time_limit_s
        cutter = Cutter(setup, self._similarity)
        self._wire.send(Ready())
        while True:
            task = self._tasks.get()
            self._allow(self._time_limit_s)
            result = cutter.do(task)
            self._allow(0)
            self._wire.send(result)

    def _similarity(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Waiting for the embedder doesn't count as time of the document."""
        self._allow(0)
        self._wire.send(Wanted(tuple(texts)))
        answer = self._vectors.get()
        self._allow(self._time_limit_s)
        return answer.vectors

    @staticmethod
    def _allow(seconds: float) -> None:
        """The system ends this process after that time, even in native code that never returns; 0: it doesn't."""
        signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    serve(CutServer)
