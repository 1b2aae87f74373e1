"""What is done with a run: starting, stopping, comparing, checking, deciding, handing on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on

from screens.dialogs import ChoiceDialog, ConfirmDialog
from screens.evals import plots
from screens.evals.browser import CaseBrowser
from screens.evals.decide import (
    DecisionDialog,
    DecisionScreen,
    Draft,
    ExportDialog,
    read_decisions,
    write_file,
    write_report,
)
from screens.evals.figures import progress_text
from screens.evals.gates import LOCK, GatesScreen, LockDialog, NewGates, read_gates
from screens.evals.launch import RunDialog
from screens.evals.reading import RunView
from screens.messages import RunMoved
from screens.style import Line, Tone, count
from screens.widgets.grid import Grid, Row
from screens.work import Job, Jobs
from workbench.errors import WorkbenchError
from workbench.evals.reporting.naming import layer_title, run_words
from workbench.i18n import tr
from workbench.records.cases import Dataset
from workbench.records.evals import (
    GateSet,
    Run,
    RunConfig,
    RunProgress,
)

if TYPE_CHECKING:
    from workbench.desk import Desk
    from workbench.ports import Cancel

NONE = "0"
"""The choice of no run to compare with."""
NEW = ""
"""The choice of a new decision."""


class RunWork(CaseBrowser):
    """Acts on the run under the cursor."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._job: Job | None = None
        self._read_at = 0

    # -- running ---------------------------------------------------------------------------------------------------

    @on(Grid.Opened, "#runs-grid")
    def run_opened(self) -> None:
        """A dataset folds, a run that hasn't ended goes on after a question, another one opens its cases."""
        place = self.place
        run = self.known_run(place.run) if place else None
        if place and run is None:
            self.fold(place.dataset)
        elif run and run.status in {"stopped", "interrupted"} and not self.live:
            question = tr(
                "{done} of its cases have a result; it goes on at the first without.", done=progress_text(run, None)
            )
            dialog = ConfirmDialog(tr("Go on with run {id}?", id=run.id), question, tr("Go on"), tr("Leave it"))
            self.app.push_screen(dialog, lambda yes: self._resume(run) if yes else self._to_cases())
        else:
            self._to_cases()

    def _to_cases(self) -> None:
        self.query_one("#cases-grid", Grid).focus()

    def _resume(self, run: Run) -> None:
        self.start(lambda cancel: self.desk.evals.resume(run.id, cancel))

    def action_run(self) -> None:
        """Asks for the settings of a new run; the one under way can be stopped instead."""
        place, job = self.place, self._job
        if job is not None:
            question = tr("It can go on later: enter on a stopped run.")
            dialog = ConfirmDialog(tr("Stop the run under way?"), question, tr("Stop"), tr("Let it run"))
            self.app.push_screen(dialog, lambda yes: job.stop() if yes else None)
        elif place is None:
            self.notify(tr("Import a dataset first: i does."), timeout=3)
        else:
            known = self.known_run(place.run)
            config = replace(known.config, title="") if known else RunConfig(place.dataset)
            self.jobs.open(
                self, self.desk.library.files, lambda models: self.app.push_screen(RunDialog(config, models), self._run)
            )

    def _run(self, config: RunConfig | None) -> None:
        if config:
            self.start(lambda cancel: self.desk.evals.run(config, cancel))

    @property
    def working(self) -> bool:
        """Whether a run, or a sweep, is under way."""
        return self._job is not None

    def start(
        self,
        call: Callable[[Cancel], Iterator[RunProgress]],
        runs: int = 1,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Follows ``call`` through its ``runs`` to the end; ``then`` comes after that, stopped or not."""
        ended = 0

        def describe(job: Job, progress: RunProgress) -> None:
            nonlocal ended
            nth = f"{min(ended + 1, runs)}/{runs} · " if runs > 1 else ""
            job.detail = nth + progress_text(progress.run, progress.eta_s)
            job.fraction = (ended + progress.run.done / progress.run.total) / runs if progress.run.total else None
            ended += progress.finished

        def end(last: RunProgress | None) -> None:
            self._ended(last)
            then()

        self._job = self.jobs.run(
            self, tr("run"), call, each=RunMoved, then=end, failed=self._failed, describe=describe
        )

    @on(RunMoved)
    def moved(self, event: RunMoved) -> None:
        """One more case ended: the lists and the figures follow."""
        if self._job is None:
            return
        run = event.progress.run
        begun = self.live is None or self.live.run.id != run.id
        self.live = event.progress
        if begun:
            self._read_at = run.done
            self.show_place(run.config.dataset, run.id)
            return
        self.draw_runs()
        self.draw_figures()
        if self.shown and self.shown.run and self.shown.run.id == run.id and run.done >= self._read_at * 1.2 + 5:
            self._read_at = run.done  # reading all of it after every case would cost more than the run
            self.open()

    def _ended(self, last: RunProgress | None) -> None:
        self._job = self.live = None
        if last:
            done = progress_text(last.run, None)
            told = tr("Run {id} stopped at {done}.", id=last.run.id, done=done)
            if not last.cancelled:
                told = tr(
                    "Run {id}: {passed} of {done} passed.",
                    id=last.run.id,
                    passed=count(last.run.passed),
                    done=count(last.run.done),
                )
            self.notify(told, timeout=5, markup=False)
        self.bench.changed()
        self.open()

    def _failed(self, error: WorkbenchError) -> None:
        self._job = self.live = None
        self.bench.changed()
        self.bench.show_error(error)

    # -- one run ---------------------------------------------------------------------------------------------------

    def action_compare(self) -> None:
        """Asks for the run to compare with."""
        self.with_run(self._ask_compare)

    def _ask_compare(self, view: RunView, run: Run) -> None:
        rows = [Row(NONE, ((tr("none"), Tone.DIM), ""))]
        rows += [
            Row(str(other.id), (f"{other.id} {run_words(other)}", _about(other)))
            for other in self.runs_of(view.dataset.name)
            if other.id != run.id and other.done
        ]
        chosen = str(view.other.id) if view.other else NONE
        self.app.push_screen(ChoiceDialog(tr("Compare with"), rows, chosen), lambda key: self._compare(run, key))

    def _compare(self, run: Run, key: str | None) -> None:
        if key:
            self.against[run.id] = int(key)
            self.open()

    def action_baseline(self) -> None:
        """Makes the run its dataset's baseline."""
        self.with_run(lambda _, run: self.jobs.read(self, lambda: self.desk.evals.set_baseline(run.id), self._based))

    def _based(self, run: Run) -> None:
        self.notify(tr("Run {id} is the baseline now.", id=run.id), timeout=4)
        self.bench.changed()

    def action_delete(self) -> None:
        """Asks, then deletes the run."""
        self.with_run(self._ask_delete)

    def _ask_delete(self, view: RunView, run: Run) -> None:
        question = tr("Its {count} results and their labels go for good; traces stay.", count=count(run.done))
        dialog = ConfirmDialog(tr("Delete run {id}?", id=run.id), question, tr("Delete"), tr("Keep"))
        self.app.push_screen(dialog, lambda yes: self._delete(run) if yes else None)

    def _delete(self, run: Run) -> None:
        self.jobs.read(self, lambda: self.desk.evals.delete_run(run.id), lambda _: self.bench.changed())

    def action_gates(self) -> None:
        """The run by the locked gates; a new set for a dataset without a run."""
        view = self.shown
        if view and view.run and view.run.done:
            run = view.run
            self.jobs.open(
                self,
                lambda: read_gates(self.desk, run),
                lambda checked: self.app.push_screen(
                    GatesScreen(run, checked), lambda wish: self._ask_lock(view.dataset) if wish == LOCK else None
                ),
            )
        elif view:
            self._ask_lock(view.dataset)

    def _ask_lock(self, dataset: Dataset) -> None:
        self.app.push_screen(LockDialog(dataset.name), lambda new: self._lock(dataset, new) if new else None)

    def _lock(self, dataset: Dataset, new: NewGates) -> None:
        self.jobs.read(self, lambda: self.desk.evals.lock_gates(dataset.name, new.name, new.gates), self._locked)

    def _locked(self, gates: GateSet) -> None:
        self.notify(tr("Locked: {count} gates.", count=len(gates.gates)), timeout=4)
        self.bench.changed()

    def action_plots(self) -> None:
        """Risk over coverage where the run answered, and the metrics."""
        self.with_run(self._plots)

    def _plots(self, view: RunView, run: Run) -> None:
        self.jobs.open(
            self,
            lambda: plots.read_plots(self.desk, view),
            lambda plotted: self.app.push_screen(
                plots.PlotsScreen(plotted), lambda tau: None if tau is None else self._store_threshold(run, tau)
            ),
        )

    def _store_threshold(self, run: Run, threshold: float) -> None:
        collection = run.manifest.collection
        told = tr("τ {value} is stored for {collection}.", value=f"{threshold:.3f}", collection=collection)
        self.jobs.read(
            self,
            lambda: self.desk.evals.choose_threshold(collection, threshold),
            lambda _: self.notify(told, timeout=5, markup=False),
        )

    def action_export(self) -> None:
        """Asks for a file, then writes the report to it."""
        self.with_run(self._ask_export)

    def _ask_export(self, view: RunView, run: Run) -> None:
        self.app.push_screen(ExportDialog(f"run-{run.id}.md"), lambda path: self._export(view, run, path))

    def _export(self, view: RunView, run: Run, path: Path | None) -> None:
        if path:
            self.jobs.read(self, lambda: write_report(self.desk, path, run, view.other), self._written)

    def _written(self, path: Path) -> None:
        self.notify(tr("Written: {path}", path=path), timeout=5, markup=False)

    # -- decisions -------------------------------------------------------------------------------------------------

    def action_decide(self) -> None:
        """Asks for a decision on the run; where there are earlier ones, first whether to read one."""
        self.with_run(
            lambda view, _: self.jobs.open(
                self, lambda: read_decisions(self.desk), lambda rows: self._ask_decision(view, rows)
            )
        )

    def _ask_decision(self, view: RunView, earlier: Sequence[Row]) -> None:
        if not earlier:
            self._new_decision(view)
            return
        rows = [Row(NEW, ((tr("a new decision…"), Tone.ACCENT), "")), *earlier]
        dialog = ChoiceDialog(tr("Decisions"), rows)
        self.app.push_screen(dialog, lambda key: self._decision_chosen(view, key))

    def _decision_chosen(self, view: RunView, key: str | None) -> None:
        if key == NEW:
            self._new_decision(view)
        elif key:
            self._read_decision(int(key))

    def _new_decision(self, view: RunView) -> None:
        self.app.push_screen(DecisionDialog(view), lambda draft: self._decide(view, draft) if draft else None)

    def _decide(self, view: RunView, draft: Draft) -> None:
        runs = [run.id for run in (view.other, view.run) if run]

        def store() -> int:
            record = self.desk.evals.decide(
                draft.title,
                draft.verdict,
                runs,
                context=draft.context,
                options=draft.options,
                reasons=draft.reasons,
                conditions=draft.conditions,
                review=draft.review,
            )
            return record.id

        self.jobs.read(self, store, self._read_decision)

    def _read_decision(self, decision_id: int) -> None:
        self.jobs.open(
            self,
            lambda: self.desk.evals.export_decision(decision_id),
            lambda words: self.app.push_screen(
                DecisionScreen(decision_id, words, lambda: self._ask_decision_file(decision_id, words))
            ),
        )

    def _ask_decision_file(self, decision_id: int, words: str) -> None:
        def write(path: Path | None) -> None:
            if path:
                self.jobs.read(self, lambda: write_file(path, words), self._written)

        self.app.push_screen(ExportDialog(f"decision-{decision_id}.md", (".md",)), write)


def _about(run: Run) -> Line:
    """What tells a run from the others in a choice."""
    baseline: Line = (" · " + tr("baseline"), Tone.ACCENT) if run.baseline else ""
    first = f"{run.created:%Y-%m-%d %H:%M} · {progress_text(run, None)}"
    return ((first, Tone.DIM), baseline, (f" · {layer_title(run.config.layer)}", Tone.DIM))
