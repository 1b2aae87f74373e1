"""Records of retrieval: filters, query analysis, lanes, fusion."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal, TypeAlias

Lane: TypeAlias = Literal["lexical", "dense"]
FusionMethod: TypeAlias = Literal["rrf", "weights"]
RerankMode: TypeAlias = str  # "none", "late", or an installed reranker's name
Transform: TypeAlias = Literal["spelling", "languages", "split", "multi", "hyde"]
Comparator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "like"]
Scalar: TypeAlias = str | int | float | bool | date


@dataclass(frozen=True, slots=True)
class Comparison:
    """``field op value``. ``contains`` is true when a list field holds the value (``"student" in roles``)."""

    field: str
    op: Comparator
    value: Scalar


@dataclass(frozen=True, slots=True)
class OneOf:
    """``field in ("a", "b")``."""

    field: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """``exists(field)``: the field has a value."""

    field: str


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of ``part``; a document without the field is *not equal* to anything."""

    part: FilterNode


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds; no parts means everything passes."""

    parts: tuple[FilterNode, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[FilterNode, ...]


FilterNode: TypeAlias = Comparison | OneOf | Exists | Not | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a query becomes before it is searched.

    Attributes:
        terms: content words kept, folded, in query order (what the text column is asked).
        stems: their stems, for the stem column.
        exact: words written with accents, as written (boosted where they occur exactly).
        phrases: quoted phrases, each must occur when present.
        dropped: stopwords and words over the cap, as written.
        language: of the query, ISO 639-1, "" when unknown.
        embedded_text: the text the embedder sees, prefix included.
    """

    query: str
    terms: tuple[str, ...]
    stems: tuple[str, ...]
    exact: tuple[str, ...]
    phrases: tuple[str, ...]
    dropped: tuple[str, ...]
    language: str
    embedded_text: str


@dataclass(frozen=True, slots=True)
class LaneHit:
    """A chunk found by one lane: ``rank`` counts from 1; ``score`` is BM25 (higher is better) or cosine."""

    chunk_id: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What one lane returned.

    Attributes:
        skipped: why the lane didn't run ("no terms left", "no embedder"), "" when it ran.
        weight: of its ranks in fusion by RRF.
        note: what a person must know of how it ran, "" for nothing.
        variant: of the question ("multi 2"), "" when the question itself was asked.
    """

    lane: Lane
    hits: tuple[LaneHit, ...]
    k: int
    duration_ms: float
    skipped: str = ""
    weight: float = 1.0
    note: str = ""
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """A word of the question that the index hasn't got, and the one it may have been meant for.

    Attributes:
        chunks: that hold the suggestion.
        distance: edits between the two (insertions, deletions, substitutions, swaps of neighbours).
    """

    word: str
    suggestion: str
    chunks: int
    distance: int


@dataclass(frozen=True, slots=True)
class Variant:
    """Another wording of the question, or another place to look for it, and what its searches found."""

    name: str
    text: str
    weight: float
    lanes: tuple[LaneResult, ...]


@dataclass(frozen=True, slots=True)
class Transformed:
    """One transformation of the question: what else was searched, and at what cost. The question itself always is.

    Attributes:
        kind: a transformation, or "retry" for the second search of weak evidence.
        by: what made it: "rules", "index", or the model's name.
        corrections: of spelling; without variants they are only suggested.
        prompt_tokens, output_tokens: that a model read and wrote for it.
        skipped: why nothing came of it, "" when something did.
        note: what a person must know of it, "" for nothing.
    """

    kind: Transform | Literal["retry"]
    by: str
    variants: tuple[Variant, ...] = ()
    corrections: tuple[Correction, ...] = ()
    prompt_tokens: int = 0
    output_tokens: int = 0
    skipped: str = ""
    note: str = ""

    @property
    def lanes(self) -> tuple[LaneResult, ...]:
        """What its searches found, for fusion."""
        return tuple(lane for variant in self.variants for lane in variant.lanes)

    @property
    def searches(self) -> int:
        """Lanes that were asked beyond those of the question itself."""
        return sum(not lane.skipped for lane in self.lanes)


@dataclass(frozen=True, slots=True)
class FilterResult:
    """The filters that both lanes applied before ranking.

    Attributes:
        expression: what the query asked for; ``mandatory``: what the collection demands.
        matching, total: chunks of the index that pass, and all of them.
    """

    expression: str
    mandatory: str
    matching: int
    total: int

    @property
    def selectivity(self) -> float:
        """σ: the share of chunks that pass, 1.0 when nothing is filtered."""
        return self.matching / self.total if self.total else 1.0

    @property
    def retired(self) -> int:
        """Chunks of retired documents, where they are all that is left out; 0 when a filter is set."""
        return 0 if self.expression or self.mandatory else self.total - self.matching


@dataclass(frozen=True, slots=True)
class FusedHit:
    """A chunk after fusion, with what each lane gave it: ``score = Σ contributions``.

    Attributes:
        fused_rank: the rank that fusion gave it, when a reranker has given it another ``rank``; None without one.
        rerank_score: what the reranker gave it, None when it wasn't asked about this chunk.
    """

    chunk_id: str
    rank: int
    score: float
    lexical_rank: int | None = None
    lexical_score: float | None = None
    dense_rank: int | None = None
    dense_score: float | None = None
    contributions: tuple[tuple[str, float], ...] = ()
    fused_rank: int | None = None
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True)
class FusionResult:
    """The fused ranking. ``method`` rrf: Σ lane weight/(k0 + rank); weights: Σ w · min-max score."""

    method: FusionMethod
    k0: int
    weights: tuple[tuple[str, float], ...]
    hits: tuple[FusedHit, ...]
    duration_ms: float


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """A token of the question and the token of a passage that is nearest to it, both as written, and their cosine."""

    query: str
    passage: str
    cosine: float


@dataclass(frozen=True, slots=True)
class RerankedHit:
    """A chunk before and after reranking.

    Attributes:
        before, rank: places in the fused ranking and in the new one, from 1.
        score: late interaction: mean over the question's tokens of the best cosine; a cross-encoder: what it gives the
            pair. None for a chunk that has none (no token vectors), which comes after those that have one.
        matches: the pairs of tokens behind a score of late interaction, in the question's order.
        truncated: the cross-encoder read only a part of the pair.
    """

    chunk_id: str
    before: int
    rank: int
    score: float | None
    matches: tuple[TokenMatch, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class RerankGain:
    """What reranking did to a dataset's questions: the same fused rankings before and after it, paired.

    Attributes:
        cases: questions measured; ``total``: those to measure; ``left_out``: those whose gold isn't in the collection.
        recall_1, mrr_10: (before, after).
        fixed, broken: questions whose gold came to the first place, and lost it; ``p_value``: McNemar's of the two.
        interval: of the change of R@1, 95 %, by paired bootstrap; None before the last question.
        milliseconds: that reranking took a question, the median; ``unfinished``: questions at which its time ended.
    """

    mode: RerankMode
    collection: str
    dataset: str
    cases: int
    total: int
    recall_1: tuple[float, float]
    mrr_10: tuple[float, float]
    fixed: int
    broken: int
    p_value: float
    interval: tuple[float, float] | None = None
    milliseconds: float = 0.0
    unfinished: int = 0
    left_out: int = 0

    @property
    def gained(self) -> bool:
        """More questions have their gold first."""
        return self.fixed > self.broken

    @property
    def certain(self) -> bool:
        """The change of R@1 is more than chance: its interval lies above 0."""
        return self.interval is not None and self.interval[0] > 0


@dataclass(frozen=True, slots=True)
class RerankResult:
    """What the reranker did to the first ``depth`` hits of the fusion.

    Attributes:
        hits: best first.
        skipped: why it didn't run ("the index has no token vectors"), "" when it ran.
        gain: what it was measured to bring, None when it was never measured on this collection.
        note: what a person must know of how it ran ("its 2,000 ms ended after 12 of 20"), "" for nothing.
        unfinished: its time ended; ``hits`` are only those that it came to.
    """

    mode: RerankMode
    depth: int
    hits: tuple[RerankedHit, ...]
    duration_ms: float
    skipped: str = ""
    gain: RerankGain | None = None
    note: str = ""
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search.

    Attributes:
        k: hits wanted after fusion; ``candidates``: hits taken from each lane.
        filter: expression, added to the collection's mandatory filter.
        rerank: None takes what was chosen for the collection, "none" where nothing was.
        rerank_depth: first hits of the fusion that are ranked anew; ``rerank_ms``: how long a cross-encoder may take
            for it, 0 for any time. None takes what was set for the file.
        transforms: of the question; None takes those chosen for the collection, none where none were.
        extra_searches: lanes that transformations and the retry may ask at most, beyond the question's own.
        query_tokens: that a model may read and write at most to transform the question.
        lane_candidates: of a lane that gives another number of hits than ``candidates``.
    """

    collection: str = ""
    k: int = 10
    candidates: int = 50
    lanes: tuple[Lane, ...] = ("lexical", "dense")
    fusion: FusionMethod = "rrf"
    k0: int = 60
    weights: tuple[tuple[str, float], ...] = (("lexical", 0.5), ("dense", 0.5))
    filter: str = ""
    rerank: RerankMode | None = None
    transforms: tuple[Transform, ...] | None = None
    extra_searches: int = 12
    query_tokens: int = 2000
    lane_candidates: tuple[tuple[Lane, int], ...] = ()
    rerank_depth: int | None = None
    rerank_ms: int | None = None


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit with what a person needs to recognise it."""

    hit: FusedHit
    source_id: str
    title: str
    heading: tuple[str, ...]
    page: int | None
    page_label: str
    start: int
    end: int
    text: str
    header: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One search, whole: analysis, filters, each lane, fusion, reranking, and the hits as a person sees them.

    Attributes:
        pending: a reranker is still at it: the hits are in the fused order, and the same search follows with its own.
    """

    analysis: Analysis
    filter: FilterResult
    lanes: tuple[LaneResult, ...]
    fusion: FusionResult
    hits: tuple[HitView, ...]
    duration_ms: float
    notes: tuple[str, ...] = field(default=())
    rerank: RerankResult | None = None
    transforms: tuple[Transformed, ...] = ()
    pending: bool = False
