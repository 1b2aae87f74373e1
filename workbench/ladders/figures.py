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
from workbench.records.ladders import Divergence, WindowScores

BLOCK: Final = 32
"""Consecutive positions that are resampled together."""
RESAMPLES: Final = 1000
P99: Final = quantile(0.99)

Statistic = Callable[[NDArray[np.float64]], Any]


def divergence(windows: Sequence[WindowScores]) -> Divergence | None:
    """Of a rung against the reference; None without scores."""
    if not windows:
        return None
    kl = _column(windows, lambda w: w.kl)
    surprise, before = _column(windows, lambda w: w.surprise), _column(windows, lambda w: w.reference_surprise)
    return Divergence(
        kl=block_bootstrap(kl, mean),
        kl_p99=block_bootstrap(kl, P99),
        same_top=_share(_column(windows, lambda w: w.same_top)),
        perplexity=_perplexity(surprise),
        reference_perplexity=_perplexity(before),
        log_ratio=block_bootstrap(surprise - before, mean),
        windows=len(windows),
    )


def _perplexity(surprise: Sample) -> Estimate:
    """exp(mean of −ln p) over the second halves of passages."""
    found = block_bootstrap(surprise, mean)
    return replace(found, value=math.exp(found.value), low=math.exp(found.low), high=math.exp(found.high))


def block_bootstrap(values: Sample, statistic: Statistic) -> Estimate:
    """The percentile bootstrap over blocks of ``BLOCK`` consecutive positions; ``n`` counts positions.

    Args:
        values: a multiple of ``BLOCK`` of them.
    """
    blocks = values.reshape(-1, BLOCK)

    def of(picked: Sample) -> Any:
        """A value for each resample, one at a time: all at once would be gigabytes."""
        rows = picked.astype(np.intp).reshape(-1, len(blocks))
        return np.array([statistic(blocks[row].ravel()) for row in rows]).reshape(picked.shape[:-1])

    found = bootstrap(np.arange(len(blocks), dtype=np.float64), of, resamples=RESAMPLES)
    return replace(found, n=len(values), method="block bootstrap")


def _share(values: Sample) -> Estimate:
    """A share of positions; where all are alike resampling says nothing, and Wilson's interval of blocks stands."""
    if (values == values[0]).all():
        return replace(wilson(float(values[0]), len(values) // BLOCK), n=len(values))
    return block_bootstrap(values, mean)


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
