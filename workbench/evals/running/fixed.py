"""Retrieval that can't fail: exactly the gold, so that what goes wrong afterwards is generation's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.ports import Store
from workbench.records.corpus import Chunk, Index
from workbench.records.retrieval import (
    Analysis,
    FilterNode,
    FilterResult,
    Lane,
    LaneHit,
    LaneResult,
    OneOf,
    SearchOptions,
)
from workbench.retrieval.search import MAX_CANDIDATES, Searcher


class FixedSearcher(Searcher):
    """Finds the given chunks and nothing else, ranked by the lanes as ever. Filters don't apply: the context is fixed.

    Args:
        searcher: whose embedder and rerankers it has.
        chunks: all of one index; those that a lane misses come last in it, with score 0.
    """

    def __init__(self, store: Store, searcher: Searcher, chunks: Sequence[Chunk]) -> None:
        super().__init__(store, searcher.embedder, rerankers=searcher.rerankers)
        self._chunks = {chunk.id: chunk for chunk in chunks}

    def filter(self, index: Index, options: SearchOptions) -> tuple[FilterNode, FilterResult]:
        """The documents that the chunks are of."""
        sources = sorted({chunk.source_id for chunk in self._chunks.values()})
        _, total = self._store.search.matching(index, OneOf("source_id", tuple(sources)))
        return OneOf("source_id", tuple(sources)), FilterResult("", "", len(self._chunks), total)

    def lane(
        self, lane: Lane, index: Index, analysis: Analysis, where: FilterNode, options: SearchOptions
    ) -> LaneResult:
        """The chunks in the lane's order."""
        found = super().lane(lane, index, analysis, where, replace(options, candidates=MAX_CANDIDATES))
        if found.skipped:
            return found
        scores = {hit.chunk_id: hit.score for hit in found.hits if hit.chunk_id in self._chunks}
        scores |= {chunk_id: 0.0 for chunk_id in self._chunks if chunk_id not in scores}
        hits = tuple(LaneHit(chunk_id, rank, score) for rank, (chunk_id, score) in enumerate(scores.items(), 1))
        return replace(found, hits=hits)
