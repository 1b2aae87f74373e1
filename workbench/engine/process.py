"""The engine's children: a handle that routes the events of a child to whoever asked, and its death in words.

Whoever asks waits on a queue of its own, so several threads can have requests under way at once.
"""

from __future__ import annotations

import itertools
import queue
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Final, Literal, TypeAlias

from workbench.engine.protocol import Cancel, Done, Event, Failed, Request
from workbench.errors import EngineCause, EngineError
from workbench.i18n import tr
from workbench.ports import Cancel as CancelFlag
from workbench.processes.process import Process, signal_name

ChildKind: TypeAlias = Literal["llama", "embed", "ladder", "rerank"]
CANCEL_POLL_S = 0.03
OUT_OF_MEMORY: Final = re.compile(
    r"(?i)bad_alloc|MemoryError|cannot allocate memory|failed to map segment|out of memory"
)
ASSERTION: Final = re.compile(r"GGML_ASSERT\((.*)\) failed")
CAUSES: Final[dict[str, EngineCause]] = {
    "SIGKILL": "memory",
    "SIGBUS": "mapping",
    "SIGABRT": "crash",
    "SIGSEGV": "crash",
    "SIGFPE": "crash",
}


class ChildProcess:
    """A running child. Every method may be called from any thread.

    Args:
        kind: which server it runs.
        unasked: called, on a thread of this process's own, for events that answer no request.
    """

    def __init__(self, kind: ChildKind, unasked: Callable[[Event], None] | None = None) -> None:
        self._kind = kind
        self._unasked = unasked
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._asking: dict[int, queue.SimpleQueue[Event | None]] = {}
        self._used = time.monotonic()
        self._closed = False
        self._gone: EngineError | None = None
        self._process: Process[Event, Request] = Process(
            "workbench.engine.child", kind, on_event=self._route, on_end=self._ended
        )

    @property
    def pid(self) -> int:
        """Of the child, alive or not."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """It runs, as far as is known."""
        return self._gone is None

    @property
    def death(self) -> EngineError | None:
        """Why it ended, in words; None while it runs, as far as is known."""
        return self._death() if self._gone else None

    @property
    def log(self) -> tuple[str, ...]:
        """The last lines it printed, oldest first."""
        return self._process.log

    def ask(
        self, make_request: Callable[[int], Request], cancel: CancelFlag | None = None
    ) -> Generator[Event, None, None]:
        """Sends the request that ``make_request`` makes of a fresh id and yields its events.

        A ``Failed`` is yielded as the last event, ``Done`` is not. Setting ``cancel``, or closing the iterator, ends
        the request early.

        Raises:
            EngineError: the child is dead, or dies before the request has ended.
        """
        request = next(self._ids)
        events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        with self._lock:
            if self._gone:
                raise self._death()
            self._asking[request] = events
        ended = False
        try:
            self._process.send(make_request(request))
            told = False
            while not ended:
                if cancel is not None and cancel.is_set() and not told:
                    self._process.send(Cancel(request))
                    told = True
                try:
                    event = events.get(timeout=None if cancel is None or told else CANCEL_POLL_S)
                except queue.Empty:
                    continue
                ended = event is None or isinstance(event, Done | Failed)
                if event is None:
                    raise self._death()
                if not isinstance(event, Done):
                    yield event
        finally:
            with self._lock:
                self._asking.pop(request, None)
                self._used = time.monotonic()
            if not ended:
                self._process.send(Cancel(request))

    @property
    def idle_s(self) -> float:
        """Seconds since the last request ended; 0 while one is under way."""
        with self._lock:
            return 0.0 if self._asking else time.monotonic() - self._used

    def close(self) -> None:
        """Ends the child and returns when it is gone. Requests under way get an EngineError."""
        with self._lock:
            self._closed = True
        self._process.close()

    def _route(self, event: Event) -> None:
        if event.id == 0:
            if self._unasked:
                self._unasked(event)
            return
        with self._lock:
            events = self._asking.get(event.id)
        if events:
            events.put(event)

    def _ended(self, code: int, log: tuple[str, ...]) -> None:
        with self._lock:
            self._gone = _closed_error() if self._closed else death_of(self._kind, code, log)
            for events in self._asking.values():
                events.put(None)

    def _death(self) -> EngineError:
        """A fresh copy: an exception object can't be raised in several threads."""
        gone = self._gone or _closed_error()
        return EngineError(gone.title, gone.message, gone.remedy, log=gone.log, cause=gone.cause)


@contextmanager
def ended_by(cancel: CancelFlag, close: Callable[[], object]) -> Iterator[None]:
    """Calls ``close`` when ``cancel`` is set meanwhile: for work in a child that doesn't look whether to stop."""
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            if cancel.wait(CANCEL_POLL_S):
                close()
                return

    thread = threading.Thread(target=watch, name="cancel", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def death_of(kind: ChildKind, code: int, log: tuple[str, ...]) -> EngineError:
    """The death of a child in words.

    Args:
        code: as ``subprocess`` gives it: the exit code, or minus the signal's number.
    """
    title = {
        "llama": tr("The language model's process ended"),
        "embed": tr("The embedding model's process ended"),
        "ladder": tr("The ladder's process ended"),
        "rerank": tr("The reranker's process ended"),
    }[kind]
    name = signal_name(code)
    if any(OUT_OF_MEMORY.search(line) for line in log):
        return EngineError(
            title,
            tr("It got no more memory from the system."),
            tr("Choose a smaller context or a smaller quantization, or end other programs."),
            log=log,
            cause="memory",
        )
    if not name:
        last = next((line for line in reversed(log) if line.strip()), "")
        message = tr("It ended with exit code {code}. Its last words: {last}", code=code, last=last or "–")
        return EngineError(
            title, message, tr("Check that the engine is installed whole, then load the model again."), log=log
        )
    words, remedy = _cause(name)
    asserted = next((found[1] for line in log if (found := ASSERTION.search(line))), "")
    if asserted:
        words = tr(
            "the engine found that “{condition}” doesn't hold, so the model file is most likely damaged",
            condition=asserted,
        )
    message = tr("It was ended by {signal}: {cause}.", signal=name, cause=words)
    return EngineError(title, message, remedy, log=log, cause="file" if asserted else CAUSES.get(name, ""))


def _cause(signal_name: str) -> tuple[str, str]:
    """Likely cause and remedy of a death by that signal."""
    match signal_name:
        case "SIGKILL":
            return (
                tr("something killed it, most often the system when memory runs out"),
                tr("Free some memory, or load it with a smaller context or a smaller quantization."),
            )
        case "SIGILL":
            return (
                tr("the engine was built for another processor"),
                tr("Build the engine again on this machine, with GGML_NATIVE=OFF."),
            )
        case "SIGABRT" | "SIGSEGV" | "SIGFPE":
            return (
                tr("the engine gave up, most often because the model file is damaged or of a kind it doesn't know"),
                tr("Compare the file's SHA-256 with its source and download it again, or choose another file."),
            )
        case "SIGBUS":
            return (
                tr("the model file changed or was cut short while it was in use"),
                tr("Load it again without memory mapping, and leave the file alone meanwhile."),
            )
        case _:
            return (tr("something outside stopped it"), tr("Load the model again."))


def _closed_error() -> EngineError:
    return EngineError(
        tr("The model is not loaded"), tr("It was unloaded, and its process has ended."), tr("Load it again.")
    )
