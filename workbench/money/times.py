"""Times of calls: predicted from tokens, taken apart into phases, fitted to stored calls; how many calls run at once.

Sources: TTFT and TPOT as serving systems define them; Little (Operations Research, 1961) for what is in the system at
once; retries taken as independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.money import LatencyFit, Phase, Waterfall

PHASES: Final = ("tools", "network", "queue", "prefill", "first", "decode", "checks")
"""As they follow each other here: a question is searched for before a model is called."""
_FEWEST: Final = 4
"""Calls below which three coefficients say nothing: they would go through every point."""


@dataclass(frozen=True, slots=True)
class MeasuredCall:
    """A call as it was stored: fresh input tokens, output tokens, milliseconds in all."""

    fresh: int
    output: int
    total_ms: float


def latency(ttft_ms: float, tpot_ms: float, output: int) -> float:
    """L = TTFT + (N_out - 1) · TPOT, in milliseconds; the first token is in the TTFT."""
    return ttft_ms + max(0, output - 1) * tpot_ms


def in_system(arrivals_per_second: float, seconds: float) -> float:
    """Little's law: L = λ·W, the mean number of requests that are being served or wait."""
    return arrivals_per_second * seconds


def effective_success(success: float, attempts: int) -> float:
    """p_eff = 1 - (1 - p)^k: at least one of ``attempts`` independent tries succeeds."""
    return 1.0 - (1.0 - success) ** attempts


def waterfall(total_ms: float, known: Mapping[str, float]) -> Waterfall:
    """The phases that were measured, in the order of ``PHASES``, and what is left as "unexplained".

    Raises:
        UsageError: an unknown phase, a negative time, or phases that take longer than the total (by over 1 ms).
    """
    stray = next((name for name, ms in known.items() if name not in PHASES or ms < 0), None)
    left = total_ms - sum(known.values())
    if stray is not None or left < -1.0:
        raise UsageError(
            tr("The times don't add up"),
            tr("{name}: {parts} ms of {total} ms.", name=stray or "total", parts=sum(known.values()), total=total_ms),
            tr("Phases follow each other and can't take longer than the whole call."),
        )
    phases = [Phase(name, known[name]) for name in PHASES if known.get(name)]
    if left > 0:
        phases.append(Phase("unexplained", left))
    return Waterfall(tuple(phases), total_ms)


def fit_latency(calls: Sequence[MeasuredCall]) -> LatencyFit | None:
    """Least squares over the calls; None when there are too few, or when they can't tell α from β.

    Calls that all have the same number of fresh tokens say nothing about α, and likewise for β.
    """
    if len(calls) < _FEWEST:
        return None
    inputs = np.array([[1.0, call.fresh, call.output] for call in calls])
    times = np.array([call.total_ms for call in calls])
    scale = np.maximum(inputs.max(axis=0), 1.0)
    solution, _, rank, _ = np.linalg.lstsq(inputs / scale, times, rcond=1e-9)
    if rank < inputs.shape[1]:
        return None
    fixed, alpha, beta = solution / scale
    missed = times - inputs @ (solution / scale)
    spread = float(((times - times.mean()) ** 2).sum())
    return LatencyFit(
        fixed_ms=float(fixed),
        alpha_ms=float(alpha),
        beta_ms=float(beta),
        calls=len(calls),
        error_ms=float(np.sqrt((missed**2).mean())),
        r2=1.0 - float((missed**2).sum()) / spread if spread > 0 else None,
    )
