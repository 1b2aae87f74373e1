"""What-if on a stored trace: its lanes' hits fused, reordered, thinned and put in a context under other settings.

No model, no search: the trace holds each lane's hits with ranks and scores; the chunks are read once (``Material``).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from workbench.answers.context import Budget, Candidate, candidates, fill, ordered, shingles
from workbench.errors import BudgetError, UsageError
from workbench.i18n import tr
from workbench.ports import Store, Vector
from workbench.records.answers import Context, Evidence, Trace
from workbench.records.rerankers import NONE
from workbench.records.retrieval import (
    FusedHit,
    FusionResult,
    Lane,
    LaneResult,
    RerankedHit,
    RerankMode,
    RerankResult,
    SearchOptions,
)
from workbench.records.traces import WhatIf, WhatIfResult
from workbench.retrieval.fusion import fuse
from workbench.retrieval.mmr import diversified
from workbench.retrieval.rerank import reordered
from workbench.traces.stages import (
    cached_rerankings,
    evidence_of,
    final_hits,
    fused_lanes,
    lanes,
    moves,
    settled,
    stage,
)

_Place: TypeAlias = tuple[str, int, int]
"""A chunk, and the span that is delivered for it."""
_TOKENS_PER_CHARACTER: Final = 0.25  # where nothing was counted, neither by the trace nor by the embedder


class Material:
    """What a trace's what-ifs compute with, read from the file once: its chunks as evidence, and their vectors.

    Chunks that are gone from the file since can't be delivered; those the trace delivered keep its own copy.

    Raises:
        UsageError: the question ended before there was a ranking.
    """

    def __init__(self, store: Store, trace: Trace) -> None:
        fusion = stage(trace, "fusion", FusionResult)
        if fusion is None or not fusion.hits:
            raise UsageError(
                tr("Nothing to try"),
                tr("The question of this trace found nothing, so there is no ranking to change."),
                tr("Ask with another filter, or bring in documents that say it."),
            )
        self.trace = trace
        self.lanes = fused_lanes(trace)
        self.settings = settings_of(trace)
        self.context = stage(trace, "context", Context)
        self._store = store
        self._vectors: dict[str, Vector] = {}
        delivered = evidence_of(trace)
        own = {piece.chunk_id: Candidate(piece, piece.chunk_id, shingles(piece.text)) for piece in delivered}
        self._candidates, self._alone = dict(own), dict(own)  # with the larger spans around chunks, and without
        self._embedded: dict[_Place, int] = {}
        self._looked: set[str] = set()
        counted = delivered if self.context and self.context.ledger.tokenizer else ()
        self._tokens = {_place(piece): piece.tokens for piece in counted}
        self.read([hit.chunk_id for hit in fusion.hits])
        self._per_character = _rate((piece.tokens, len(piece.text)) for piece in counted) or _TOKENS_PER_CHARACTER
        both = ((piece.tokens, self._embedded.get(_place(piece), 0)) for piece in counted)
        self._per_token = _rate(pair for pair in both if pair[1]) or 1.0

    def read(self, chunk_ids: Iterable[str]) -> None:
        """Reads what isn't at hand of these chunks."""
        wanted = [chunk_id for chunk_id in chunk_ids if chunk_id not in self._looked]
        if wanted:
            self._looked.update(wanted)
            for known, parents in ((self._candidates, True), (self._alone, False)):
                found = tuple(candidates(wanted, self._store.corpus, parents=parents))
                known |= {c.evidence.chunk_id: c for c in found}
                self._embedded |= {_place(c.evidence): c.tokens for c in found}
            self._vectors |= self._store.search.vectors(self.trace.manifest.index_id, wanted)

    def offered(self, hits: Sequence[FusedHit], *, parents: bool = True) -> list[Candidate]:
        """What the hits would deliver, the spans around them where there are some and ``parents`` are wanted."""
        self.read(hit.chunk_id for hit in hits)
        known = self._candidates if parents else self._alone
        return [known[hit.chunk_id] for hit in hits if hit.chunk_id in known]

    def vectors(self, hits: Sequence[FusedHit]) -> Mapping[str, Vector]:
        """Of those hits that have one."""
        self.read(hit.chunk_id for hit in hits)
        return self._vectors

    def source(self, chunk_id: str) -> str:
        """The source_id of a chunk, "" when it is gone."""
        known = self._candidates.get(chunk_id)
        return known.evidence.source_id if known else ""

    def missing(self, hits: Sequence[FusedHit]) -> int:
        """How many of the hits' chunks are gone from the file."""
        return sum(hit.chunk_id not in self._candidates for hit in hits)

    def estimates(self, evidence: Sequence[Evidence]) -> bool:
        """Tokens of some of it are estimated, here or by the trace already."""
        known = self.context is not None and self.context.ledger.estimated
        return known or any(_place(piece) not in self._tokens for piece in evidence)

    def budget(self, most: int | None) -> Budget:
        """The trace's own budget. Chunks that it didn't count are estimated: by their tokens for the embedder, where
        they have some, at the rate of those it did.
        """
        known = self.context.ledger if self.context else None
        modelled = known is not None and bool(known.instructions or known.reserve)
        return Budget(
            measure=self._measure,
            window=known.window if known and modelled else None,
            instructions=known.instructions if known else 0,
            question=known.question if known else 0,
            reserve=known.reserve if known else 0,
            tokenizer=known.tokenizer if known else "",
            most=most,
            estimated=known is not None and known.estimated,
            assumed=known is not None and known.assumed,
        )

    def _measure(self, evidence: Evidence) -> int:
        counted, whole = self._tokens.get(_place(evidence)), self._embedded.get(_place(evidence), 0)
        if counted is not None:
            return counted
        return round(self._per_token * whole if whole else self._per_character * len(evidence.text))


def settings_of(trace: Trace) -> WhatIf:
    """The settings that the trace was made with. Raises UsageError when they can't be read."""
    ask, search = settled(trace)
    found = {lane.lane: len(lane.hits) for lane in lanes(trace) if not lane.skipped}
    reranked = stage(trace, "rerank", RerankResult)
    weights = dict(search.weights)
    return WhatIf(
        lexical_k=found.get("lexical", 0),
        dense_k=found.get("dense", 0),
        fusion=search.fusion,
        k0=search.k0,
        weights=(("lexical", weights.get("lexical", 0.0)), ("dense", weights.get("dense", 0.0))),
        rerank=reranked.mode if reranked and not reranked.skipped else NONE,
        k=search.k,
        evidence=ask.evidence,
        mmr=ask.mmr,
        budget=ask.budget,
        order=ask.order,
        duplicates=ask.duplicates,
        parents=ask.parents,
        threshold=ask.threshold,
    )


def what_if(material: Material, settings: WhatIf, lanes_found: Sequence[LaneResult] = ()) -> WhatIfResult:
    """The trace's ranking and evidence under ``settings``, against those it had.

    Args:
        lanes_found: hits to compute with in place of the trace's own.
    """
    started = time.perf_counter()
    trace = material.trace
    fusion = fuse(_cut(lanes_found or material.lanes, settings), _search_options(settings))
    hits = reordered(fusion, _still_there(trace, fusion, settings.rerank))
    offered = hits[: max(settings.k, settings.evidence)]
    if settings.mmr is not None:
        offered = diversified(offered, material.vectors(offered), settings.mmr)
    context: Context | None = None
    problem = ""
    try:
        found = material.offered(offered, parents=settings.parents is not False)
        context = fill(found, material.budget(settings.budget), settings.evidence, duplicates=bool(settings.duplicates))
    except BudgetError as error:
        problem = error.message
    evidence = ordered(context.evidence if context else (), settings.order)
    before = final_hits(trace)
    sources = {hit.chunk_id: material.source(hit.chunk_id) for hit in (*before, *hits)}
    shown = ordered(evidence_of(trace), material.settings.order)
    return WhatIfResult(
        settings=settings,
        fusion=fusion,
        hits=hits,
        context=context,
        evidence=evidence,
        ranking=moves([hit.chunk_id for hit in before], [hit.chunk_id for hit in hits], sources),
        evidence_moves=moves([e.chunk_id for e in shown], [e.chunk_id for e in evidence], sources),
        duration_ms=(time.perf_counter() - started) * 1000,
        problem=problem,
        notes=_notes(material, settings, lanes_found or material.lanes, offered),
        estimated=material.estimates(evidence),
    )


def _cut(found: Sequence[LaneResult], settings: WhatIf) -> list[LaneResult]:
    most: dict[Lane, int] = {"lexical": settings.lexical_k, "dense": settings.dense_k}
    return [replace(lane, hits=lane.hits[: most[lane.lane]]) for lane in found if most[lane.lane]]


def _search_options(settings: WhatIf) -> SearchOptions:
    return SearchOptions(fusion=settings.fusion, k0=settings.k0, weights=settings.weights)


def _still_there(trace: Trace, fusion: FusionResult, mode: RerankMode) -> RerankResult | None:
    """The reranker's order of the first hits of ``fusion``; hits that it never saw stay behind those it did."""
    reranked = cached_rerankings(trace).get(mode)
    if reranked is None:
        return None
    first = fusion.hits[: reranked.depth]
    known = {hit.chunk_id: hit for hit in reranked.hits}

    def place(hit: FusedHit) -> int:
        return known[hit.chunk_id].rank if hit.chunk_id in known else len(known) + hit.rank

    kept = (
        RerankedHit(hit.chunk_id, hit.rank, rank, known[hit.chunk_id].score if hit.chunk_id in known else None)
        for rank, hit in enumerate(sorted(first, key=place), 1)
    )
    return replace(reranked, hits=tuple(kept))


def _notes(
    material: Material, settings: WhatIf, found: Sequence[LaneResult], offered: Sequence[FusedHit]
) -> tuple[str, ...]:
    notes = []
    searches = sum(isinstance(span.output, FusionResult) for span in material.trace.spans)
    if searches > 1:
        notes.append(
            tr(
                "The question was searched {count} times: this is of the last search, asking takes the best.",
                count=searches,
            )
        )
    for lane in found:
        asked = settings.lexical_k if lane.lane == "lexical" else settings.dense_k
        if asked > len(lane.hits) and not lane.variant:
            notes.append(
                tr("The trace holds {count} hits of the {lane} lane.", count=f"{len(lane.hits):,}", lane=lane.lane)
            )
    if settings.rerank != NONE and settings.rerank not in cached_rerankings(material.trace):
        notes.append(tr("The trace holds no scores of {reranker}: ask again with it.", reranker=settings.rerank))
    if gone := material.missing(offered):
        notes.append(tr("Chunks that are no longer in the file: {count}.", count=gone))
    return tuple(notes)


def _place(evidence: Evidence) -> _Place:
    return evidence.chunk_id, evidence.start, evidence.end


def _rate(pairs: Iterable[tuple[int, int]]) -> float:
    """The sum of the first over that of the second; 0 where there is none."""
    known = tuple(pairs)
    below = sum(second for _, second in known)
    return sum(first for first, _ in known) / below if below else 0.0
