"""What the Evals screen reads, in worker threads: the lists, a run whole, one case with its texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from screens.evals.items import CaseItem
from workbench.errors import NotFoundError, WorkbenchError
from workbench.evals.deciding.gates import GateState, gate_state
from workbench.evals.measuring.segments import segments_of
from workbench.evals.measuring.statistics import Agreement, agreement
from workbench.records.answers import Trace
from workbench.records.cases import Case, Dataset, GoldSpan
from workbench.records.corpus import Document
from workbench.records.evals import (
    CaseResult,
    GateSet,
    JudgedCase,
    JudgementReport,
    Ranked,
    Run,
    RunComparison,
    RunReport,
)

if TYPE_CHECKING:
    from workbench.desk import Desk

RANKS: Final = 10
"""Results that a case shows; gold and what reached the context are shown wherever they stand."""
JUDGES: Final = 3
"""Judgements that a case and the figures show; the list of them has all."""


@dataclass(frozen=True, slots=True)
class Lists:
    """Datasets by name, all runs newest first, each dataset's newest locked gates, and how many candidates wait."""

    datasets: tuple[Dataset, ...]
    runs: tuple[Run, ...]
    gates: Mapping[str, GateSet]
    waiting: Mapping[str, int] = field(default_factory=dict)


def read_lists(desk: Desk) -> Lists:
    """What the left side lists."""
    lab = desk.evals
    gates = {found.dataset: found for found in reversed(lab.gate_sets())}
    datasets = lab.datasets()
    return Lists(datasets, lab.runs(), gates, {d.name: len(lab.review(d.name).waiting()) for d in datasets})


MarkKey = tuple[int, int, int]
"""Run, cases done, and set of gates: what a mark was made of."""


def read_gate_marks(desk: Desk, lists: Lists, known: Mapping[MarkKey, GateState]) -> dict[MarkKey, GateState]:
    """How each complete run fares by its dataset's newest locked gates; what is known is not checked again."""
    marks: dict[MarkKey, GateState] = {}
    for run in lists.runs:
        gates = lists.gates.get(run.config.dataset)
        if gates and run.status == "complete":
            key = run.id, run.done, gates.id
            marks[key] = known[key] if key in known else gate_state(desk.evals.check_gates(run.id, gates.name))
    return marks


@dataclass(frozen=True, slots=True)
class RunView:
    """A dataset, or one of its runs with all that is said about it.

    Attributes:
        run: None for the dataset alone; ``other``: the run it is compared with.
        report, comparison: None until they are worked out, and while there is nothing to work out.
        agreement: of labels with scores, None where there are none of both; ``cautions``: about a dataset alone.
        judged: what judges said of the run, newest first; ``waiting``: candidates for the dataset alone.
    """

    dataset: Dataset
    items: tuple[CaseItem, ...]
    run: Run | None = None
    other: Run | None = None
    report: RunReport | None = None
    comparison: RunComparison | None = None
    agreement: Agreement | None = None
    cautions: tuple[str, ...] = ()
    judged: tuple[JudgementReport, ...] = ()
    waiting: int = 0


def read_dataset(desk: Desk, dataset: Dataset) -> RunView:
    """A dataset's cases as they stand, and what weakens it before anything runs."""
    lab = desk.evals
    items = tuple(CaseItem(c, dataset.collection, segments=segments_of(c)) for c in lab.cases(dataset.name))
    waiting = len(lab.review(dataset.name).waiting())
    return RunView(dataset, items, cautions=lab.cautions(dataset.name), waiting=waiting)


def read_run(desk: Desk, dataset: Dataset, run_id: int, other_id: int = 0) -> RunView:
    """A run's cases and labels, beside those of another run when ``other_id`` isn't 0. Raises NotFoundError."""
    lab = desk.evals
    run = lab.find_run(run_id)
    results = {r.case_id: r for r in lab.results(run_id)}
    others = {r.case_id: r for r in lab.results(other_id)} if other_id else {}
    labels = {label.case_id: label for label in lab.labels(run_id)}
    found = lab.judgements(run_id)
    said = verdicts(found)
    items = tuple(
        CaseItem(
            c,
            dataset.collection,
            results.get(c.id),
            others.get(c.id),
            labels.get(c.id),
            segments_of(c),
            said.get(c.id, ()),
        )
        for c in lab.run_cases(run_id)
        if c.id in results or run.status == "running"
    )
    other = lab.find_run(other_id) if results.keys() & others.keys() else None
    return RunView(dataset, items, run, other, agreement=_agreement(items), judged=found)


def verdicts(found: Sequence[JudgementReport]) -> dict[str, tuple[tuple[str, JudgedCase], ...]]:
    """Case → what each of the newest ``JUDGES`` judges said of it, by its model and the run that it compared with."""
    said: dict[str, tuple[tuple[str, JudgedCase], ...]] = {}
    for judgement in (told.judgement for told in found[:JUDGES]):
        judge = judgement.model + (f" ⇄ #{judgement.against}" if judgement.against else "")
        for case in judgement.cases:
            said[case.case_id] = (*said.get(case.case_id, ()), (judge, case))
    return said


def read_figures(desk: Desk, view: RunView) -> RunView:
    """The same view with its report and comparison: a second or two over a thousand cases, for the intervals."""
    run, other = view.run, view.other
    if run is None or not run.done:
        return view
    comparison = desk.evals.compare(other.id, run.id) if other else None
    return replace(view, report=desk.evals.report(run.id), comparison=comparison)


def read_labels(desk: Desk, view: RunView) -> RunView:
    """The same run with its labels and judges as they are now."""
    if view.run is None:
        return view
    labels = {label.case_id: label for label in desk.evals.labels(view.run.id)}
    found = desk.evals.judgements(view.run.id)
    said = verdicts(found)
    items = tuple(
        replace(item, label=labels.get(item.case.id), judged=said.get(item.case.id, ())) for item in view.items
    )
    return replace(view, items=items, agreement=_agreement(items), judged=found)


def _agreement(items: Sequence[CaseItem]) -> Agreement | None:
    pairs = [
        (item.label.value > 0, item.result.passed)
        for item in items
        if item.label and item.label.value and item.result and item.result.passed is not None
    ]
    return agreement([person for person, _ in pairs], [score for _, score in pairs]) if pairs else None


@dataclass(frozen=True, slots=True)
class Passage:
    """A gold span with its text as the source has it, "" when the source isn't in the collection."""

    gold: GoldSpan
    text: str = ""
    document_id: str = ""


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case with the texts behind its spans and ids.

    Attributes:
        ranked: the results worth showing; ``texts``: chunk id → how its text begins.
    """

    item: CaseItem
    gold: tuple[Passage, ...] = ()
    ranked: tuple[Ranked, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    trace: Trace | None = None


def read_case(desk: Desk, item: CaseItem) -> CaseView:
    """The case, its gold's texts, its results' beginnings and its trace; what is gone from the file is left out."""
    result = item.result
    documents = _read_documents(desk, item.collection, item.case)
    ranked = worth_showing(result.ranked) if result else ()
    return CaseView(
        item=item,
        gold=tuple(_read_passage(desk, gold, documents.get(gold.source_id)) for gold in item.case.gold),
        ranked=ranked,
        texts={r.chunk_id: _read_beginning(desk, r.chunk_id) for r in ranked},
        trace=_read_trace(desk, result),
    )


def worth_showing(ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """The first ranks, all gold, and all that reached the context or was cut on the way."""
    return tuple(r for r in ranked if r.rank <= RANKS or r.grade or r.evidence or r.dropped)


def _read_documents(desk: Desk, collection: str, case: Case) -> dict[str, Document]:
    if not case.gold:
        return {}
    wanted = {gold.source_id for gold in case.gold}
    return {d.source_id: d for d in desk.documents(collection) if d.source_id in wanted}


def _read_passage(desk: Desk, gold: GoldSpan, document: Document | None) -> Passage:
    if document is None:
        return Passage(gold)
    text = desk.document_text(document.id)[gold.start : gold.end] if gold.end else ""
    return Passage(gold, text, document.id)


def _read_beginning(desk: Desk, chunk_id: str) -> str:
    try:
        return " ".join(desk.chunk(chunk_id).text[:200].split())
    except NotFoundError:
        return ""


def _read_trace(desk: Desk, result: CaseResult | None) -> Trace | None:
    if result is None or not result.trace_id:
        return None
    try:
        return desk.trace(result.trace_id)
    except WorkbenchError:
        return None
