"""Records of typing: what each keystroke found, saved sessions of them, and how they compare with today."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from workbench.records.retrieval import (
    Analysis,
    FilterResult,
    FusedHit,
    FusionResult,
    Lane,
    LaneResult,
    RerankMode,
    RerankResult,
)


@dataclass(frozen=True, slots=True)
class LaneTime:
    """How long a lane took, and why it didn't run ("" when it did)."""

    lane: Lane
    duration_ms: float
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class KeystrokeStages:
    """What a keystroke's ranking was made of: the question's words, what passed the filters, each lane's hits.

    ``rerank`` is without the pairs of tokens behind its scores: those are words of documents.
    """

    analysis: Analysis
    filter: FilterResult
    lanes: tuple[LaneResult, ...]
    rerank: RerankResult | None


@dataclass(frozen=True, slots=True)
class Keystroke:
    """The ranking that a keystroke brought. It holds ids, ranks and scores, and no words of any document.

    Attributes:
        at: seconds since the session's first keystroke.
        query, filter: as they stood.
        asked: the lanes that were asked for; ``lanes``: those that have answered.
        hits: as shown, best first.
        fusion: its method and constants; its own hits are left out: those of the stages' lanes fused give them.
        duration_ms: of the search; ``painted_ms``: from the key until the ranking was painted, None when not measured.
        stages: None where it was saved before they were.
    """

    at: float
    query: str
    filter: str
    asked: tuple[Lane, ...]
    lanes: tuple[LaneTime, ...]
    hits: tuple[FusedHit, ...]
    fusion: FusionResult
    duration_ms: float
    painted_ms: float | None = None
    rerank: RerankMode = "none"
    stages: KeystrokeStages | None = None

    @property
    def whole(self) -> bool:
        """Every lane that was asked for has answered."""
        return {lane.lane for lane in self.lanes} >= set(self.asked)

    @property
    def answered(self) -> tuple[Lane, ...]:
        """The lanes that its ranking was made of: those that have answered and were not skipped."""
        return tuple(lane.lane for lane in self.lanes if not lane.skipped)


@dataclass(frozen=True, slots=True)
class KeystrokeSession:
    """A saved session of typing.

    Attributes:
        revision: of the collection when it was saved, see ``CorpusRepository.revision``.
    """

    id: str
    created: datetime
    collection: str
    keystrokes: tuple[Keystroke, ...]
    revision: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A line of the list of saved sessions; ``question`` is the last one typed."""

    id: str
    created: str
    collection: str
    question: str
    keystrokes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RankMove:
    """A chunk whose place differs between two rankings; None is a place outside of them."""

    chunk_id: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Replayed:
    """A saved keystroke searched again.

    Attributes:
        now: what it finds today.
        change: 0 where the first ten are the same in the same order, 1 where none is; see ``keystrokes.change``.
        moves: chunks whose place differs, by today's place, those lost last.
    """

    keystroke: Keystroke
    now: Keystroke
    change: float
    moves: tuple[RankMove, ...]
