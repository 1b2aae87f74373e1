"""The parent's handle on a child process: start it, talk to it, notice its death, end it.

Two threads per child carry its events and its log. The last lines it printed are kept for the error that tells of its
death; nothing it prints reaches the terminal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO, BinaryIO, Final, Generic, TypeVar, cast

import workbench
from workbench import paths
from workbench.processes.wire import Wire

Event = TypeVar("Event")
Request = TypeVar("Request")

LOG_LINES: Final = 50
CLOSE_PATIENCE_S: Final = 3.0


class Process(Generic[Event, Request]):
    """A running child. Every method may be called from any thread but the one that carries its events.

    Args:
        module: what it runs, as ``python -m`` names it; it calls ``workbench.processes.child.serve``.
        arguments: its command line.
        on_event: called for each event, in order, on a thread of this process's own.
        on_end: called once, after the last event, with the exit code (or minus the signal's number) and the last lines
            it printed, oldest first.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        on_event: Callable[[Event], None],
        on_end: Callable[[int, tuple[str, ...]], None],
    ) -> None:
        paths.go_offline()
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
        )
        self._on_event, self._on_end = on_event, on_end
        self._wire: Wire[Event, Request] = Wire(_stream(self._popen.stdout), _stream(self._popen.stdin))
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        name = " ".join((module.rpartition(".")[0], *arguments))
        self._log_reader = threading.Thread(target=self._keep_log, name=f"{name} log", daemon=True)
        self._event_reader = threading.Thread(target=self._carry_events, name=f"{name} events", daemon=True)
        self._log_reader.start()
        self._event_reader.start()

    @property
    def pid(self) -> int:
        """Of the child, alive or not."""
        return self._popen.pid

    @property
    def log(self) -> tuple[str, ...]:
        """The last lines it printed, oldest first."""
        return tuple(self._log)

    def send(self, request: Request) -> None:
        """Sends it, unless the child is gone: then ``on_end`` is, or will be, called."""
        with contextlib.suppress(OSError, ValueError):
            self._wire.send(request)

    def kill(self) -> None:
        """Ends the child at once, whatever it is doing; returns when it is gone."""
        self._popen.kill()
        self.close()

    def close(self) -> None:
        """Ends the child and returns when it is gone and ``on_end`` has returned."""
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

    def _keep_log(self) -> None:
        for line in _stream(self._popen.stderr):
            self._log.append(line.decode("utf-8", "replace").rstrip())

    def _carry_events(self) -> None:
        while (event := self._wire.receive()) is not None:
            self._on_event(event)
        code = self._popen.wait()
        self._log_reader.join()
        self._on_end(code, self.log)


def signal_name(code: int) -> str:
    """The signal that a negative exit code stands for, "" for an exit by itself."""
    if code >= 0:
        return ""
    return signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)


def _environment() -> dict[str, str]:
    """This process's, with the packages that it runs from: the child may start in any folder."""
    root = str(Path(workbench.__file__).parent.parent)
    inherited = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, inherited] if inherited else [root])}


def _stream(stream: IO[bytes] | None) -> BinaryIO:
    return cast(BinaryIO, stream)
