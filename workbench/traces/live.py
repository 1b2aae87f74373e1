"""A search that nobody asked as a question, as a trace: what can be done with a stored one can be done with it too."""

from __future__ import annotations

from dataclasses import replace

from workbench.answers.manifest import manifest, now
from workbench.ports import Store
from workbench.records.answers import AskOptions, Stage, Trace, TraceSpan
from workbench.records.retrieval import SearchOptions, SearchResult
from workbench.retrieval.search import Searcher
from workbench.traces.what_if import Material, what_if


def searched(
    store: Store,
    searcher: Searcher,
    result: SearchResult,
    ask: AskOptions,
    options: SearchOptions,
    revision: tuple[int | str, ...] = (),
) -> Trace:
    """``result`` as a trace that is stored nowhere, with the evidence that an extractive answer would be made of.

    Args:
        ask, options: that the question would be asked with; ``options`` names the collection.
        revision: of the collection when it was searched, see ``CorpusRepository.revision``; empty for today's.

    Raises:
        NotFoundError: the collection is gone.
    """
    collection = store.corpus.collection(options.collection)
    index = store.corpus.current_index(collection.name)
    if revision:
        version, _, index_id = revision
        collection = replace(collection, version=int(version))
        index = next((one for one in store.corpus.indexes(collection.name) if one.id == index_id), None)
    told = manifest(collection, index, searcher.embedder, None, ask, searcher.settled(options))
    trace = Trace("", now(), result.analysis.query, told)
    trace = trace.grow(_span("analysis", result.analysis)).grow(_span("filter", result.filter))
    for lane in result.lanes:
        trace = trace.grow(_span(lane.lane, lane, lane.duration_ms))
    trace = trace.grow(_span("fusion", result.fusion, result.fusion.duration_ms))
    if result.rerank:
        trace = trace.grow(_span("rerank", result.rerank, result.rerank.duration_ms))
    if not result.fusion.hits:
        return trace
    material = Material(store, trace)
    found = what_if(material, material.settings)
    return trace.grow(_span("context", found.context, found.duration_ms)) if found.context else trace


def _span(name: str, output: Stage, duration_ms: float = 0.0) -> TraceSpan:
    return TraceSpan(name, 0.0, duration_ms, output)
