"""Intervals, paired tests and agreement: how far a figure over n cases can be trusted. numpy only, always seeded.

Sources: Wilson (JASA 1927), recommended over Wald for small n by Brown, Cai & DasGupta (Statistical Science, 2001);
Efron & Tibshirani, *An Introduction to the Bootstrap* (1993); McNemar (Psychometrika, 1947), exact form; Cohen
(Educational and Psychological Measurement, 1960). All intervals are two-sided at 95 %.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.evals.metrics.operation import nearest_rank
from workbench.records.evals import Estimate

Z: Final = 1.959963984540054  # the 97.5 % quantile of the normal distribution
FEW: Final = 30
KAPPA_CASES: Final = 10
"""Under so many cases κ swings between its ends with a single one, and no interval of it holds."""

RESAMPLES: Final = 2000
_SEED: Final = 20_260_525
_CELLS: Final = 4_000_000  # of a block of resamples held in memory at once
_TAIL: Final = 0.025
OPEN: Final = ", open-ended"
"""Ends the method of an interval that has no true bound at one side: what stands there is the last measured value."""

NO_SPREAD: Final = "no spread: Wilson's"
"""The method where all values of a mean are the same: nothing to resample, so Wilson's interval stands in."""

Sample: TypeAlias = NDArray[np.float64]  # (n,), or (2, n) where a statistic needs two figures of a case
StatisticOf: TypeAlias = Callable[[Sample], Any]  # (…, n) → (…), or (2, …, n) → (…): the cases are the last axis


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two raters agree: the raw share, and Cohen's κ; None where cases or verdicts are too few for it."""

    raw: Estimate
    kappa: Estimate | None


def wilson(share: float, n: int) -> Estimate:
    """Wilson's score interval of a share over n cases: 0.82 of 40 → ±0.12. It is never empty, not even at 0 or 1.

    For a mean of values within 0–1 that aren't all 0 or 1 it is a little too wide, never too narrow in its variance.

    Raises:
        ValueError: no cases, or a share outside 0–1.
    """
    if n < 1 or not 0 <= share <= 1:
        raise ValueError(f"no share of cases: {share} of {n}")
    centre = share + Z * Z / (2 * n)
    spread = Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    scale = 1 + Z * Z / n
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return Estimate(share, n, max(0.0, min(low, share)), min(1.0, max(high, share)), "Wilson")


def mean(values: Sample) -> Any:
    """The mean over cases, as a ``StatisticOf``."""
    return values.mean(axis=-1)


def quantile(q: float) -> StatisticOf:
    """The nearest-rank percentile over cases, as a ``StatisticOf``."""

    def of(values: Sample) -> Any:
        place = nearest_rank(values.shape[-1], q) - 1
        return np.partition(values, place, axis=-1)[..., place]

    return of


def ratio(values: Sample) -> Any:
    """Σ first row / Σ second row over cases, as a ``StatisticOf``; infinite where the second sums to 0."""
    above, below = values.sum(axis=-1)
    return np.divide(above, below, out=np.full(np.shape(above), np.inf), where=below > 0)


def bootstrap(values: Sample, statistic: StatisticOf = mean, *, resamples: int = RESAMPLES) -> Estimate:
    """The percentile bootstrap: the statistic of resampled cases, 2.5 % cut off at each end. Seeded: same in, same out.

    Too narrow for few cases (under 30, warn); a point where all values are the same. A ratio that some resamples don't
    have is open-ended.

    Raises:
        ValueError: no cases.
    """
    drawn = _resampled(lambda picked: statistic(values[..., picked]), values.shape[-1], resamples)
    return _percentile_interval(float(statistic(values)), values.shape[-1], drawn, "bootstrap")


def bounded_mean(values: Sample) -> Estimate:
    """The mean of values within 0–1: Wilson where all are 0 or 1, else the percentile bootstrap.

    The bootstrap of values that don't vary is a point: three perfect cases would pass for certainty. Their interval is
    Wilson's, the widest that a mean within 0–1 needs, and the method says so: ``NO_SPREAD``.
    """
    share = min(1.0, max(0.0, float(values.mean())))
    if (values == values[0]).all():
        return replace(wilson(share, len(values)), method=NO_SPREAD)
    if np.isin(values, (0.0, 1.0)).all():
        return wilson(share, len(values))
    return bootstrap(values)


def order_interval(values: Sample, q: float) -> Estimate:
    """A percentile (nearest rank) with the interval that order statistics give, whatever the distribution.

    The number of values under the true percentile is binomial (n, q); the bounds are the measured values at its 2.5 %
    and 97.5 % quantiles (Conover, *Practical Nonparametric Statistics*, 1999, 3.2). With fewer cases than
    ``cases_for_quantile`` the upper bound lies beyond all that was measured: then it is infinite, and the method ends
    with ``OPEN``. Where the lower one lies below all that was measured it is 0: values are times.
    """
    n = len(values)
    ordered = np.sort(values)
    below = _binomial_cdf(n, q)
    lower = int(np.searchsorted(below, _TAIL, side="right"))  # the largest l with P(X < l) ≤ 2.5 %
    upper = int(np.searchsorted(below, 1 - _TAIL)) + 1  # the smallest u with P(X < u) ≥ 97.5 %
    high, method = (float(ordered[upper - 1]), "") if upper <= n else (math.inf, OPEN)
    value = float(ordered[nearest_rank(n, q) - 1])
    low = float(ordered[lower - 1]) if lower else 0.0
    return Estimate(value, n, low, high, "order statistics" + method)


def open_ended(estimate: Estimate) -> bool:
    """Whether the interval has no upper bound yet: more cases, or more useful ones, are needed for one."""
    return math.isinf(estimate.high)


def cases_for_quantile(q: float) -> int:
    """The fewest cases whose largest value bounds the percentile from above: 1 − qⁿ ≥ 97.5 %. p95 needs 72."""
    return math.ceil(math.log(_TAIL) / math.log(q))


def mcnemar(fixed: int, broken: int) -> float:
    """The exact McNemar test over the cases that flipped: two-sided binomial p-value with probability ½ of each.

    Cases on which both runs agree say nothing about which is better. 3 fixed, 2 broken → 1.0; none flipped → 1.0.
    """
    flips = fixed + broken
    tail = sum(math.comb(flips, i) for i in range(min(fixed, broken) + 1))
    return min(1.0, 2 * tail / (1 << flips))


def flipped_difference(n: int, fixed: int, broken: int) -> Estimate:
    """The difference of two shares over the same n cases; its interval excludes 0 just where ``mcnemar`` < 0.05.

    (fixed − broken) / n is the share that flipped times 2π − 1, π being the part of the flips for the better. π has
    its exact binomial interval (Clopper & Pearson, Biometrika, 1934), the share that flipped Wilson's; each bound takes
    the wider of the latter's ends, so the interval is rather too wide than too narrow.

    Raises:
        ValueError: no cases.
    """
    flips = fixed + broken
    flipped = wilson(flips / n if n else 0.0, n)
    low = _least_share(fixed, flips)
    high = 1 - _least_share(broken, flips)
    worst, best = 2 * low - 1, 2 * high - 1
    return Estimate(
        (fixed - broken) / n,
        n,
        worst * (flipped.high if worst < 0 else flipped.low),
        best * (flipped.high if best > 0 else flipped.low),
        "exact binomial",
    )


def _least_share(hits: int, n: int) -> float:
    """The share at which as many hits of n, or more, have a probability of 2.5 %; 0 without hits. By bisection."""
    if not hits:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        more = 1 - float(_binomial_cdf(n, middle)[hits - 1])
        low, high = (middle, high) if more < _TAIL else (low, middle)
    return low


def paired_difference(
    a: Sample, b: Sample, statistic: StatisticOf = mean, *, shares: bool = False, resamples: int = RESAMPLES
) -> tuple[Estimate, float]:
    """The statistic of b less that of a over the same cases, resampled together; and its two-sided p-value.

    Where all cases differ by the same there is nothing to resample, and no flip among seven cases would pass for
    certainty that there is none: for ``shares`` Wilson's interval of the cases that differ otherwise stands in.

    The p-value is twice the share of resamples on the other side of no difference (one added, so never 0), and at
    least 2^(1−m) for m cases that differ: no paired test of m differences can be surer, and a bootstrap of few would.
    Where that makes a difference not significant, the interval is widened to hold 0; and where Wilson's interval stands
    in, the p-value is at least the one at which it would touch 0: both say the same.

    Args:
        shares: the statistic is the mean, and all values are within 0–1.

    Raises:
        ValueError: no cases, or a and b not of one shape.
    """
    if a.shape != b.shape:
        raise ValueError(f"unpaired cases: {a.shape} and {b.shape}")
    with np.errstate(invalid="ignore"):  # ∞ − ∞ where a ratio has no useful answer on either side: no difference
        drawn = _resampled(lambda p: statistic(b[..., p]) - statistic(a[..., p]), a.shape[-1], resamples)
    drawn[np.isnan(drawn)] = 0.0
    difference = _percentile_interval(float(statistic(b) - statistic(a)), a.shape[-1], drawn, "paired bootstrap")
    surest = 0.0
    if shares and np.allclose(b - a, (b - a)[0]):  # 0.6 − 0.4 isn't quite 0.4 − 0.2
        difference = _same_difference(difference)
        surest = math.erfc(math.sqrt(abs(difference.value) * a.shape[-1] / 2))  # w / (1 − w) = z² / n is |difference|
    differing = int(np.atleast_2d(a != b).any(axis=0).sum())
    tail = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p = max(2 * (tail + 1) / (resamples + 1), math.ldexp(1.0, 1 - differing), surest)
    if p >= 2 * _TAIL:
        difference = replace(difference, low=min(difference.low, 0.0), high=max(difference.high, 0.0))
    return difference, min(1.0, p)


def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> Agreement:
    """Raw agreement of two raters on the same cases (Wilson), and Cohen's κ = (p_o − p_e) / (1 − p_e) (bootstrap).

    κ takes out what chance would agree on: two raters who say yes to 95 of 100 agree 0.90 by chance. It is None under
    ``KAPPA_CASES``, and where a rater only ever gave one verdict: it is 0 then, or not defined, however they agree.
    Resamples without a κ are left out of its interval. Raters who never disagree have no spread to resample: the
    Wilson bounds of the raw agreement are put through the formula.

    Raises:
        ValueError: no cases, or not the same number.
    """
    if len(first) != len(second) or not first:
        raise ValueError(f"unpaired verdicts: {len(first)} and {len(second)}")
    names = {name: i for i, name in enumerate(dict.fromkeys([*first, *second]))}
    n = len(first)
    table = np.zeros((len(names), len(names)))
    for (one, other), count in Counter(zip(first, second, strict=True)).items():
        table[names[one], names[other]] = count
    raw = wilson(float(np.trace(table)) / n, n)
    if n < KAPPA_CASES or 1 in (np.count_nonzero(table.sum(axis=0)), np.count_nonzero(table.sum(axis=1))):
        return Agreement(raw, None)
    value = float(_kappa(table[None])[0])
    if raw.value == 1.0:
        chance = float((table.sum(axis=0) * table.sum(axis=1)).sum()) / n**2
        low, high = (max(-1.0, (share - chance) / (1 - chance)) for share in (raw.low, raw.high))
        return Agreement(raw, Estimate(value, n, low, high, "Wilson"))
    counts = np.random.default_rng(_SEED).multinomial(n, table.ravel() / n, size=RESAMPLES)
    kappas = _kappa(counts.reshape(-1, *table.shape).astype(float))
    low, high = np.quantile(kappas[~np.isnan(kappas)], (_TAIL, 1 - _TAIL), method="inverted_cdf")
    return Agreement(raw, Estimate(value, n, float(low), float(high), "bootstrap"))


def cases_for_share(share: float, threshold: float, *, at_least: bool) -> int | None:
    """How many cases at this share would put Wilson's bound on the right side of a threshold; None when none would."""
    if (share <= threshold) if at_least else (share >= threshold):
        return None
    distance = abs(share - threshold)
    # Wilson's bound is the threshold t itself where |p − t| = Z · sqrt(t (1 − t) / n): the score test, inverted.
    return max(1, math.ceil(Z * Z * threshold * (1 - threshold) / distance**2))


def _resampled(figure: Callable[[NDArray[np.intp]], Any], n: int, resamples: int) -> NDArray[np.float64]:
    """``figure`` of the cases picked for each resample."""
    drawn: NDArray[np.float64] = np.concatenate([figure(picked) for picked in _picks(n, resamples)])
    return drawn


def _percentile_interval(value: float, n: int, drawn: NDArray[np.float64], method: str) -> Estimate:
    low, high = (float(bound) for bound in np.quantile(drawn, (_TAIL, 1 - _TAIL), method="inverted_cdf"))
    return Estimate(value, n, low, high, method if math.isfinite(low) and math.isfinite(high) else method + OPEN)


def _same_difference(found: Estimate) -> Estimate:
    """At most Wilson's share of cases differs otherwise, each by a whole point at most."""
    otherwise = wilson(0.0, found.n).high
    kept = found.value * (1 - otherwise)
    return replace(found, low=max(-1.0, kept - otherwise), high=min(1.0, kept + otherwise), method=NO_SPREAD)


def _picks(n: int, resamples: int) -> list[NDArray[np.intp]]:
    """Which cases each resample has, in blocks that fit in memory."""
    if not n:
        raise ValueError("no cases to resample")
    source = np.random.default_rng(_SEED)
    block = max(1, _CELLS // n)
    return [
        source.integers(0, n, (min(block, resamples - start), n), dtype=np.intp) for start in range(0, resamples, block)
    ]


def _binomial_cdf(n: int, q: float) -> NDArray[np.float64]:
    """P(X ≤ i) for i = 0 … n of a binomial (n, q)."""
    i = np.arange(n + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    return np.cumsum(np.exp(logs[n] - logs[i] - logs[n - i] + i * math.log(q) + (n - i) * math.log1p(-q)))


def _kappa(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """κ of each confusion table, (tables, k, k) → (tables,); NaN where chance alone agrees always."""
    n = tables.sum(axis=(1, 2))
    observed = np.trace(tables, axis1=1, axis2=2) / n
    chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / n**2
    certain = np.isclose(chance, 1.0)
    return np.where(certain, np.nan, (observed - chance) / np.where(certain, 1.0, 1 - chance))
