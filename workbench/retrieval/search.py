"""One search: analysis → filters → lexical → dense → fusion → rerank → hits, each stage callable by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from workbench.errors import Cancelled, EngineError, MissingModelError, NotFoundError, UsageError
from workbench.i18n import tr
from workbench.indexing.recalled import recall_note
from workbench.ports import Cancel, Embedder, Embedding, Reranker, Store, Vector
from workbench.records.corpus import Index
from workbench.records.rerankers import LATE, NONE
from workbench.records.retrieval import (
    Analysis,
    FilterNode,
    FilterResult,
    FusedHit,
    FusionResult,
    HitView,
    Lane,
    LaneHit,
    LaneResult,
    RerankedHit,
    RerankGain,
    RerankResult,
    SearchOptions,
    SearchResult,
)
from workbench.retrieval.analysis import analyse, names_only
from workbench.retrieval.cross import rank_pairs
from workbench.retrieval.filters import combine, parse_filter
from workbench.retrieval.fusion import fuse
from workbench.retrieval.rerank import TOLD, Matcher, known_gain, limits, reordered, rerank, stored_gain
from workbench.retrieval.transforms import TRANSFORMS_SETTING, parse_transforms
from workbench.text.words import STOPWORDS, stem

FOREIGN_WEIGHT: Final = 0.5
"""Of the lexical lane's ranks where it can only look for names: a name says little of what is asked about it."""
MAX_CANDIDATES: Final = 4096
"""What the vector table returns at most."""


class Searcher:
    """Searches one file with one embedder.

    The stages can be called one by one, so that each becomes a span of a trace or repaints a screen as soon as it ends.

    Args:
        store: the open file.
        embedder: None when there is none: the dense lane is then skipped and says so.
        cancel: set it to have a search that nobody waits for any more end with Cancelled.
        embedders: finds the embedder of the index that a search meets; None where it isn't installed.
        only: the index that every search meets, instead of its collection's current one.
        rerankers: opens a cross-encoder by its name; raises NotFoundError, MissingModelError. None when there are none.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        cancel: Cancel | None = None,
        rerankers: Callable[[str], Reranker] | None = None,
        embedders: Callable[[Index], Embedder | None] | None = None,
        only: Index | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._cancel = cancel
        self._rerankers = rerankers
        self._embedders = embedders
        self._only = only
        self._embedded: tuple[str, Embedding] | None = None

    @property
    def rerankers(self) -> Callable[[str], Reranker] | None:
        """Opens cross-encoders."""
        return self._rerankers

    @property
    def embedder(self) -> Embedder | None:
        """The embedder that queries go through."""
        return self._embedder

    def search(self, query: str, options: SearchOptions) -> SearchResult:
        """The whole search.

        Raises:
            FilterError: the filter can't be understood.
            NotFoundError: there is no such collection, or nothing in it.
            UsageError: no lane, or a k below 1.
        """
        options = self.settled(options)
        index = self.index(options.collection)
        analysis = self.analyse(query)
        self.start_embedder(index, analysis, options)
        started = time.perf_counter()
        where, filtered = self.filter(index, options)
        lanes = tuple(self.lane(lane, index, analysis, where, options) for lane in wanted_lanes(options))
        return self.finish(index, analysis, filtered, lanes, options, started, Searcher.views)

    def finish(
        self,
        index: Index,
        analysis: Analysis,
        filtered: FilterResult,
        lanes: tuple[LaneResult, ...],
        options: SearchOptions,
        started: float,
        views: Callable[[Searcher, Sequence[FusedHit]], tuple[HitView, ...]],
    ) -> SearchResult:
        """What follows the lanes: fusion, reranking, and the hits as a person sees them, which ``views`` reads.

        Args:
            started: ``time.perf_counter()`` when the search began.
        """
        fusion = fuse(lanes, options)
        reranked = self.rerank(index, analysis, fusion, options)
        hits = views(self, reordered(fusion, reranked)[: options.k])
        elapsed = (time.perf_counter() - started) * 1000
        return SearchResult(analysis, filtered, lanes, fusion, hits, elapsed, _notes(lanes, reranked), reranked)

    def settled(self, options: SearchOptions) -> SearchOptions:
        """``options`` with the collection's transformations and reranker, and the file's limits, where they are open.

        Raises:
            NotFoundError, MissingModelError: they name a reranker that isn't there or can't be used.
        """
        if options.transforms is None:
            stored = self._store.settings.get(TRANSFORMS_SETTING.format(collection=options.collection))
            options = replace(options, transforms=parse_transforms(stored))
        depth, milliseconds = limits(self._store.settings)
        if options.rerank is None:
            gain = self.gain(options.collection)
            options = replace(options, rerank=gain.mode if gain else NONE)
        elif options.rerank not in (NONE, LATE):
            self._cross_encoder(options.rerank)
        return replace(
            options,
            rerank_depth=depth if options.rerank_depth is None else options.rerank_depth,
            rerank_ms=milliseconds if options.rerank_ms is None else options.rerank_ms,
        )

    def gain(self, collection: str) -> RerankGain | None:
        """What was measured when the collection's reranker was turned on, None when it is off."""
        return stored_gain(self._store.settings, collection)

    def meeting(self, collection: str, index_id: int) -> Searcher:
        """A searcher like this one whose queries meet that index of the collection, whichever is current.

        Raises:
            NotFoundError: the collection has no such index.
        """
        known = [index for index in self._store.corpus.indexes(collection) if index.status != "retired"]
        found = next((index for index in known if index.id == index_id), None)
        if found is None:
            raise NotFoundError(
                tr("No such index"),
                tr("“{collection}” has no index {id}.", collection=collection, id=index_id),
                tr("There are: {names}.", names=", ".join(str(one) for one in sorted(i.id for i in known)) or "–"),
            )
        return Searcher(self._store, self._embedder, self._cancel, self._rerankers, self._embedders, only=found)

    def index(self, collection: str) -> Index:
        """The index that queries to ``collection`` meet. Raises NotFoundError when it doesn't exist or is empty."""
        known = self._store.corpus.collection(collection)
        index = self._only or self._store.corpus.current_index(known.name)
        if index is None or not (self._only or known.chunks):
            raise NotFoundError(
                tr("Nothing to search"),
                tr("The collection “{name}” has no documents yet.", name=known.name),
                tr("Ingest some: workbench ingest PATH --collection {name}", name=known.name),
            )
        chosen = self._embedders(index) if self._embedders else None
        if chosen is not None and chosen is not self._embedder:  # a query meets vectors of its own embedder only
            self._embedder, self._embedded = chosen, None
        return index

    def analyse(self, query: str) -> Analysis:
        """The query's words, stems and phrases, and what the embedder will see."""
        return analyse(query, prefix=self._embedder.info.query_prefix if self._embedder else "")

    def start_embedder(self, index: Index, analysis: Analysis, options: SearchOptions) -> float:
        """Starts the embedder's process where the dense lane will ask it and none runs, so that the lane's time is its
        own. Returns how many milliseconds it took; why it can't be started, the lane says.
        """
        if self._embedder is None or "dense" not in options.lanes or self._no_dense(index, analysis):
            return 0.0
        started = time.perf_counter()
        with suppress(EngineError):
            self._embedder.start()
        return (time.perf_counter() - started) * 1000

    def filter(self, index: Index, options: SearchOptions) -> tuple[FilterNode, FilterResult]:
        """The collection's mandatory filter and the query's, joined as trees, and how many chunks pass them.

        Raises:
            FilterError: one of them doesn't parse or names an unknown field.
        """
        mandatory = self._store.corpus.collection(index.collection).mandatory_filter
        fields = self._store.search.fields(index.collection)
        demanded = parse_filter(mandatory, fields, strict=False)  # what documents lack must not stop every search
        where = combine(demanded, parse_filter(options.filter, fields))
        matching, total = self._store.search.matching(index, where)
        return where, FilterResult(options.filter, mandatory, matching, total)

    def lane(
        self, lane: Lane, index: Index, analysis: Analysis, where: FilterNode, options: SearchOptions
    ) -> LaneResult:
        """One lane's candidates."""
        run = self.lexical if lane == "lexical" else self.dense
        wanted = dict(options.lane_candidates).get(lane, max(options.candidates, options.k))
        return run(index, analysis, where, min(wanted, MAX_CANDIDATES))

    def lexical(self, index: Index, analysis: Analysis, where: FilterNode, k: int) -> LaneResult:
        """BM25 over the words of the query; skipped when it has none.

        A question in a language that no chunk is in has few words to find: only its names, numbers and codes are
        looked for, at half the weight, as what else occurs is there by chance (XQuAD es→en, bench/xquad.py: R@1 of the
        fusion .861, of all words .784, of the dense lane alone .867).
        """
        if not (analysis.terms or analysis.phrases):
            return LaneResult("lexical", (), k, 0.0, tr("the question has no words"))
        if not self._is_foreign(index, analysis):
            return _timed("lexical", k, lambda: self._store.search.lexical(index, analysis, where, k, self._cancel))
        kept = names_only(analysis)
        if not (kept.terms or kept.phrases):
            return LaneResult(
                "lexical", (), k, 0.0, tr("no source is in the question's language, and it has no names or numbers")
            )
        result = _timed("lexical", k, lambda: self._store.search.lexical(index, kept, where, k, self._cancel))
        told = tr("no source is in the question's language: only its names and numbers were looked for")
        return replace(result, weight=FOREIGN_WEIGHT, note=told)

    def dense(self, index: Index, analysis: Analysis, where: FilterNode, k: int) -> LaneResult:
        """Nearest vectors by cosine; skipped, with the reason, without an embedder that fits the index."""
        reason = self._no_dense(index, analysis)
        if reason:
            return LaneResult("dense", (), k, 0.0, reason)
        try:
            found = _timed("dense", k, lambda: self._nearest(index, analysis, where, k))
            return replace(
                found, note="; ".join(filter(None, (recall_note(self._store, index), self._unread(analysis))))
            )
        except EngineError as error:
            return LaneResult("dense", (), k, 0.0, f"{error.title}: {error.message}")

    def _unread(self, analysis: Analysis) -> str:
        """That the embedder reads only the beginning of the question, where it does. Short ones aren't counted."""
        embedder = self._embedder
        if embedder is None or len(analysis.query) <= embedder.info.max_tokens:
            return ""
        tokens, most = embedder.tokenizer.count(analysis.query), embedder.info.max_tokens
        told = tr(
            "of the question's {tokens} tokens, the embedder reads {most}", tokens=f"{tokens:,}", most=f"{most:,}"
        )
        return told if tokens > most else ""

    def _nearest(self, index: Index, analysis: Analysis, where: FilterNode, k: int) -> tuple[LaneHit, ...]:
        if self._cancel and self._cancel.is_set():
            raise Cancelled
        return self._store.search.dense(index, self.query_vector(analysis), where, k, self._cancel)

    def query_vector(self, analysis: Analysis) -> Vector:
        """The query's vector. Raises EngineError when there is no embedder, or its process died."""
        return self._query_embedding(analysis).vector

    def passage_vector(self, index: Index, text: str) -> Vector:
        """The vector of ``text`` embedded as the index's passages are. Raises EngineError when no embedder can."""
        if self._embedder is None or (reason := self._no_dense(index, self.analyse(text))):
            raise EngineError(tr("No embedder"), reason if self._embedder else tr("no embedder is installed"))
        return next(iter(self._embedder.embed_passages([text], urgent=True)))

    def rerank(
        self,
        index: Index,
        analysis: Analysis,
        fusion: FusionResult,
        options: SearchOptions,
        cancel: Cancel | None = None,
        told: int = TOLD,
    ) -> RerankResult | None:
        """The first hits of the fusion ranked anew, or why not; None when it isn't asked for or has no hits.

        Args:
            options: as ``settled``.
            told: hits whose matched tokens are told, by late interaction.

        Raises:
            Cancelled: ``cancel``, or the searcher's own, was set.
        """
        mode = options.rerank
        if mode in (None, NONE) or not fusion.hits:
            return None
        depth, budget = limits(self._store.settings)
        first = fusion.hits[: depth if options.rerank_depth is None else options.rerank_depth]
        budget = budget if options.rerank_ms is None else options.rerank_ms
        started = time.perf_counter()
        hits: tuple[RerankedHit, ...] = ()
        note, skipped = "", self._no_dense(index, analysis) if mode == LATE else ""
        try:
            if mode != LATE:
                hits, note = self._cross(mode, analysis, first, budget, cancel or self._cancel)
            elif not skipped:
                hits = self._late(index, analysis, first, told)
                skipped = "" if hits else tr("the index has no token vectors")
        except (EngineError, NotFoundError, MissingModelError) as error:
            skipped = f"{error.title}: {error.message}"
        elapsed = (time.perf_counter() - started) * 1000
        gain = known_gain(self._store.settings, index.collection, mode)
        return RerankResult(mode, len(first), hits, elapsed, skipped, gain, note, 0 < len(hits) < len(first))

    def _late(self, index: Index, analysis: Analysis, hits: Sequence[FusedHit], told: int) -> tuple[RerankedHit, ...]:
        stored = self._store.search.token_vectors(index, [hit.chunk_id for hit in hits])
        if self._embedder is None or not stored.packed:
            return ()
        query = self._query_embedding(analysis).tokens
        matcher = Matcher(self._store, self._embedder, analysis.query, query, stored)
        return matcher.told(rerank(hits, query, stored), told)

    def _cross(
        self, name: str, analysis: Analysis, hits: Sequence[FusedHit], budget: int, cancel: Cancel | None
    ) -> tuple[tuple[RerankedHit, ...], str]:
        chunks = self._store.corpus.chunks_by_id([hit.chunk_id for hit in hits])
        texts = {chunk.id: chunk.indexed_text for chunk in chunks}
        return rank_pairs(self._cross_encoder(name), analysis.query, hits, texts, budget, cancel)

    def _cross_encoder(self, name: str) -> Reranker:
        if self._rerankers is None:
            raise NotFoundError(tr("No such reranker"), tr("There is no reranker “{name}”.", name=name))
        return self._rerankers(name)

    def _query_embedding(self, analysis: Analysis) -> Embedding:
        """The last one is kept, as one stage after another asks for it."""
        if self._embedder is None:
            raise EngineError(tr("No embedder"), tr("Without an embedder there is no vector."))
        kept = self._embedded
        if kept is None or kept[0] != analysis.query:
            kept = self._embedded = (analysis.query, self._embedder.embed_query_tokens(analysis.query))
        return kept[1]

    def views(self, hits: Sequence[FusedHit]) -> tuple[HitView, ...]:
        """The hits with what a person needs to recognise them."""
        corpus = self._store.corpus
        chunks = {chunk.id: chunk for chunk in corpus.chunks_by_id([hit.chunk_id for hit in hits])}
        titles = {i: corpus.document(i).title for i in {chunk.document_id for chunk in chunks.values()}}
        return tuple(
            HitView(
                hit=hit,
                source_id=chunk.source_id,
                title=titles[chunk.document_id],
                heading=chunk.heading,
                page=chunk.page,
                page_label=chunk.page_label,
                start=chunk.start,
                end=chunk.end,
                text=chunk.text,
                header=chunk.header,
            )
            for hit in hits
            if (chunk := chunks.get(hit.chunk_id))
        )

    def _is_foreign(self, index: Index, analysis: Analysis) -> bool:
        """No chunk is in the question's language, and most of its words that aren't names occur nowhere.

        The second keeps all the words of a question whose language was mistaken.
        """
        if not analysis.language or self._store.search.has_language(index, analysis.language):
            return False
        names = names_only(analysis).terms
        others = STOPWORDS.keys() - {analysis.language}
        forms = {t: {t, *(stem(t, other) for other in others)} for t in analysis.terms if t not in names}
        frequency = self._store.search.document_frequency(index, sorted(set().union(*forms.values())))
        occurring = sum(any(frequency[form] for form in of_term) for of_term in forms.values())
        return 2 * occurring < len(forms)

    def _no_dense(self, index: Index, analysis: Analysis) -> str:
        if self._embedder is None:
            return tr("no embedder is installed")
        if not analysis.query.strip():
            return tr("the question has no words")
        mine, its = self._embedder.info, index.embedder
        if mine.fingerprint != its.fingerprint:
            return tr(
                "the index was made by {its} ({its_print}), not by {mine} ({mine_print}); ingest again with this one",
                its=its.name,
                its_print=its.fingerprint[:8],
                mine=mine.name,
                mine_print=mine.fingerprint[:8],
            )
        return ""


def wanted_lanes(options: SearchOptions) -> tuple[Lane, ...]:
    """The lanes that ``options`` asks for, lexical first. Raises UsageError when nothing could be found with them."""
    depths = (options.k, options.candidates, *dict(options.lane_candidates).values())
    if not options.lanes or min(depths) < 1:
        raise UsageError(
            tr("Search not possible"),
            tr("A search needs at least one lane, and k and candidates of at least 1."),
            tr("Leave the options out to search both lanes."),
        )
    every: tuple[Lane, ...] = ("lexical", "dense")
    return tuple(lane for lane in every if lane in options.lanes)


def _notes(lanes: Sequence[LaneResult], reranked: RerankResult | None) -> tuple[str, ...]:
    """What a person must know of how the stages ran."""
    notes = [
        tr("{lane} lane skipped: {reason}", lane=lane.lane, reason=lane.skipped) if lane.skipped else lane.note
        for lane in lanes
        if lane.skipped or lane.note
    ]
    if reranked and reranked.skipped:
        notes.append(tr("rerank skipped: {reason}", reason=reranked.skipped))
    if reranked and reranked.note:
        notes.append(tr("rerank: {note}", note=reranked.note))
    return tuple(notes)


def _timed(lane: Lane, k: int, run: Callable[[], tuple[LaneHit, ...]]) -> LaneResult:
    started = time.perf_counter()
    hits = run()
    return LaneResult(lane, hits, k, (time.perf_counter() - started) * 1000)
