"""A search for every keystroke: the lexical lane's ranking as soon as it is there, the fused one behind it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Final

from workbench.ports import Store
from workbench.records.corpus import Index
from workbench.records.rerankers import LATE, NONE
from workbench.records.retrieval import (
    FilterNode,
    FilterResult,
    FusedHit,
    HitView,
    LaneResult,
    SearchOptions,
    SearchResult,
)
from workbench.retrieval.search import Searcher, wanted_lanes

MEMORY_SETTING: Final = "search.memory_mib"
"""How much memory the vectors of the index that is typed into may take; beyond it they stay in the file."""
MEMORY_MIB: Final = 512

GRACE_S: Final = 0.004
"""How long the lexical lane waits for the other one: drawing once is cheaper than twice."""
_VIEWS: Final = 2000


@dataclass(frozen=True, slots=True)
class _Plan:
    """What only the collection and the filter decide: the same for one keystroke after another."""

    collection: str
    revision: tuple[int | str, ...]
    filter: str
    index: Index
    where: FilterNode
    filtered: FilterResult


class TypedSearch:
    """Searches that follow one another quickly. Its results are those of ``Searcher.search``.

    What the last keystroke read anew and the next would read again is kept until the collection changes. Both lanes run
    at once. Only one thread at a time may iterate ``search``.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._dense = ThreadPoolExecutor(1, "workbench-dense")
        self._plan: _Plan | None = None
        self._views: dict[str, HitView] = {}
        self._kept: int | None = None

    def keep(self, collection: str) -> None:
        """Reads the collection's vectors into memory, within what the setting allows. Takes a second at 100,000."""
        index = self._store.corpus.current_index(collection)
        if index is not None:
            self._kept = index.id
            allowed = self._store.settings.get(MEMORY_SETTING)
            self._store.search.keep(index, (int(allowed) if allowed.isdigit() else MEMORY_MIB) << 20)

    def search(self, searcher: Searcher, query: str, options: SearchOptions) -> Iterator[SearchResult]:
        """The lexical lane's ranking where both lanes are asked for and the other isn't there yet; then the whole.

        Where a cross-encoder ranks anew, the fused ranking comes before it, as ``pending``.

        Raises:
            Cancelled: the searcher's cancel was set.
            FilterError, NotFoundError, UsageError: as ``Searcher.search``.
        """
        started = time.perf_counter()
        options = searcher.settled(options)
        plan = self._planned(searcher, options)
        analysis = searcher.analyse(query)
        lanes = wanted_lanes(options)
        alone = replace(options, rerank=NONE)
        ahead = None
        if len(lanes) > 1:
            ahead = self._dense.submit(searcher.lane, "dense", plan.index, analysis, plan.where, options)
        first = searcher.lane(lanes[0], plan.index, analysis, plan.where, options)
        found: tuple[LaneResult, ...] = (first,)
        if ahead is not None:
            wait([ahead], GRACE_S)
            if not ahead.done():
                yield searcher.finish(plan.index, analysis, plan.filtered, found, alone, started, self._shown)
            found = (first, ahead.result())
        if options.rerank not in (NONE, LATE):  # a cross-encoder takes its time
            fused = searcher.finish(plan.index, analysis, plan.filtered, found, alone, started, self._shown)
            yield replace(fused, pending=True)
        yield searcher.finish(plan.index, analysis, plan.filtered, found, options, started, self._shown)

    def close(self) -> None:
        """Waits for the search that runs."""
        self._dense.shutdown(cancel_futures=True)

    def _planned(self, searcher: Searcher, options: SearchOptions) -> _Plan:
        revision = self._store.corpus.revision(options.collection)
        plan = self._plan
        if plan and (plan.collection, plan.revision, plan.filter) == (options.collection, revision, options.filter):
            return plan
        self._views.clear()
        index = searcher.index(options.collection)
        if self._kept not in (None, index.id):  # another index is current now: read before this question meets it
            self._dense.submit(self.keep, options.collection)
        where, filtered = searcher.filter(index, options)
        plan = self._plan = _Plan(options.collection, revision, options.filter, index, where, filtered)
        return plan

    def _shown(self, searcher: Searcher, hits: Sequence[FusedHit]) -> tuple[HitView, ...]:
        """As ``Searcher.views``; chunks that were just shown are not read again."""
        if len(self._views) > _VIEWS:
            self._views.clear()
        new = [hit for hit in hits if hit.chunk_id not in self._views]
        self._views |= {view.hit.chunk_id: view for view in searcher.views(new)}
        known = ((hit, self._views.get(hit.chunk_id)) for hit in hits)
        return tuple(replace(view, hit=hit) for hit, view in known if view)
