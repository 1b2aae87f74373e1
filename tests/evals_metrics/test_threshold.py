"""The risk–coverage curve and the choice of τ on it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals_metrics.builders import answer, case, result
from workbench.evals.deciding.threshold import (
    choose_threshold,
    nearest_threshold,
    risk_bound,
    risk_coverage,
    threshold_text,
)

CASES = [case("a"), case("b"), case("c"), case("d"), case("u", answerable=False)]


def _results(**passed: tuple[float, bool | None]) -> list:
    return [result(name, ok, answer=answer(support)) for name, (support, ok) in passed.items()]


def test_a_curve_by_hand_with_ties() -> None:
    results = _results(a=(0.9, True), b=(0.7, False), c=(0.7, True), d=(0.4, True), u=(0.5, False))
    points = risk_coverage(results, CASES)
    assert [p.threshold for p in points] == [0.4, 0.5, 0.7, 0.9]
    assert [p.coverage for p in points] == [1.0, 0.8, 0.6, 0.2]
    assert [p.risk for p in points] == pytest.approx([2 / 5, 2 / 4, 1 / 3, 0])
    assert [p.unsupported for p in points] == [1.0, 1.0, 0.0, 0.0]
    assert [p.correct_abstention for p in points] == [0.0, 0.0, 1.0, 1.0]
    assert [(p.cases, p.answered, p.unanswerable) for p in points] == [(5, 5, 1), (5, 4, 1), (5, 3, 1), (5, 1, 1)]


def test_the_threshold_that_is_read_lets_its_own_answers_through() -> None:
    results = _results(a=(0.88756, True), b=(0.8875604, False), c=(0.8949, True), d=(1.0, True))
    points = risk_coverage([*results, result("u", True, answer=answer(0.8874, "low_support"))], CASES)
    assert [threshold_text(p.threshold) for p in points] == ["0.8875", "0.8875604", "0.894", "1.000"]
    supports = [r.answer.support for r in results]
    assert [p.answered for p in points] == [
        sum(s >= float(threshold_text(p.threshold)) for s in supports) for p in points
    ]


def test_the_most_coverage_whose_bound_the_risk_allows() -> None:
    cases = [case(str(n)) for n in range(72)]
    results = [result(str(n), n < 71, answer=answer(0.9 if n < 36 else 0.5)) for n in range(72)]
    points = risk_coverage(results, cases)
    assert [p.risk for p in points] == pytest.approx([1 / 72, 0])
    assert [risk_bound(p) for p in points] == pytest.approx([0.0746, 0.0964], abs=1e-4)
    chosen = choose_threshold(points, 0.08)
    assert chosen is not None
    assert chosen.threshold == 0.5
    assert choose_threshold(points, 0.05) is None, "the points 0.014 and 0 pass, their bounds don't"
    assert nearest_threshold(points).threshold == 0.5


def test_a_case_held_back_stays_held_back() -> None:
    results = [*_results(a=(0.9, True)), result("b", False, answer=answer(0.8, "low_support", threshold=0.85))]
    (point,) = risk_coverage(results, CASES)
    assert (point.threshold, point.coverage, point.risk) == (0.9, 0.5, 0.0)


def test_without_unanswerable_cases_abstention_is_unknown_not_zero() -> None:
    (point,) = risk_coverage(_results(a=(0.9, True)), CASES)
    assert point.correct_abstention is None
    assert point.unsupported is None


def test_unscored_and_broken_cases_are_left_out() -> None:
    results = [*_results(a=(0.9, True), b=(0.8, None)), result("c", False, error="the engine died")]
    (point,) = risk_coverage(results, CASES)
    assert point.coverage == 1.0
    assert risk_coverage([], CASES) == ()


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.5, 0.9]), st.booleans(), st.booleans()), min_size=1))
def test_coverage_and_unsupported_answers_fall_as_the_threshold_rises(
    drawn: list[tuple[float, bool, bool]],
) -> None:
    cases = [case(str(i), answerable) for i, (_, _, answerable) in enumerate(drawn)]
    results = [result(str(i), ok, answer=answer(support)) for i, (support, ok, _) in enumerate(drawn)]
    points = risk_coverage(results, cases)
    assert [p.threshold for p in points] == sorted({support for support, _, _ in drawn})
    assert points[0].coverage == 1.0
    for low, high in pairwise(points):
        assert low.coverage > high.coverage
        assert (low.unsupported or 0) >= (high.unsupported or 0)
