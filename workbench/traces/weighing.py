"""The support of evidence that a what-if would deliver: how far it answers the trace's question, on the scale of τ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.answers.support import Support, answer_support
from workbench.answers.weighing import Scales, threshold
from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.ports import Store
from workbench.records.answers import Decision, Outcome, Trace
from workbench.records.retrieval import Analysis, FilterResult, LaneResult
from workbench.records.traces import WhatIf, WhatIfResult
from workbench.retrieval.search import Searcher
from workbench.traces.stages import lanes, settled, stage


class Weigher:
    """Weighs evidence for one trace as answering would; each sentence is embedded once.

    Args:
        searcher: with today's embedder, which compares sentences with the question.
    """

    def __init__(self, store: Store, searcher: Searcher, trace: Trace) -> None:
        self._store = store
        self.trace = trace
        self._scales = Scales(store, searcher)

    def weighed(self, result: WhatIfResult) -> WhatIfResult:
        """``result`` with its decision; a note instead where its index or a document is gone."""
        given = result.settings.threshold
        tau = self._own_threshold() if given is None else given
        support = self._support(result)
        if support is None:
            note = tr("How far this evidence answers can't be told: its index or a document of it is gone.")
            return replace(result, notes=(*result.notes, note))
        outcome: Outcome = "answered" if support.score >= tau else "low_support"
        return replace(result, decision=Decision(outcome, support.score, tau, support.parts))

    def _own_threshold(self) -> float:
        """The collection's τ: as the question met it, unless it was asked with another one."""
        made = stage(self.trace, "decision", Decision)
        ask, _ = settled(self.trace)
        met = made is not None and ask.threshold is None
        return made.threshold if made and met else threshold(self._store, self.trace.manifest.collection)

    def _support(self, result: WhatIfResult) -> Support | None:
        index = self._store.corpus.current_index(self.trace.manifest.collection)
        read, passed = stage(self.trace, "analysis", Analysis), stage(self.trace, "filter", FilterResult)
        if index is None or index.id != self.trace.manifest.index_id or read is None or passed is None:
            return None
        evidence = result.context.evidence if result.context else ()
        terms = self._scales.terms(read, index, passed.total)
        try:
            quotes = self._scales.quotes(read, terms, evidence)
        except NotFoundError:
            return None
        found = _counting(lanes(self.trace), result.settings)
        return answer_support(terms, evidence, found, quotes, read.language, read.query)


def _counting(found: Sequence[LaneResult], settings: WhatIf) -> list[LaneResult]:
    """The lanes that are on; one that found nothing is, though none of its hits count."""
    most = {"lexical": settings.lexical_k, "dense": settings.dense_k}
    return [lane for lane in found if most[lane.lane] or not lane.hits]
