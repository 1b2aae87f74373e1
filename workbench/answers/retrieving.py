"""The searching stages of one question: filter, lanes, transformations, fusion, rerank; and the second search."""

from __future__ import annotations

from collections.abc import Generator as Steps
from dataclasses import dataclass

from workbench.answers.growth import Growth
from workbench.ports import Cancel, Generator, Store
from workbench.queries.spelling import corrected
from workbench.queries.transforming import Target, Transformer
from workbench.records.answers import EMBEDDER_START, Outcome, Trace
from workbench.records.corpus import Index
from workbench.records.retrieval import (
    Analysis,
    Correction,
    FilterResult,
    FusedHit,
    LaneResult,
    SearchOptions,
    Transform,
    Transformed,
)
from workbench.retrieval.fusion import fuse
from workbench.retrieval.rerank import reordered
from workbench.retrieval.search import Searcher, wanted_lanes

Hits = tuple[FusedHit, ...]


class NoAnswerError(Exception):
    """Ends a question before there is anything to answer from."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Engines:
    """What a question is searched with: the file, the searcher, and the loaded model if there is one."""

    store: Store
    searcher: Searcher
    generator: Generator | None


class Retrieval:
    """One question's searches, each a span of its trace.

    Attributes:
        analysis: of the question as it is read: with its spelling corrected once that was applied.
        filter: what the filters let pass.
        lanes: what the question itself found.
        parts: the questions that it was split into, none where it wasn't.
        transformer: that has transformed the question, from ``first`` on.
    """

    transformer: Transformer

    def __init__(
        self,
        engines: Engines,
        growth: Growth,
        options: SearchOptions,
        analysis: Analysis,
        mandatory: str,
        cancel: Cancel | None,
    ) -> None:
        self.analysis = self._asked = analysis
        self.filter = FilterResult(options.filter, mandatory, 0, 0)
        self.lanes: tuple[LaneResult, ...] = ()
        self.parts: tuple[str, ...] = ()
        self._engines = engines
        self._growth = growth
        self._options = options
        self._cancel = cancel
        self._extra: tuple[LaneResult, ...] = ()

    def first(self, index: Index) -> Steps[Trace, None, Hits]:
        """Every stage up to the ranking. Raises NoAnswerError."""
        growth, searcher = self._growth, self._engines.searcher
        growth.begin()
        where, self.filter = searcher.filter(index, self._options)
        yield growth.span("filter", self.filter)
        if not self.filter.matching:
            raise NoAnswerError("filtered_out")
        target = Target(index, where, self._options)
        self.transformer = Transformer(self._engines.store, searcher, self._engines.generator, target, self._cancel)
        starting = searcher.start_embedder(index, self.analysis, self._options)
        for lane in wanted_lanes(self._options):
            growth.begin()
            found = searcher.lane(lane, index, self.analysis, where, self._options)
            self.lanes = (*self.lanes, found)
            began = {EMBEDDER_START: starting} if lane == "dense" and starting >= 1 else {}
            yield growth.span(lane, found, **began)
        yield from self._transformed()
        return (yield from self._ranked(index))

    def again(self, index: Index, done: Transformed, reading: Analysis) -> Steps[Trace, None, Hits]:
        """The ranking with what a second search found, and the question read as ``reading`` from now on."""
        self._extra = (*self._extra, *done.lanes)
        self.analysis = reading
        yield self._growth.span("retry", done)
        return (yield from self._ranked(index))

    def spelt(self) -> tuple[Correction, ...]:
        """Words of the question as it was asked that no chunk holds, each with one of the index that is nearly so."""
        return self.transformer.corrections(self._asked)

    def _transformed(self) -> Steps[Trace, None, None]:
        """Those asked for. Spelling is looked at in any case, and applied unasked where no word was found."""
        wanted, asked = self._options.transforms or (), self.analysis
        lexical = next((lane for lane in self.lanes if lane.lane == "lexical"), None)
        nothing = lexical is not None and not lexical.hits and bool(asked.terms)
        kinds: tuple[Transform, ...] = ("spelling", *wanted) if nothing and "spelling" not in wanted else wanted
        if "spelling" not in kinds:
            self._growth.begin()
            suggested = self.transformer.suggestion(asked)
            if suggested:
                yield self._growth.span("spelling", suggested)
        for kind in kinds:
            self._growth.begin()
            done = self.transformer.run(kind, self.analysis)
            if kind not in wanted and not done.corrections:
                continue  # nobody asked for it, and there is nothing to tell
            self._extra = (*self._extra, *done.lanes)
            if kind == "split":
                self.parts = tuple(variant.text for variant in done.variants)
            if done.variants and done.corrections:
                self.analysis = self._engines.searcher.analyse(corrected(asked.query, done.corrections))
            yield self._growth.span(kind, done)

    def _ranked(self, index: Index) -> Steps[Trace, None, Hits]:
        growth = self._growth
        growth.begin()
        fusion = fuse([*self.lanes, *self._extra], self._options)
        yield growth.span("fusion", fusion)
        if not fusion.hits:
            raise NoAnswerError("no_result")
        growth.begin()
        reranked = self._engines.searcher.rerank(
            index, self.analysis, fusion, self._options, self._cancel, told=len(fusion.hits)
        )
        if reranked:
            yield growth.span("rerank", reranked)
        return reordered(fusion, reranked)
