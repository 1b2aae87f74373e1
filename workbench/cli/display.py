"""Printing for people and for programs. Text of documents passes through ``printable`` before it reaches a terminal."""

from __future__ import annotations

import codecs
import json
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from workbench.errors import EngineError, WorkbenchError
from workbench.i18n import tr
from workbench.records.codec import encode
from workbench.text.clean import printable

WIDEST = 40
"""Characters of a table's column, but for the last."""

PIPE_SECONDS = 5.0
"""How often a running command says on a pipe how far it is."""


def say(text: str, *, err: bool = False, dim: bool = False, bold: bool = False, newlines: bool = True) -> None:
    """A line for a person. What it names (files, collections, reasons) may come from anywhere: nothing in it acts."""
    click.echo(click.style(printable(text, newlines=newlines), dim=dim or None, bold=bold or None), err=err)


def print_error(error: WorkbenchError) -> None:
    """Title, message and remedy on stderr, and what the engine's log says of the cause."""
    click.echo(f"{click.style(printable(error.title), bold=True)}: {printable(error.message)}", err=True)
    if error.remedy:
        click.echo(f"  → {printable(error.remedy)}", err=True)
    if isinstance(error, EngineError):
        for line in error.last_words:
            click.echo(click.style(f"  │ {printable(line, newlines=False)}", dim=True), err=True)


def print_json(value: object) -> None:
    """A record, or a sequence of them, as indented JSON on stdout.

    JSON escapes every control character by itself, and here also what the terminal's encoding doesn't have.
    """
    unicode = sys.stdout is not None and codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"
    click.echo(json.dumps(encode(value), ensure_ascii=not unicode, indent=2))


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Columns as wide as their longest cell but not over ``WIDEST``, those in ``right`` aligned right.

    On a terminal longer cells are cut, and the last column at the edge; on a pipe nothing is.
    """
    cells = [[printable(c, newlines=False) for c in row] for row in rows]
    widths = [min(WIDEST, max(map(len, column))) for column in zip(head, *cells, strict=True)]
    if sys.stdout is not None and sys.stdout.isatty():
        columns = shutil.get_terminal_size((100, 24)).columns
        last = max(10, columns - sum(widths[:-1]) - 2 * (len(widths) - 1))
        cells = [[_cut(c, most) for c, most in zip(row, (*widths[:-1], last), strict=True)] for row in cells]
    click.echo(click.style(_line(head, widths, right), dim=True))
    for row in cells:
        click.echo(_line(row, widths, right))


def _cut(cell: str, most: int) -> str:
    return cell if len(cell) <= most else cell[: most - 1] + "…"


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    padded = (c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
    return "  ".join(padded).rstrip()


def duration(seconds: float) -> str:
    """ "840 ms", "12.3 s", "2:10", "1:02:10"."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def size(count: int) -> str:
    """Bytes in binary units: "92.9 MiB"."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError("unreachable")


class StatusLine:
    """One line on stderr that is rewritten in place; on a pipe, a new line every few seconds and where it matters."""

    def __init__(self) -> None:
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._told = time.monotonic()
        self._last = ""

    def say(self, text: str, *, matters: bool = False) -> None:
        """Shows ``text`` in place of what was there."""
        if self._live:
            columns = shutil.get_terminal_size().columns
            click.echo("\r\x1b[2K" + printable(text, newlines=False)[: columns - 1], nl=False, err=True)
        elif text != self._last and (matters or time.monotonic() - self._told >= PIPE_SECONDS):
            click.echo(printable(text, newlines=False), err=True)
            self._told, self._last = time.monotonic(), text

    def clear(self) -> None:
        """Takes the line away."""
        if self._live:
            click.echo("\r\x1b[2K", nl=False, err=True)


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """An event that the first ctrl+c sets, so that work stops cleanly; the second one interrupts as usual."""
    stop = threading.Event()

    def ask_to_stop(_signal: int, _frame: object) -> None:
        stop.set()
        click.echo("\n" + tr("Stopping after the current step; ctrl+c again interrupts."), err=True)
        signal.signal(signal.SIGINT, before)

    before: Callable[..., object] | int | None = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    signal.signal(signal.SIGINT, ask_to_stop)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
