"""Benchmarks in plain characters: speeds with their intervals, and speed over memory with the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from textual.content import Content

from screens.models.bench_rows import speed, test_name
from screens.style import Line, Tone, content, shorten_name, size
from workbench.i18n import tr
from workbench.records.benchmarks import BenchReport, BenchRow, Figure

SIGNS: Final = "123456789abcdefghijklmnopqrstuvwxyz"
AXIS: Final = 7


def bars(report: BenchReport, depth: int, width: int) -> Content:
    """For pp and tg, a bar per model up to its mean, its 95 % interval as ├●┤ over it."""
    lines: list[Line] = []
    for kind, words in (("tg", tr("one by one")), ("pp", tr("at once"))):
        test = test_name(kind, report.bench.plan, depth)
        found = [(row, figure) for row in report.rows if (figure := row.speed(test))]
        if not found:
            continue
        lines += [((test, Tone.STRONG), (f" t/s, {words}", Tone.DIM))]
        top = max(figure.high if figure.high is not None else figure.mean for _, figure in found)
        label = min(24, max(len(row.model.name) for row, _ in found))
        room = max(8, width - label - 17)
        for row, figure in sorted(found, key=lambda pair: -pair[1].mean):
            name = f"{shorten_name(row.model.name, label):<{label}} "
            lines.append((name, _bar(figure, top, room), " ", speed(figure)))
        lines.append("")
    return _lines(lines) if lines else content((tr("Nothing is measured yet."), Tone.DIM))


def _bar(figure: Figure, top: float, room: int) -> Line:
    def at(value: float) -> int:
        return round(max(0.0, min(1.0, value / top if top else 0.0)) * (room - 1))

    cells = ["▇" if n <= at(figure.mean) else " " for n in range(room)]
    drawn: Line = ("".join(cells), Tone.ACCENT)
    if figure.low is None or figure.high is None:
        return drawn
    low, high = at(figure.low), at(figure.high)
    whisker = ["├", *"─" * (high - low - 1), "┤"] if low < high else [""]
    whisker[at(figure.mean) - low] = "●"
    return (("".join(cells[:low]), Tone.ACCENT), ("".join(whisker), Tone.STRONG), " " * (room - 1 - high))


@dataclass(frozen=True, slots=True)
class Point:
    """A model on the scatter."""

    sign: str
    row: BenchRow
    memory: int
    speed: float
    front: bool


def points(report: BenchReport, depth: int) -> list[Point]:
    """Models with memory and speed, and whether no other is at least as good in all and better in one.

    Speed counts by rank where all have one, so that differences within the intervals don't; quality counts too when
    every one of them has it.
    """
    test = test_name("tg" if report.bench.plan.generate else "pp", report.bench.plan, depth)
    known = [(n, row, f) for n, row in enumerate(report.rows) if row.rss and (f := row.speed(test))]
    ranked, judged = all(f.rank for _, _, f in known), all(row.quality for _, row, _ in known)

    def goods(row: BenchRow, found: Figure) -> tuple[float, ...]:
        quality = (row.quality.share,) if judged and row.quality else ()
        return (-float(row.rss), -float(found.rank) if ranked else found.mean, *quality)

    everyone = [goods(row, found) for _, row, found in known]
    return [
        Point(SIGNS[n % len(SIGNS)], row, row.rss, f.mean, not any(_dominates(one, goods(row, f)) for one in everyone))
        for n, row, f in known
    ]


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def scatter(report: BenchReport, depth: int, width: int, height: int) -> Content:
    """Tokens/s upwards over memory to the right, a sign per model, ◆ in the legend for the Pareto front."""
    found = points(report, depth)
    if not found:
        return content((tr("Nothing is measured yet."), Tone.DIM))
    judged = any(point.row.quality for point in found)
    across, down = max(12, width - AXIS - 2), max(4, height - len(found) - 3 - judged)
    most, top = max(p.memory for p in found) * 1.1, max(p.speed for p in found) * 1.1
    cells: list[list[Line]] = [[" "] * across for _ in range(down)]
    for point in found:
        row, column = down - 1 - round(point.speed / top * (down - 1)), round(point.memory / most * (across - 1))
        cells[row][column] = (point.sign, Tone.GOOD if point.front else Tone.DIM)
    lines: list[Line] = [(f"{top:>{AXIS - 1}.0f} ", ("│", Tone.DIM), *cells[0])]
    lines += [(" " * AXIS, ("│", Tone.DIM), *cells[n]) for n in range(1, down)]
    lines.append((f"{'t/s':>{AXIS - 1}} ", ("└" + "─" * across, Tone.DIM)))
    feet = f"0{tr('memory'):^{max(1, across - 12)}}{size(round(most)):>11}"
    lines.append((" " * (AXIS + 1), (feet, Tone.DIM)))
    lines += [_legend(point, width) for point in found]
    if judged:
        lines.append((tr("%: cases passed, of {dataset}", dataset=report.dataset), Tone.DIM))
    return _lines(lines)


def _legend(point: Point, width: int) -> Line:
    quality = point.row.quality
    told = f" · {point.speed:.1f} t/s · {size(point.memory)}" + (f" · {quality.share:.0%}" if quality else "")
    front: Line = ("◆ ", Tone.GOOD) if point.front else "  "
    name = shorten_name(point.row.model.name, max(12, width - 4 - len(told)))
    return (front, (point.sign, Tone.STRONG), f" {name}", (told, Tone.DIM))


def _lines(lines: Sequence[Line]) -> Content:
    return Content("\n").join(content(line) for line in lines)
