"""A ladder as rows of a table, as figures of one rung with their intervals, and as rungs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from screens.models.bench_rows import NONE, speed
from screens.models.side_by_side import beside
from screens.style import Line, Tone, milliseconds, plain, size
from screens.widgets.facts import Fact
from screens.widgets.grid import Column, Row
from workbench.benchmarks.exports import flag_words
from workbench.i18n import tr
from workbench.ladders.exports import estimate_words, gone_words, no_interval_words, rate_words, row_name
from workbench.ladders.planning import origin_words
from workbench.ladders.report import decode_speed
from workbench.records.benchmarks import Rate
from workbench.records.ladders import LadderReport, LadderRow


def columns() -> list[Column]:
    """Of the table, in the interface's language."""
    return [
        Column("", 1),
        Column(tr("quant"), 0),
        Column(tr("file"), 8, "right"),
        Column(tr("memory"), 8, "right", keep=102),
        Column("TTFT ms", 7, "right", keep=111),
        Column("t/s", 11, "right"),
        Column(tr("perpl."), 6, "right", keep=120),
        Column("95 %", 15, "right", keep=140),
        Column(tr("mean KL"), 7, "right"),
        Column("95 %", 16, "right", keep=90),
        Column("p99", 5, "right"),
        Column("top-1", 6, "right"),
        Column(tr("passed"), 6, "right", keep=70),
    ]


def rows(report: LadderReport) -> list[Row]:
    """A row per rung, the reference first; the key names ladder and place, so that marks are one ladder's."""
    return [Row(f"{report.ladder.id}:{row.rung.place}", _cells(report, row)) for row in report.rows]


def place_of(key: str) -> int:
    """A rung's place by its row's key."""
    return int(key.rpartition(":")[2])


def _cells(report: LadderReport, row: LadderRow) -> tuple[Line, ...]:
    rung, bench, found = row.rung, row.bench, row.divergence
    known = row_name(row) if rung.place else rung.kind
    role = f" {tr('reference')}" if rung.place == 0 else ""
    name: Line = (known, ("*" if rung.fallbacks else "", Tone.WARN), (role, Tone.DIM))
    return (
        ("✗", Tone.BAD) if rung.problem else ("◆", Tone.GOOD) if row.front else ("◦", Tone.DIM),
        name,
        size(rung.size) if rung.size else NONE,
        size(bench.rss) if bench and bench.rss else NONE,
        milliseconds(bench.ttft_ms.p50) if bench and bench.ttft_ms else NONE,
        speed(decode_speed(row, report.ladder.plan.bench)),
        *_parts(estimate_words(row.perplexity, ".1f")),
        *_parts(estimate_words(found.kl if found else None, ".4f")),
        f"{found.kl_p99.value:.2f}" if found else NONE,
        f"{found.same_top.value:.1%}" if found else NONE,
        _of(row.passed),
    )


def _parts(estimate: str) -> tuple[Line, Line]:
    """The value of "0.074 [0.066, 0.083]" and its interval, a column each: the table keeps the second where it can."""
    value, _, interval = estimate.partition(" ")
    return value, (interval, Tone.DIM)


def _of(found: Rate | None) -> str:
    return f"{round(found.share * found.n)}/{found.n}" if found else NONE


def details(report: LadderReport, row: LadderRow) -> list[Fact]:
    """All that is known of a rung, with what it rests on."""
    rung = row.rung
    types = ", ".join(f"{count} {name}" for name, count in rung.tensor_types)
    facts: list[Fact] = [(rung.kind, (rung.name, Tone.STRONG))]
    if rung.size:
        saved = "" if row.saving is None or not rung.place else f" · {tr('saving')} {row.saving:.1%}"
        facts.append((tr("file"), f"{size(rung.size)} · {rung.bits_per_weight:.2f} {tr('bits/weight')}{saved}"))
        fell = f" · {tr('{count} fell back', count=rung.fallbacks)}" if rung.fallbacks else ""
        facts.append((tr("tensors"), (types, (fell, Tone.WARN))))
    facts += [("", (gone_words(row), Tone.WARN)), (tr("origin"), (origin_words(rung), Tone.WARN))]
    facts += [fact for fact in _figures(report, row) if plain(fact[1]) != NONE]
    if words := no_interval_words(replace(report, rows=(row,))):
        facts.append(("", (words, Tone.WARN)))
    if row.bench and row.bench.flags:
        facts.append((tr("flags"), (", ".join(map(flag_words, row.bench.flags)), Tone.WARN)))
    if rung.problem:
        facts.append(("✗", (rung.problem, Tone.BAD)))
    return facts


def _figures(report: LadderReport, row: LadderRow) -> Iterator[Fact]:
    """What was measured of a rung, ``NONE`` where nothing was."""
    bench, found = row.bench, row.divergence
    tested = decode_speed(row, report.ladder.plan.bench)
    yield tr("memory"), size(bench.rss) if bench and bench.rss else NONE
    yield "TTFT p50", f"{milliseconds(bench.ttft_ms.p50)} ms" if bench and bench.ttft_ms else NONE
    yield "t/s", (speed(tested), (f" {tr('rank')} {tested.rank}" if tested and tested.rank else "", Tone.DIM))
    yield tr("perplexity"), estimate_words(row.perplexity, ".2f")
    yield tr("ln of its ratio"), estimate_words(found.log_ratio if found else None, "+.4f")
    yield tr("mean KL"), estimate_words(found.kl if found else None, ".4f")
    yield "KL p99", estimate_words(found.kl_p99 if found else None, ".3f")
    yield "top-1", estimate_words(found.same_top if found else None, "0.1%")
    yield tr("positions"), f"{found.kl.n:,}" if found else NONE
    yield tr("cases passed"), rate_words(row.passed)
    yield "Δ " + tr("quality"), estimate_words(row.loss, "+.3f")


def _saving(row: LadderRow) -> str:
    return NONE if row.saving is None or not row.rung.place else f"{row.saving:.1%}"


def side_by_side(report: LadderReport, places: Sequence[int]) -> list[Line]:
    """A line per figure, a column per rung."""
    chosen = [report.rows[place] for place in places]
    measured = zip(*(_figures(report, row) for row in chosen), strict=True)
    return beside(
        [
            ("", [(row_name(row), Tone.STRONG) for row in chosen]),
            (tr("file"), [size(row.rung.size) if row.rung.size else NONE for row in chosen]),
            (tr("saving"), [_saving(row) for row in chosen]),
            *((facts[0][0], [value for _, value in facts]) for facts in measured),
            (tr("front"), [("◆", Tone.GOOD) if row.front else "" for row in chosen]),
        ]
    )
