"""What a reranker does to a person's own questions: one search of each, its ranking before and after, paired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import numpy as np

from workbench.errors import Cancelled, UsageError
from workbench.evals.gold.anchors import Anchors, lost_spans, no_gold_left
from workbench.evals.gold.whereabouts import relevant
from workbench.evals.measuring.statistics import mcnemar, paired_difference
from workbench.i18n import tr
from workbench.ports import Cancel, Store
from workbench.records.cases import Case, Dataset
from workbench.records.rerankers import LATE
from workbench.records.retrieval import RerankGain, RerankMode, SearchOptions
from workbench.retrieval.search import Searcher

CUT: Final = 10
"""Of the reciprocal ranks: gold below it counts as not found."""


@dataclass(frozen=True, slots=True)
class _Tried:
    """One question: 1 / rank of its first gold as fused and as reranked, 0 when it isn't among the first ten."""

    before: float
    after: float
    milliseconds: float
    unfinished: bool


def measure_rerank(
    store: Store, searcher: Searcher, dataset: Dataset, mode: RerankMode = LATE, cancel: Cancel | None = None
) -> Iterator[RerankGain]:
    """The gain over the questions so far, after each; the last one is of all whose gold is there, with its interval.

    Each question is searched as it would be asked: with the file's depth and time for reranking.

    Raises:
        UsageError: no question's gold is there, or the reranker doesn't run (the index has no token vectors).
        NotFoundError: the dataset's collection is gone or empty, or there is no such reranker.
        Cancelled: ``cancel`` was set.
    """
    golden = [case for case in store.datasets.cases(dataset.name) if case.answerable and relevant(case)]
    if not golden:
        raise UsageError(
            tr("Nothing to measure"),
            tr("No question of “{name}” has gold that a search could find.", name=dataset.name),
            tr("Choose a dataset whose answerable questions name their passages."),
        )
    anchors = Anchors(store.corpus, searcher.index(dataset.collection))
    lost = lost_spans(store.corpus, dataset.collection, (span for case in golden for span in relevant(case)))
    cases = [case for case in golden if set(relevant(case)) - lost]
    if not cases:
        raise no_gold_left(dataset.name, dataset.collection)
    tried: list[_Tried] = []
    for case in cases:
        if cancel and cancel.is_set():
            raise Cancelled
        tried.append(_try(searcher, anchors, SearchOptions(dataset.collection, filter=case.filter, rerank=mode), case))
        gain = replace(_gain(dataset, mode, tried, len(cases)), left_out=len(golden) - len(cases))
        yield replace(gain, interval=_interval(tried)) if len(tried) == len(cases) else gain


def _try(searcher: Searcher, anchors: Anchors, options: SearchOptions, case: Case) -> _Tried:
    found = searcher.search(case.question, replace(options, k=CUT))
    if found.rerank and found.rerank.skipped:
        raise UsageError(
            tr("The reranker can't be measured"),
            tr("“{mode}” was skipped: {reason}.", mode=options.rerank, reason=found.rerank.skipped),
            tr("Ingest with --recipe structure:token_vectors=bits --rechunk, then measure again.")
            if options.rerank == LATE
            else tr("workbench rerank --list shows those there are."),
        )
    gold = anchors.grades(relevant(case)).keys()
    rankings = ([hit.chunk_id for hit in found.fusion.hits[:CUT]], [view.hit.chunk_id for view in found.hits])
    before, after = (
        next((1 / rank for rank, chunk_id in enumerate(ids, start=1) if chunk_id in gold), 0.0) for ids in rankings
    )
    told = found.rerank
    return _Tried(before, after, told.duration_ms if told else 0.0, told is not None and told.unfinished)


def _interval(tried: Sequence[_Tried]) -> tuple[float, float]:
    """Of the change of R@1, 95 %, the questions resampled with both their rankings."""
    first = np.array([[one.before == 1 for one in tried], [one.after == 1 for one in tried]], float)
    change, _ = paired_difference(first[0], first[1], shares=True)
    return change.low, change.high


def _gain(dataset: Dataset, mode: RerankMode, tried: Sequence[_Tried], total: int) -> RerankGain:
    n, pairs = len(tried), [(one.before, one.after) for one in tried]
    fixed = sum(before < 1 <= after for before, after in pairs)
    broken = sum(after < 1 <= before for before, after in pairs)
    return RerankGain(
        mode=mode,
        collection=dataset.collection,
        dataset=dataset.name,
        cases=n,
        total=total,
        recall_1=(sum(before == 1 for before, _ in pairs) / n, sum(after == 1 for _, after in pairs) / n),
        mrr_10=(sum(before for before, _ in pairs) / n, sum(after for _, after in pairs) / n),
        fixed=fixed,
        broken=broken,
        p_value=mcnemar(fixed, broken),
        milliseconds=median(one.milliseconds for one in tried),
        unfinished=sum(one.unfinished for one in tried),
    )
