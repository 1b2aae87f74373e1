"""A ladder as JSON, CSV or Markdown, and the table and words that the command line prints."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Final, Literal, TypeAlias

from workbench.benchmarks.exports import flag_words, speed_words
from workbench.i18n import tr
from workbench.ladders.figures import BLOCK, LEAST_BLOCKS
from workbench.ladders.planning import origin_words
from workbench.ladders.report import decode_speed
from workbench.ladders.texts import passages_words
from workbench.records.benchmarks import Rate
from workbench.records.codec import encode
from workbench.records.evals import Estimate
from workbench.records.ladders import Criterion, Divergence, LadderReport, LadderRow, Stage, TextScore

ExportFormat: TypeAlias = Literal["json", "csv", "markdown"]
Table: TypeAlias = tuple[list[str], list[list[str]]]
NONE: Final = "–"
MIB: Final = 1 << 20
GB, MB = 1e9, 1e6
CSV_HEAD: Final = tuple("ladder rung file sha256 metric value low high n method".split())


def criterion_words(criterion: Criterion) -> str:
    """A criterion of the front in the interface's language."""
    return {"size": tr("file size"), "kl": tr("mean KL"), "speed": tr("rank by speed")}[criterion]


def stage_words(stage: Stage) -> str:
    """A stage in the interface's language."""
    return {
        "quantize": tr("quantize"),
        "bench": tr("bench"),
        "quality": tr("KL and perplexity"),
        "eval": tr("eval"),
    }[stage]


def front_words(report: LadderReport) -> str:
    """What ◆ says, "" while there is no front."""
    if not report.criteria:
        return ""
    return tr("◆ Pareto front over {criteria}", criteria=", ".join(map(criterion_words, report.criteria)))


def row_name(row: LadderRow) -> str:
    """A rung by its quantization; one that was there by its name, too."""
    return row.rung.kind if row.rung.made else f"{row.rung.kind} ({row.rung.name})"


def gone_words(row: LadderRow) -> str:
    """That its file isn't there any more, "" where it is."""
    return tr("its file isn't there any more") if row.gone else ""


def estimate_words(found: Estimate | TextScore | None, form: str) -> str:
    """ "0.074 [0.066, 0.083]"; "0.074 [–]" without an interval. ``form`` as ``format`` takes it, "0.1%" for a share."""
    if found is None:
        return NONE
    form = ".1%" if form == "0.1%" else form
    known = found.low is not None and found.high is not None
    return f"{found.value:{form}} [" + (f"{found.low:{form}}, {found.high:{form}}]" if known else f"{NONE}]")


def no_interval_words(report: LadderReport) -> str:
    """Why figures stand without an interval, "" where all have one."""
    bare = [row.divergence for row in report.rows if row.divergence and row.divergence.log_ratio.low is None]
    if not bare:
        return ""
    positions, windows = min((found.kl.n, found.windows) for found in bare)
    if windows > 1 and positions >= LEAST_BLOCKS * BLOCK:
        return tr("– for an interval: all of its blocks are alike, which gives none")
    return tr(
        "– for an interval: {passages} with {positions} scored positions give none; it takes 2 with {least} in all",
        passages=passages_words(windows),
        positions=positions,
        least=LEAST_BLOCKS * BLOCK,
    )


def rate_words(found: Rate | None) -> str:
    """ "41/72 [0.46, 0.68]"."""
    return f"{round(found.share * found.n)}/{found.n} [{found.low:.2f}, {found.high:.2f}]" if found else NONE


def export(report: LadderReport, form: ExportFormat) -> str:
    """The whole of it as JSON, a line per figure as CSV, a table with its circumstances as Markdown."""
    if form == "json":
        return json.dumps(encode(report), ensure_ascii=False, indent=2) + "\n"
    return _csv(report) if form == "csv" else _markdown(report)


def table(report: LadderReport) -> Table:
    """Headings, and a row of texts per rung."""
    head = ["", tr("quant"), tr("file"), tr("saving"), tr("memory"), "TTFT p50", "tokens/s", tr("perplexity")]
    head += [tr("mean KL"), "KL p99", "top-1", "Δ", tr("passed")]
    return head, [_cells(report, row) for row in report.rows]


def decimal(octets: int) -> str:
    """Bytes in decimal units, as files are sold and decisions tell them: "3.5 GB", "6.64 MB"."""
    return f"{octets / GB:.3g} GB" if abs(octets) >= 999.5 * MB else f"{octets / MB:.3g} MB"


def _cells(report: LadderReport, row: LadderRow) -> list[str]:
    bench, found = row.bench, row.divergence
    return [
        "✗" if row.rung.problem else "◆" if row.front else "",
        row_name(row) + ("*" if row.rung.fallbacks else ""),
        f"{row.rung.size / MIB:,.1f} MiB" if row.rung.size else NONE,
        f"{row.saving:.1%}" if row.saving is not None and row.rung.place else NONE,
        f"{bench.rss / MIB:,.0f} MiB" if bench and bench.rss else NONE,
        f"{bench.ttft_ms.p50:,.0f} ms" if bench and bench.ttft_ms else NONE,
        speed_words(decode_speed(row, report.ladder.plan.bench)),
        estimate_words(row.perplexity, ".2f"),
        estimate_words(found.kl if found else None, ".4f"),
        estimate_words(found.kl_p99 if found else None, ".2f"),
        estimate_words(found.same_top if found else None, "0.1%"),
        estimate_words(row.loss, "+.3f"),
        rate_words(row.passed),
    ]


def row_words(report: LadderReport, row: LadderRow) -> str:
    """All figures of a rung in a line, as the evidence of a decision."""
    head, cells = table(report)[0], _cells(report, row)
    for place, octets in ((2, row.rung.size), (4, row.bench.rss if row.bench else 0)):
        cells[place] = decimal(octets) if octets else NONE  # as the decision's sentence tells what is saved
    told = [f"{name} {cell}" for name, cell in zip(head[2:], cells[2:], strict=True) if cell != NONE]
    told += filter(None, [_flags(row), origin_words(row.rung), gone_words(row), row.rung.problem])
    return f"{cells[0]} {cells[1]}: ".lstrip() + "; ".join(told)


def _flags(row: LadderRow) -> str:
    """What may have disturbed its bench, "" for nothing."""
    return ", ".join(map(flag_words, row.bench.flags)) if row.bench else ""


def circumstances(report: LadderReport) -> Iterator[str]:
    """What the figures rest on, a sentence each; first what they lack."""
    if report.left:
        yield tr("not complete: {stages}", stages=", ".join(map(stage_words, report.left)))
    ladder, plan = report.ladder, report.ladder.plan
    machine = ladder.manifest.machine
    yield f"{machine.processor}, {machine.cores} {tr('cores')}, {machine.memory / (1 << 30):.1f} GiB, {machine.system}"
    yield f"{ladder.manifest.engine}, workbench {ladder.manifest.workbench}"
    if plan.text:
        yield tr(
            "text: {name}, {passages} of {tokens} tokens, the second half of each scored (SHA-256 {hash})",
            name=plan.text.collection or plan.text.path,
            passages=passages_words(plan.text.windows),
            tokens=plan.text.tokens,
            hash=ladder.text_hash[:12],
        )
    if words := no_interval_words(report):
        yield words
    if plan.bench:
        several = plan.bench.repetitions > 1
        told = tr("{count} repetitions", count=plan.bench.repetitions) if several else tr("1 repetition")
        yield f"{tr('bench {id}', id=ladder.bench_id)}, {told}"
    if plan.dataset:
        yield tr("dataset: {name}", name=plan.dataset)
    for row in report.rows:
        yield f"{row_name(row)}: SHA-256 {row.rung.hash or NONE}"
    if words := front_words(report):
        yield words


def _markdown(report: LadderReport) -> str:
    head, rows = table(report)
    lines = [f"# {tr('Quantization ladder {id}', id=report.ladder.id)} · {report.ladder.created:%Y-%m-%d %H:%M}", ""]
    lines += [_line(head), _line(["---"] * len(head)), *map(_line, rows), ""]
    lines += [f"- {words}" for words in circumstances(report)]
    lines += [f"- {row_name(row)}: {words}" for row in report.rows if (words := origin_words(row.rung))]
    lines += [f"- {row_name(row)}: {words}" for row in report.rows if (words := gone_words(row))]
    lines += [f"- {row_name(row)}: {flags}" for row in report.rows if (flags := _flags(row))]
    lines += [f"- {row_name(row)}: {row.rung.problem}" for row in report.rows if row.rung.problem]
    return "\n".join([*lines, "", _legend()]) + "\n"


def _legend() -> str:
    return tr(
        "Perplexity and KL: block bootstrap, 95 %. Δ: share of cases that the reference passes less that of the rung."
        " * some tensors couldn't have their type."
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _csv(report: LadderReport) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for row in report.rows:
        start = (report.ladder.id, row.rung.kind, row.rung.name, row.rung.hash)
        writer.writerows((*start, *line) for line in _figures(report, row))
    return written.getvalue()


def _figures(report: LadderReport, row: LadderRow) -> Iterator[tuple[object, ...]]:
    """metric, value, low, high, n, method."""
    yield "file_bytes", row.rung.size, "", "", "", ""
    if row.saving is not None:
        yield "saving", row.saving, "", "", "", ""
    estimates: dict[str, Estimate | TextScore | None] = {"perplexity": row.perplexity, "quality_loss": row.loss}
    if row.divergence:
        names = [f.name for f in fields(Divergence) if f.name not in ("windows", "perplexity")]
        estimates |= {name: getattr(row.divergence, name) for name in names}
    for name, e in estimates.items():
        if e:
            yield name, e.value, *_bounds(e.low, e.high), e.n, e.method
    if row.passed:
        yield "passed", row.passed.share, row.passed.low, row.passed.high, row.passed.n, "Wilson"
    if speed := decode_speed(row, report.ladder.plan.bench):
        yield "tokens_per_s", speed.mean, *_bounds(speed.low, speed.high), speed.n, "Student"
    if row.bench and row.bench.ttft_ms:
        yield "ttft_ms_p50", row.bench.ttft_ms.p50, "", "", row.bench.ttft_ms.n, ""
    if row.bench and row.bench.rss:
        yield "peak_rss_bytes", row.bench.rss, "", "", "", ""


def _bounds(low: float | None, high: float | None) -> tuple[object, object]:
    """Of an interval; "" where there is none."""
    return "" if low is None else low, "" if high is None else high
