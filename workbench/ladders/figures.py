"""Figures of a rung: what of the reference is lost, with intervals, and what is saved.

Sources: Carlstein (Annals of Statistics, 1986) for resampling blocks of consecutive positions, because neighbours in a
text aren't independent; the statistics are those of llama.cpp's ``llama-perplexity --kl-divergence``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from workbench.evals.measuring.statistics import Sample, bootstrap, mean, paired_difference, quantile, wilson
from workbench.records.evals import Estimate
from workbench.records.ladders import Divergence, TextScore, WindowScores

BLOCK: Final = 32
"""Consecutive positions that are resampled together."""
LEAST_BLOCKS: Final = 6
"""Resampling m blocks can't reach beyond their range, which holds the median with probability 1 − 2^(1−m): of five it
would be under 95 %."""
RESAMPLES: Final = 1000
P99: Final = quantile(0.99)

Statistic = Callable[[NDArray[np.float64]], Any]


def divergence(windows: Sequence[WindowScores]) -> Divergence | None:
    """Of a rung against the reference; None without scores. One passage tells of no other: it gives no intervals."""
    if not windows:
        return None
    several = len(windows) > 1

    def score(values: Sample, statistic: Statistic) -> TextScore:
        return block_bootstrap(values, statistic) if several else TextScore(float(statistic(values)), len(values))

    kl, same = _column(windows, lambda w: w.kl), _column(windows, lambda w: w.same_top)
    surprise, before = _column(windows, lambda w: w.surprise), _column(windows, lambda w: w.reference_surprise)
    return Divergence(
        kl=score(kl, mean),
        kl_p99=score(kl, P99),
        same_top=_all_or_none(same) if several and (same == same[0]).all() else score(same, mean),
        perplexity=_perplexity(score(surprise, mean)),
        reference_perplexity=_perplexity(score(before, mean)),
        log_ratio=score(surprise - before, mean),
        windows=len(windows),
    )


def _perplexity(found: TextScore) -> TextScore:
    """exp(mean of −ln p) over the second halves of passages."""
    low, high = (None if bound is None else math.exp(bound) for bound in (found.low, found.high))
    return replace(found, value=math.exp(found.value), low=low, high=high)


def block_bootstrap(values: Sample, statistic: Statistic) -> TextScore:
    """The percentile bootstrap over blocks of ``BLOCK`` consecutive positions; ``n`` counts positions.

    No interval of fewer than ``LEAST_BLOCKS``, nor where all resamples are alike: it would be a point, and pass for
    certainty.

    Args:
        values: a multiple of ``BLOCK`` of them.
    """
    blocks = values.reshape(-1, BLOCK)
    bare = TextScore(float(statistic(values)), len(values))
    if len(blocks) < LEAST_BLOCKS:
        return bare

    def of(picked: Sample) -> Any:
        """A value for each resample, one at a time: all at once would be gigabytes."""
        rows = picked.astype(np.intp).reshape(-1, len(blocks))
        return np.array([statistic(blocks[row].ravel()) for row in rows]).reshape(picked.shape[:-1])

    found = bootstrap(np.arange(len(blocks), dtype=np.float64), of, resamples=RESAMPLES)
    return bare if found.low == found.high else replace(bare, low=found.low, high=found.high, method="block bootstrap")


def _all_or_none(values: Sample) -> TextScore:
    """A share where all positions are alike: resampling says nothing, and Wilson's interval of blocks stands."""
    found = wilson(float(values[0]), len(values) // BLOCK)
    return TextScore(found.value, len(values), found.low, found.high, found.method)


def _column(windows: Sequence[WindowScores], part: Callable[[WindowScores], Sequence[float]]) -> Sample:
    return np.fromiter(chain.from_iterable(map(part, windows)), np.float64)


def saving(quantized: float, baseline: float) -> float:
    """1 − M_quantized ÷ M_baseline: from 7 to 3.5 GB it is 0.5; negative where it is larger.

    Raises:
        ValueError: the baseline takes nothing.
    """
    if baseline <= 0:
        raise ValueError("nothing is saved of nothing")
    return 1 - quantized / baseline


def loss(baseline: Sequence[bool], quantized: Sequence[bool]) -> Estimate:
    """Δquality = score(baseline) − score(quantized), the score being the share of the same cases that passed.

    Raises:
        ValueError: no cases, or not the same number of them.
    """
    found, _ = paired_difference(np.array(quantized, np.float64), np.array(baseline, np.float64), shares=True)
    return found
