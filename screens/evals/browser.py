"""What the Evals screen shows and how it is stepped through: runs, cases, the chosen one; all of it read in workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from screens.base import ModeScreen
from screens.evals.case import CasePane
from screens.evals.figures import Figures, progress_text
from screens.evals.items import EVERYTHING, VIEWS, CaseItem, Narrow, View, next_item, shown
from screens.evals.lists import (
    Place,
    case_columns,
    case_row,
    narrow_name,
    run_columns,
    run_rows,
    view_name,
    why_empty,
)
from screens.evals.reading import (
    CaseView,
    Lists,
    MarkKey,
    RunView,
    read_case,
    read_dataset,
    read_figures,
    read_gate_marks,
    read_labels,
    read_lists,
    read_run,
)
from screens.style import content, count
from screens.widgets.grid import Grid, ListPane, Row
from screens.work import Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.evals.deciding.gates import GateState
from workbench.i18n import tr
from workbench.records.cases import Dataset
from workbench.records.evals import Run, RunProgress

if TYPE_CHECKING:
    from workbench.desk import Desk


@dataclass(frozen=True, slots=True)
class Opening:
    """What the cursor asks for: a dataset (run 0) or a run, against another one."""

    dataset: Dataset
    run: int = 0
    other: int = 0


@dataclass(frozen=True, slots=True)
class Opened:
    """What was read, with the rows of its cases."""

    view: RunView
    rows: Mapping[str, Row]


class CaseBrowser(ModeScreen):
    """Runs over cases on the left; figures over the case under the cursor on the right."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self.shown: RunView | None = None
        self.against: dict[int, int] = {}
        self.live: RunProgress | None = None
        self._lists = Lists((), (), {})
        self._rows: Mapping[str, Row] = {}
        self._folded: set[str] = set()
        self._marks: dict[MarkKey, GateState] = {}
        self._go_to = ""
        self._case = ("", "")  # which case to go to, once that place is shown
        self._view: View = "failing"
        self._narrow: Narrow = EVERYTHING
        self._opening = Latest(jobs, self, self._read_opening, self._show_opened, self._not_opened)
        self._figuring = Latest(jobs, self, self._read_figures, self._show_figures, self._not_opened)
        self._stepping = Latest(jobs, self, self._read_case, self._show_case, self._not_opened)

    def body(self) -> Iterable[Widget]:
        """Two lists beside two panes."""
        with Horizontal(id="evals"):
            with Vertical(id="evals-left"):
                yield ListPane(self._runs_title, run_columns(), id="runs")
                yield ListPane(self._cases_title, case_columns(), id="cases")
            with Vertical(id="evals-right"):
                yield Figures()
                yield CasePane()

    # -- lists -----------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Datasets and runs."""
        self.jobs.read(self, lambda: read_lists(self.desk), self._show_lists)

    def _show_lists(self, lists: Lists) -> None:
        first = not self._lists.datasets
        self._lists = lists
        if first and lists.runs and not self._go_to:
            self._go_to = Place(lists.runs[0].config.dataset, lists.runs[0].id).key
        self.draw_runs()
        grid = self.query_one("#runs-grid", Grid)
        if self._go_to:
            grid.go_to(self._go_to)
            self._go_to = ""
        if not lists.datasets:
            self.shown = None
            self._show_rows()
        self.jobs.read(self, self._read_marks, self._show_marks)

    def _read_marks(self) -> dict[MarkKey, GateState]:
        return read_gate_marks(self.desk, self._lists, self._marks)

    def _show_marks(self, marks: dict[MarkKey, GateState]) -> None:
        if marks != self._marks:
            self._marks = marks
            self.draw_runs()

    def draw_runs(self) -> None:
        """The datasets with their runs, as far as they are."""
        live = {self.live.run.id: self.live.run} if self.live else {}
        other = self.shown.other.id if self.shown and self.shown.other else 0
        pane = self.query_one("#runs", ListPane)
        marks = {run: mark for (run, _, _), mark in self._marks.items()}
        pane.show(run_rows(self._lists, self._folded, marks, live, other))

    def show_place(self, dataset: str, run_id: int = 0, case_id: str = "") -> None:
        """Reads the lists anew and puts the cursor on a dataset, or on one of its runs; then on a case there."""
        self._folded.discard(dataset)
        self._go_to = Place(dataset, run_id).key
        self._case = (self._go_to, case_id) if case_id else ("", "")
        self.reload()

    def fold(self, dataset: str) -> None:
        """Hides a dataset's runs, or shows them again."""
        self._folded ^= {dataset}
        self.draw_runs()

    @property
    def place(self) -> Place | None:
        """Where the cursor is in the list of runs."""
        key = self.query_one("#runs-grid", Grid).key
        return Place.of(key) if key else None

    def known_run(self, run_id: int) -> Run | None:
        """A listed run."""
        return next((run for run in self._lists.runs if run.id == run_id), None)

    def runs_of(self, dataset: str) -> list[Run]:
        """The listed runs of a dataset, newest first."""
        return [run for run in self._lists.runs if run.config.dataset == dataset]

    def _runs_title(self, shown: int, there: int) -> str:
        return f"{tr('Datasets and runs')} ── {len(self._lists.datasets)}/{count(len(self._lists.runs))}"

    # -- a run -----------------------------------------------------------------------------------------------------

    @on(Grid.Highlighted, "#runs-grid")
    def place_chosen(self) -> None:
        """Its figures and cases."""
        self.open()

    def open(self) -> None:
        """Reads what is under the cursor of the runs."""
        place = self.place
        dataset = next((d for d in self._lists.datasets if place and d.name == place.dataset), None)
        if place is None or dataset is None:
            return
        baseline = next((run.id for run in self.runs_of(dataset.name) if run.baseline), 0)
        other = self.against.get(place.run, baseline) if place.run else 0
        self._opening.submit(Opening(dataset, place.run, 0 if other == place.run else other))

    def _read_opening(self, asked: Opening) -> Opened:
        view = (
            read_run(self.desk, asked.dataset, asked.run, asked.other)
            if asked.run
            else read_dataset(self.desk, asked.dataset)
        )
        return with_rows(view)

    def _show_opened(self, asked: Opening, opened: Opened) -> None:
        before, view = self.shown, opened.view
        same = before is not None and (_id(before.run), before.dataset.name) == (asked.run, asked.dataset.name)
        if before and same and _id(before.other) == _id(view.other):
            view = replace(view, report=before.report, comparison=before.comparison)  # until the new ones are there
        self.shown, self._rows = view, opened.rows
        if not same:
            self._narrow = EVERYTHING
            if not any(shown(i, self._view) for i in view.items):
                self._view = "all"
        if _id(before.other if before else None) != _id(view.other):
            self.draw_runs()
        self._show_rows()
        place, case_id = self._case
        if place == Place(asked.dataset.name, asked.run).key:
            self._case = ("", "")
            self.go_to_case(case_id)
        self.draw_figures()
        self._figuring.submit(view)

    def _read_figures(self, view: RunView) -> RunView:
        return read_figures(self.desk, view)

    def _show_figures(self, asked: RunView, figured: RunView) -> None:
        if self.shown and _id(self.shown.run) == _id(asked.run):
            self.shown = replace(self.shown, report=figured.report, comparison=figured.comparison)
            self.draw_figures()

    def _not_opened(self, error: WorkbenchError) -> None:
        self.bench.show_error(error)

    def with_run(self, act: Callable[[RunView, Run], object]) -> None:
        """Acts on the shown run, or says that there is none."""
        if self.shown and self.shown.run:
            act(self.shown, self.shown.run)
        else:
            self.notify(tr("Put the cursor on a run first."), timeout=3)

    def draw_figures(self) -> None:
        """The figures, and how far the run is while it runs."""
        progress = ""
        run = self.shown.run if self.shown else None
        if self.live and run and self.live.run.id == run.id:
            progress = "▸ " + progress_text(self.live.run, self.live.eta_s) + " · " + tr("ctrl+c stops it")
        elif run and run.status == "stopped":
            progress = "‖ " + tr("stopped at {done}: enter goes on", done=progress_text(run, None))
        elif run and run.status == "interrupted":
            progress = "╳ " + tr("interrupted at {done}: enter goes on", done=progress_text(run, None))
        self.query_one(Figures).show(self.shown, progress)

    def relabel(self) -> None:
        """Reads the labels of the shown run anew."""
        view = self.shown
        if view is not None:
            self.jobs.read(self, lambda: with_rows(read_labels(self.desk, view)), lambda o: self._relabelled(view, o))

    def _relabelled(self, before: RunView, opened: Opened) -> None:
        if self.shown is before:
            self.shown, self._rows = opened.view, opened.rows
            self._show_rows()
            self.draw_figures()

    # -- cases -----------------------------------------------------------------------------------------------------

    @property
    def items(self) -> tuple[CaseItem, ...]:
        """Every case of what is shown, listed or not."""
        return self.shown.items if self.shown else ()

    def _show_rows(self) -> None:
        rows = [self._rows[i.case.id] for i in self.items if shown(i, self._view, self._narrow)]
        self.query_one("#cases", ListPane).show(rows)

    def _cases_title(self, shown_rows: int, there: int) -> str:
        whole = self._view == "all" and self._narrow != EVERYTHING
        parts = [
            "" if whole else view_name(self._view),
            narrow_name(self._narrow) if self._narrow != EVERYTHING else "",
        ]
        number = count(there) if shown_rows == there else f"{count(shown_rows)}/{count(there)}"
        return f"{tr('Cases')} ── {' · '.join(filter(None, parts))} {number}"

    @property
    def item(self) -> CaseItem | None:
        """The case under the cursor."""
        key = self.query_one("#cases-grid", Grid).key
        return next((i for i in self.items if i.case.id == key), None) if key else None

    @on(Grid.Highlighted, "#cases-grid")
    def case_chosen(self) -> None:
        """Draws it, or says why there is none."""
        item = self.item
        if item is None:
            self._stepping.drop()
            self.query_one(CasePane).clear(content(*why_empty(self.shown, self._view)))
        else:
            self._stepping.submit(item)

    def _read_case(self, item: CaseItem) -> CaseView:
        return read_case(self.desk, item)

    def _show_case(self, item: CaseItem, view: CaseView) -> None:
        if self.shown:
            self.query_one(CasePane).show(view, self.shown.run, self.shown.other)

    def cycle_view(self) -> None:
        """The next view that has a case in it."""
        at = VIEWS.index(self._view)
        order = [VIEWS[(at + n) % len(VIEWS)] for n in range(1, len(VIEWS) + 1)]
        full = (v for v in order if any(shown(i, v, self._narrow) for i in self.items))
        self._view = next(full, "all")
        self._show_rows()

    def narrow_to(self, narrow: Narrow) -> None:
        """Only a failure stage or a segment; of all cases when the view has none in it."""
        self._narrow = narrow
        if not any(shown(i, self._view, narrow) for i in self.items):
            self._view = "all"
        self._show_rows()

    def go_to_case(self, case_id: str) -> None:
        """Puts the cursor on a case of what is shown, listed or not."""
        grid = self.query_one("#cases-grid", Grid)
        if grid.key != case_id:
            self.jump(lambda item: item.case.id == case_id, 1, tr("That case isn't here any more."))
        grid.focus()

    def jump(self, wanted: Callable[[CaseItem], bool], step: int, none: str) -> None:
        """To the nearest wanted case of those listed, else of all (which are then listed); says when there is none."""
        pane, items = self.query_one("#cases", ListPane), self.items
        listed = {row.key for row in pane.grid.rows}
        here = pane.grid.key
        found = next_item(items, here, lambda i: i.case.id in listed and wanted(i), step)
        found = found or next_item(items, here, wanted, step)
        if found is None:
            self.notify(none, timeout=3)
            return
        if found.case.id not in listed:
            self._view, self._narrow = "all", EVERYTHING
            pane.grid.search("")
            self._show_rows()
        pane.grid.go_to(found.case.id)


def _id(run: Run | None) -> int:
    return run.id if run else 0


def with_rows(view: RunView) -> Opened:
    """A view with its rows, made in the thread that read it."""
    return Opened(view, {item.case.id: case_row(item) for item in view.items})
