"""Ranking metrics: the source's worked numbers, and properties that hold for any ranking."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.evals.metrics import (
    average_precision,
    dcg,
    hit,
    ndcg,
    one_each,
    precision,
    recall,
    recall_ann,
    reciprocal_rank,
    retrieval_scores,
)

ALL = [precision, recall, hit, reciprocal_rank, average_precision, ndcg]
BINARY = {"a": 1, "b": 1, "c": 1, "d": 0}

names = st.integers(0, 9)
rankings = st.lists(st.frozensets(names, max_size=3), max_size=12)
grades_of = st.dictionaries(names, st.integers(0, 3), min_size=1)
cuts = st.integers(1, 15)


def test_ndcg_of_2_0_3_is_the_worked_example() -> None:
    grades = {"useful": 2, "noise": 0, "key": 3}
    assert dcg([2, 0, 3]) == pytest.approx(6.5)
    assert dcg([3, 2, 0]) == pytest.approx(8.893, abs=5e-4)
    assert ndcg(one_each(["useful", "noise", "key"]), grades, 3) == pytest.approx(0.73, abs=5e-3)
    assert ndcg(one_each(["key", "useful", "noise"]), grades, 3) == 1.0


def test_reciprocal_rank_of_the_fifth_is_a_fifth() -> None:
    assert reciprocal_rank(one_each("wxyza"), BINARY, 10) == pytest.approx(0.2)
    assert reciprocal_rank(one_each("axyzb"), BINARY, 10) == 1.0
    assert reciprocal_rank(one_each("wxyza"), BINARY, 4) == 0.0


def test_precision_recall_hit_and_average_precision_by_hand() -> None:
    ranking = one_each("axbyz")
    assert precision(ranking, BINARY, 5) == pytest.approx(2 / 5)
    assert recall(ranking, BINARY, 5) == pytest.approx(2 / 3)
    assert hit(ranking, BINARY, 1) == 1.0
    assert average_precision(ranking, BINARY, 5) == pytest.approx((1 / 1 + 2 / 3 + 0) / 3)


def test_a_short_ranking_is_not_excused() -> None:
    assert precision(one_each("a"), BINARY, 5) == pytest.approx(1 / 5)


@pytest.mark.parametrize("metric", ALL)
def test_nothing_relevant_is_undefined_and_never_zero(metric: Callable[..., float | None]) -> None:
    assert metric(one_each("ab"), {"a": 0}, 5) is None
    assert metric(one_each("ab"), {}, 5) is None
    assert metric([], {"a": 1}, 5) == 0.0


def test_scores_of_a_case_carry_their_k_and_leave_out_what_is_undefined() -> None:
    scores = retrieval_scores(one_each("xa"), {"a": 3}, 5)
    assert scores == {
        "precision@5": 0.2,
        "recall@5": 1.0,
        "hit@5": 1.0,
        "ndcg@5": pytest.approx(1 / math.log2(3)),
        "mrr": 0.5,
        "map": 0.5,
    }
    assert retrieval_scores(one_each("xa"), {}, 5) == {}


def test_one_chunk_that_holds_all_the_gold_is_a_perfect_ranking() -> None:
    held = [("p", "q"), ()]
    grades = {"p": 3, "q": 2}
    assert recall(held, grades, 5) == 1.0
    assert ndcg(held, grades, 5) == 1.0
    assert average_precision(held, grades, 5) == 1.0


def test_overlapping_chunks_of_one_span_count_it_once() -> None:
    held, grades = [("p",), ("p",), ("q",)], {"p": 1, "q": 1}
    assert recall(held, grades, 2) == 0.5
    assert ndcg(held, grades, 3) == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))


def test_recall_of_the_index_is_nine_of_ten() -> None:
    exact = list(range(10))
    assert recall_ann([*range(9), 99], exact, 10) == pytest.approx(0.9)
    assert recall_ann([2, 1, 0], [0, 1, 2], 10) == 1.0, "a collection of three has three neighbours"
    assert recall_ann([1], [], 10) is None


@given(rankings, grades_of, cuts)
def test_every_metric_stays_between_0_and_1(held: list[frozenset[int]], grades: dict[int, int], k: int) -> None:
    for metric in ALL:
        value = metric(held, grades, k)
        assert (value is None) == (not any(grades.values()))
        assert value is None or 0 <= value <= 1 + 1e-12


@given(rankings, grades_of, cuts)
def test_more_results_never_lower_recall_hit_rr_and_ap(
    held: list[frozenset[int]], grades: dict[int, int], k: int
) -> None:
    for metric in (recall, hit, reciprocal_rank, average_precision):
        near, far = metric(held, grades, k), metric(held, grades, k + 1)
        assert near is None or far is None or near <= far


@given(st.permutations(range(6)), grades_of, cuts)
def test_order_within_the_cut_matters_only_to_metrics_of_order(
    ranking: list[int], grades: dict[int, int], k: int
) -> None:
    turned = [*reversed(ranking[:k]), *ranking[k:]]
    for metric in (precision, recall, hit):
        assert metric(one_each(ranking), grades, k) == metric(one_each(turned), grades, k)


@given(st.permutations(range(6)), st.dictionaries(st.integers(0, 5), st.integers(0, 3), min_size=6), cuts)
def test_moving_the_better_of_two_neighbours_up_never_lowers_ndcg(
    ranking: list[int], grades: dict[int, int], k: int
) -> None:
    if not any(grades.values()):
        return
    better = list(ranking)
    for i in range(5):
        if grades[better[i]] < grades[better[i + 1]]:
            better[i], better[i + 1] = better[i + 1], better[i]
            break
    assert (ndcg(one_each(better), grades, k) or 0) >= (ndcg(one_each(ranking), grades, k) or 0) - 1e-12
