"""Figures of repetitions: mean, spread, interval, rank, trend, and the LocalScore of a model.

Sources: Student (Biometrika, 1908) for the interval of a mean of few values; Cornish & Fisher (1938) for its quantile
beyond 30 degrees of freedom; LocalScore (Mozilla Builders, 2025) for the score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Final

from workbench.evals.measuring.statistics import Z, wilson
from workbench.records.benchmarks import Figure, Rate

DRIFT: Final = 0.03
"""A trend is told from this share of the mean on."""
_T: Final = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131),
    *(2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


def t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t. Raises ValueError below one degree of freedom."""
    if freedom < 1:
        raise ValueError(f"no t distribution with {freedom} degrees of freedom")
    return _T[freedom - 1] if freedom <= len(_T) else Z + (Z**3 + Z) / (4 * freedom)


def figure(values: Sequence[float]) -> Figure:
    """Mean, sample standard deviation (over n − 1, as llama-bench's) and the 95 % interval of the mean, t·sd/√n.

    What is never below 0, as a time or a speed, has no interval that reaches below it.

    Raises:
        ValueError: no values.
    """
    if not values:
        raise ValueError("a figure needs a value")
    n, mean = len(values), fmean(values)
    if n == 1:
        return Figure(mean, None, 1, values=tuple(values))
    sd = stdev(values)
    half = t_quantile(n - 1) * sd / math.sqrt(n)
    low = max(0.0, mean - half) if min(values) >= 0 else mean - half
    return Figure(mean, sd, n, low, mean + half, tuple(values))


def drifts(values: Sequence[float]) -> bool:
    """A trend over the repetitions, by least squares: over ``DRIFT`` of the mean in all, and significant at 5 %.

    Never with fewer than four values.
    """
    n = len(values)
    if n < 4:
        return False
    mean, middle = fmean(values), (n - 1) / 2
    along = sum((i - middle) ** 2 for i in range(n))
    slope = sum((i - middle) * (value - mean) for i, value in enumerate(values)) / along
    rest = sum((value - mean - slope * (i - middle)) ** 2 for i, value in enumerate(values))
    error = math.sqrt(rest / (n - 2) / along)
    return abs(slope) * (n - 1) > DRIFT * abs(mean) and abs(slope) > t_quantile(n - 2) * error


def ranked(figures: Sequence[Figure | None]) -> list[Figure | None]:
    """The figures with their ranks, highest mean first: one more than there are whose whole interval lies higher.

    So figures whose intervals overlap the best of them share its rank. No rank without an interval, or with nobody to
    compare with.
    """
    known = [f for f in figures if f and f.low is not None and f.high is not None]
    if len(known) < 2:
        return list(figures)
    lows = [f.low for f in known if f.low is not None]
    return [replace(f, rank=1 + sum(low > f.high for low in lows)) if f and f.high is not None else f for f in figures]


def rate(good: float, n: int) -> Rate:
    """``good`` of ``n``, with Wilson's interval."""
    found = wilson(good / n, n)
    return Rate(found.value, n, found.low, found.high)


def local_score(prompt_tps: float, generate_tps: float, ttft_ms: float) -> float:
    """10 · ∛(prompt tokens/s · generated tokens/s · 1000 / TTFT in ms), the LocalScore of a machine with a model.

    LocalScore takes the three over its own nine prompts; here they are pp and tg of the bench and the mean TTFT of its
    prompts, so that scores compare within a bench, not with the site's.

    Raises:
        ValueError: one of them isn't positive.
    """
    if min(prompt_tps, generate_tps, ttft_ms) <= 0:
        raise ValueError("speeds and times are positive")
    return 10 * math.cbrt(prompt_tps * generate_tps * 1000 / ttft_ms)
