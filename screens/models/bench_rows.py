"""Benchmarks in words and numbers: the table's columns and rows, the details of a row, rows side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from screens.models.side_by_side import beside
from screens.style import Line, Tone, milliseconds, plain, shorten_name, size
from screens.widgets.facts import Fact
from screens.widgets.grid import Column, Row
from workbench.benchmarks.exports import flag_words
from workbench.i18n import tr
from workbench.records.benchmarks import BenchComparison, BenchPlan, BenchReport, BenchRow, Figure, Percentiles, Rate

NONE: Final = "–"
NEVER: Final = float("-inf")
NAME: Final = 26
"""Characters of a model's name beside others: two columns fit a narrow screen."""


@dataclass(frozen=True, slots=True)
class Sorting:
    """An order of rows: what it is called, and what of a row at a depth is greatest first."""

    name: str
    key: Callable[[BenchRow, BenchPlan, int], float]


def _speed(kind: str) -> Callable[[BenchRow, BenchPlan, int], float]:
    def key(row: BenchRow, plan: BenchPlan, depth: int) -> float:
        found = row.speed(test_name(kind, plan, depth))
        return found.mean if found else NEVER

    return key


SORTINGS: Final = (
    Sorting("as chosen", lambda row, plan, depth: 0.0),
    Sorting("tg", _speed("tg")),
    Sorting("pp", _speed("pp")),
    Sorting("TTFT", lambda row, plan, depth: -row.ttft_ms.p50 if row.ttft_ms else NEVER),
    Sorting("memory", lambda row, plan, depth: -float(row.rss) if row.rss else NEVER),
    Sorting("LocalScore", lambda row, plan, depth: row.local_score or NEVER),
)


def test_name(kind: str, plan: BenchPlan, depth: int) -> str:
    """ "tg128@d1024" for "tg"."""
    tokens = plan.prompt if kind == "pp" else plan.generate
    return f"{kind}{tokens}" + (f"@d{depth}" if depth else "")


def columns() -> list[Column]:
    """Of the table, in the interface's language."""
    return [
        Column("", 1),
        Column(tr("model"), 0, tail=True),
        Column("pp t/s", 12, "right"),
        Column("#", 0, "right", whole=True),
        Column("tg t/s", 12, "right"),
        Column("#", 0, "right", whole=True),
        Column("TTFT ms", 7, "right"),
        Column(tr("memory"), 8, "right", keep=84),
        Column(tr("load ms"), 7, "right", keep=96),
        Column("JSON", 9, "right", keep=104),
        Column("Score", 5, "right", keep=88),
    ]


def rows(report: BenchReport, depth: int, sorting: Sorting) -> list[Row]:
    """A row per model; the key names bench and place."""
    plan = report.bench.plan
    order = sorted(enumerate(report.rows), key=lambda item: sorting.key(item[1], plan, depth), reverse=True)
    return [Row(f"{report.bench.id}:{place}", _cells(row, plan, depth)) for place, row in order]


def _cells(row: BenchRow, plan: BenchPlan, depth: int) -> tuple[Line, ...]:
    mark: Line = ("✗", Tone.BAD) if row.problem else ("~", Tone.WARN) if row.flags else ("◦", Tone.DIM)
    speeds: list[Line] = []
    for kind in ("pp", "tg"):
        found = row.speed(test_name(kind, plan, depth))
        speeds += [speed(found), str(found.rank or NONE) if found else ""]
    return (
        mark,
        row.model.name,
        *speeds,
        milliseconds(row.ttft_ms.p50) if row.ttft_ms else NONE,
        size(row.rss) if row.rss else NONE,
        milliseconds(row.load_ms.mean) if row.load_ms else NONE,
        f"{_of(row.json)} {_of(row.free)}",
        f"{row.local_score:.0f}" if row.local_score else NONE,
    )


def speed(found: Figure | None, digits: int = 1) -> Line:
    """ "84.1 ±1.2", the spread dim."""
    if found is None:
        return (NONE, Tone.DIM)
    return (f"{found.mean:,.{digits}f}", ("" if found.sd is None else f" ±{found.sd:,.{digits}f}", Tone.DIM))


def _of(found: Rate | None) -> str:
    return f"{round(found.share * found.n)}/{found.n}" if found else NONE


def details(report: BenchReport, place: int) -> list[Fact]:
    """All that was measured of a model, with what it rests on."""
    row = report.rows[place]
    facts: list[Fact] = [(row.model.quantization or "", (row.model.name, Tone.STRONG))]
    facts += [(test, _figure_line(found, "t/s")) for test, found in row.speeds]
    if row.load_ms:
        facts.append((tr("load"), _figure_line(row.load_ms, "ms", 0)))
    facts += [("TTFT", _times(row.ttft_ms)), (tr("to the end"), _times(row.total_ms))]
    if row.rss:
        facts.append((tr("memory"), f"{size(row.rss)} · {tr('engine')} {size(row.memory.total)}"))
    facts += [(tr("JSON, grammar"), _rate(row.json)), (tr("JSON, free"), _rate(row.free))]
    if row.quality:
        facts.append((tr("cases passed"), (_rate(row.quality), f" · {report.dataset}")))
    if row.local_score:
        facts.append(("LocalScore", f"{row.local_score:.0f}"))
    if row.flags:
        facts.append((tr("flags"), (", ".join(map(flag_words, row.flags)), Tone.WARN)))
    if row.problem:
        facts.append(("✗", (row.problem, Tone.BAD)))
    return facts


def _figure_line(found: Figure, unit: str, digits: int = 1) -> Line:
    told = [speed(found, digits), f" {unit}"]
    if found.low is not None and found.high is not None:
        told.append((f"  95 % {found.low:,.{digits}f}–{found.high:,.{digits}f}", Tone.DIM))
    flags = ", ".join(map(flag_words, found.flags))
    return (*told, (f" n={found.n}", Tone.DIM), (f"  {flags}" if flags else "", Tone.WARN))


def _times(found: Percentiles | None) -> Line:
    if found is None:
        return ""
    return (f"p50 {milliseconds(found.p50)}  p95 {milliseconds(found.p95)} ms", (f" n={found.n}", Tone.DIM))


def _rate(found: Rate | None) -> Line:
    if found is None:
        return ""
    interval = f"  95 % {found.low:.2f}–{found.high:.2f}"
    return (f"{_of(found)}", (interval, Tone.DIM))


def side_by_side(found: BenchComparison) -> list[Line]:
    """A line per figure, a column per row; against the first: ▲ and ▼ where the intervals don't meet, else =."""
    lines = beside(
        [
            ("", [(shorten_name(row.model.name, NAME), Tone.STRONG) for row in found.rows]),
            *([("", [(title, Tone.DIM) for title in found.titles])] if len({*found.titles}) > 1 else []),
            *((name, cells) for name, cells in _compared(found.rows) if {*map(plain, cells)} - {NONE, ""}),
        ]
    )
    if found.caveats:
        lines += ["", (tr("These don't compare like with like:"), Tone.WARN)]
        lines += [("  ~ " + words, Tone.WARN) for words in found.caveats]
    return lines


def _compared(found: Sequence[BenchRow]) -> Iterator[tuple[str, list[Line]]]:
    first = found[0]
    tests = dict.fromkeys(test for row in found for test, _ in row.speeds)
    for test in tests:
        base = first.speed(test)
        yield f"{test} t/s", [(speed(row.speed(test)), _against(base, row.speed(test))) for row in found]
    yield tr("load") + " ms", [milliseconds(r.load_ms.mean) if r.load_ms else NONE for r in found]
    yield "TTFT p50 ms", [milliseconds(r.ttft_ms.p50) if r.ttft_ms else NONE for r in found]
    yield "TTFT p95 ms", [milliseconds(r.ttft_ms.p95) if r.ttft_ms else NONE for r in found]
    yield tr("to the end") + " p50 ms", [milliseconds(r.total_ms.p50) if r.total_ms else NONE for r in found]
    yield tr("memory"), [size(r.rss) if r.rss else NONE for r in found]
    yield tr("file"), [size(r.model.size) for r in found]
    yield tr("JSON, grammar"), [_of(r.json) for r in found]
    yield tr("JSON, free"), [_of(r.free) for r in found]
    yield "LocalScore", [f"{r.local_score:.0f}" if r.local_score else NONE for r in found]
    yield tr("cases passed"), [_of(r.quality) for r in found]
    yield tr("flags"), [(", ".join(map(flag_words, r.flags)), Tone.WARN) for r in found]


def _against(base: Figure | None, other: Figure | None) -> Line:
    """How much of the first one's speed it has."""
    if base is None or other is None or base is other or not base.mean:
        return ""
    factor = f" ×{other.mean / base.mean:.2f} "
    if base.low is None or base.high is None or other.low is None or other.high is None:
        return (factor, Tone.DIM)
    if other.low > base.high:
        return (factor + "▲", Tone.GOOD)
    if other.high < base.low:
        return (factor + "▼", Tone.BAD)
    return (factor + "=", Tone.DIM)
