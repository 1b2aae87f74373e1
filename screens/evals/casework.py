"""What is done with one case: stepping to it, labelling, running it again, looking into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from screens.dialogs import NoteDialog, PassageDialog
from screens.evals.browser import CaseBrowser
from screens.evals.decide import LabelDialog, Mark
from screens.evals.items import CaseItem
from screens.evals.reading import CaseView, read_case
from screens.evals.rerun import Again, DiffScreen, RerunDialog, read_choices
from screens.source import read_span, show_source
from screens.style import Line, Tone, content
from screens.widgets.answer import ROOMY, ledger
from screens.widgets.grid import Grid
from workbench.evals.reporting.naming import label_name
from workbench.i18n import tr
from workbench.records.answers import Prompt
from workbench.records.evals import CaseResult, Label, RunConfig
from workbench.traces.stages import stage

if TYPE_CHECKING:
    from workbench.ports import Cancel


class CaseWork(CaseBrowser):
    """Acts on the case under the cursor."""

    # -- stepping --------------------------------------------------------------------------------------------------

    def action_failure(self, step: int) -> None:
        """The nearest case that failed."""
        self.jump(lambda item: item.failed, step, tr("No other case failed."))

    def action_flip(self) -> None:
        """The next case that one of the two runs passed."""
        none = tr("No other case flipped.") if self.shown and self.shown.other else tr("Nothing is compared: c does.")
        self.jump(lambda item: bool(item.flip), 1, none)

    def action_unlabelled(self) -> None:
        """The next case that nobody has judged."""
        self.jump(lambda item: item.unlabelled, 1, tr("Every other case is labelled."))

    def action_disagreement(self) -> None:
        """The next case on which score, person and judges differ."""
        self.jump(lambda item: item.disagrees, 1, tr("No other case is disagreed on."))

    def action_case(self, step: int) -> None:
        """The next case of the list, whatever has the focus."""
        self.query_one("#cases-grid", Grid).action_move(step)

    # -- looking and judging -------------------------------------------------------------------------------------

    def with_result(self, act: Callable[[CaseItem, CaseResult], object]) -> None:
        """Acts on the result under the cursor, or says that there is none."""
        item = self.item
        if item and item.result:
            act(item, item.result)
        else:
            self.notify(tr("Put the cursor on a case that has a result."), timeout=3)

    def action_label(self, value: Mark) -> None:
        """Asks for a note, then labels."""
        self.with_result(lambda item, result: self._ask_label(item, result, value))

    def _ask_label(self, item: CaseItem, result: CaseResult, value: Mark) -> None:
        self.app.push_screen(
            LabelDialog(item.case.id, value, item.label),
            lambda note: None if note is None else self._label(result, value, note),
        )

    def _label(self, result: CaseResult, value: Mark, note: str) -> None:
        lab = self.desk.evals
        self.jobs.read(self, lambda: lab.label(result.run_id, result.case_id, value, note), lambda _: self.relabel())

    def action_undo(self) -> None:
        """Takes the run's last label back."""
        self.with_run(lambda _, run: self.jobs.read(self, lambda: self.desk.evals.undo_label(run.id), self._undone))

    def _undone(self, label: Label | None) -> None:
        if label is None:
            self.notify(tr("There is no label to take back."), timeout=3)
            return
        words = tr("Taken back: {case} {label}.", case=label.case_id, label=label_name(label.value))
        self.notify(words, timeout=4, markup=False)
        self.relabel()

    def action_autopsy(self) -> None:
        """Where the gold came at each stage."""
        self.with_result(self._autopsy)

    def _autopsy(self, item: CaseItem, result: CaseResult) -> None:
        self.jobs.open(
            self,
            lambda: self.desk.evals.autopsy(result.run_id, result.case_id),
            lambda lines: self.app.push_screen(
                NoteDialog(tr("Autopsy of {case}", case=item.case.id), content(*autopsy_lines(lines)))
            ),
        )

    async def action_trace(self) -> None:
        """The case's trace in Ask; where its run left none, its question, asked in the collection that it is about."""
        item, view = self.item, self.shown
        if item is None or view is None:
            return
        if item.case.expectation is not None:
            self.notify(tr("A model task has no trace: its prompt is the question here."), timeout=4)
            return
        collection = view.run.manifest.collection if view.run else view.dataset.collection
        if item.result and item.result.trace_id:
            await self.bench.show_trace(item.result.trace_id, "")
        elif self.bench.status and self.bench.status.collection == collection:
            await self.bench.show_trace("", item.case.question)
        else:
            self.jobs.read(
                self,
                lambda: self.desk.choose_collection(collection),
                lambda _: self._ask_there(collection, item.case.question),
            )

    def _ask_there(self, collection: str, question: str) -> None:
        self.bench.changed()
        self.notify(tr("“{name}” is the chosen collection now.", name=collection), timeout=4, markup=False)
        self.call_later(self.bench.show_trace, "", question)

    def action_prompt(self) -> None:
        """What the model was sent, the template's own marks included."""
        self.with_result(lambda item, _: self.jobs.open(self, lambda: read_case(self.desk, item), self._show_prompt))

    def _show_prompt(self, view: CaseView) -> None:
        case, sent = view.item.case, stage(view.trace, "prompt", Prompt) if view.trace else None
        words = case.question if case.expectation else sent.words if sent else ""
        if not words:
            self.notify(tr("No model was asked: there is no prompt."), timeout=4)
            return
        told = (
            tr("the question; the model's template goes around it") if case.expectation else ledger(view.trace, ROOMY)
        )
        self.app.push_screen(PassageDialog(tr("Prompt of {case}", case=case.id), words, subtitle=told))

    def action_source(self) -> None:
        """The first gold passage in its document."""
        item, view = self.item, self.shown
        if view is None or item is None or not item.case.gold:
            self.notify(tr("This case has no gold passage."), timeout=3)
            return
        gold, collection = item.case.gold[0], view.dataset.collection

        def read() -> str:
            return next((d.id for d in self.desk.documents(collection) if d.source_id == gold.source_id), "")

        def show(document_id: str) -> None:
            if document_id:
                span = (document_id, gold.start, gold.end)
                self.jobs.open(self, lambda: read_span(self.desk, *span), lambda source: show_source(self, source))
            else:
                self.notify(tr("{name} is not in this collection.", name=gold.source_id), markup=False)

        self.jobs.open(self, read, show)

    def action_rerun(self) -> None:
        """Asks with which settings, then shows what changed."""
        self.with_result(self._ask_rerun)

    def _ask_rerun(self, item: CaseItem, result: CaseResult) -> None:
        run = self.known_run(result.run_id)
        if run:
            search, ask = self.bench.ask_settings
            self.jobs.open(
                self,
                lambda: read_choices(self.desk, run.config, search, ask),
                lambda choices: self.app.push_screen(
                    RerunDialog(item.case.id, choices),
                    lambda config: self._rerun(result, run.config, config) if config else None,
                ),
            )

    def _rerun(self, result: CaseResult, before: RunConfig, config: RunConfig) -> None:
        def call(cancel: Cancel) -> Iterator[CaseResult]:
            yield self.desk.evals.rerun(result.run_id, result.case_id, config, cancel)

        def show(after: CaseResult | None) -> None:
            if after:
                self.app.push_screen(DiffScreen(Again(result, after, before, config)), self._open_trace)

        self.jobs.run(self, tr("rerun"), call, then=show)

    async def _open_trace(self, trace_id: str | None) -> None:
        if trace_id:
            await self.bench.show_trace(trace_id, "")


def autopsy_lines(lines: Sequence[str]) -> list[Line]:
    """The autopsy's sentences, its advice in the accent."""
    return [
        (("\n\n" if number else "") + line, Tone.ACCENT if line.startswith("→") else Tone.PLAIN)
        for number, line in enumerate(lines)
    ]
