"""Runs side by side: each with its interval, or each against the one before it, in a table and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.dialogs import HELP, ErrorDialog
from screens.evals.decide import ExportDialog, write_file
from screens.evals.words import change_line, estimate_parts
from screens.style import Line, Tone, content, shorten
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs
from workbench.errors import WorkbenchError
from workbench.evals.measuring.compare import p_text
from workbench.evals.measuring.scoring import describe
from workbench.evals.measuring.standings import Standing, families, family, standings, verdict_of
from workbench.evals.reporting.naming import run_words
from workbench.evals.reporting.plots import mark, scale, whisker
from workbench.i18n import tr
from workbench.records.evals import Run, RunComparison, RunReport

if TYPE_CHECKING:
    from workbench.desk import Desk


def read_reports(desk: Desk, runs: Sequence[int]) -> tuple[RunReport, ...]:
    """Each run in figures: a second or so each over a thousand cases."""
    return tuple(desk.evals.report(run) for run in runs)


class BesideScreen(ModalScreen[int]):
    """One metric at a time; dismisses with a run to go to, None when left."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="beside.close"),
        Binding("left", "turn(-1)", "Metric before", id="beside.before"),
        Binding("right", "turn(1)", "Next metric", id="beside.next"),
        Binding("l", "ladder", "Ladder", id="beside.ladder", tooltip="Each run against the one before it, paired"),
        Binding("x", "export", "Export", id="beside.export", tooltip="The runs, best on top, as LaTeX or Markdown"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, reports: Sequence[RunReport], first: str) -> None:
        """``first`` is the family of the metric to begin with."""
        super().__init__()
        self.desk, self.jobs, self._reports = desk, jobs, reports
        self._families = families(reports)
        self._at = self._families.index(first) if first in self._families else 0
        self._steps: Sequence[RunComparison] = ()
        self._laddered = False

    def compose(self) -> ComposeResult:
        """The table over the plot."""
        with Vertical(classes="dialog wide") as box:
            box.border_subtitle = content(tr("←→ metric · l ladder · x export · enter: the run · esc closes"))
            yield Grid(
                [
                    Column("", 4, "right"),
                    Column(tr("run"), fit=True),
                    Column(tr("value"), 9, "right"),
                    Column("", 9),
                    Column("n", 5, "right"),
                    Column(tr("against the best")),
                ],
                id="standings",
            )
            yield Grid(
                [
                    Column("", 4, "right"),
                    Column(tr("run"), fit=True),
                    Column("Δ", 10, "right"),
                    Column("p", 9),
                    Column("✓ + −", 7),
                    Column(tr("changed")),
                ],
                id="ladder",
            )
            with VerticalScroll(id="beside-plot"):
                yield Static("", id="beside-drawn")

    def on_resize(self, event: events.Resize) -> None:
        """Draws to the new size."""
        self.call_after_refresh(self._draw)

    @property
    def _family(self) -> str:
        return self._families[self._at]

    def _draw(self) -> None:
        if not self._families:
            return
        found = standings(self._reports, self._family)
        name = next(one.name for one in found if one.estimate)
        title = describe(name).title.partition("@")
        box = self.query_one(".dialog")
        box.border_title = content(
            title[0] + (title[1] and "@k"), f" ── {tr('{count} runs', count=len(found))}",
            (f"  {self._at + 1}/{len(self._families)}", Tone.DIM),
        )  # fmt: skip
        tables = {"#standings": [_row(one) for one in found], "#ladder": list(self._rungs())}
        for key, rows in tables.items():
            grid = self.query_one(key, Grid)
            grid.display = self._laddered == (key == "#ladder")
            grid.styles.height = min(len(rows) + 1, max(4, self.size.height // 2 - 3))
            grid.show(rows)
        self.query_one("#ladder" if self._laddered else "#standings").focus()
        width = self.query_one("#beside-plot").content_size.width
        self.query_one("#beside-drawn", Static).update(draw(found, width))

    def _rungs(self) -> Sequence[Row]:
        if not self._steps:
            return []
        first = self._steps[0].a
        return [Row(str(first.id), (str(first.id), run_words(first), "", "", "", "")), *map(self._rung, self._steps)]

    def _rung(self, step: RunComparison) -> Row:
        change = next((c for c in step.metrics if family(c.metric) == self._family), None)
        flips: Line = (f"+{len(step.fixed)} −{len(step.broken)}", Tone.DIM)
        told: tuple[Line, Line] = (change_line(change), p_text(change.p_value)) if change else ("–", "")
        differs: Line = (", ".join(step.differs) or tr("nothing"), Tone.DIM)
        return Row(str(step.b.id), (str(step.b.id), run_words(step.b), *told, flips, differs))

    def action_turn(self, step: int) -> None:
        """Another metric."""
        if self._families:
            self._at = (self._at + step) % len(self._families)
            self._draw()

    def action_ladder(self) -> None:
        """Each run against the one before it; again, and each stands for itself."""
        if self._steps or self._laddered:
            self._laddered = not self._laddered
            self._draw()
            return
        self.notify(tr("working out the intervals…"), timeout=2)
        runs = [report.run.id for report in self._reports]
        self.jobs.read(self, lambda: self.desk.evals.ladder(runs), self._climbed, self._failed)

    def _climbed(self, steps: Sequence[RunComparison]) -> None:
        self._steps, self._laddered = steps, True
        self._draw()

    def _failed(self, error: WorkbenchError) -> None:
        self.app.push_screen(ErrorDialog(error))

    def action_export(self) -> None:
        """Asks for a file, then writes the ranking to it."""
        runs = [report.run.id for report in self._reports]
        self.app.push_screen(ExportDialog("runs.tex", (".tex", ".md")), lambda path: self._export(runs, path))

    def _export(self, runs: Sequence[int], path: Path | None) -> None:
        if path is None:
            return
        form: Literal["latex", "markdown"] = "latex" if path.suffix.lower() == ".tex" else "markdown"
        self.jobs.read(
            self,
            lambda: write_file(path, self.desk.evals.export_ranking(runs, form)),
            lambda written: self.notify(tr("Written: {path}", path=written), timeout=5, markup=False),
            self._failed,
        )

    @on(Grid.Opened)
    def to_run(self, event: Grid.Opened) -> None:
        """Its cases, on the screen beneath."""
        self.dismiss(int(event.key))

    def action_leave(self) -> None:
        """Back to where the cursor was."""
        self.dismiss(None)


def _row(one: Standing) -> Row:
    run = one.run
    if one.estimate is None:
        return Row(str(run.id), (str(run.id), run_words(run), "–", "", "", (tr("has no such metric"), Tone.DIM)))
    value, margin = estimate_parts(one.name, one.estimate)
    against: Line = (tr("apart"), Tone.PLAIN)
    if one.best:
        against = ("★ " + tr("best"), Tone.GOOD)
    elif one.overlaps:
        against = ("≈ " + tr("intervals overlap"), Tone.DIM)
    elif one.unranked:
        against = ("≠ " + tr("other cases"), Tone.DIM)
    cells: tuple[Line, ...] = (
        str(run.id),
        run_words(run),
        value,
        (margin, Tone.DIM),
        (f"{one.estimate.n:,}", Tone.DIM),
    )
    return Row(str(run.id), (*cells, against))


def draw(found: Sequence[Standing], width: int) -> Content:
    """Error bars on one scale, then what follows from them."""
    known = [(one, one.estimate) for one in found if one.estimate]
    low, high = scale(estimate for _, estimate in known)
    label = min(width // 3, max(len(_label(one.run)) for one, _ in known))
    room = max(16, width - label - 5)
    ends = [describe(known[0][0].name).text(end) for end in (low, high)]
    lines: list[Line] = [(" " * (label + 4) + ends[0] + ends[1].rjust(room - len(ends[0])), Tone.DIM)]
    for one, estimate in known:
        tone = Tone.GOOD if one.best else Tone.DIM if one.overlaps or one.unranked else Tone.ACCENT
        bar = whisker(estimate, low, high, room)
        lines.append((f"{shorten(_label(one.run), label):<{label}}  ", (f"{mark(one)} ", tone), (bar, tone)))
    return Content("\n").join([*map(content, lines), content("\n", verdict_of(found))])


def _label(run: Run) -> str:
    return f"{run.id} {run_words(run)}"


class LadderDialog(ModalScreen[tuple[int, ...]]):
    """Asks which runs to put side by side, oldest first; dismisses with at least two of them."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="pickruns.close"),
        *HELP,
    ]

    def __init__(self, dataset: str, runs: Sequence[Run]) -> None:
        super().__init__()
        self._dataset, self._runs = dataset, sorted(runs, key=lambda run: run.id)

    def compose(self) -> ComposeResult:
        """A table whose rows are marked."""
        with Vertical(classes="dialog gates") as box:
            box.border_title = content(tr("Runs of {dataset} side by side", dataset=self._dataset))
            box.border_subtitle = content(tr("space marks · enter shows · esc closes"))
            columns = [
                Column("", 1),
                Column("", 4, "right"),
                Column(tr("run"), share=2),
                Column(tr("cases"), 7, "right"),
            ]
            yield Grid([*columns, Column(tr("passed"), 8, "right"), Column(tr("date"), 16, keep=64)], marks=True)
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """Fills it."""
        self.query_one(Grid).show([_choice(run) for run in self._runs])

    @on(Grid.Opened)
    def shown(self) -> None:
        """Dismisses with the marked ones, in the order of their numbers."""
        marked = self.query_one(Grid).marked
        if len(marked) < 2:
            problem = self.query_one(".problem", Static)
            problem.update(content("✗ ", tr("Mark at least two runs: space does.")))
            problem.add_class("-open")
        else:
            self.dismiss(tuple(run.id for run in self._runs if str(run.id) in marked))

    def action_leave(self) -> None:
        """Nothing is shown."""
        self.dismiss(None)


def _choice(run: Run) -> Row:
    passed = f"{100 * run.passed / run.scored:.1f} %" if run.scored else "–"
    told = (run_words(run), f"{run.done:,}", passed, (f"{run.created:%Y-%m-%d %H:%M}", Tone.DIM))
    return Row(str(run.id), ("", str(run.id), *told))
