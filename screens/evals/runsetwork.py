"""What is done with several runs, or beside one: sweeps, runs side by side, judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from screens.dialogs import ChoiceDialog, ConfirmDialog
from screens.evals.beside import BesideScreen, LadderDialog, read_reports
from screens.evals.judges import JudgeDialog, JudgementScreen, Trial, judgement_rows
from screens.evals.reading import RunView
from screens.evals.runwork import RunWork
from screens.evals.sweeps import Choices, SweepDialog
from screens.style import Tone
from screens.widgets.grid import Row
from screens.work import Job, Jobs
from workbench.errors import WorkbenchError
from workbench.evals.judging.judge import judged_before
from workbench.evals.measuring.standings import family
from workbench.evals.reporting.reports import judged_text
from workbench.i18n import tr
from workbench.records.evals import (
    Judgement,
    JudgementReport,
    Run,
    RunConfig,
    RunProgress,
    RunReport,
)
from workbench.records.models import LoadedModel

if TYPE_CHECKING:
    from workbench.desk import Desk
    from workbench.ports import Cancel

NEW = ""
"""The choice of a new judgement."""


class RunSetWork(RunWork):
    """Acts on runs as a set, and lets a model judge one."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._trial: Job | None = None

    # -- sweeps ----------------------------------------------------------------------------------------------------

    def action_sweep(self) -> None:
        """Asks which variable takes which values; all else is as in the run under the cursor."""
        place = self.place
        if self.working:
            self.action_run()
        elif place is None:
            self.notify(tr("Import a dataset first: i does."), timeout=3)
        else:
            known = self.known_run(place.run)
            config = known.config if known else RunConfig(place.dataset)

            def read() -> Choices:
                rerankers = [info.name for info in self.desk.rerankers.installed() if not info.problem]
                names = [c.name for c in self.desk.collections()]
                collection = config.search.collection or self.desk.evals.dataset(config.dataset).collection
                states = self.desk.indexes.states(collection) if collection in names else ()
                whole = [state.index for state in states if state.whole]
                return Choices(self.desk.library.files(), names, rerankers, whole)

            self.jobs.open(
                self,
                read,
                lambda choices: self.app.push_screen(SweepDialog(config, known, choices), self._sweep),
            )

    def _sweep(self, configs: tuple[RunConfig, ...] | None) -> None:
        if not configs:
            return
        ended: list[int] = []

        def call(cancel: Cancel) -> Iterator[RunProgress]:
            for progress in self.desk.evals.sweep(configs, cancel):
                if progress.finished and not progress.cancelled:
                    ended.append(progress.run.id)
                yield progress

        self.start(call, len(configs), lambda: self.show_beside(ended))

    def show_beside(self, runs: Sequence[int]) -> None:
        """Runs side by side, when there are several."""
        if len(runs) > 1:
            self.notify(tr("working out the intervals…"), timeout=2)
            self.jobs.read(self, lambda: read_reports(self.desk, runs), self._beside)

    def _beside(self, reports: Sequence[RunReport]) -> None:
        layer = reports[0].run.config.layer
        first = "recall" if layer == "retrieval" else "pass_rate"
        self.app.push_screen(BesideScreen(self.desk, self.jobs, reports, family(first)), self._go_to_run)

    def _go_to_run(self, run_id: int | None) -> None:
        run = self.known_run(run_id) if run_id else None
        if run:
            self.show_place(run.config.dataset, run.id)

    def action_ladder(self) -> None:
        """Asks which runs of the dataset to put side by side."""
        place = self.place
        runs = [run for run in self.runs_of(place.dataset) if run.done] if place else []
        if place is None or len(runs) < 2:
            self.notify(tr("Two runs of a dataset are needed for that."), timeout=3)
            return
        self.app.push_screen(LadderDialog(place.dataset, runs), lambda chosen: self.show_beside(chosen or ()))

    # -- judges ----------------------------------------------------------------------------------------------------

    def action_judge(self) -> None:
        """What judges said of the run, or a new judgement; the one under way can be stopped instead."""
        job = self._trial
        if job is not None:
            question = tr("What is judged so far is stored.")
            dialog = ConfirmDialog(tr("Stop the judge?"), question, tr("Stop"), tr("Let it run"))
            self.app.push_screen(dialog, lambda yes: job.stop() if yes else None)
            return
        self.with_run(self._ask_judge)

    def _ask_judge(self, view: RunView, run: Run) -> None:
        if run.config.layer == "retrieval":
            self.notify(tr("A run of the retrieval layer has no answers to judge."), timeout=4)
            return
        if not view.judged:
            self._ask_trial(view, run)
            return
        rows = [Row(NEW, ((tr("a new judgement…"), Tone.ACCENT), "")), *judgement_rows(view.judged)]
        dialog = ChoiceDialog(tr("Judges of run {id}", id=run.id), rows)
        self.app.push_screen(dialog, lambda key: self._judgement_chosen(view, run, key))

    def _judgement_chosen(self, view: RunView, run: Run, key: str | None) -> None:
        told = next((told for told in view.judged if str(told.judgement.id) == key), None)
        if told:
            self._show_judgement(view, told)
        elif key is not None and key == NEW:
            self._ask_trial(view, run)

    def _show_judgement(self, view: RunView, told: JudgementReport) -> None:
        labels = {item.case.id: item.label for item in view.items if item.label}
        self.app.push_screen(JudgementScreen(told, labels), self._go_to_case)

    def _go_to_case(self, case_id: str | None) -> None:
        if case_id:
            self.go_to_case(case_id)

    def _ask_trial(self, view: RunView, run: Run) -> None:
        others = [r for r in self.runs_of(view.dataset.name) if r.id != run.id and r.done]
        others = [r for r in others if r.config.layer != "retrieval"]

        def ask(model: LoadedModel | None) -> None:
            self.app.push_screen(JudgeDialog(run, others, model), lambda trial: self._judge(view, run, trial))

        self.jobs.open(self, lambda: self.desk.model, ask)

    def _judge(self, view: RunView, run: Run, trial: Trial | None) -> None:
        if trial is None:
            return

        def call(cancel: Cancel) -> Iterator[Judgement]:
            return self.desk.evals.judge(run.id, trial.rubric, trial.against, cancel)

        def describe(job: Job, judgement: Judgement) -> None:
            job.detail, job.fraction = f"{len(judgement.cases)}/{run.done}", len(judgement.cases) / run.done

        self._trial = self.jobs.run(
            self,
            tr("judge"),
            call,
            then=lambda judgement: self._judged(view, judgement),
            failed=self._not_judged,
            describe=describe,
        )

    def _judged(self, view: RunView, judgement: Judgement | None) -> None:
        self._trial = None
        if judgement and judgement.id:
            number, known = judgement.id, any(told.judgement == judgement for told in view.judged)
            self.jobs.read(
                self,
                lambda: self.desk.evals.judgements(judgement.run_id),
                lambda found: self._tell_judgement(next(t for t in found if t.judgement.id == number), known=known),
            )
        self.relabel()

    def _tell_judgement(self, told: JudgementReport, *, known: bool) -> None:
        before = f"{judged_before()}\n" if known else ""
        self.notify(before + judged_text(told), timeout=8, markup=False)

    def _not_judged(self, error: WorkbenchError) -> None:
        self._trial = None
        self.bench.show_error(error)
        self.relabel()
