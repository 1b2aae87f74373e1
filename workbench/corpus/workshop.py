"""The parent's side of ingest's child process: gives it work ahead of time, replaces it when a document kills it."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from workbench.corpus.tasks import Event, Ready, Refused, Request, Result, Setup, Task, Vectors, Wanted
from workbench.errors import Cancelled, EngineError
from workbench.i18n import tr
from workbench.ports import Cancel, Vector
from workbench.processes.process import Process, signal_name

AHEAD: Final = 16
"""Documents that are being read or wait to be embedded, at most."""
_PATIENCE_S: Final = 0.2

Embed: TypeAlias = Callable[[Sequence[str]], Iterator[Vector]]


@dataclass(frozen=True, slots=True)
class _Death:
    code: int
    log: tuple[str, ...]


class Workshop:
    """A child process that reads and cuts, and its successors.

    Args:
        embed: passages → their vectors, for the semantic recipe.
    """

    def __init__(self, setup: Setup, embed: Embed) -> None:
        self._setup = setup
        self._embed = embed
        self._start()

    def results(self, tasks: Iterable[Task], cancel: Cancel) -> Generator[list[tuple[Task, Result]], None, None]:
        """Takes ``tasks`` a few ahead and yields what is done, in order; an empty list at least five times a second.

        Raises:
            Cancelled: ``cancel`` was set.
            EngineError: the child doesn't even start, or the embedder failed.
        """
        todo, waiting = iter(tasks), deque[Task]()
        while True:
            for task in islice(todo, AHEAD - len(waiting)):
                waiting.append(task)
                self._process.send(task)
            if not waiting:
                return
            done: list[tuple[Task, Result]] = []
            while waiting and (event := self._next(0 if done else _PATIENCE_S, cancel)):
                match event:
                    case Ready():
                        self._is_ready = True
                    case Wanted():
                        yield from self._answer(event)
                    case _Death():
                        done.append((waiting.popleft(), self._replace(event, waiting)))
                    case _:
                        done.append((waiting.popleft(), event))
            yield done

    def close(self) -> None:
        """Ends the child at once."""
        self._process.kill()

    def _start(self) -> None:
        events: queue.SimpleQueue[Event | _Death] = queue.SimpleQueue()
        self._events = events
        self._is_ready = False
        self._process: Process[Event, Request] = Process(
            "workbench.corpus.child", on_event=events.put, on_end=lambda code, log: events.put(_Death(code, log))
        )
        self._process.send(self._setup)

    def _next(self, patience_s: float, cancel: Cancel) -> Event | _Death | None:
        if cancel.is_set():
            raise Cancelled
        try:
            return self._events.get(timeout=patience_s)
        except queue.Empty:
            return None

    def _answer(self, wanted: Wanted) -> Iterator[list[tuple[Task, Result]]]:
        vectors: list[Vector] = []
        for vector in self._embed(wanted.texts):
            vectors.append(vector)
            yield []
        self._process.send(Vectors(tuple(vectors)))

    def _replace(self, death: _Death, waiting: Iterable[Task]) -> Refused:
        """Starts the next child with what the dead one left; returns what is to be said of the task that killed it."""
        self._process.close()
        if not self._is_ready:
            raise _no_start(death)
        self._start()
        for task in waiting:
            self._process.send(task)
        return _refusal(death, self._setup.time_limit_s)


def _no_start(death: _Death) -> EngineError:
    return EngineError(
        tr("Documents can't be read"),
        tr(
            "The process that reads them doesn't start. Its last words: {last}",
            last=next((line for line in reversed(death.log) if line.strip()), "–"),
        ),
        tr("Check that the workbench is installed whole."),
        log=death.log,
    )


def _refusal(death: _Death, time_limit_s: float) -> Refused:
    """The death of a child in words about the document that it was reading."""
    name = signal_name(death.code)
    if name == "SIGALRM":
        return Refused(
            tr("Reading it took longer than {limit} s.", limit=f"{time_limit_s:g}"),
            tr("Split it into smaller files, or leave it out."),
        )
    if name == "SIGKILL":
        return Refused(
            tr("The process that read it was killed, most often because memory ran out."),
            tr("Split it into smaller files, or free some memory and ingest again."),
        )
    return Refused(
        tr("Reading it made the reading process crash ({signal}).", signal=name or f"exit {death.code}"),
        tr("It may be damaged: save it again in its own program or convert it, or leave it out."),
    )
