"""Intervals and tests: the source's numbers, textbook values, coverage by simulation, agreement with scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.evals.measuring.statistics import (
    agreement,
    bootstrap,
    bounded_mean,
    cases_for_quantile,
    cases_for_share,
    flipped_difference,
    mcnemar,
    order_interval,
    paired_difference,
    quantile,
    ratio,
    wilson,
)

shares = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("share", "n", "margin"), [(0.82, 40, 0.12), (0.8, 100, 0.08), (0.8, 30, 0.14), (0.97, 100, 0.04)]
)
def test_margins_of_the_source(share: float, n: int, margin: float) -> None:
    assert round(wilson(share, n).margin, 2) == margin


def test_wilson_is_never_certain() -> None:
    assert wilson(1.0, 3).low == pytest.approx(0.4385, abs=1e-4)
    assert wilson(1.0, 3).high == 1.0
    assert wilson(0.0, 3).high == pytest.approx(0.5615, abs=1e-4)
    with pytest.raises(ValueError, match="no share"):
        wilson(0.5, 0)


@given(shares)
def test_wilson_holds_its_value_and_mirrors(share: tuple[int, int]) -> None:
    passed, n = share
    estimate, mirrored = wilson(passed / n, n), wilson(1 - passed / n, n)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert mirrored.low == pytest.approx(1 - estimate.high, abs=1e-9)
    assert wilson(passed / n, 4 * n).margin < estimate.margin


@given(shares, st.floats(0.01, 0.99))
def test_the_cases_needed_are_just_enough(share: tuple[int, int], threshold: float) -> None:
    value = share[0] / share[1]
    needed = cases_for_share(value, threshold, at_least=True)
    assert (needed is None) == (value <= threshold)
    if needed is not None and needed < 10**9:
        assert wilson(value, needed).low >= threshold - 1e-9
        assert needed == 1 or wilson(value, needed - 1).low < threshold + 1e-9


def test_zero_unsupported_answers_need_189_cases_to_stay_under_two_percent() -> None:
    assert cases_for_share(0.0, 0.02, at_least=False) == 189
    assert wilson(0.0, 189).high <= 0.02 < wilson(0.0, 188).high


@pytest.mark.parametrize(
    ("fixed", "broken", "p"), [(3, 2, 1.0), (0, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (10, 2, 0.038574)]
)
def test_exact_mcnemar(fixed: int, broken: int, p: float) -> None:
    assert mcnemar(fixed, broken) == pytest.approx(p, abs=1e-6)
    assert mcnemar(broken, fixed) == mcnemar(fixed, broken)


def test_mcnemar_of_thousands_of_flips_does_not_overflow() -> None:
    assert mcnemar(2500, 2500) == 1.0
    assert mcnemar(3000, 2000) < 1e-40


def test_the_bootstrap_is_seeded_and_near_the_normal_interval() -> None:
    values = np.random.default_rng(7).normal(10, 2, 400)
    first = bootstrap(values)
    assert first == bootstrap(values)
    assert first.margin == pytest.approx(1.96 * values.std() / 20, rel=0.1)


def test_the_bootstrap_covers_the_truth_about_as_often_as_it_says() -> None:
    source = np.random.default_rng(3)
    intervals = [bootstrap(source.beta(4, 1, 60), resamples=400) for _ in range(300)]
    assert 0.90 <= sum(e.low <= 0.8 <= e.high for e in intervals) / 300 <= 0.98


def test_a_mean_of_perfect_cases_is_not_certain() -> None:
    assert bounded_mean(np.ones(3)).low < 0.5
    assert bounded_mean(np.array([0.5, 0.5])).method == "no spread: Wilson's"
    assert bounded_mean(np.array([1.0, 0.0])).method == "Wilson"
    assert bounded_mean(np.array([0.2, 0.9, 1.0])).method == "bootstrap"


def test_order_statistics_cover_the_true_percentile() -> None:
    source = np.random.default_rng(5)
    true = -np.log(0.05)  # p95 of the exponential distribution
    intervals = [order_interval(source.exponential(size=200), 0.95) for _ in range(400)]
    assert sum(e.low <= true <= e.high for e in intervals) / 400 >= 0.93


def test_a_tail_needs_cases_before_it_has_an_upper_bound() -> None:
    assert cases_for_quantile(0.95) == 72
    assert cases_for_quantile(0.5) == 6
    values = np.arange(1.0, 73.0)
    assert order_interval(values, 0.95).method == "order statistics"
    short = order_interval(values[:71], 0.95)
    assert short.method.endswith("open-ended")
    assert (short.value, short.high) == (68.0, math.inf)


def test_paired_differences_see_what_unpaired_intervals_hide() -> None:
    source = np.random.default_rng(11)
    a = source.uniform(0, 1, 80)
    b = a + 0.02 + source.normal(0, 0.01, 80)
    difference, p = paired_difference(a, b)
    assert 0.015 < difference.low < difference.value < difference.high < 0.025
    assert p < 0.01
    assert bootstrap(a).high > bootstrap(b).low, "their own intervals overlap"


def test_few_pairs_are_never_significant() -> None:
    assert paired_difference(np.zeros(3), np.ones(3))[1] == 0.25
    assert paired_difference(np.ones(5), np.ones(5))[1] == 1.0
    with pytest.raises(ValueError, match="unpaired"):
        paired_difference(np.zeros(2), np.zeros(3))


def test_no_flip_among_seven_cases_is_no_certainty_that_there_is_none() -> None:
    same, _ = paired_difference(np.ones(7), np.ones(7), shares=True)
    assert same.value == 0.0
    assert same.high == -same.low == pytest.approx(wilson(0.0, 7).high)
    lower, _ = paired_difference(np.full(12, 0.2), np.ones(12), shares=True)
    assert (lower.value, lower.high) == (pytest.approx(0.8), pytest.approx(0.8 * 0.7575 + 0.2425, abs=1e-4))
    assert lower.low < lower.value < lower.high < 1.0
    assert paired_difference(np.full(7, 40.0), np.full(7, 40.0))[0].low == 0.0  # nothing bounds what isn't a share


@pytest.mark.parametrize(("n", "by"), [(11, 2 / 15), (28, 2 / 15), (29, 2 / 15), (12, 0.8), (3, 0.9)])
def test_a_difference_that_is_the_same_everywhere_is_as_sure_as_its_interval(n: int, by: float) -> None:
    found, p = paired_difference(np.zeros(n), np.full(n, by), shares=True)
    assert (found.low > 0) == (p < 0.05) == (n in (29, 12))


def test_a_difference_is_the_same_though_floats_round_it_otherwise() -> None:
    a, b = np.array([0.2, 0.4] * 6), np.array([0.4, 0.6] * 6)
    found, p = paired_difference(a, b, shares=True)
    assert found.low < 0.2 < found.high
    assert p > 0.05


def test_paired_percentiles_and_ratios() -> None:
    slow = np.linspace(100, 200, 60)
    difference, p = paired_difference(slow, slow / 2, quantile(0.95))
    assert difference.value == pytest.approx(-slow[56] / 2)
    assert p < 0.01
    cost = np.stack([np.full(60, 3.0), np.ones(60)])
    assert bootstrap(cost, ratio).value == 3.0


@pytest.mark.parametrize(
    ("fixed", "broken"), [(0, 0), (0, 5), (0, 6), (5, 0), (3, 2), (12, 3), (17, 5), (10, 2), (40, 0)]
)
def test_the_interval_of_flips_excludes_nothing_that_mcnemar_allows(fixed: int, broken: int) -> None:
    found = flipped_difference(40, fixed, broken)
    assert found.value == (fixed - broken) / 40
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert (found.low > 0 or found.high < 0) == (mcnemar(fixed, broken) < 0.05)


def test_five_broken_of_forty() -> None:
    found = flipped_difference(40, 0, 5)  # π ≤ 0.522 (Clopper–Pearson of 0 in 5), flipped 0.125 [0.055, 0.261]
    assert (found.low, found.high) == pytest.approx((-0.261, 0.0114), abs=1e-3)


def test_a_bootstrap_that_is_not_significant_holds_0() -> None:
    before, after = np.full(40, 0.5), np.r_[np.zeros(5), np.full(35, 0.5)]
    difference, p = paired_difference(before, after, shares=True)
    assert p == 0.0625
    assert difference.low < difference.value < difference.high == 0.0


def test_kappa_takes_out_chance() -> None:
    # Cohen's κ of the table [[20, 5], [10, 15]]: p_o = 0.7, p_e = 0.5, κ = 0.4.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = agreement(first, second)
    assert found.raw.value == pytest.approx(0.7)
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(0.4)
    assert found.kappa.low < 0.4 < found.kappa.high
    swapped = agreement(second, first).kappa
    assert swapped is not None
    assert swapped.value == pytest.approx(0.4)


def test_raters_who_only_ever_say_yes_have_no_kappa() -> None:
    assert agreement("yyyy", "yyyy").kappa is None
    assert agreement("yyyy", "yyyy").raw.value == 1.0


def test_perfect_agreement_on_ten_cases_is_no_proof_and_fewer_have_no_kappa() -> None:
    kappa = agreement("yyyyynnnnn", "yyyyynnnnn").kappa
    assert kappa is not None
    assert kappa.value == 1.0
    assert kappa.low == pytest.approx(2 * wilson(1.0, 10).low - 1)
    assert agreement("yynn", "yynn").kappa is None
    assert agreement("y", "n").kappa is None


def test_a_rater_who_only_ever_says_yes_has_no_kappa() -> None:
    assert agreement("y" * 20, "y" * 15 + "n" * 5).kappa is None


@given(st.lists(st.tuples(st.sampled_from("ynu"), st.sampled_from("ynu")), min_size=1, max_size=40))
def test_kappa_lies_in_its_interval(pairs: list[tuple[str, str]]) -> None:
    found = agreement([a for a, _ in pairs], [b for _, b in pairs])
    assert found.kappa is None or found.kappa.low <= found.kappa.high <= 1.0 + 1e-12


def test_scipy_agrees() -> None:
    stats = pytest.importorskip("scipy.stats", reason="compares with scipy where it is installed")
    for passed, n in ((33, 40), (0, 7), (5, 5), (99, 200)):
        theirs = stats.binomtest(passed, n).proportion_ci(method="wilson")
        ours = wilson(passed / n, n)
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    for fixed, broken in ((3, 2), (17, 5), (0, 9)):
        theirs_p = stats.binomtest(fixed, fixed + broken).pvalue
        assert mcnemar(fixed, broken) == pytest.approx(theirs_p, abs=1e-12)
