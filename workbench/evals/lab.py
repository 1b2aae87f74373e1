"""The evaluation side of the desk: every front end reaches datasets, runs, labels, gates and decisions through it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

from workbench.answers.ask import THRESHOLD_SETTING
from workbench.errors import Cancelled, NotFoundError, UsageError
from workbench.evals.collecting.lab import DatasetLab
from workbench.evals.deciding.gates import check_gates
from workbench.evals.deciding.threshold import risk_coverage
from workbench.evals.formats.trec import run_text
from workbench.evals.gold.whereabouts import GoldFinder, relevant
from workbench.evals.judging.judge import RUBRIC, Judge, summarise
from workbench.evals.measuring.compare import compare_runs
from workbench.evals.measuring.scoring import make_report
from workbench.evals.reporting import reports
from workbench.evals.running import failure
from workbench.evals.running.runner import EvalRunner, Runtimes
from workbench.i18n import tr
from workbench.ports import Cancel, Store
from workbench.records.answers import AskOptions
from workbench.records.evals import (
    Case,
    CaseResult,
    DecisionRecord,
    Gate,
    GateResult,
    GateSet,
    Judgement,
    JudgementReport,
    Label,
    Run,
    RunComparison,
    RunConfig,
    RunProgress,
    RunReport,
    ThresholdPoint,
    Verdict,
)
from workbench.records.retrieval import SearchOptions
from workbench.traces.autopsy import Coroner, fix_text
from workbench.traces.stages import final_hits

ReportForm: TypeAlias = Literal["markdown", "html", "latex", "trec"]


class EvalLab(DatasetLab):
    """Datasets, runs, results, labels, gates, decisions of one file. Every method may be called from any thread.

    Long work (``run``, ``resume``, ``sweep``) is an iterator made for a worker thread; one runs at a time.
    """

    def __init__(self, store: Store, runtimes: Runtimes) -> None:
        super().__init__(store, runtimes)
        self._runner = EvalRunner(store, runtimes)
        self._running = threading.Lock()
        # A report and a comparison read the same results: a thousand cases take half a second to decode.
        self._results = lru_cache(maxsize=2)(lambda run_id, _done, _passed: store.runs.results(run_id))

    # -- runs ------------------------------------------------------------------------------------------------------

    def runs(self, dataset: str = "") -> tuple[Run, ...]:
        """Newest first; every dataset's when ``dataset`` is ""."""
        return self._store.runs.runs(dataset)

    def find_run(self, run_id: int) -> Run:
        """Raises NotFoundError."""
        return self._store.runs.run(run_id)

    def run(self, config: RunConfig, cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """Runs a dataset; the first progress has the stored run, the last is ``finished``. Each case is committed.

        A cancelled run is ``stopped`` and can be resumed. The model of ``config`` replaces the desk's loaded one.

        Raises:
            UsageError: nothing to run, a layer that needs what isn't there, or another run is under way.
            NotFoundError: no such dataset or collection.
            FilterError: the filter can't be understood.
            EngineError: the model can't be loaded, or died too often (what was done is kept).
        """
        with self._alone():
            yield from self._runner.run(config, cancel)

    def resume(self, run_id: int, cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """Goes on at the first case without a result.

        Raises:
            UsageError: the dataset or something in the manifest has changed (it is named), or a process is at work on
                the run.
        """
        with self._alone():
            yield from self._runner.resume(run_id, cancel)

    def sweep(self, configs: Sequence[RunConfig], cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """Runs that differ in one variable, one after another; each ends with its own ``finished`` progress."""
        for config in configs:
            last: RunProgress | None = None
            for last in self.run(config, cancel):
                yield last
            if last is not None and last.cancelled:
                return

    def results(self, run_id: int) -> tuple[CaseResult, ...]:
        """In the dataset's order, as far as the run came. Raises NotFoundError."""
        run = self.find_run(run_id)
        return self._results(run_id, run.done, run.passed)

    def result(self, run_id: int, case_id: str) -> CaseResult:
        """Raises NotFoundError."""
        return self._store.runs.result(run_id, case_id)

    def run_cases(self, run_id: int) -> tuple[Case, ...]:
        """The dataset as it was when the run began; where gold was left out, its cases can't be answered."""
        return self._cases_of(self.find_run(run_id))

    def case(self, run_id: int, case_id: str) -> Case:
        """A case of a run. Raises NotFoundError."""
        found = next((case for case in self.run_cases(run_id) if case.id == case_id), None)
        if found is None:
            raise NotFoundError(tr("No such case"), tr("Run {run} has no case “{case}”.", run=run_id, case=case_id), "")
        return found

    def rerun(
        self,
        run_id: int,
        case_id: str,
        ask: AskOptions | None = None,
        search: SearchOptions | None = None,
        cancel: Cancel | None = None,
    ) -> CaseResult:
        """The case once more, with the run's settings or those given; the result isn't stored (its trace is).

        Raises:
            NotFoundError, UsageError, EngineError: as ``run``.
            Cancelled: ``cancel`` was set.
        """
        run = self.find_run(run_id)
        chosen = search or run.config.search
        config = replace(
            run.config,
            ask=ask or run.config.ask,
            search=replace(chosen, collection=chosen.collection or run.config.search.collection),
            limit=0,
            segment=None,
        )
        with self._alone():
            return self._runner.once(config, run, self.case(run_id, case_id), cancel)

    def autopsy(self, run_id: int, case_id: str) -> tuple[str, ...]:
        """The gold's rank at each stage (lexical, dense, fusion, context) and the stage that lost it, in lines.

        Where the case was asked and its trace is there, also the smallest changes that would have kept the gold.
        """
        case, result = self.case(run_id, case_id), self.result(run_id, case_id)
        return failure.autopsy(case, result, () if result.passed else self._kept_by(case, result))

    def _kept_by(self, case: Case, result: CaseResult) -> tuple[str, ...]:
        """What the trace's own autopsy finds for the gold."""
        if not result.trace_id:
            return ()
        try:
            trace = self._store.traces.trace(result.trace_id)
            searcher = self._runtimes.searcher()
            index = searcher.index(trace.manifest.collection)
            gold = GoldFinder(self._store, index).chunks(relevant(case))
            rank = {hit.chunk_id: hit.rank for hit in final_hits(trace)}
            best = min(gold, key=lambda chunk: rank.get(chunk.id, len(rank) + 1), default=None)
            return tuple(map(fix_text, Coroner(self._store, searcher, trace).examine(best.id).fixes)) if best else ()
        except (NotFoundError, UsageError):  # the trace, its collection or the chunk is gone: the result still stands
            return ()

    def set_baseline(self, run_id: int) -> Run:
        """Makes it its dataset's baseline, in place of the previous one."""
        return self._store.runs.set_baseline(run_id)

    def baseline(self, dataset: str) -> Run | None:
        """The dataset's baseline."""
        return next((run for run in self.runs(dataset) if run.baseline), None)

    def delete_run(self, run_id: int) -> None:
        """With its results and labels; traces stay."""
        self._store.runs.delete(run_id)

    # -- reading runs ----------------------------------------------------------------------------------------------

    def report(self, run_id: int) -> RunReport:
        """The run in figures, with intervals and segments."""
        run = self.find_run(run_id)
        report = make_report(run, self.results(run_id), self._cases_of(run))
        return replace(report, judged=self.judgements(run_id))

    def compare(self, a: int, b: int) -> RunComparison:
        """Two runs of one dataset, paired case by case. Raises UsageError when they share no case."""
        runs = self.find_run(a), self.find_run(b)
        compared = compare_runs(runs[0], self.results(a), runs[1], self.results(b))
        if runs[0].config.dataset != runs[1].config.dataset or not compared.paired:
            raise UsageError(
                tr("These runs can't be compared"),
                tr("Run {a} and run {b} have no case in common.", a=a, b=b),
                tr("Compare runs of one dataset."),
            )
        return compared

    def export_report(self, run_id: int, form: ReportForm = "markdown", gates: Sequence[GateResult] = ()) -> str:
        """The report as a text to hand on; in LaTeX, a table of all complete runs of its dataset, best first.

        In TREC's form, the run's rankings of documents for the tools that score them.
        """
        if form == "trec":
            return run_text(self.results(run_id), f"workbench-{self.find_run(run_id).id}")
        report, results = self.report(run_id), self.results(run_id)
        if form == "html":
            return reports.report_html(report, results, gates)
        if form == "markdown":
            return reports.report_markdown(report, results, gates)
        others = [r.id for r in self.runs(report.run.config.dataset) if r.status == "complete" and r.id != run_id]
        return reports.ranking_latex([report, *map(self.report, others)])

    def export_comparison(self, a: int, b: int, form: Literal["markdown", "html"] = "markdown") -> str:
        """The comparison as a text to hand on."""
        compared = self.compare(a, b)
        return reports.comparison_html(compared) if form == "html" else reports.comparison_markdown(compared)

    def ladder(self, run_ids: Sequence[int]) -> tuple[RunComparison, ...]:
        """Each run against the one before it: what each rung of an ablation brings. Raises as ``compare``."""
        return tuple(self.compare(a, b) for a, b in pairwise(run_ids))

    # -- labels ----------------------------------------------------------------------------------------------------

    def label(self, run_id: int, case_id: str, value: Literal[-1, 0, 1], note: str = "") -> Label:
        """A person's verdict on one result; the previous one is kept for undo. Raises NotFoundError."""
        given = Label(run_id, case_id, value, note, datetime.now(UTC))
        self._store.runs.put_label(given)
        return given

    def labels(self, run_id: int) -> tuple[Label, ...]:
        """The current one of each labelled case."""
        return self._store.runs.labels(run_id)

    def undo_label(self, run_id: int) -> Label | None:
        """Takes back the run's last label; returns it as it was, None when there is none."""
        return self._store.runs.undo_label(run_id)

    # -- judges ----------------------------------------------------------------------------------------------------

    def judge(
        self, run_id: int, rubric: str = RUBRIC, against: int = 0, cancel: Cancel | None = None
    ) -> Iterator[Judgement]:
        """Lets the loaded model judge a run's answers, alone or against another run's; grows case by case.

        The last one is stored, also when ``cancel`` is set or the judge dies half-way. Scores stay as they are.

        Raises:
            UsageError: no model is loaded, or there is no answer to judge.
            NotFoundError: no such run.
            EngineError: the judge is gone.
        """
        generator = self._runtimes.generator()
        if generator is None:
            raise UsageError(tr("No model is loaded"), tr("A judge is a language model."), tr("Name one with --model."))
        pairs = self._judged_pairs(run_id, against)
        file, judge = generator.model.file, Judge(generator, rubric)
        grown = Judgement(0, run_id, against, file.name, file.hash, judge.rubric, datetime.now(UTC))
        with self._alone():
            try:
                for case, one, other in pairs:
                    said = judge.between(case, one, other, cancel) if other else judge.alone(case, one, cancel)
                    grown = replace(grown, cases=(*grown.cases, said))
                    yield grown
            except Cancelled:
                pass
            finally:
                stored = self._store.runs.put_judgement(grown) if grown.cases else grown
        yield stored

    def judgements(self, run_id: int) -> tuple[JudgementReport, ...]:
        """What judges said of a run, newest first, with people's agreement as of now. Raises NotFoundError."""
        found, labels = self._store.runs.judgements(run_id), self.labels(run_id)
        return tuple(summarise(each, labels, self._labels_of(each.against)) for each in found)

    def _judged_pairs(self, run_id: int, against: int) -> list[tuple[Case, CaseResult, CaseResult | None]]:
        """The cases with an answer, in both runs when there are two. Raises UsageError, NotFoundError."""
        others = {r.case_id: r for r in self.results(against)} if against else {}
        cases = {case.id: case for case in self.run_cases(run_id)}
        found = [
            (cases[one.case_id], one, others.get(one.case_id))
            for one in self.results(run_id)
            if one.output and not one.error and one.case_id in cases
        ]
        if against:
            found = [(case, one, other) for case, one, other in found if other and other.output and not other.error]
        if not found:
            raise UsageError(
                tr("Nothing to judge"),
                tr("Run {id} has no answers.", id=run_id),
                tr("Judge a run of the layer generation, chain or model."),
            )
        return found

    def _labels_of(self, run_id: int) -> tuple[Label, ...]:
        """None where the run is gone, or none is meant."""
        return self.labels(run_id) if any(run.id == run_id for run in self.runs()) else ()

    # -- decide ----------------------------------------------------------------------------------------------------

    def gate_sets(self, dataset: str = "") -> tuple[GateSet, ...]:
        """Newest first."""
        return self._store.runs.gate_sets(dataset)

    def lock_gates(self, dataset: str, name: str, gates: Sequence[Gate]) -> GateSet:
        """Stores gates with the time; they can't be edited. Raises UsageError when the name is taken or none given."""
        if not gates or not name.strip():
            raise UsageError(
                tr("No gates"), tr("A set of gates has a name and at least one gate."), tr("E.g. recall@5 >= 0.85")
            )
        return self._store.runs.lock_gates(self.dataset(dataset).name, name, gates)

    def gate_set(self, dataset: str, name: str) -> GateSet:
        """Raises NotFoundError, naming those there are."""
        sets = self.gate_sets(dataset)
        found = next((one for one in sets if one.name == name), None)
        if found is None:
            raise NotFoundError(
                tr("No such gates"),
                tr("“{dataset}” has no gates called “{name}”.", dataset=dataset, name=name),
                tr("There are: {names}.", names=", ".join(one.name for one in sets))
                if sets
                else tr("Lock some: workbench eval gates lock"),
            )
        return found

    def check_gates(self, run_id: int, gates: str | Sequence[Gate]) -> tuple[GateResult, ...]:
        """A locked set by its name, or gates of the moment, against a run. Raises NotFoundError."""
        report = self.report(run_id)
        asked = self.gate_set(report.run.config.dataset, gates) if isinstance(gates, str) else gates
        return check_gates(report, asked)

    def threshold_curve(self, run_id: int) -> tuple[ThresholdPoint, ...]:
        """Coverage and risk at each τ, from a run of the generation or chain layer (best with τ = 0)."""
        run = self.find_run(run_id)
        return risk_coverage(self.results(run_id), self._cases_of(run))

    def choose_threshold(self, collection: str, threshold: float) -> None:
        """Stores τ for a collection: questions asked without a τ of their own use it from now on.

        Raises:
            NotFoundError: no such collection.
            UsageError: τ isn't between 0 and 1.
        """
        if not 0 <= threshold <= 1:
            raise UsageError(
                tr("Not a threshold"), tr("τ lies between 0 and 1, not at {value}.", value=threshold), tr("E.g. 0.6")
            )
        name = self._store.corpus.collection(collection).name
        self._store.settings.set(THRESHOLD_SETTING.format(collection=name), repr(float(threshold)))

    def decide(
        self,
        title: str,
        verdict: Verdict,
        runs: Sequence[int],
        *,
        context: str = "",
        options: Sequence[str] = (),
        reasons: Sequence[str] = (),
        evidence: Sequence[str] = (),
        conditions: str = "",
        review: str = "",
    ) -> DecisionRecord:
        """Stores a decision; without ``evidence`` the main figures of its runs are written down for it.

        Raises:
            UsageError: it has no title or no reason.
            NotFoundError: no such run.
        """
        if not title.strip() or not reasons:
            raise UsageError(
                tr("Not a decision yet"), tr("A decision has a title and at least one reason."), tr("Say why.")
            )
        shown = tuple(evidence) or tuple(_figures(self.report(run_id)) for run_id in runs)
        record = DecisionRecord(
            id=0,
            title=title,
            verdict=verdict,
            context=context,
            options=tuple(options),
            reasons=tuple(reasons),
            evidence=shown,
            runs=tuple(self.find_run(run_id).id for run_id in runs),
            conditions=conditions,
            review=review,
            created=datetime.now(UTC),
        )
        return self._store.runs.put_decision(record)

    def decisions(self) -> tuple[DecisionRecord, ...]:
        """Newest first."""
        return self._store.runs.decisions()

    def export_decision(self, decision_id: int) -> str:
        """As Markdown. Raises NotFoundError."""
        found = next((record for record in self.decisions() if record.id == decision_id), None)
        if found is None:
            raise NotFoundError(
                tr("No such decision"), tr("There is no decision {id}.", id=decision_id), tr("List them first.")
            )
        return reports.decision_markdown(found)

    # -- behind ----------------------------------------------------------------------------------------------------

    def _cases_of(self, run: Run) -> tuple[Case, ...]:
        cases = self._store.datasets.cases(run.config.dataset, run.dataset_hash)
        return tuple(replace(case, answerable=False) for case in cases) if run.config.exclude_gold else cases

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One run at a time: two would take each other's model away. Raises UsageError."""
        if not self._running.acquire(blocking=False):
            raise UsageError(
                tr("A run is under way"), tr("One evaluation runs at a time."), tr("Wait for it, or stop it first.")
            )
        try:
            yield
        finally:
            self._running.release()


def _figures(report: RunReport) -> str:
    """ "#12 title: recall@5 0.853 [0.790, 0.900] n=120; …"."""
    overall = report.overall.metrics
    parts = [
        f"{name} {reports.estimate_text(name, overall[name])} n={overall[name].n}"
        for name in reports.headline_metrics(overall)
    ]
    return f"{reports.run_name(report.run)}: {'; '.join(parts)}"
