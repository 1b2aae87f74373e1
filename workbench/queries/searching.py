"""A search with the question's transformations, for who wants hits and no answer."""

from __future__ import annotations

import time
from dataclasses import replace

from workbench.ports import Generator, Store
from workbench.queries.transforming import Target, Transformer
from workbench.records.retrieval import SearchOptions, SearchResult, Transform
from workbench.retrieval.search import Searcher, wanted_lanes


def search_transformed(
    store: Store,
    searcher: Searcher,
    generator: Generator | None,
    query: str,
    options: SearchOptions,
) -> SearchResult:
    """``Searcher.search`` with the transformations asked for; spelling also where no word of the question was found.

    Raises:
        FilterError, NotFoundError, UsageError: as ``Searcher.search``.
    """
    started = time.perf_counter()
    options = searcher.settled(options)
    index = searcher.index(options.collection)
    analysis = searcher.analyse(query)
    where, filtered = searcher.filter(index, options)
    lanes = tuple(searcher.lane(lane, index, analysis, where, options) for lane in wanted_lanes(options))
    unmet = any(lane.lane == "lexical" and not lane.skipped and not lane.hits for lane in lanes)
    kinds: tuple[Transform, ...] = tuple(
        dict.fromkeys((*(("spelling",) if unmet else ()), *(options.transforms or ())))
    )
    transformer = Transformer(store, searcher, generator, Target(index, where, options))
    done = tuple(transformer.run(kind, analysis) for kind in kinds)
    every = (*lanes, *(lane for one in done for lane in one.lanes))
    result = searcher.finish(index, analysis, filtered, every, options, started, Searcher.views)
    return replace(result, lanes=lanes, transforms=done, notes=tuple(dict.fromkeys(result.notes)))
