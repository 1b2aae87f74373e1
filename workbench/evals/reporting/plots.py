"""Estimates with their intervals as error bars of plain characters, for a terminal and for the screens."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from workbench.evals.measuring.scoring import describe
from workbench.evals.measuring.standings import Standing
from workbench.evals.reporting.reports import estimate_text, run_name
from workbench.records.evals import Estimate

_NARROWEST: Final = 16


def whisker(estimate: Estimate, low: float, high: float, width: int, *, dot: str = "●", blank: str = " ") -> str:
    """ "   ├──●────┤   ": an estimate with its interval on ``width`` cells that go from ``low`` to ``high``.

    What goes beyond the scale ends in an arrow.
    """
    first, at, last = (
        round((min(max(v, low), high) - low) / (high - low) * (width - 1))
        for v in (estimate.low, estimate.value, estimate.high)
    )
    cells = [blank] * width
    cells[first : last + 1] = ["─"] * (last + 1 - first)
    cells[first] = "├" if estimate.low >= low else "←"
    cells[last] = "┤" if estimate.high <= high else "→"
    cells[at] = dot
    return "".join(cells)


def scale(estimates: Iterable[Estimate]) -> tuple[float, float]:
    """The lowest and the highest finite end of any interval; a little apart where all are one.

    Where an interval has no end, there is room for its arrow.
    """
    ends = [v for e in estimates for v in (e.low, e.value, e.high)]
    finite = [end for end in ends if math.isfinite(end)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    high = high if low < high else low + 1.0
    return low, high if len(finite) == len(ends) else high + (high - low) / 10


def plot_lines(found: Sequence[Standing], width: int) -> list[str]:
    """Runs under each other on one scale, each with its ``mark``; without figures, nothing.

    ``width`` holds the name, the mark, the bar and the figures.
    """
    known = [(one, one.estimate) for one in found if one.estimate]
    if not known:
        return []
    low, high = scale(estimate for _, estimate in known)
    told = [estimate_text(one.name, estimate) for one, estimate in known]
    label = min(width // 3, max(len(run_name(one.run)) for one, _ in known))
    room = max(_NARROWEST, width - label - max(map(len, told)) - 6)
    ends = [describe(known[0][0].name).text(end) for end in (low, high)]
    lines = [" " * (label + 4) + ends[0] + ends[1].rjust(room - len(ends[0]))]
    for (one, estimate), figures in zip(known, told, strict=True):
        name, bar = run_name(one.run), whisker(estimate, low, high, room)
        lines.append(f"{_cut(name, label):<{label}}  {mark(one)} {bar}  {figures}")
    return lines


def mark(one: Standing) -> str:
    """★ the best, ≈ one whose interval overlaps with the best's, ≠ one over other cases."""
    return "★" if one.best else "≈" if one.overlaps else "≠" if one.unranked else " "


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"
