"""What is handed on: a run, a comparison, a decision, as Markdown or HTML; rankings of runs as LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby
from typing import Final

from workbench.evals.deciding.gates import GateState, gate_state, gate_text, written_late
from workbench.evals.measuring.compare import p_text, verdict
from workbench.evals.measuring.scoring import HEADLINES, describe
from workbench.evals.measuring.standings import family, own_metric, standings, verdict_of
from workbench.evals.measuring.statistics import KAPPA_CASES, open_ended
from workbench.evals.reporting.markup import (
    Block,
    Bullets,
    Heading,
    Page,
    Paragraph,
    Table,
    to_markdown,
)
from workbench.evals.reporting.naming import label_name, layer_title, run_words
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.records.evals import (
    CaseResult,
    DecisionRecord,
    Estimate,
    FailureStage,
    GateResult,
    GateSet,
    JudgementReport,
    Label,
    MetricChange,
    Run,
    RunComparison,
    RunReport,
    Segment,
    Verdict,
)
from workbench.sqltools.taxonomy import fault_name

_MOST_OF_AN_ANSWER: Final = 300  # characters of it in a table

_STAGES: Final[dict[FailureStage, str]] = {
    "": "passed",
    "not_in_corpus": "not in corpus",
    "not_ingested": "not ingested",
    "filtered_out": "filtered out",
    "not_retrieved": "not retrieved",
    "cut": "retrieved but cut",
    "truncated": "truncated",
    "ignored": "in context but ignored",
    "unsupported": "unsupported",
    "miscited": "miscited",
    "wrong_answer": "wrong answer",
    "should_have_abstained": "should have abstained",
    "abstained_needlessly": "abstained needlessly",
    "wrong_format": "wrong format",
    "engine_error": "engine error",
    "broken_case": "broken case",
}
_VERDICTS: Final[dict[Verdict, str]] = {
    "pass": "pass",
    "stop": "stop",
    "change": "change",
    "measure_more": "measure more",
}


def stage_title(stage: FailureStage) -> str:
    """A failure stage in the interface's language."""
    return tr(_STAGES[stage])


def verdict_title(verdict: Verdict) -> str:
    """A decision's verdict in the interface's language."""
    return tr(_VERDICTS[verdict])


def run_name(run: Run) -> str:
    """A run's number, then its title or what tells it from others."""
    return f"#{run.id} {run_words(run)}"


def estimate_text(name: str, estimate: Estimate) -> str:
    """A metric's value with its interval: "0.853 [0.790, 0.900]"; "266 ms [204, ∞)" where it has no upper bound."""
    return f"{value_text(name, estimate)} {interval_text(name, estimate)}"


def value_text(name: str, estimate: Estimate) -> str:
    """The value alone: "0.853", "≈ 389" where it is made of estimated tokens."""
    return ("≈ " if estimate.estimated else "") + describe(name).text(estimate.value)


def interval_text(name: str, estimate: Estimate) -> str:
    """The interval alone: "[0.790, 0.900]", "[204, ∞)"."""
    shown = describe(name)
    high = "∞)" if open_ended(estimate) else f"{shown.number(estimate.high)}]"
    return f"[{shown.number(estimate.low)}, {high}"


def difference_text(change: MetricChange) -> str:
    """B less A with its interval: "+0.013 [-0.004, +0.030]"."""
    shown, found = describe(change.metric), change.difference
    low = "(-∞" if math.isinf(found.low) else f"[{_signed(found.low)}{shown.number(found.low)}"
    high = "+∞)" if open_ended(found) else f"{_signed(found.high)}{shown.number(found.high)}]"
    return f"{'≈ ' if found.estimated else ''}{_signed(found.value)}{shown.text(found.value)} {low}, {high}"


def _signed(value: float) -> str:
    """The sign that numbers don't bring along."""
    return "+" if value >= 0 else ""


def gates_text(gates: GateSet, results: Sequence[GateResult]) -> str:
    """Gates in a sentence: "the gates “release” fail; recall@5 >= 0.85: 0.711 (n = 40) misses 0.850."."""
    lacking = [f"{gate_text(result.gate)}: {result.reason}" for result in results if not result.passed]
    states: dict[GateState, str] = {
        "passed": tr("the gates “{name}” are passed", name=gates.name),
        "failed": tr("the gates “{name}” fail", name=gates.name),
        "not judged": tr("the gates “{name}” don't judge it", name=gates.name),
    }
    late = any(result.written == "after" for result in results)
    told = [tr("locked after the run began: passing them proves nothing")] if late else []
    return "; ".join([states[gate_state(results)], *told, *lacking])


def counted_text(name: str, estimate: Estimate, cases: int) -> str:
    """The same with its own n where that isn't the row's: "0.853 [0.790, 0.900] n=40"."""
    told = estimate_text(name, estimate)
    return told if estimate.n == cases else f"{told} n={estimate.n:,}"


def judged_text(told: JudgementReport) -> str:
    """A judge's figure, what it left unscored, and never without people's agreement with it."""
    judgement, share = told.judgement, told.share
    name = tr("better than #{run}", run=judgement.against) if judgement.against else tr("judged right")
    parts = [
        tr("judge {model}", model=judgement.model),
        f"{name} {_share_text(share)}" if share else tr("{name}: no verdict", name=name),
        tr("{n} ties", n=told.ties) if told.ties else "",
        tr("{n} unscored", n=told.unscored),
        tr("{n} abstentions not judged: the scores count them", n=told.abstained) if told.abstained else "",
        tr("people agree {share}, κ {kappa}", share=_share_text(told.agreement), kappa=_kappa(told))
        if told.agreement
        else tr("no labels to hold it against: it proves nothing yet"),
    ]
    return " · ".join(part for part in parts if part)


def _share_text(share: Estimate) -> str:
    return f"{_interval(share)} n={share.n}"


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def _kappa(told: JudgementReport) -> str:
    if told.kappa:
        return _interval(told.kappa)
    return no_kappa(told.agreement.n if told.agreement else 0)


def no_kappa(n: int) -> str:
    """Why n cases that two raters have in common make no κ."""
    return tr("too few labels") if n < KAPPA_CASES else tr("not defined: one side gave one verdict only")


def headline_metrics(metrics: Mapping[str, Estimate], most: int = 6) -> tuple[str, ...]:
    """The metrics that a narrow table shows first."""
    return tuple(name for start in HEADLINES for name in metrics if name.startswith(start))[:most]


def report_page(
    report: RunReport,
    results: Sequence[CaseResult] = (),
    gates: Sequence[tuple[GateSet, Sequence[GateResult]]] = (),
    comparison: RunComparison | None = None,
    questions: Mapping[str, str] | None = None,
    labels: Sequence[Label] = (),
) -> Page:
    """A run's report, to be written as Markdown or HTML.

    Args:
        results: the cases that failed are listed, with their ``questions`` by id, and those that a person labelled.
        gates: locked sets, and how the run fares by them.
        comparison: with another run; it follows the run's own figures.
    """
    blocks: list[Block] = [Bullets(_facts(report.run))]
    blocks += _warned(report.warnings)
    for locked, checked in gates:
        blocks += _gate_blocks(locked, checked, report.run)
    blocks += [Heading(tr("Metrics")), _metric_table(report.overall)]
    if report.judged:
        blocks += [Heading(tr("Judged by a model")), Bullets(tuple(map(judged_text, report.judged)))]
    if report.failures:
        rows = tuple((_stage(stage), str(count)) for stage, count in report.failures.items())
        blocks += [Heading(tr("Where cases fail")), Table((tr("Stage"), tr("Cases")), rows, (1,))]
    if report.faults:
        rows = tuple((fault_name(fault), str(count)) for fault, count in report.faults.items())
        blocks += [Heading(tr("What is wrong in queries")), Table((tr("Part"), tr("Cases")), rows, (1,))]
    for field, members in groupby(report.segments[1:], key=lambda segment: segment.field):
        blocks += [Heading(tr("By {field}", field=tr(field))), _segment_table(report.overall, list(members))]
    if comparison:
        page = comparison_page(comparison)
        blocks += [Heading(page.title), *(replace(b, level=3) if isinstance(b, Heading) else b for b in page.blocks)]
    failed = [r for r in results if r.passed is False]
    if failed:
        blocks += [Heading(tr("Failed cases")), _failure_table(failed, questions or {})]
    if labels:
        blocks += [Heading(tr("Labels")), _label_table(labels, results)]
    return Page(f"{tr('Run')} {run_name(report.run)}", (*blocks, *_manifest(report.run)))


def ranking(reports: Sequence[RunReport]) -> Table:
    """Runs as rows, the best by the first metric on top, with what its intervals say below.

    Runs of other cases come after them, unranked, the most cases first; runs without that metric last.
    """
    found = standings(reports, next(iter(_columns(reports)), ""))

    def place(at: int) -> tuple[bool, bool, float]:
        one = found[at]
        if one.estimate is None or one.unranked:
            return one.estimate is None, one.unranked, -one.estimate.n if one.estimate else 0.0
        return False, False, one.estimate.value * (-1 if describe(one.name).higher_is_better else 1)

    order = sorted(range(len(reports)), key=place)
    return replace(runs_table([reports[at] for at in order]), note=verdict_of(found))


def runs_table(reports: Sequence[RunReport]) -> Table:
    """The same in the order given: "–" is where a run has no such figure; each has its own k at "@k"."""
    columns = _columns(reports)
    rows = tuple(
        (run_name(r.run), f"{r.overall.cases:,}", *_cells(r.overall, [own_metric(r, column) for column in columns]))
        for r in reports
    )
    titles = (_column_title({own_metric(r, column) for r in reports} - {""}) for column in columns)
    head = (tr("Run"), "n", *titles)
    return Table(head, rows, tuple(range(1, len(head))))


def _columns(reports: Sequence[RunReport], most: int = 6) -> tuple[str, ...]:
    """Families of the runs' headline metrics: the first one, then rather those in which the runs differ."""
    metrics = [report.overall.metrics for report in reports]
    names = [name for start in HEADLINES for found in metrics for name in found if name.startswith(start)]
    values: dict[str, set[float]] = {}
    for column in dict.fromkeys(map(family, names)):
        own = (report.overall.metrics.get(own_metric(report, column)) for report in reports)
        values[column] = {found.value if found else math.nan for found in own}
    kept = [*list(values)[:1], *sorted(list(values)[1:], key=lambda column: len(values[column]) == 1)][:most]
    return tuple(column for column in values if column in kept)


def _column_title(names: Set[str]) -> str:
    title, at, k = describe(min(names)).title.partition("@")
    return title + at + (k if len(names) == 1 else "k" if at else "")


def decision_markdown(decision: DecisionRecord) -> str:
    """A decision record: what was decided, on which runs and figures, and what would change it."""
    lists = (
        (tr("Criteria"), decision.criteria),
        (tr("Options"), decision.options),
        (tr("Sensitivity"), decision.sensitivity),
        (tr("Reasons"), decision.reasons),
        (tr("Evidence"), decision.evidence),
        (tr("Runs"), tuple(f"#{run}" for run in decision.runs)),
    )
    texts = ((tr("Conditions"), decision.conditions), (tr("Review"), decision.review))
    chosen = tr("Choice"), decision.choice
    what, how = chosen if decision.choice else (tr("Verdict"), verdict_title(decision.verdict))
    blocks: list[Block] = [Bullets((f"{what}: {how}", f"{tr('Date')}: {decision.created:%Y-%m-%d %H:%M}"))]
    if decision.context:
        blocks += [Heading(tr("Context")), Paragraph(decision.context)]
    for title, items in lists:
        blocks += [Heading(title), Bullets(items)] if items else []
    for title, text in texts:
        blocks += [Heading(title), Paragraph(text)] if text else []
    return to_markdown(Page(decision.title, tuple(blocks)))


def comparison_page(comparison: RunComparison) -> Page:
    """Two runs side by side, with the lists of cases fixed and broken, to be written as Markdown or HTML."""
    c = comparison
    blocks: list[Block] = [
        Paragraph(f"{verdict(c)}."),
        Bullets((f"A: {run_name(c.a)}", f"B: {run_name(c.b)}", f"{tr('Paired cases')}: {c.paired}")),
        *_warned(c.warnings),
        Heading(tr("What differs")),
        Bullets(c.differs or (tr("nothing"),)),
        Heading(tr("Metrics")),
        Table(
            (tr("Metric"), "A", "B", "B − A", "n", "p", tr("Test")),
            tuple(_change_row(change) for change in c.metrics),
            (1, 2, 3, 4, 5),
        ),
    ]
    if c.segments:
        blocks += [Heading(tr("Segments")), _moved_table(c)]
    for title, cases in ((tr("Fixed"), c.fixed), (tr("Broken"), c.broken)):
        if cases:
            blocks += [Heading(f"{title} ({len(cases)})"), Bullets(cases)]
    return Page(f"{run_name(c.a)} → {run_name(c.b)}", tuple(blocks))


def _facts(run: Run) -> tuple[str, ...]:
    facts = {
        tr("Dataset"): f"{run.config.dataset} ({run.dataset_hash[:12]})",
        tr("Layer"): layer_title(run.config.layer),
        tr("Cases"): f"{run.done} / {run.total}",
        tr("Date"): f"{run.created:%Y-%m-%d %H:%M}",
        tr("Model"): run.manifest.model,
        tr("Embedder"): run.manifest.embedder,
        tr("Recipe"): run.manifest.recipe,
    }
    return tuple(f"{name}: {value}" for name, value in facts.items() if value)


def _warned(warnings: Sequence[str]) -> list[Block]:
    return [Heading(tr("Mind")), Bullets(tuple(warnings))] if warnings else []


def _metric_table(segment: Segment) -> Table:
    rows = tuple(
        (
            describe(name).title,
            value_text(name, e),
            interval_text(name, e),
            str(e.n),
            tr(e.method),
        )
        for name, e in segment.metrics.items()
    )
    return Table((tr("Metric"), tr("Value"), "95 %", "n", tr("Interval")), rows, (1, 2, 3))


def _segment_table(overall: Segment, members: Sequence[Segment]) -> Table:
    names = headline_metrics(overall.metrics)
    rows = tuple((s.value, str(s.cases), *_cells(s, names)) for s in members)
    head = (tr("Segment"), "n", *(describe(name).title for name in names))
    return Table(head, rows, tuple(range(1, len(head))))


def _cells(segment: Segment, names: Iterable[str]) -> tuple[str, ...]:
    found = segment.metrics
    return tuple(counted_text(name, found[name], segment.cases) if name in found else "–" for name in names)


def _gate_blocks(locked: GateSet, checked: Sequence[GateResult], run: Run) -> list[Block]:
    """A locked set with its time, what weakens it, and each gate."""
    when = tr("locked {when}", when=f"{locked.locked:%Y-%m-%d %H:%M}")
    late = written_late(locked, run)
    told = [Paragraph(late)] if late else []
    return [Heading(f"{tr('Gates')}: {locked.name}, {when}"), *told, _gate_table(checked)]


def _gate_table(gates: Sequence[GateResult]) -> Table:
    rows = tuple(
        (gate_text(g.gate), tr("passes") if g.passed else tr("fails"), g.reason, g.gate.protects) for g in gates
    )
    return Table((tr("Gate"), tr("Result"), tr("Why"), tr("Protects")), rows)


def _failure_table(failed: Sequence[CaseResult], questions: Mapping[str, str]) -> Table:
    rows = tuple(
        (
            r.case_id,
            questions.get(r.case_id, ""),
            _beginning(r.output),
            _stage(r.failure),
            retold(r.reason) or r.error,
            retold(r.advice),
        )
        for r in failed
    )
    return Table((tr("Case"), tr("Question"), tr("Answer"), tr("Stage"), tr("Why"), tr("Try first")), rows)


def _label_table(labels: Sequence[Label], results: Sequence[CaseResult]) -> Table:
    """What people said of results, beside what the scores say."""
    scored = {r.case_id: _stage(r.failure) for r in results if r.failure or r.passed}
    rows = tuple(
        (one.case_id, label_name(one.value), scored.get(one.case_id, tr("unscored")), one.note) for one in labels
    )
    return Table((tr("Case"), tr("Label"), tr("Score"), tr("Note")), rows)


def _beginning(text: str) -> str:
    return text if len(text) <= _MOST_OF_AN_ANSWER else text[:_MOST_OF_AN_ANSWER].rstrip() + "…"


def _change_row(change: MetricChange) -> tuple[str, ...]:
    return (
        describe(change.metric).title,
        estimate_text(change.metric, change.a),
        estimate_text(change.metric, change.b),
        difference_text(change),
        str(change.difference.n),
        p_text(change.p_value).removeprefix("p ").removeprefix("= "),
        tr(change.test),
    )


def _moved_table(comparison: RunComparison) -> Table:
    """Which segment moved: its flips, and the difference in cases passed."""
    rows = []
    for s in comparison.segments:
        passed = next((change for change in s.metrics if change.metric == "pass_rate"), None)
        moved = difference_text(passed) if passed else "–"
        rows.append((f"{tr(s.field)}: {s.value}", str(s.paired), str(s.fixed), str(s.broken), moved, p_text(s.p_value)))
    head = (tr("Segment"), "n", tr("Fixed"), tr("Broken"), f"{describe('pass_rate').title}: B − A", "McNemar")
    return Table(head, tuple(rows), (1, 2, 3, 4))


def _stage(stage: str) -> str:
    known: Mapping[str, str] = {str(name): title for name, title in _STAGES.items()}
    return tr(known[stage]) if stage in known else stage


def _manifest(run: Run) -> tuple[Block, ...]:
    m = run.manifest
    facts: dict[str, object] = {
        "workbench": m.workbench,
        "collection": f"{m.collection} v{m.collection_version}",
        "index": m.index_id,
        "embedder": f"{m.embedder} {m.embedder_fingerprint}".strip(),
        "model": f"{m.model} {m.model_hash}".strip(),
        **m.settings,
        **m.versions,
    }
    rows = tuple((name, str(value)) for name, value in facts.items() if str(value))
    return (Heading(tr("Manifest")), Table((tr("Field"), tr("Value")), rows))
