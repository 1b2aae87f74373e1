"""Metrics of operation over many cases: percentiles of time, and what a useful answer costs."""

from __future__ import annotations

import math
from collections.abc import Sequence


def percentile(values: Sequence[float], q: float) -> float | None:
    """The nearest-rank percentile: the smallest measured value that at least a share ``q`` of them don't exceed.

    Always a value that was measured, never one between two; p95 of 20 is the 19th (Hyndman & Fan 1996, type 1).
    None for no values.

    Args:
        q: 0 < q ≤ 1; 0.95 for p95.
    """
    return sorted(values)[nearest_rank(len(values), q) - 1] if values else None


def nearest_rank(n: int, q: float) -> int:
    """The rank, from 1, of the percentile ``q`` among n sorted values: ⌈q·n⌉."""
    return max(1, math.ceil(round(q * n, 9)))  # 0.95 * 20 may not be 19 exactly


def cost(prices: tuple[float, float, float], prompt_tokens: float, output_tokens: float, seconds: float) -> float:
    """What one case costs: tokens read and written by the million, and the machine by the hour.

    6,400 tokens read and 150 written at 2.00 and 8.00 a million cost 0.014.

    Args:
        prices: of a million tokens read, of a million written, of an hour.
    """
    read, written, hour = prices
    return (prompt_tokens * read + output_tokens * written) / 1e6 + seconds * hour / 3600


def cost_per_useful(costs: Sequence[float], useful: int) -> float | None:
    """What all questions cost together / the answers that were useful: failures are paid for too.

    In the unit of ``costs`` (money, seconds, tokens). None when no answer was useful.
    """
    return math.fsum(costs) / useful if useful else None
