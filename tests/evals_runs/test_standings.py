"""Several runs by one metric: the best, what overlaps with it, and the plot of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.evals_runs.conftest import Cli
from tests.evals_runs.records import CONFIG, MANIFEST
from workbench.evals.measuring.standings import families, standings, verdict_of
from workbench.evals.reporting.plots import plot_lines, scale, whisker
from workbench.records.evals import (
    Estimate,
    Run,
    RunReport,
    Segment,
)

INFINITE = float("inf")


def report(number: int, name: str, value: float, low: float, high: float) -> RunReport:
    config = replace(CONFIG, title=f"k={number}")
    run = Run(number, config, "a" * 64, MANIFEST, "complete", None, 4, 4)  # type: ignore[arg-type]  # no date is read
    metrics = {name: Estimate(value, 40, low, high, "Wilson")} if name else {}
    return RunReport(run, (Segment("", "", 40, metrics),), {})


def cases(told: RunReport, n: int, **config: Any) -> RunReport:
    """The same over ``n`` cases."""
    run = replace(told.run, config=replace(told.run.config, **config))
    metrics = {name: replace(estimate, n=n) for name, estimate in told.overall.metrics.items()}
    return replace(told, run=run, segments=(Segment("", "", n, metrics),), over=dict.fromkeys(metrics, f"the {n}"))


RECALL = [
    report(1, "recall@1", 0.50, 0.35, 0.65),
    report(5, "recall@5", 0.80, 0.66, 0.90),
    report(9, "recall@9", 0.85, 0.71, 0.93),
]


def test_the_best_is_told_apart_only_from_intervals_that_do_not_reach_its_own() -> None:
    found = standings(RECALL, "recall")
    assert [(one.name, one.best, one.overlaps) for one in found] == [
        ("recall@1", False, False),
        ("recall@5", False, True),
        ("recall@9", True, True),
    ]
    assert (
        verdict_of(found)
        == "Best: #9 k=9. 1 of 2 other intervals overlap with it: not significant by them; paired, it may be."
    )
    assert verdict_of(standings(RECALL[::2], "recall")) == "Best: #9 k=9. No other interval reaches its own."


def test_none_of_several_with_the_best_value_is_named_the_best() -> None:
    found = standings([RECALL[0], RECALL[2], report(7, "recall@7", 0.85, 0.71, 0.93)], "recall")
    assert [one.best for one in found] == [False, True, True]
    assert verdict_of(found) == "#9 k=9, #7 k=7 share the best value: by it none of them is ahead."


def test_the_least_time_is_best_and_a_run_without_the_metric_has_no_place() -> None:
    times = [report(1, "latency_p95_ms", 900.0, 700.0, INFINITE), report(2, "latency_p95_ms", 300.0, 250.0, 400.0)]
    found = standings([*times, report(3, "", 0, 0, 0)], "latency_p95_ms")
    assert [one.best for one in found] == [False, True, False]
    assert found[2].estimate is None
    assert plot_lines(found, 80)[1].count("→") == 1
    assert families([*times, *RECALL]) == ("latency_p95_ms", "recall")
    assert (standings([], "recall"), plot_lines((), 80), verdict_of(())) == ((), [], "")


def test_runs_over_other_cases_are_not_ranked_and_named_with_what_differs() -> None:
    runs = [
        cases(report(3, "pass_rate", 0.57, 0.33, 0.79), 14),
        cases(report(4, "pass_rate", 0.50, 0.27, 0.73), 14),
        cases(report(7, "pass_rate", 0.60, 0.23, 0.88), 5),
        cases(report(9, "pass_rate", 0.73, 0.43, 0.90), 14, exclude_gold=True),
    ]
    found = standings(runs, "pass_rate")
    assert [(one.best, one.unranked) for one in found] == [(True, False), (False, False), (False, True), (False, True)]
    told = verdict_of(found)
    assert told.startswith("Best: #3 k=3. 1 of 1 other intervals overlap with it")
    assert "Runs of other cases aren't ranked: #7 (n 5); #9 (n 14, gold left out)." in told
    assert [line.count("≠") for line in plot_lines(found, 80)] == [0, 0, 0, 1, 1]

    alone = standings(runs[1:], "pass_rate")
    assert not any(one.best for one in alone)
    assert verdict_of(alone) == (
        "Not ranked, as no two of them have the same cases: #4 (n 14); #7 (n 5); #9 (n 14, gold left out). "
        "Compared in pairs, only the cases that both runs have count."
    )


def test_what_passes_when_gold_is_found_is_not_ranked_with_what_passes_when_the_answer_is_right() -> None:
    runs = [report(1, "pass_rate", 1.0, 0.7, 1.0), cases(report(2, "pass_rate", 0.5, 0.3, 0.7), 40, layer="chain")]
    alike = replace(runs[0], over=runs[1].over)
    told = verdict_of(standings([alike, runs[1]], "pass_rate"))
    assert told.startswith("Not ranked, as no two of them have the same cases: #1 (n 40, retrieval); #2 (n 40).")
    assert "One run passes a case when its gold is found, the other when its answer is right." in told


@pytest.mark.parametrize(
    ("estimate", "drawn"),
    [
        (Estimate(0.5, 9, 0.25, 0.75, ""), "     ├────●────┤     "),
        (Estimate(0.0, 9, 0.0, 0.0, ""), "●                    "),
        (Estimate(0.5, 9, -1.0, INFINITE, ""), "←─────────●─────────→"),
    ],
)
def test_an_interval_stands_on_its_scale_and_what_leaves_it_has_an_arrow(estimate: Estimate, drawn: str) -> None:
    assert whisker(estimate, 0.0, 1.0, 21) == drawn


def test_a_scale_of_one_point_has_a_width() -> None:
    assert scale([Estimate(1.0, 9, 1.0, 1.0, "")]) == (1.0, 2.0)
    assert scale([]) == (0.0, 1.0)


@pytest.mark.parametrize("width", [20, 60, 100])
def test_a_plot_has_a_line_a_run_and_both_ends_of_its_scale(width: int) -> None:
    lines = plot_lines(standings(RECALL, "recall"), width)
    assert len(lines) == 4
    assert lines[0].split() == ["0.350", "0.930"]
    assert [line.count("●") for line in lines] == [0, 1, 1, 1]
    assert "★" in lines[3]
    assert "≈" in lines[2]
    if width > 60:
        assert max(map(len, lines)) <= width


def test_a_sweep_prints_its_table_and_its_plot(cli: Cli) -> None:
    told = cli("sweep", "faq", "--lane", "lexical", "--vary", "k=1,3")
    assert told.code == 0
    bars = [line for line in told.out.splitlines() if "●" in line]
    assert [bar.split()[:2] for bar in bars] == [["#1", "k=1"], ["#2", "k=3"]]
    assert "#1 k=1, #2 k=3 share the best value: by it none of them is ahead." in told.out
