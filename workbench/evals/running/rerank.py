"""What a reranker does to a person's own questions: one search of each, its ranking before and after, paired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from workbench.errors import Cancelled, UsageError
from workbench.evals.gold.anchors import Anchors
from workbench.evals.gold.whereabouts import relevant
from workbench.evals.measuring.statistics import mcnemar
from workbench.i18n import tr
from workbench.ports import Cancel, Store
from workbench.records.evals import Case, Dataset
from workbench.records.retrieval import RerankGain, SearchOptions
from workbench.retrieval.search import Searcher

CUT: Final = 10
"""Of the reciprocal ranks: gold below it counts as not found."""


def measure_rerank(
    store: Store, searcher: Searcher, dataset: Dataset, cancel: Cancel | None = None
) -> Iterator[RerankGain]:
    """The gain over the questions so far, after each; the last one is of all that have gold.

    Raises:
        UsageError: no question has gold, or the index has no token vectors.
        NotFoundError: the dataset's collection is gone or empty.
        Cancelled: ``cancel`` was set.
    """
    cases = [case for case in store.datasets.cases(dataset.name) if case.answerable and relevant(case)]
    if not cases:
        raise UsageError(
            tr("Nothing to measure"),
            tr("No question of “{name}” has gold that a search could find.", name=dataset.name),
            tr("Choose a dataset whose answerable questions name their passages."),
        )
    anchors = Anchors(store.corpus, searcher.index(dataset.collection))
    pairs: list[tuple[float, float]] = []
    for case in cases:
        if cancel and cancel.is_set():
            raise Cancelled
        pairs.append(_reciprocal_ranks(searcher, anchors, dataset.collection, case))
        yield _gain(dataset, pairs, len(cases))


def _reciprocal_ranks(searcher: Searcher, anchors: Anchors, collection: str, case: Case) -> tuple[float, float]:
    """1 / rank of the first gold in the fused and in the reranked ranking, 0 when it isn't among the first ten."""
    found = searcher.search(case.question, SearchOptions(collection, k=CUT, filter=case.filter, rerank="late"))
    if found.rerank and found.rerank.skipped:
        raise UsageError(
            tr("The reranker can't be measured"),
            tr("Late interaction was skipped: {reason}.", reason=found.rerank.skipped),
            tr("Ingest with --recipe structure:token_vectors=bits --rechunk, then measure again."),
        )
    gold = anchors.grades(relevant(case)).keys()
    rankings = ([hit.chunk_id for hit in found.fusion.hits[:CUT]], [view.hit.chunk_id for view in found.hits])
    before, after = (
        next((1 / rank for rank, chunk_id in enumerate(ids, start=1) if chunk_id in gold), 0.0) for ids in rankings
    )
    return before, after


def _gain(dataset: Dataset, pairs: Sequence[tuple[float, float]], total: int) -> RerankGain:
    n = len(pairs)
    fixed = sum(before < 1 <= after for before, after in pairs)
    broken = sum(after < 1 <= before for before, after in pairs)
    return RerankGain(
        mode="late",
        collection=dataset.collection,
        dataset=dataset.name,
        cases=n,
        total=total,
        recall_1=(sum(before == 1 for before, _ in pairs) / n, sum(after == 1 for _, after in pairs) / n),
        mrr_10=(sum(before for before, _ in pairs) / n, sum(after for _, after in pairs) / n),
        fixed=fixed,
        broken=broken,
        p_value=mcnemar(fixed, broken),
    )
