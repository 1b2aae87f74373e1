"""A report as JSON, CSV or Markdown, and the tables that the command line prints."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from workbench.benchmarks.compare import bench_title
from workbench.benchmarks.planning import speed_tests
from workbench.i18n import tr
from workbench.records.benchmarks import BenchReport, BenchRow, Figure, Flag, Percentiles, Rate, Sample
from workbench.records.codec import encode

ExportFormat: TypeAlias = Literal["json", "csv", "markdown"]
Table: TypeAlias = tuple[list[str], list[list[str]]]
MIB: Final = 1 << 20
NONE: Final = "–"
CSV_HEAD: Final = tuple("bench model sha256 metric value sd low high n rank flags problem".split())


def flag_words(flag: Flag) -> str:
    """A flag in the interface's language."""
    return {
        "drift": tr("drift"),
        "throttled": tr("throttled"),
        "hot": tr("hot"),
        "battery": tr("battery"),
        "busy": tr("others busy"),
    }[flag]


def export(report: BenchReport, samples: Sequence[Sample], form: ExportFormat) -> str:
    """The whole of it as JSON, a line per figure as CSV, a table with its circumstances as Markdown."""
    if form == "json":
        whole = {"bench": report.bench, "rows": report.rows, "dataset": report.dataset, "samples": samples}
        return json.dumps(encode(whole), ensure_ascii=False, indent=2) + "\n"
    return _csv(report) if form == "csv" else _markdown(report)


def speed_table(report: BenchReport) -> Table:
    """Headings, and a row of texts per model: each test with its rank, and what may have disturbed it."""
    tests = [test.name for test in speed_tests(report.bench.plan)]
    head = [tr("model"), *(cell for test in tests for cell in (f"{test} t/s", tr("rank"))), tr("flags")]
    rows = []
    for row in report.rows:
        found = [row.speed(test) for test in tests]
        speeds = [cell for f in found for cell in (speed_words(f), str(f.rank or NONE) if f else NONE)]
        rows.append([row.model.name, *speeds, ", ".join(map(flag_words, row.flags))])
    return head, rows


def felt_table(report: BenchReport) -> Table:
    """Headings, and a row of texts per model: what a person waits for, memory, JSON."""
    head = [tr("model"), tr("load"), "TTFT p50/p95", tr("total p50/p95"), tr("peak memory"), tr("engine's buffers")]
    head += [tr("JSON with grammar"), tr("without"), "LocalScore"]
    head += [tr("passed of {dataset}", dataset=report.dataset)] if report.dataset else []
    rows = [
        [
            row.model.name,
            f"{row.load_ms.mean:,.0f} ms" if row.load_ms else NONE,
            _times(row.ttft_ms),
            _times(row.total_ms),
            f"{row.rss / MIB:,.0f} MiB" if row.rss else NONE,
            f"{row.memory.total / MIB:,.0f} MiB" if row.rss else NONE,
            _share(row.json),
            _share(row.free),
            f"{row.local_score:.0f}" if row.local_score else NONE,
            *([_share(row.quality)] if report.dataset else []),
        ]
        for row in report.rows
    ]
    return head, rows


def speed_words(found: Figure | None) -> str:
    """ "84.1 ± 1.2": mean and sample standard deviation; a single repetition has none."""
    if found is None:
        return NONE
    return f"{found.mean:.1f}" + ("" if found.sd is None else f" ± {found.sd:.1f}")


def _times(found: Percentiles | None) -> str:
    return f"{found.p50:,.0f} / {found.p95:,.0f} ms" if found else NONE


def _share(found: Rate | None) -> str:
    return f"{round(found.share * found.n)}/{found.n}" if found else NONE


def _csv(report: BenchReport) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for row in report.rows:
        start = (report.bench.id, row.model.name, row.model.hash)
        lines = list(_lines(row))
        writer.writerows((*start, *line, row.problem) for line in lines or [("",) * 8])
    return written.getvalue()


def _lines(row: BenchRow) -> Iterator[tuple[object, ...]]:
    """metric, value, sd, low, high, n, rank, flags."""
    figures = {f"{test}_tokens_per_s": found for test, found in row.speeds}
    if row.load_ms:
        figures["load_ms"] = row.load_ms
    for name, f in figures.items():
        yield name, f.mean, f.sd, f.low, f.high, f.n, f.rank or "", " ".join(f.flags)
    for name, found in (("ttft_ms", row.ttft_ms), ("total_ms", row.total_ms)):
        if found:
            yield f"{name}_p50", found.p50, "", "", "", found.n, "", ""
            yield f"{name}_p95", found.p95, "", "", "", found.n, "", ""
    for name, share in (("json_valid_grammar", row.json), ("json_valid_free", row.free), ("quality", row.quality)):
        if share:
            yield name, share.share, "", share.low, share.high, share.n, "", ""
    if row.rss:
        yield "peak_rss_bytes", row.rss, "", "", "", "", "", ""
        yield "engine_buffers_bytes", row.memory.total, "", "", "", "", "", ""
    if row.local_score:
        yield "local_score", row.local_score, "", "", "", "", "", ""


def _markdown(report: BenchReport) -> str:
    bench = report.bench
    machine, load = bench.manifest.machine, bench.plan.load
    lines = [
        f"# {bench_title(bench)}",
        "",
        f"- {machine.processor}, {machine.cores} {tr('cores')}, {machine.memory / (1 << 30):.1f} GiB, {machine.system}",
        f"- {bench.manifest.engine}, workbench {bench.manifest.workbench}",
        f"- {bench.plan.repetitions} {tr('repetitions')}, {tr('context')} {load.context}, {tr('batch')} {load.batch}, "
        f"{tr('threads')} {load.threads or tr('cores − 1')}, KV {load.kv_type}, "
        f"flash attention {'on' if load.flash_attention else 'off'}",
        *(f"- {m.name}: SHA-256 {m.hash}" for m in bench.models),
        *([] if bench.complete else [f"- {tr('stopped at {done} of {total}', done=bench.done, total=bench.total)}"]),
        *_table_lines(speed_table(report)),
        *_table_lines(felt_table(report)),
        *(f"- {row.model.name}: {row.problem}" for row in report.rows if row.problem),
        "",
        tr("Means ± sample standard deviation. Models share a rank when their 95 % intervals overlap the best one's."),
    ]
    return "\n".join(lines) + "\n"


def _table_lines(table: Table) -> list[str]:
    head, rows = table
    return ["", _line(head), _line(["---"] * len(head)), *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
