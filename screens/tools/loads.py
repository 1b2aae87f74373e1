"""Load tests that were made: listed, and two of them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.dialogs import CLOSE, HELP, ConfirmDialog, ErrorDialog
from screens.style import Line, Tone, content
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.servers import LoadFigure, LoadTest, short_name
from workbench.servers.loads import caveats
from workbench.servers.words import (
    figure_name,
    load_change,
    load_lines,
    load_note,
    load_rows,
    load_title,
    speed_words,
)

if TYPE_CHECKING:
    from workbench.desk import Desk


@dataclass(frozen=True, slots=True)
class Beside:
    """Two tests, and their times."""

    before: LoadTest
    now: LoadTest
    figures: tuple[LoadFigure, ...]


def read_beside(desk: Desk, test: LoadTest, other: LoadTest | None = None) -> Beside | None:
    """A test beside another, else beside the one before it; None where there is none."""
    loads = desk.servers.loads
    before = other or loads.before(test)
    return Beside(before, test, loads.figures(before, test)) if before else None


class LoadTestsDialog(ModalScreen[None]):
    """The tests over the one under the cursor: beside the marked one, else beside the one before it."""

    CSS_PATH = "../dialogs.tcss"
    DEFAULT_CSS = """
    LoadTestsDialog Grid { height: 2fr; }
    LoadTestsDialog VerticalScroll { height: 3fr; border-top: solid $line; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE,
        Binding("delete", "drop", "Drop", id="loads.drop", tooltip="Drops the test under the cursor"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, tests: Sequence[LoadTest]) -> None:
        super().__init__()
        self._desk, self._jobs = desk, jobs
        self._tests = list(tests)
        self._latest: Latest[tuple[LoadTest, LoadTest | None], Beside | None] = Latest(
            jobs, self, lambda pair: read_beside(desk, *pair), self._show, self._failed
        )

    def compose(self) -> ComposeResult:
        """The list over the comparison."""
        with Vertical(classes="dialog full wide") as box:
            box.border_title = content(tr("Load tests"))
            box.border_subtitle = content(tr("space marks the other one · del drops · tab reads on · esc closes"))
            columns = [
                Column(tr("when"), 15),
                Column(tr("model and address")),
                Column("/s", 5, "right"),
                Column("n", 5, "right"),
                Column(tr("failed"), 8, "right", keep=80),
                Column("p50 s", 7, "right"),
                Column("p95 s", 7, "right"),
                Column("tokens/s", 9, "right"),
            ]
            yield Grid(columns, id="loads", marks=True)
            with VerticalScroll(can_focus=True):
                yield Static("", id="beside")

    def on_mount(self) -> None:
        """Fills it."""
        self._fill()
        self.query_one(Grid).focus()

    def _fill(self) -> None:
        self.query_one(Grid).show([_row(number, test) for number, test in enumerate(self._tests)])

    @on(Grid.Highlighted)
    @on(Grid.Marked)
    def tell(self) -> None:
        """The test under the cursor beside the marked one, else beside the one before."""
        grid = self.query_one(Grid)
        if not self._tests:
            self._latest.drop()
            self.query_one("#beside", Static).update(content((tr("None yet: l makes one."), Tone.DIM)))
            return
        test = self._tests[int(grid.key)]
        marked = next((self._tests[int(key)] for key in sorted(grid.marked) if key != grid.key), None)
        self._latest.submit((test, marked))

    def _show(self, pair: tuple[LoadTest, LoadTest | None], found: Beside | None) -> None:
        test, _ = pair
        lines = beside_lines(found) if found else ["\n".join([load_title(test), *load_lines(test)])]
        self.query_one("#beside", Static).update(content(*lines))

    def _failed(self, error: WorkbenchError) -> None:
        self.app.push_screen(ErrorDialog(error))

    def action_drop(self) -> None:
        """Drops the one under the cursor, once that is meant."""
        if not self._tests:
            return
        test = self._tests[int(self.query_one(Grid).key)]

        def drop(sure: bool | None) -> None:
            if sure:
                self._jobs.read(self, lambda: self._desk.servers.loads.remove(test), lambda _: self._dropped(test))

        question = tr("Drop the test {name}?", name=load_title(test))
        self.app.push_screen(ConfirmDialog(tr("Drop a load test"), question, tr("Drop it"), tr("Keep it")), drop)

    def _dropped(self, test: LoadTest) -> None:
        self._tests.remove(test)
        self.query_one(Grid).marked.clear()
        self._fill()
        self.tell()


def beside_lines(beside: Beside) -> list[Line]:
    """Two tests side by side, and what keeps them from being compared."""
    rows = [("", "A", "B", ""), *load_rows(beside.before, beside.now, beside.figures)]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    lines: list[Line] = [
        ("A  ", Tone.DIM),
        load_title(beside.before),
        ("\nB  ", Tone.DIM),
        load_title(beside.now),
        "\n",
    ]
    for name, a, b, change in rows:
        lines += [
            (f"\n{name:<{widths[0]}}  ", Tone.DIM),
            f"{a:>{widths[1]}}  {b:>{widths[2]}}  ",
            (change, _tone(change)),
        ]
    lines += [("\n\n" + load_note(), Tone.DIM)]
    return [*lines, *(("\n~ " + caveat, Tone.WARN) for caveat in caveats(beside.before, beside.now))]


def changed_lines(beside: Beside) -> list[Line]:
    """What is other than in the test before, a line a time; for a narrow place."""
    lines: list[Line] = [(tr("Against the test before ({name}):", name=load_title(beside.before)), Tone.DIM)]
    for figure in beside.figures:
        if figure.before and figure.now:
            change = load_change(figure)
            lines += [f"\n{figure_name(figure.name)}  {figure.before.value:.2f} → {figure.now.value:.2f}  "]
            lines += [(change, _tone(change))]
    lines += [("\n~ " + caveat, Tone.WARN) for caveat in caveats(beside.before, beside.now)]
    return [*lines, ("\n" + tr("o shows them side by side, with their intervals."), Tone.DIM)]


def _tone(change: str) -> Tone:
    return Tone.BAD if "▲" in change else Tone.GOOD if "▼" in change else Tone.DIM


def _row(number: int, test: LoadTest) -> Row:
    return Row(
        str(number),
        (
            f"{test.created.astimezone():%y-%m-%d %H:%M}",
            f"{short_name(test.model)} · {test.url}",
            f"{test.rate:g}",
            str(test.sent),
            (str(test.failed), Tone.BAD) if test.failed else "–",
            f"{test.p50_s:.2f}",
            f"{test.p95_s:.2f}",
            speed_words(test),
        ),
    )
