"""Runs, results and comparisons as lines of a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import groupby
from textwrap import shorten
from typing import Final

from workbench.cli.display import duration, print_table, say
from workbench.evals.measuring.compare import p_text, verdict
from workbench.evals.measuring.scoring import describe
from workbench.evals.measuring.standings import Standing, family, standings, verdict_of
from workbench.evals.reporting.naming import run_words
from workbench.evals.reporting.plots import plot_lines
from workbench.evals.reporting.reports import (
    counted_text,
    difference_text,
    estimate_text,
    headline_metrics,
    judged_text,
    run_name,
    runs_table,
    stage_title,
    value_text,
)
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.records.cases import Case
from workbench.records.evals import (
    CaseResult,
    MetricChange,
    RunComparison,
    RunReport,
)
from workbench.sqltools.taxonomy import fault_name

_BEGINNING: Final = 60  # characters of a question
_SEGMENT_METRICS: Final = 3  # of those that compared segments show


def print_report(report: RunReport) -> None:
    """The run's figures with n and interval, where its cases fail, and what weakens the figures."""
    run, config, told = report.run, report.run.config, report.run.manifest
    parts = (config.dataset, config.layer, told.collection, told.embedder, told.recipe, told.model, tr(run.status))
    say(f"{run_name(run)}  {run.done:,}/{run.total:,}", bold=True, newlines=False)
    say(" · ".join(part for part in parts if part), newlines=False)
    say("")
    rows = [
        (describe(name).title, estimate_text(name, found), f"{found.n:,}", tr(found.method))
        for name, found in report.overall.metrics.items()
    ]
    print_table((tr("metric"), tr("value [95 %]"), "n", tr("interval")), rows, right=(2,))
    _print_segments(report)
    if report.failures:
        say("")
        lost = [(stage_title(stage), str(count)) for stage, count in report.failures.items()]
        print_table((tr("lost at"), tr("cases")), lost, right=(1,))
    if report.faults:
        say("")
        wrong = [(fault_name(fault), str(count)) for fault, count in report.faults.items()]
        print_table((tr("wrong in the query"), tr("cases")), wrong, right=(1,))
    if report.judged:
        say("")
    for judged in report.judged:
        say(judged_text(judged), newlines=False)
    print_warnings(report.warnings)


def _print_segments(report: RunReport) -> None:
    """A table a field: each value with its n and the headline metrics."""
    names = headline_metrics(report.overall.metrics)
    for field, members in groupby(report.segments[1:], key=lambda segment: segment.field):
        rows = [
            (
                s.value,
                f"{s.cases:,}",
                *(counted_text(n, s.metrics[n], s.cases) if n in s.metrics else "–" for n in names),
            )
            for s in members
        ]
        say("")
        print_table((tr(field), "n", *(describe(name).title for name in names)), rows, right=(1,))


def print_warnings(warnings: Sequence[str]) -> None:
    """What a reader must know before believing the figures, on stderr."""
    for warning in warnings:
        say(f"! {warning}", err=True, newlines=False)


def print_sweep(reports: Sequence[RunReport]) -> None:
    """Runs as rows, their headline metrics as columns; then where they stand by the first.

    What a sweep varies tells its runs apart; what it leaves fixed would only make the table wider.
    """
    table = runs_table(reports)
    names = (f"#{report.run.id} {report.run.config.title}" for report in reports)
    print_table(table.head, [(name, *row[1:]) for name, row in zip(names, table.rows, strict=True)], right=(1,))
    first = next(iter(headline_metrics(reports[0].overall.metrics)), "")
    if first:
        _print_standings(standings(reports, family(first)))


def _print_standings(found: Sequence[Standing]) -> None:
    """The runs by one metric: error bars, and which of them the best one isn't told apart from."""
    say("")
    say(describe(found[0].name).title)
    for line in plot_lines(found, shutil.get_terminal_size((100, 24)).columns):
        say(line, newlines=False)
    say(verdict_of(found), newlines=False)


def print_comparison(compared: RunComparison, cases: Sequence[Case] = ()) -> None:
    """The verdict, what differs, each metric's paired difference, and the flips with their questions' first words."""
    a, b = compared.a, compared.b
    say(f"{run_name(a)} → {run_name(b)} · {compared.paired:,} {tr('cases')}", newlines=False)
    say(verdict(compared), bold=True)
    say(tr("differs: {fields}", fields=", ".join(compared.differs) or "–"))
    say("")
    rows = [
        (
            describe(c.metric).title,
            value_text(c.metric, c.a),
            value_text(c.metric, c.b),
            difference_text(c),
            p_text(c.p_value),
            f"{c.difference.n:,}",
        )
        for c in compared.metrics
    ]
    head = (tr("metric"), "a", "b", tr("b − a [95 %]"), "p", "n")
    print_table(head, rows, right=(1, 2, 5))
    _print_segment_changes(compared)
    questions = {case.id: case.question for case in cases}
    for title, flipped in ((tr("fixed"), compared.fixed), (tr("broken"), compared.broken)):
        if flipped:
            say(f"{title}:")
        for case_id in flipped:
            begins = shorten(questions.get(case_id, ""), _BEGINNING, placeholder="…")
            say(f"  {case_id}  {begins}".rstrip(), newlines=False)
    print_warnings(compared.warnings)


def _print_segment_changes(compared: RunComparison) -> None:
    """Which segment moved: its flips with their p, and the paired difference of each headline metric."""
    changed = [{change.metric: change for change in segment.metrics} for segment in compared.segments]
    names = list(dict.fromkeys(name for metrics in changed for name in metrics))[:_SEGMENT_METRICS]
    rows = [
        (
            f"{tr(s.field)}: {s.value}",
            f"{s.paired:,}",
            f"+{s.fixed} −{s.broken}",
            p_text(s.p_value),
            *(difference_text(metrics[name]) if name in metrics else "–" for name in names),
        )
        for s, metrics in zip(compared.segments, changed, strict=True)
    ]
    if rows:
        say("")
        titles = (f"{describe(name).title} b − a" for name in names)
        print_table((tr("segment"), "n", tr("fixed, broken"), tr("McNemar"), *titles), rows, right=(1,))
        say(tr("{count} segments were tested: by chance alone, one in twenty has p < 0.05.", count=len(rows)), dim=True)


def print_ladder(steps: Sequence[RunComparison]) -> None:
    """A line a run: how many of the cases shared with the run before pass, and what changed since that one."""
    first = steps[0].a
    rows = [(str(first.id), *_rung(steps[0].metrics, first=True), "", "", "", run_words(first))]
    rows += [
        (
            str(s.b.id),
            *_rung(s.metrics),
            f"+{len(s.fixed)} −{len(s.broken)}",
            p_text(s.p_value),
            ", ".join(s.differs),
            run_words(s.b),
        )
        for s in steps
    ]
    head = (describe("pass_rate").title, "n", tr("fixed, broken"), tr("McNemar"), tr("changed"), tr("run"))
    print_table(("#", *head), rows, right=(2,))


def _rung(metrics: Sequence[MetricChange], *, first: bool = False) -> tuple[str, str]:
    change = next((m for m in metrics if m.metric == "pass_rate"), None)
    if change is None:
        return "–", ""
    found = change.a if first else change.b
    return estimate_text("pass_rate", found), f"{found.n:,}"


def print_results(results: Sequence[CaseResult]) -> None:
    """A line a case."""
    rows = [
        (
            {True: "✓", False: "✗", None: "·"}[r.passed],
            r.case_id,
            stage_title(r.failure) if r.failure else "",
            duration(r.duration_ms / 1000),
            retold(r.reason),
        )
        for r in results
    ]
    print_table(("", tr("case"), tr("lost at"), tr("time"), tr("why")), rows, right=(3,))


def print_case(case: Case, result: CaseResult, journey: Sequence[str]) -> None:
    """One case: what was asked and expected, what came out, its scores, where it was lost."""
    say(case.question, bold=True)
    expected = " / ".join(case.answers) or (case.expectation.value if case.expectation else case.criterion)
    if not case.answerable:
        expected = tr("it can't be answered")
    say(tr("expected: {answers}", answers=expected or "–"))
    say("")
    if result.output:
        say(f"{result.output}\n")
    for name, value in result.scores.items():
        say(f"  {describe(name).title}: {describe(name).text(value)}")
    say("")
    for line in journey:
        say(line)
    if result.trace_id:
        say(f"trace {result.trace_id}", dim=True)
