"""Records of evaluation: runs and their results, labels, gates, comparisons, decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from workbench.records.answers import Answer, AskOptions, Manifest
from workbench.records.cases import RowProblem
from workbench.records.models import LoadSettings
from workbench.records.retrieval import SearchOptions
from workbench.records.sql import SqlFault

Layer: TypeAlias = Literal["retrieval", "generation", "chain", "model"]
RunStatus: TypeAlias = Literal["running", "interrupted", "stopped", "complete"]
FailureStage: TypeAlias = Literal[
    "",
    "not_in_corpus",
    "not_ingested",
    "filtered_out",
    "not_retrieved",
    "cut",
    "truncated",
    "ignored",
    "unsupported",
    "miscited",
    "wrong_answer",
    "should_have_abstained",
    "abstained_needlessly",
    "wrong_format",
    "engine_error",
    "broken_case",
]
JudgedVerdict: TypeAlias = Literal["", "right", "wrong", "better", "worse", "tie"]
Comparison: TypeAlias = Literal[">=", "<="]
Verdict: TypeAlias = Literal["pass", "stop", "change", "measure_more"]


@dataclass(frozen=True, slots=True)
class Prices:
    """What a run's work costs, in any one currency; all 0 when it isn't counted.

    Attributes:
        input, output: of a million tokens; hour: of an hour in which the machine works on cases (with a machine that
            idles, its price divided by the share of time it is used).
    """

    input: float = 0.0
    output: float = 0.0
    hour: float = 0.0


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything a person chooses for a run.

    Attributes:
        layer: "retrieval" (no model), "generation" (answer from the gold passages), "chain" (the whole product),
            "model" (model tasks, no corpus).
        model: path of a GGUF file, "" for extractive answers; ``load``: how it is loaded.
        index: number of one of the collection's indexes, 0 for the current one: another recipe, embedder or form.
        depth: ranks kept and scored; ``k``: the cut of the @k metrics.
        limit: first so many cases, 0 for all; ``segment``: only cases whose field has the value ("type", "table").
        exclude_gold: leave the gold's documents out, so that every case is unanswerable (by a filter on source_id).
    """

    dataset: str
    layer: Layer = "retrieval"
    search: SearchOptions = field(default_factory=SearchOptions)
    ask: AskOptions = field(default_factory=AskOptions)
    model: str = ""
    depth: int = 100
    k: int = 5
    limit: int = 0
    segment: tuple[str, str] | None = None
    exclude_gold: bool = False
    title: str = ""
    load: LoadSettings = field(default_factory=LoadSettings)
    prices: Prices = field(default_factory=Prices)
    index: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of a dataset through a configuration; each case is committed as it ends, a stopped run resumes.

    Attributes:
        manifest: versions, index, model file and settings; with ``dataset_hash`` it makes the run reproducible.
        status: "interrupted" where the process that ran it is gone without a word; it resumes as a stopped one does.
        scored: of a complete run, the cases that passed or failed; 0 before.
    """

    id: int
    config: RunConfig
    dataset_hash: str
    manifest: Manifest
    status: RunStatus
    created: datetime
    done: int
    total: int
    passed: int = 0
    baseline: bool = False
    scored: int = 0


@dataclass(frozen=True, slots=True)
class Ranked:
    """A retrieved chunk as a run saw it.

    Attributes:
        grade: of the best gold span it holds, 0 for none.
        evidence: its label in the context, "" when it was not in it; ``dropped``: why not, when it was cut.
        fused_rank: the rank before a reranker gave it ``rank``; None without one.
    """

    chunk_id: str
    source_id: str
    start: int
    end: int
    rank: int
    lexical_rank: int | None = None
    dense_rank: int | None = None
    grade: int = 0
    evidence: str = ""
    dropped: str = ""
    fused_rank: int | None = None


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What a run did with one case.

    Attributes:
        scores: metric → value in its own unit; a metric that isn't defined for the case is absent, never 0.
        passed: None when it is unscored.
        failure: the first stage that lost it, "" when it passed ("broken_case" where it can't be scored); ``reason``
            says it in a sentence and ``advice`` what to try first.
        trace_id: of the stored trace, "" for the retrieval layer and model tasks.
        fault: which part of a query is wrong, "" for other tasks and where it isn't.
    """

    run_id: int
    case_id: str
    position: int
    passed: bool | None
    scores: Mapping[str, float] = field(default_factory=dict)
    ranked: tuple[Ranked, ...] = ()
    answer: Answer | None = None
    output: str = ""
    failure: FailureStage = ""
    reason: str = ""
    advice: str = ""
    trace_id: str = ""
    duration_ms: float = 0.0
    error: str = ""
    fault: SqlFault | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A running evaluation; ``results`` are the cases that ended since the previous progress."""

    run: Run
    current: str
    rate: float
    eta_s: float | None
    results: tuple[CaseResult, ...] = ()
    finished: bool = False
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured value over n cases with its 95 % interval; ``method`` names how the interval was made.

    ``high`` is infinite (null in JSON) where n cases give no upper bound, ``low`` where a difference has no lower one;
    ``estimated``: it is made of tokens of which some are estimates, as ``records.money.Usage.estimated``.
    """

    value: float
    n: int
    low: float
    high: float
    method: str
    estimated: bool = False

    @property
    def margin(self) -> float:
        """Half the interval's width."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class Segment:
    """The cases of a run that share a value of a field ("type", "table"); ("", "") for all of them."""

    field: str
    value: str
    cases: int
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """What a judge, itself a model, said of one case.

    Attributes:
        verdict: "right" or "wrong"; between two runs "better", "worse" or "tie"; "" when it is unscored, never a 0.
        reason: the judge's own, or why the case is unscored; ``raw``: all that the judge wrote.
    """

    case_id: str
    verdict: JudgedVerdict
    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdicts on a run, kept apart from its scores.

    Attributes:
        against: the run that its answers were compared with, 0 when each was judged alone.
        rubric: the text that the judge was given.
    """

    id: int
    run_id: int
    against: int
    model: str
    model_hash: str
    rubric: str
    created: datetime
    cases: tuple[JudgedCase, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgementReport:
    """A judgement in figures, with how far people agree with it.

    Attributes:
        share: of "right" among right and wrong, or of "better" among better and worse; None where there is neither.
        agreement: with people's labels on the cases that have both; ``kappa``: Cohen's. None without such cases; κ
            also where they are too few, or a side gave one verdict only.
        abstained: cases that were not judged, as the answer says that the sources don't tell: the scores tell whether
            that was right.
    """

    judgement: Judgement
    share: Estimate | None
    ties: int
    unscored: int
    agreement: Estimate | None
    kappa: Estimate | None
    abstained: int = 0


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run in figures: over all cases first, then per segment; ``warnings`` on what weakens them.

    ``judged`` stands beside the scores and is in none of them; ``faults``: failed queries by the part that is wrong.
    ``over``: metric → fingerprint of the cases that its overall figure is over; figures of others aren't ranked.
    """

    run: Run
    segments: tuple[Segment, ...]
    failures: Mapping[FailureStage, int]
    warnings: tuple[str, ...] = ()
    judged: tuple[JudgementReport, ...] = ()
    faults: Mapping[SqlFault, int] = field(default_factory=dict)
    over: Mapping[str, str] = field(default_factory=dict)

    @property
    def overall(self) -> Segment:
        """Over all cases."""
        return self.segments[0]


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One metric of two runs over the same cases: the paired difference (b − a) with its interval."""

    metric: str
    a: Estimate
    b: Estimate
    difference: Estimate
    p_value: float
    test: str

    @property
    def significant(self) -> bool:
        """At the 5 % level."""
        return self.p_value < 0.05


@dataclass(frozen=True, slots=True)
class SegmentChange:
    """The paired cases of two runs that share a value of a field: which of them flipped, and what moved.

    Attributes:
        metrics: the headline metrics only; ``p_value``: exact McNemar over the flips, of this segment alone.
    """

    field: str
    value: str
    paired: int
    fixed: int
    broken: int
    p_value: float
    metrics: tuple[MetricChange, ...]


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs case by case.

    Attributes:
        differs: fields of configuration and manifest that differ; more than one means that no cause can be named.
        fixed, broken: case ids that passed only in b, only in a.
        p_value: exact McNemar over the flips.
        segments: the same per type, language, difficulty and tag.
    """

    a: Run
    b: Run
    differs: tuple[str, ...]
    paired: int
    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    p_value: float
    metrics: tuple[MetricChange, ...]
    warnings: tuple[str, ...] = ()
    segments: tuple[SegmentChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """A person's verdict on one result, kept apart from the scores: +1 right, −1 wrong, 0 undecided."""

    run_id: int
    case_id: str
    value: Literal[-1, 0, 1]
    note: str
    created: datetime


@dataclass(frozen=True, slots=True)
class Gate:
    """A rule of release. It passes only if the interval's bound passes: low ≥ threshold, or high ≤ threshold."""

    metric: str
    op: Comparison
    threshold: float
    protects: str = ""


@dataclass(frozen=True, slots=True)
class GateSet:
    """Gates of a dataset, locked when they were written: a run that began before proves nothing by them."""

    id: int
    dataset: str
    name: str
    gates: tuple[Gate, ...]
    locked: datetime


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate against one run; ``estimate`` is None when the run has no such metric (which fails).

    Attributes:
        written: whether the gate was locked "before" the run began, "after" that (passing it proves nothing), or is
            "unlocked": a rule of the moment.
    """

    gate: Gate
    estimate: Estimate | None
    passed: bool
    reason: str
    written: Literal["before", "after", "unlocked"] = "unlocked"


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """A point of the risk–coverage curve: the share answered at this τ, and the share of that which is wrong.

    ``correct_abstention`` and ``unsupported`` are shares of the unanswerable cases, None where there is none.

    Attributes:
        cases: that coverage is of; ``answered``: that risk is of; ``unanswerable``: that the other two are of.
    """

    threshold: float
    coverage: float
    risk: float
    correct_abstention: float | None
    unsupported: float | None
    cases: int = 0
    answered: int = 0
    unanswerable: int = 0


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """What was decided on evidence, and what would change it.

    Attributes:
        runs: the runs it rests on; ``evidence``: sentences with their figures and intervals.
        review: when to look again, free text or a date.
        choice: the option that was taken, "" where the verdict says it all.
        criteria: what the options were judged by, with weights and bounds, and ``sensitivity``: how firm the first
            place was; sentences, of a decision that was taken on a sheet.
    """

    id: int
    title: str
    verdict: Verdict
    context: str
    options: tuple[str, ...]
    reasons: tuple[str, ...]
    evidence: tuple[str, ...]
    runs: tuple[int, ...]
    conditions: str
    review: str
    created: datetime
    choice: str = ""
    criteria: tuple[str, ...] = ()
    sensitivity: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """A run that was read from another system's file, and what in that file didn't meet the dataset."""

    run: Run
    problems: tuple[RowProblem, ...]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A model's output held against its ``Expectation``.

    Attributes:
        score: 0–1; token F1 for ``f1``, else 1 or 0.
        reason: what differs, in a sentence; "" when it passed.
        failure: "" when it passed, "wrong_format" when the output isn't of the kind asked for, else "wrong_answer".
        fault: which part of a query is wrong, "" for other tasks.
    """

    passed: bool
    score: float
    reason: str = ""
    failure: FailureStage = ""
    fault: SqlFault | Literal[""] = ""
