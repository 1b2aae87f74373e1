"""The evaluation side of the desk: every front end reaches datasets, runs, labels, gates and decisions through it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal, TypeAlias

from workbench.answers.support import THRESHOLD_SETTING
from workbench.answers.weighing import threshold as stored_threshold
from workbench.errors import NotFoundError, UsageError
from workbench.evals.deciding.gates import check_gates
from workbench.evals.deciding.threshold import risk_coverage
from workbench.evals.formats.trec_run import run_text
from workbench.evals.judging.lab import JudgeLab
from workbench.evals.measuring.compare import beside_baseline, compare_runs, p_text
from workbench.evals.measuring.compare import verdict as verdict_text
from workbench.evals.measuring.scoring import HEADLINES, describe, make_report
from workbench.evals.reporting import reports
from workbench.evals.reporting.markup import Page, to_html, to_latex, to_markdown
from workbench.i18n import tr
from workbench.records.evals import (
    DecisionRecord,
    Gate,
    GateResult,
    GateSet,
    Run,
    RunComparison,
    RunReport,
    ThresholdPoint,
    Verdict,
)

ReportForm: TypeAlias = Literal["markdown", "html", "latex", "trec"]


class EvalLab(JudgeLab):
    """Datasets, runs, results, labels, gates, decisions of one file. Every method may be called from any thread.

    Long work (``run``, ``resume``, ``sweep``, ``judge``) is an iterator made for a worker thread; one runs at a time.
    """

    # -- reading runs ----------------------------------------------------------------------------------------------

    def report(self, run_id: int) -> RunReport:
        """The run in figures, with intervals and segments."""
        run = self.find_run(run_id)
        report = make_report(run, self.results(run_id), self._cases_of(run))
        beside = beside_baseline(run, self.baseline(run.config.dataset))
        return replace(report, warnings=(*report.warnings, *beside), judged=self.judgements(run_id))

    def compare(self, a: int, b: int) -> RunComparison:
        """Two runs of one dataset, paired case by case. Raises UsageError when they share no case."""
        runs = self.find_run(a), self.find_run(b)
        compared = compare_runs(runs[0], self.results(a), runs[1], self.results(b), self._cases_of(runs[1]))
        if runs[0].config.dataset != runs[1].config.dataset or not compared.paired:
            raise UsageError(
                tr("These runs can't be compared"),
                tr("Run {a} and run {b} have no case in common.", a=a, b=b),
                tr("Compare runs of one dataset."),
            )
        return compared

    def export_report(self, run_id: int, form: ReportForm = "markdown", against: int = 0) -> str:
        """The report as a text to hand on; in LaTeX, a table of its dataset's complete runs of its layer.

        In TREC's form, the run's rankings of documents for the tools that score them.

        Args:
            against: another run, whose comparison with this one the report has too; 0 for none.
        """
        if form == "trec":
            return run_text(self.results(run_id), f"workbench-{self.find_run(run_id).id}")
        report = self.report(run_id)
        if form == "latex":
            shown = report.run.config
            others = [r for r in self.runs(shown.dataset) if r.config.layer == shown.layer and r.status == "complete"]
            return to_latex(reports.ranking([report, *(self.report(r.id) for r in others if r.id != run_id)]))
        gates = [(one, check_gates(report, one)) for one in self._gates_for(report.run)]
        compared = self.compare(against, run_id) if against else None
        questions = {case.id: case.question for case in self.run_cases(run_id)}
        page = reports.report_page(report, self.results(run_id), gates, compared, questions, self.labels(run_id))
        return _written(page, form)

    def _gates_for(self, run: Run) -> Sequence[GateSet]:
        """The sets that were locked before the run, newest first; where there are none, the newest."""
        sets = self.gate_sets(run.config.dataset)
        return [one for one in sets if one.locked <= run.created] or sets[:1]

    def export_comparison(self, a: int, b: int, form: Literal["markdown", "html"] = "markdown") -> str:
        """The comparison as a text to hand on."""
        return _written(reports.comparison_page(self.compare(a, b)), form)

    def export_ranking(self, run_ids: Sequence[int], form: Literal["markdown", "latex"] = "markdown") -> str:
        """Runs in a table, the best on top. Raises NotFoundError."""
        table = reports.ranking([self.report(run_id) for run_id in run_ids])
        return to_latex(table) if form == "latex" else to_markdown(Page(tr("Runs side by side"), (table,)))

    def ladder(self, run_ids: Sequence[int]) -> tuple[RunComparison, ...]:
        """Each run against the one before it: what each rung of an ablation brings. Raises as ``compare``."""
        return tuple(self.compare(a, b) for a, b in pairwise(run_ids))

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

    def threshold(self, collection: str) -> float:
        """The τ that questions to the collection are held to when they bring none of their own."""
        return stored_threshold(self._store, collection)

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
        choice: str = "",
        criteria: Sequence[str] = (),
        sensitivity: Sequence[str] = (),
    ) -> DecisionRecord:
        """Stores a decision; without ``evidence`` its runs' main figures are written down, the newest locked gates that
        they don't pass, what weakens them, and how pairs compare.

        Raises:
            UsageError: it has no title or no reason.
            NotFoundError: no such run.
        """
        if not title.strip() or not reasons:
            raise UsageError(
                tr("Not a decision yet"), tr("A decision has a title and at least one reason."), tr("Say why.")
            )
        shown = tuple(evidence) or (*self._told(runs), *self._compared(runs))
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
            choice=choice,
            criteria=tuple(criteria),
            sensitivity=tuple(sensitivity),
        )
        return self._store.runs.put_decision(record)

    def _told(self, runs: Sequence[int]) -> Iterator[str]:
        """Each run's figures, then what speaks against them."""
        for run_id in runs:
            report = self.report(run_id)
            yield _figures(report)
            for gates in self.gate_sets(report.run.config.dataset)[:1]:
                yield f"#{run_id}: {reports.gates_text(gates, check_gates(report, gates))}"
            yield from (f"#{run_id}: {warning}" for warning in report.warnings)

    def _compared(self, runs: Sequence[int]) -> Iterator[str]:
        """A sentence for each run against the one before it, where they share cases, with what moved significantly."""
        for a, b in pairwise(runs):
            try:
                comparison = self.compare(a, b)
            except UsageError:
                continue
            cases = tr("{count} cases", count=f"{comparison.paired:,}")
            yield "; ".join([f"#{a} → #{b}: {verdict_text(comparison)} · {cases}", *_moved(comparison)])

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


def _moved(comparison: RunComparison) -> Iterator[str]:
    """The main figures that differ by more than chance: "MRR -0.159 [-0.231, -0.094], p < 0.001"."""
    for change in comparison.metrics:
        if change.significant and change.metric.startswith(HEADLINES):
            told = reports.difference_text(change)
            yield f"{describe(change.metric).title} {told}, {p_text(change.p_value)}"


def _written(page: Page, form: Literal["markdown", "html"]) -> str:
    return to_html(page) if form == "html" else to_markdown(page)


def _figures(report: RunReport) -> str:
    """ "#12 title (faq 1a2b3c4d5e6f): Recall@5 0.853 [0.790, 0.900] n=120; …"."""
    run, overall = report.run, report.overall.metrics
    parts = [
        f"{describe(name).title} {reports.estimate_text(name, overall[name])} n={overall[name].n}"
        for name in reports.headline_metrics(overall)
    ]
    dataset = f"{run.config.dataset} {run.dataset_hash[:12]}"
    return f"{reports.run_name(run)} ({dataset}): {'; '.join(parts)}"
