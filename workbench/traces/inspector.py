"""The inspector: what can be done with the stored traces of one file. The desk hands it to every front end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator

from workbench.answers.ask import Asker
from workbench.errors import EngineError, UsageError
from workbench.i18n import tr
from workbench.ports import Cancel, Generator, Store, TraceSummary
from workbench.records.answers import AskOptions, Trace
from workbench.records.corpus import Chunk
from workbench.records.retrieval import SearchOptions, SearchResult
from workbench.records.traces import Autopsy, TraceComparison, WhatIf, WhatIfResult
from workbench.retrieval.search import Searcher
from workbench.traces.autopsy import Coroner, suggest
from workbench.traces.changes import parse_changes
from workbench.traces.compare import compare_traces
from workbench.traces.fates import Fates, fates
from workbench.traces.live import searched
from workbench.traces.outcomes import of_tables
from workbench.traces.stages import cached_rerankings, final_hits, settled
from workbench.traces.weighing import Weigher
from workbench.traces.what_if import Material, what_if


class Inspector:
    """Traces of one file, named by id, unambiguous prefix, or "last".

    Every method raises NotFoundError when there is no such trace, and UsageError when its settings can't be read.

    Args:
        searcher: gives the searcher with today's embedder.
        generator: gives the loaded model, None when there is none.
    """

    def __init__(
        self, store: Store, searcher: Callable[[], Searcher], generator: Callable[[], Generator | None]
    ) -> None:
        self._store = store
        self._searcher = searcher
        self._generator = generator
        self._lock = threading.Lock()
        self._material: Material | None = None
        self._weigher: Weigher | None = None

    def history(self, text: str = "", limit: int = 50) -> tuple[TraceSummary, ...]:
        """Questions asked, newest first; only those with every word of ``text`` when it isn't empty."""
        return self._store.traces.recent(limit, text)

    def delete(self, trace_id: str) -> None:
        """Forgets a question for good; an evaluation's result that came of it stays."""
        self._store.traces.delete(trace_id)

    def searched(
        self, result: SearchResult, ask: AskOptions, options: SearchOptions, revision: tuple[int | str, ...] = ()
    ) -> Trace:
        """A search as a trace that is stored nowhere: ``settings``, ``what_if`` and ``autopsy`` take it as it is.

        Args:
            revision: of the collection when it was searched; empty for today's.
        """
        return searched(self._store, self._searcher(), result, ask, options, revision)

    def chunks(self, chunk_ids: Iterable[str]) -> dict[str, Chunk]:
        """Those of the chunks that are (still) in the file, by id."""
        return {chunk.id: chunk for chunk in self._store.corpus.chunks_by_id(list(dict.fromkeys(chunk_ids)))}

    def tokens(self, text: str) -> tuple[str, ...]:
        """``text`` in the embedder's tokens, special ones left out; none without an embedder that works."""
        embedder = self._searcher().embedder
        try:
            return tuple(text[a:b] for a, b in embedder.tokenizer.offsets(text)) if embedder else ()
        except EngineError:
            return ()

    def suggest(self, trace: str | Trace, text: str, limit: int = 20) -> tuple[Chunk, ...]:
        """Chunks of the trace's collection that ``text`` may mean: by id, by words, by the name of their document."""
        return suggest(self._store, self._trace(trace), text, limit)

    def settings(self, trace: str | Trace) -> WhatIf:
        """What a what-if of the trace starts from. Raises UsageError when it has no ranking."""
        return self._of(trace).settings

    def what_if(self, trace: str | Trace, changes: str | WhatIf) -> WhatIfResult:
        """The trace's ranking and evidence under other settings; nothing is searched, embedded or stored.

        The chunks of the trace asked about last are kept at hand: a second what-if takes a few milliseconds.

        Args:
            changes: all settings, or those that change as ``changes.parse_changes`` reads them.

        Raises:
            UsageError: the trace has no ranking, or a change makes no sense.
        """
        material = self._of(trace)
        if isinstance(changes, str):
            changes = parse_changes(changes, material.settings, cached_rerankings(material.trace))
        return what_if(material, changes)

    def weighed(self, trace: str | Trace, result: WhatIfResult) -> WhatIfResult:
        """A what-if of the trace with the support of its evidence; sentences that are new to it are embedded."""
        material = self._of(trace)
        if self._weigher is None or self._weigher.trace is not material.trace:
            self._weigher = Weigher(self._store, self._searcher(), material.trace)
        return self._weigher.weighed(result)

    def autopsy(self, trace: str | Trace, wanted: str) -> Autopsy:
        """What became of the chunk with that id, or that holds that text. Raises NotFoundError when none does.

        The hits that were looked up for it are at hand for the what-ifs that follow: its changes can be tried.
        """
        coroner = Coroner(self._store, self._searcher(), self._trace(trace))
        found = coroner.examine(wanted)
        if any(fix.change for fix in found.fixes):
            self._of(trace).lanes = coroner.lanes
        return found

    def compare(self, a: str, b: str) -> TraceComparison:
        """Two traces side by side, the earlier one first."""
        first, second = sorted((self._store.traces.trace(a), self._store.traces.trace(b)), key=lambda t: t.created)
        chunks = self.chunks(sorted({hit.chunk_id for trace in (first, second) for hit in final_hits(trace)}))
        sources = {chunk.id: chunk.source_id for chunk in chunks.values()}
        return compare_traces(first, second, sources, self._fates(first, second))

    def _fates(self, first: Trace, second: Trace) -> Fates:
        """What became of the documents in between, where both asked one collection."""
        name, corpus = first.manifest.collection, self._store.corpus
        if name != second.manifest.collection or name not in corpus.collection_names():
            return {}
        made = corpus.collection(name).created
        if first.created < made:  # the versions of one that was made anew count from 0 again
            return {"anew": (name,)} if made < second.created else {}
        versions = sorted(trace.manifest.collection_version for trace in (first, second))
        return fates(corpus.document_changes(name, *versions))

    def replay(self, trace_id: str, cancel: Cancel | None = None) -> Iterator[Trace]:
        """The trace's question asked again with its settings, of today's index and model; stored as a new trace.

        Raises:
            NotFoundError: its collection is gone. UsageError: it was asked of tables.
        """
        trace = self._store.traces.trace(trace_id)
        if of_tables(trace):
            raise UsageError(
                tr("It was asked of tables"),
                tr("A query answered it, and no search."),
                tr("Ask it again where it was asked: workbench sql --ask, or the Tools screen's SQL tab."),
            )
        ask, search = settled(trace)
        yield from Asker(self._store, self._searcher(), self._generator).ask(trace.query, ask, search, cancel)

    def _trace(self, trace: str | Trace) -> Trace:
        return self._store.traces.trace(trace) if isinstance(trace, str) else trace

    def _of(self, trace: str | Trace) -> Material:
        with self._lock:
            kept = self._material
            same = kept is not None and (kept.trace is trace or (isinstance(trace, str) and kept.trace.id == trace))
            if kept is None or not same:
                kept = self._material = Material(self._store, self._trace(trace))
            return kept
