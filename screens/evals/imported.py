"""What an import left out, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.dialogs import HELP
from screens.style import Line, Tone, content, count
from screens.widgets.grid import Column, Grid, Row
from workbench.i18n import tr
from workbench.records.cases import RowProblem


class ProblemsScreen(ModalScreen[None]):
    """Lists the rows that stayed out (✗) and those that came in without a part (~), each with its line and reason.

    Args:
        name: of the dataset, or the run.
        cases: that came in; 0 for a run.
    """

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close", id="problems.close"), *HELP]

    def __init__(self, name: str, problems: Sequence[RowProblem], cases: int = 0) -> None:
        super().__init__()
        self._name, self._problems, self._cases = name, problems, cases

    def compose(self) -> ComposeResult:
        """One table."""
        skipped = count(sum(p.skipped for p in self._problems))
        told = tr("{skipped} rows stayed out", skipped=skipped)
        if self._cases:
            told = tr("{count} cases came in, {skipped} rows stayed out", count=count(self._cases), skipped=skipped)
        with Vertical(classes="dialog gates") as box:
            box.border_title = content(f"{self._name} ── {told}")
            box.border_subtitle = content(tr("esc closes"))
            yield Grid([Column("", 1), Column(tr("line"), 6, "right"), Column(tr("reason"), 0)])
            yield Static("", id="problem-note")

    def on_mount(self) -> None:
        """Fills it."""
        self.query_one(Grid).show([_row(n, problem) for n, problem in enumerate(self._problems)])

    def on_grid_highlighted(self, event: Grid.Highlighted) -> None:
        """The reason under the cursor, whole."""
        if event.key:
            self.query_one("#problem-note", Static).update(content(self._problems[int(event.key)].reason))


def _row(number: int, problem: RowProblem) -> Row:
    mark: Line = ("✗", Tone.BAD) if problem.skipped else ("~", Tone.WARN)
    return Row(str(number), (mark, count(problem.line) if problem.line else "–", problem.reason))
