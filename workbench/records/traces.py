"""Records of working with a stored trace: what-if, autopsy, comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.records.answers import Answer, Context, Decision, Evidence, EvidenceOrder
from workbench.records.retrieval import FusedHit, FusionMethod, FusionResult, Lane, RerankMode

Moved: TypeAlias = Literal["entered", "left", "up", "down", "same"]
LostAt: TypeAlias = Literal["", "filter", "lanes", "fusion", "rerank", "context", "citations"]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The settings between the lanes' hits and the prompt that can be changed without searching again.

    Attributes:
        lexical_k, dense_k: first hits of each lane that count, 0 when the lane is off.
        weights: of the lanes, where the fusion is by weights.
        rerank: the reranker whose order is kept, for those of its hits that the fusion still has; "none" for none.
        k: first hits offered to the context; never fewer than ``evidence``.
        mmr, evidence, budget, order, duplicates, parents, threshold: as ``AskOptions`` has them.
    """

    lexical_k: int
    dense_k: int
    fusion: FusionMethod
    k0: int
    weights: tuple[tuple[Lane, float], ...]
    rerank: RerankMode
    k: int
    evidence: int
    mmr: float | None
    budget: int | None
    order: EvidenceOrder
    duplicates: bool | None = None
    parents: bool | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A chunk's place in two rankings, from 1; None where it isn't."""

    chunk_id: str
    source_id: str
    before: int | None
    after: int | None

    @property
    def kind(self) -> Moved:
        """What became of it."""
        if self.before is None or self.after is None:
            return "entered" if self.before is None else "left"
        return "same" if self.before == self.after else "up" if self.after < self.before else "down"


@dataclass(frozen=True, slots=True)
class WhatIfResult:
    """What would be different.

    Attributes:
        hits: the ranking, after the reranker's part.
        context: None when nothing fits, see ``problem``.
        evidence: in the prompt's order.
        ranking, evidence_moves: against the trace, in the new order, those that left last.
        notes: what the trace can't tell ("only 50 hits are stored").
        decision: the support of that evidence against τ; None until it is weighed, and where it can't be.
        estimated: no tokenizer has counted all of that evidence, so its tokens are near the true ones.
    """

    settings: WhatIf
    fusion: FusionResult
    hits: tuple[FusedHit, ...]
    context: Context | None
    evidence: tuple[Evidence, ...]
    ranking: tuple[Move, ...]
    evidence_moves: tuple[Move, ...]
    duration_ms: float
    problem: str = ""
    notes: tuple[str, ...] = ()
    decision: Decision | None = None
    estimated: bool = False

    @property
    def changed(self) -> int:
        """Pieces of evidence that entered, left or moved."""
        return sum(move.kind != "same" for move in self.evidence_moves)


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that would have put the chunk into the evidence.

    Attributes:
        change: as ``--what-if`` takes it, "" when the search itself must change (``advice`` says how).
        place: of the chunk in the evidence then, 0 when it can't be told.
        changed: pieces of evidence that the change moves in all: the fewer, the smaller the change.
    """

    change: str
    place: int
    changed: int
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Autopsy:
    """What became of one chunk, stage by stage.

    Attributes:
        passes_filter: the filters of the trace let it through, as far as today's index tells.
        lexical_rank, dense_rank: in the whole index, looked up where the trace hasn't got it; None when the lane
            doesn't find it among the first 4096, or didn't run.
        looked_up: lanes whose rank comes from today's index, not from the trace.
        fused_rank, reranked_rank: None when it wasn't among the candidates, or there was no reranker.
        label: of the evidence that delivered it, "" when none did; ``dropped`` says why ("limit", "budget",
            "duplicate", or "rank" when it stood too low to be offered).
        cited: the answer cites it.
        lost_at: the first stage that lost it, "" for none.
        fixes: the smallest change first.
    """

    chunk_id: str
    source_id: str
    text: str
    passes_filter: bool
    retired: bool
    lexical_rank: int | None
    dense_rank: int | None
    looked_up: tuple[Lane, ...]
    fused_rank: int | None
    reranked_rank: int | None
    label: str
    dropped: str
    cited: bool
    lost_at: LostAt
    reason: str
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that two traces' manifests say differently, as text; "" where one says nothing of it."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TraceComparison:
    """Two traces side by side: ``a`` is the earlier one.

    Attributes:
        differences: of the manifests, those that follow from another left out.
        reasons: sentences that say what could have caused a change, the likeliest first.
        ranking, evidence: moves from a to b, in the order of b, those that left last.
        same_evidence: in the same order, with the same text.
    """

    a: str
    b: str
    questions: tuple[str, str]
    answers: tuple[Answer | None, Answer | None]
    differences: tuple[Difference, ...]
    reasons: tuple[str, ...]
    ranking: tuple[Move, ...]
    evidence: tuple[Move, ...]
    same_ranking: bool
    same_evidence: bool
    same_answer: bool
