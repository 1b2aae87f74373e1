"""A ladder in plain characters: KL over file size, with the Pareto front."""

from __future__ import annotations

import math
from typing import Final

from textual.content import Content

from screens.models.bench_plots import AXIS, SIGNS
from screens.style import Line, Tone, content, shorten, size
from workbench.i18n import tr
from workbench.ladders.exports import front_words, row_name
from workbench.records.ladders import LadderReport, LadderRow

LEAST: Final = 1e-4
"""Nats that count as none: what lies below, as the reference itself, stands on the axis."""


def scatter(report: LadderReport, width: int, height: int) -> Content:
    """Mean KL upwards on a logarithmic scale, file size to the right, a sign per rung; lower left is better."""
    found = [row for row in report.rows if row.rung.size and (row.divergence or row.rung.place == 0)]
    if len(found) < 2:
        return content((tr("Nothing is measured yet."), Tone.DIM))
    across, down = max(12, width - AXIS - 2), max(5, height - len(found) - 4)
    sizes = [row.rung.size for row in found]
    low, high = min(sizes) * 0.9, max(sizes) * 1.02
    top = max(LEAST * 10, *(_nats(row) for row in found)) * 1.3
    cells: list[list[Line]] = [[" "] * across for _ in range(down)]
    for row in found:
        at = _line(_nats(row), top, down)
        x = round((row.rung.size - low) / (high - low) * (across - 1))
        cells[at][x] = (_sign(row), Tone.GOOD if row.front else Tone.DIM)
    ticks = _decades(top, down)
    lines: list[Line] = [(f"{ticks.get(n, ''):>{AXIS - 1}} ", ("│", Tone.DIM), *cells[n]) for n in range(down)]
    lines.append((f"{'KL':>{AXIS - 1}} ", ("└" + "─" * across, Tone.DIM)))
    middle = f"{tr('file size'):^{max(1, across - 20)}}"
    lines.append((" " * (AXIS + 1), (f"{size(round(low)):<10}{middle}{size(round(high)):>10}", Tone.DIM)))
    lines += [_legend(row) for row in found]
    lines.append((front_words(report), Tone.DIM))
    return Content("\n").join(content(line) for line in lines)


def _line(nats: float, top: float, down: int) -> int:
    """Where it stands, from 0 at the top to ``down`` − 1."""
    up = math.log(max(nats, LEAST) / LEAST) / math.log(top / LEAST)
    return down - 1 - round(up * (down - 1))


def _decades(top: float, down: int) -> dict[int, str]:
    """The powers of ten at their lines, so that the scale is seen to be logarithmic."""
    powers = range(math.ceil(math.log10(LEAST)), math.floor(math.log10(top)) + 1)
    return {_line(10.0**power, top, down): f"{10.0**power:g}" for power in powers if 10.0**power > LEAST}


def _nats(row: LadderRow) -> float:
    return row.divergence.kl.value if row.divergence else 0.0


def _sign(row: LadderRow) -> str:
    return SIGNS[row.rung.place % len(SIGNS)]


def _legend(row: LadderRow) -> Line:
    front: Line = ("◆ ", Tone.GOOD) if row.front else "  "
    told = f" · {size(row.rung.size)} · KL {_nats(row):.4f}" if row.divergence else f" · {size(row.rung.size)}"
    return (front, (_sign(row), Tone.STRONG), f" {shorten(row_name(row), 30)}", (told, Tone.DIM))
