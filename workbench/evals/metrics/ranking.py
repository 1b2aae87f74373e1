"""Metrics of a ranking: classic information retrieval, for results that may hold several pieces of gold or share one.

Sources: Manning, Raghavan & Schütze, *Introduction to Information Retrieval* (2008), ch. 8; Järvelin & Kekäläinen,
*Cumulated gain-based evaluation of IR techniques* (TOIS 2002), with the exponential gain of Burges et al. (ICML 2005).

A ranking is given as what each result holds, best first: a collection of gold names per rank, empty for a result that
holds none. Where results are what was judged (a document, a chunk), ``one_each`` makes that of their ids, and every
formula is the textbook's. Where gold is a span of the source, one chunk can hold two spans, and two overlapping
chunks the same one; the docstrings say what then happens.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

K = TypeVar("K", bound=Hashable)
Held: TypeAlias = Sequence[Collection[K]]
Grades: TypeAlias = Mapping[K, int]


def one_each(ids: Iterable[K]) -> Held[K]:
    """A ranking of judged things themselves: each result holds itself."""
    return [(name,) for name in ids]


def precision(held: Held[K], grades: Grades[K], k: int) -> float | None:
    """Precision@k: results among the first k that hold relevant gold (grade ≥ 1), over k.

    A ranking shorter than k is not excused: what is missing counts as not relevant (as in trec_eval).
    None when nothing is relevant.
    """
    relevant = _relevant(grades)
    return sum(bool(relevant & set(names)) for names in held[:k]) / k if relevant else None


def recall(held: Held[K], grades: Grades[K], k: int) -> float | None:
    """Recall@k: relevant gold (grade ≥ 1) that the first k results hold, each counted once, over all of it.

    None when nothing is relevant.
    """
    relevant = _relevant(grades)
    return len(relevant & _seen(held[:k])) / len(relevant) if relevant else None


def hit(held: Held[K], grades: Grades[K], k: int) -> float | None:
    """Hit@k: 1 when any of the first k results holds relevant gold, else 0. None when nothing is relevant."""
    relevant = _relevant(grades)
    return float(bool(relevant & _seen(held[:k]))) if relevant else None


def reciprocal_rank(held: Held[K], grades: Grades[K], k: int) -> float | None:
    """RR@k: 1 / rank of the first relevant result, 0 when none is among the first k. MRR is its mean over cases.

    None when nothing is relevant.
    """
    relevant = _relevant(grades)
    if not relevant:
        return None
    return next((1 / rank for rank, names in enumerate(held[:k], start=1) if relevant & set(names)), 0.0)


def average_precision(held: Held[K], grades: Grades[K], k: int) -> float | None:
    """AP@k: the mean, over all relevant gold, of the precision at the rank where it is first held (0 when it isn't).

    MAP is its mean over cases. A result that holds two pieces of gold counts for both. None when nothing is relevant.
    """
    relevant = _relevant(grades)
    if not relevant:
        return None
    found: set[K] = set()
    useful, total = 0, 0.0
    for rank, names in enumerate(held[:k], start=1):
        here = relevant & set(names)
        useful += bool(here)
        total += len(here - found) * useful / rank
        found |= here
    return total / len(relevant)


def dcg(gains: Sequence[int]) -> float:
    """DCG = Σ (2^rel − 1) / log2(i + 1) over grades in rank order, i from 1. [2, 0, 3] → 3 + 0 + 3.5 = 6.5."""
    return math.fsum((2.0**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(gains, start=1))


def ndcg(held: Held[K], grades: Grades[K], k: int) -> float | None:
    """nDCG@k = DCG@k / IDCG@k: 1 when the most relevant stands on top, less the deeper it is buried.

    The gain of a result is the best grade among the gold it holds that no result above it held: a repetition gains
    nothing. The ideal is the best order of the same evidence, gold that one result holds together kept together.
    So nDCG stays in 0–1 for spans too. None when nothing is relevant.
    """
    left = {name: grade for name, grade in grades.items() if grade > 0}
    if not left:
        return None
    gains: list[int] = []
    for names in held[:k]:
        gains.append(max((left[name] for name in set(names) & left.keys()), default=0))
        for name in names:
            left.pop(name, None)
    ideal = sorted([*gains, *left.values()], reverse=True)[:k]
    return dcg(gains) / dcg(ideal)


def recall_ann(found: Sequence[K], exact: Sequence[K], k: int) -> float | None:
    """Recall_ANN@k: of the k true nearest neighbours, the share that an approximate index finds among its first k.

    Not the recall of relevant passages: it asks whether the fast index finds what the slow one finds (Aumüller,
    Bernhardsson & Faithfull, *ANN-Benchmarks*, 2020). Over fewer than k where the collection holds fewer; None
    where exact search finds nothing.
    """
    true = set(exact[:k])
    return len(true & set(found[:k])) / len(true) if true else None


def retrieval_scores(held: Held[K], grades: Grades[K], k: int) -> dict[str, float]:
    """All ranking metrics of a case by their names in ``METRICS``; empty when nothing is relevant.

    @k as given; RR and AP over the ranking as deep as it was kept, named by no depth.
    """
    depth = max(len(held), k)
    scores = {
        f"precision@{k}": precision(held, grades, k),
        f"recall@{k}": recall(held, grades, k),
        f"hit@{k}": hit(held, grades, k),
        f"ndcg@{k}": ndcg(held, grades, k),
        "mrr": reciprocal_rank(held, grades, depth),
        "map": average_precision(held, grades, depth),
    }
    return {name: value for name, value in scores.items() if value is not None}


def _relevant(grades: Grades[K]) -> set[K]:
    return {name for name, grade in grades.items() if grade > 0}


def _seen(held: Held[K]) -> set[K]:
    return {name for names in held for name in names}
