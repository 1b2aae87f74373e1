"""The way out: SIGHUP, SIGTERM or a terminal that is gone ends the process, whatever the screens still wait for.

Textual writes to the terminal through a queue of bounded length and waits for its thread: when nobody reads the
terminal any more, that wait has no end, and neither the loop nor its signal handlers get their turn.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Final, Self

import psutil

POLL_S: Final = 1.0
"""Seconds between two looks whether the terminal is still there."""
GRACE_S: Final = 2.0
"""Seconds that the screens have to end by themselves."""
CLOSE_S: Final = 8.0
"""Seconds that ending the children and closing the file may take after them."""
HUNG_UP: Final = 129


class Ending:
    """Sees to it that the process ends when it is told to. Entered on the main thread, while the screens are shown.

    Args:
        close: ends the children and closes the file; called only when the screens don't end within the grace.
    """

    def __init__(self, close: Callable[[], object]) -> None:
        self._close = close
        self._quit: Callable[[int], object] = lambda code: None
        self._code = 0
        self._told, self._over = threading.Event(), threading.Event()
        self._before: list[tuple[int, Any]] = []

    def by(self, quit_app: Callable[[int], object]) -> None:
        """How the screens that are shown now are asked to end, from any thread, with an exit code."""
        self._quit = quit_app

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            names = [name for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
            numbers = [int(getattr(signal, name)) for name in names]
            self._before = [(number, signal.signal(number, self._signalled)) for number in numbers]
        threading.Thread(target=self._watch, name="ending", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for number, handler in self._before:  # told twice, as a terminal that closes may do, it doesn't end the closing
            signal.signal(number, signal.SIG_IGN if self._told.is_set() else handler)

    def _signalled(self, number: int, _frame: FrameType | None) -> None:
        self._leave(128 + number)

    def _leave(self, code: int) -> None:
        if not self._told.is_set():
            self._code = code
            self._told.set()
            self._quit(code)

    def _watch(self) -> None:
        had = _has_terminal()
        while not self._told.wait(POLL_S):
            if self._over.is_set():
                return
            if had and not _has_terminal():
                self._leave(HUNG_UP)
        if self._over.wait(GRACE_S):
            threading.Event().wait(CLOSE_S)  # whoever opened the file closes it and exits, which ends this thread
        else:
            closing = threading.Thread(target=self._close, name="closing", daemon=True)
            closing.start()
            closing.join(CLOSE_S)
        with suppress(psutil.Error):
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    child.kill()
        os._exit(self._code)


def _has_terminal() -> bool:
    """Standard input is a terminal that somebody holds the other end of."""
    try:
        return os.isatty(sys.__stdin__.fileno()) if sys.__stdin__ else False
    except (OSError, ValueError):
        return False
