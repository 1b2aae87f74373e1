"""What the composition root gives the command line, and how a command gets at the file and the screens."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, Protocol, TypeAlias

from workbench.desk import Desk
from workbench.errors import UsageError
from workbench.i18n import tr

DEFAULT_FILE = "workbench.db"

Purpose: TypeAlias = Literal["create", "change", "read"]
"""What a command wants with the file: "create" makes one where there is none, "read" takes a read-only one too."""


class OpenDesk(Protocol):
    """How a workbench file becomes a desk."""

    def __call__(self, file: Path, purpose: Purpose = ..., /) -> Desk:
        """Raises FileError."""


@dataclass(frozen=True, slots=True)
class FrontEnds:
    """What the composition root gives the command line.

    Attributes:
        open_desk: opens a workbench file as a desk.
        run_app: runs the screens on a desk until the person quits; returns the exit code.
        file: the file that commands work on.
    """

    open_desk: OpenDesk
    run_app: Callable[[Desk], int]
    file: Path = Path(DEFAULT_FILE)

    @contextmanager
    def desk(self, purpose: Purpose = "change", file: Path | None = None) -> Iterator[Desk]:
        """The desk on ``file`` (the chosen one when None), closed at the end."""
        desk = self.open_desk(file or self.file, purpose)
        with ending_by_signal():
            try:
                yield desk
            finally:
                desk.close()

    @contextmanager
    def glance(self) -> Iterator[Desk]:
        """For a command that tells something without a file too: where there is none, a desk on one that goes again."""
        with ExitStack() as stack:
            file = self.file
            if not file.exists():
                file = Path(stack.enter_context(TemporaryDirectory()), DEFAULT_FILE)
            yield stack.enter_context(self.desk("change" if self.file.exists() else "create", file))


@contextmanager
def ending_by_signal() -> Iterator[None]:
    """A terminal that is closed (SIGHUP) or SIGTERM ends the command on the way that closes its file."""

    def leave(number: int, _frame: object) -> None:
        for each in numbers:  # a terminal that closes may tell it twice: the file is being closed by then
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    names = ("SIGHUP", "SIGTERM") if threading.current_thread() is threading.main_thread() else ()
    numbers = [number for name in names if (number := getattr(signal, name, None))]
    before = [signal.signal(number, leave) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def open_screens(front: FrontEnds) -> None:
    """Opens the screens; they need a terminal. Exits with the app's code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            tr("No terminal"),
            tr("The screens need a terminal, and this is a pipe or a file."),
            tr("Name a command instead: workbench --help lists them."),
        )
    with front.desk("create") as desk:
        code = front.run_app(desk)
    sys.exit(code)
