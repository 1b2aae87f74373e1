"""The parent's handle on a child process: start it, ask it, notice its death, end it.

Two threads per child carry its events and its log; whoever asks waits on a queue of its own, so several threads can
have requests under way at once. The last lines the child printed are kept for the error that tells of its death.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO, BinaryIO, Literal, TypeAlias, cast

import workbench
from workbench import paths
from workbench.engine.protocol import Cancel, Done, Event, Failed, Request, Wire
from workbench.errors import EngineError
from workbench.i18n import tr
from workbench.ports import Cancel as CancelFlag

ChildKind: TypeAlias = Literal["llama", "embed"]
LOG_LINES = 50
CANCEL_POLL_S = 0.03
CLOSE_PATIENCE_S = 3.0


class ChildProcess:
    """A running child. Every method may be called from any thread.

    Args:
        kind: which server it runs.
    """

    def __init__(self, kind: ChildKind) -> None:
        paths.go_offline()
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "workbench.engine.child", kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
        )
        self._kind = kind
        self._wire: Wire[Event, Request] = Wire(_stream(self._popen.stdout), _stream(self._popen.stdin))
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._asking: dict[int, queue.SimpleQueue[Event | None]] = {}
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._closed = False
        self._gone: EngineError | None = None
        self._log_reader = threading.Thread(target=self._keep_log, name=f"{kind} log", daemon=True)
        self._event_reader = threading.Thread(target=self._route_events, name=f"{kind} events", daemon=True)
        self._log_reader.start()
        self._event_reader.start()

    @property
    def pid(self) -> int:
        """Of the child, alive or not."""
        return self._popen.pid

    @property
    def alive(self) -> bool:
        """It runs, as far as is known."""
        return self._gone is None

    @property
    def log(self) -> tuple[str, ...]:
        """The last lines it printed, oldest first."""
        return tuple(self._log)

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
            self._send(make_request(request))
            told = False
            while not ended:
                if cancel is not None and cancel.is_set() and not told:
                    self._send(Cancel(request))
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
            if not ended:
                self._send(Cancel(request))

    def close(self) -> None:
        """Ends the child and returns when it is gone. Requests under way get an EngineError."""
        with self._lock:
            self._closed = True
        with contextlib.suppress(OSError):  # the child was gone, with something unsent
            _stream(self._popen.stdin).close()
        try:
            self._popen.wait(CLOSE_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._event_reader.join()
        _stream(self._popen.stdout).close()
        _stream(self._popen.stderr).close()

    def _send(self, message: Request) -> None:
        # When it's gone, the event reader says so to everyone who waits.
        with contextlib.suppress(OSError, ValueError):
            self._wire.send(message)

    def _keep_log(self) -> None:
        for line in _stream(self._popen.stderr):
            self._log.append(line.decode("utf-8", "replace").rstrip())

    def _route_events(self) -> None:
        while (event := self._wire.receive()) is not None:
            with self._lock:
                events = self._asking.get(event.id)
            if events:
                events.put(event)
        code = self._popen.wait()
        self._log_reader.join()
        with self._lock:
            self._gone = _closed_error() if self._closed else death_of(self._kind, code, self.log)
            for events in self._asking.values():
                events.put(None)

    def _death(self) -> EngineError:
        """A fresh copy: an exception object can't be raised in several threads."""
        gone = self._gone or _closed_error()
        return EngineError(gone.title, gone.message, gone.remedy, log=gone.log)


def death_of(kind: ChildKind, code: int, log: tuple[str, ...]) -> EngineError:
    """The death of a child in words.

    Args:
        code: as ``subprocess`` gives it: the exit code, or minus the signal's number.
    """
    title = tr("The language model's process ended") if kind == "llama" else tr("The embedding model's process ended")
    if code >= 0:
        last = next((line for line in reversed(log) if line.strip()), "")
        message = tr("It ended with exit code {code}. Its last words: {last}", code=code, last=last or "–")
        return EngineError(
            title, message, tr("Check that the engine is installed whole, then load the model again."), log=log
        )
    name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
    cause, remedy = _cause(name)
    return EngineError(title, tr("It was ended by {signal}: {cause}.", signal=name, cause=cause), remedy, log=log)


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


def _environment() -> dict[str, str]:
    """This process's, with the packages that it runs from: the child may start in any folder."""
    root = str(Path(workbench.__file__).parent.parent)
    inherited = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, inherited] if inherited else [root])}


def _stream(stream: IO[bytes] | None) -> BinaryIO:
    return cast(BinaryIO, stream)
