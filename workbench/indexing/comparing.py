"""Two indexes held against each other on the same questions: recall and reciprocal rank, paired, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np

from workbench.errors import UsageError
from workbench.evals.gold.anchors import Anchors, anchor_chunk, lost_spans, no_gold_left
from workbench.evals.gold.whereabouts import relevant
from workbench.evals.measuring.statistics import bounded_mean, flipped_difference, mcnemar, paired_difference, wilson
from workbench.i18n import tr
from workbench.indexing.building import stop_if
from workbench.ports import Cancel, Embedder, Store
from workbench.records.cases import Case, GoldSpan
from workbench.records.corpus import Index
from workbench.records.evals import MetricChange
from workbench.records.indexes import IndexComparison
from workbench.records.retrieval import SearchOptions, SearchResult
from workbench.retrieval.search import Searcher

CUT: Final = 10
RECALLS: Final = (1, 5)
STORED: Final = 200
"""Stored questions that are asked at most, the newest."""

Ranks: TypeAlias = Mapping[str, int]  # "dense" and "fusion" → rank of the first gold, 0 when it isn't among the first


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of both indexes. ``gold``: the passages to find; none: those that the first index finds."""

    text: str
    filter: str = ""
    gold: tuple[GoldSpan, ...] = ()


def questions_of(store: Store, collection: str, dataset: str) -> list[Question]:
    """The dataset's answerable questions with gold; without a dataset those that were asked of the collection.

    Raises:
        NotFoundError: no such dataset.
        UsageError: there are none.
    """
    if dataset:
        cases: Sequence[Case] = store.datasets.cases(dataset)
        found = [Question(c.question, c.filter, relevant(c)) for c in cases if c.answerable and relevant(c)]
    else:
        asked = (trace.query for trace in store.traces.recent(STORED * 5) if trace.collection == collection)
        found = [Question(text) for text in list(dict.fromkeys(asked))[:STORED]]
    if not found:
        raise UsageError(
            tr("No questions"),
            tr("“{name}” has no question whose passages are known.", name=dataset)
            if dataset
            else tr("Nothing was asked of “{name}” yet.", name=collection),
            tr("Name a dataset with gold passages: --dataset NAME")
            if dataset
            else tr("Ask it something first, or compare on a dataset with gold passages."),
        )
    return found


def compare_indexes(
    store: Store,
    first: Index,
    second: Index,
    embedders: Callable[[Index], Embedder | None],
    questions: Sequence[Question],
    source: str,
    cancel: Cancel | None = None,
) -> Iterator[IndexComparison]:
    """The comparison over the questions so far, some times a run; the last one is of all.

    Questions without gold in the collection are left out: no index could find it.

    Raises:
        UsageError: an index's embedder isn't installed, or no question has gold in the collection.
        FilterError: a question's filter doesn't parse.
        Cancelled: ``cancel`` was set.
    """
    sides = [_Side(store, index, embedders(index)) for index in (first, second)]
    asked = _with_gold(store, first.collection, questions, source)
    tally: list[tuple[Ranks, Ranks]] = []
    for number, question in enumerate(asked, 1):
        stop_if(cancel)
        gold = question.gold or sides[0].finds(question)
        tally.append((sides[0].ranks(question, gold), sides[1].ranks(question, gold)))
        if number == len(asked) or number % max(1, len(asked) // 50) == 0:
            found = _comparison(first, second, source, tally, len(asked), whole=number == len(asked))
            yield replace(found, left_out=len(questions) - len(asked))


def _with_gold(store: Store, collection: str, questions: Sequence[Question], source: str) -> list[Question]:
    """Those of which some gold can be found, and those that name none."""
    lost = lost_spans(store.corpus, collection, (span for question in questions for span in question.gold))
    found = [question for question in questions if not question.gold or set(question.gold) - lost]
    if not found:
        raise no_gold_left(source, collection)
    return found


def unequal_told(found: IndexComparison) -> tuple[str, ...]:
    """A sentence on each index that lacks documents which the other may hold."""
    told = tr("Documents that index {id} lacks: {count}. It can't find them, and they don't compete in it")
    sides = zip((found.first, found.second), found.lacking, strict=True)
    return tuple(told.format(id=index.id, count=f"{number:,}") for index, number in sides if number)


class _Side:
    """One index with the searcher that meets it and no other."""

    def __init__(self, store: Store, index: Index, embedder: Embedder | None) -> None:
        if embedder is None:
            raise UsageError(
                tr("Its embedder isn't there"),
                tr("Index {id} was made by {name}, which isn't installed.", id=index.id, name=index.embedder.name),
                tr("Install it again: workbench embedders list tells those there are."),
            )
        self._index = index
        self._searcher = Searcher(store, embedder, only=index)
        self._anchors = Anchors(store.corpus, index)
        self._store = store
        self._last: tuple[Question, SearchResult] | None = None

    def finds(self, question: Question) -> tuple[GoldSpan, ...]:
        """Its own first hits, as gold for the other one."""
        views = self._search(question).hits
        chunks = self._store.corpus.chunks_by_id([view.hit.chunk_id for view in views[: RECALLS[-1]]])
        return tuple(anchor_chunk(chunk) for chunk in chunks)

    def ranks(self, question: Question, gold: Sequence[GoldSpan]) -> Ranks:
        """Of the first gold in the dense lane and in the fusion."""
        wanted = self._anchors.grades(gold).keys()
        found = self._search(question)
        dense = [hit.chunk_id for lane in found.lanes if lane.lane == "dense" for hit in lane.hits[:CUT]]
        fused = [hit.chunk_id for hit in found.fusion.hits[:CUT]]
        return {name: _rank(ids, wanted) for name, ids in (("dense", dense), ("fusion", fused))}

    def _search(self, question: Question) -> SearchResult:
        if self._last is None or self._last[0] is not question:
            options = SearchOptions(self._index.collection, k=CUT, filter=question.filter, rerank="none", transforms=())
            self._last = question, self._searcher.search(question.text, options)
        return self._last[1]


def _rank(ids: Sequence[str], wanted: Container[str]) -> int:
    return next((rank for rank, name in enumerate(ids, 1) if name in wanted), 0)


def _comparison(
    first: Index, second: Index, source: str, tally: Sequence[tuple[Ranks, Ranks]], total: int, *, whole: bool
) -> IndexComparison:
    fixed = sum(a["fusion"] != 1 and b["fusion"] == 1 for a, b in tally)
    broken = sum(a["fusion"] == 1 and b["fusion"] != 1 for a, b in tally)
    metrics = tuple(_metrics(tally)) if whole else ()
    return IndexComparison(first, second, source, len(tally), total, metrics, fixed, broken)


def _metrics(tally: Sequence[tuple[Ranks, Ranks]]) -> Iterator[MetricChange]:
    """Recall as a question's hit or miss (exact McNemar), reciprocal rank as a mean (paired bootstrap)."""
    for lane in ("dense", "fusion"):
        ranks = [np.array([side[place][lane] for side in tally]) for place in (0, 1)]
        for k in RECALLS:
            a, b = (((r > 0) & (r <= k)).astype(float) for r in ranks)
            fixed, broken = int((b > a).sum()), int((a > b).sum())
            before, after = (wilson(float(side.mean()), len(side)) for side in (a, b))
            difference = flipped_difference(len(a), fixed, broken)
            yield MetricChange(f"{lane} recall@{k}", before, after, difference, mcnemar(fixed, broken), "McNemar")
        a, b = (np.divide(1.0, r, out=np.zeros(len(r)), where=r > 0) for r in ranks)
        difference, p = paired_difference(a, b, shares=True)
        yield MetricChange(f"{lane} mrr@{CUT}", bounded_mean(a), bounded_mean(b), difference, p, "paired bootstrap")
