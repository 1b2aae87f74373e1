"""A row of figures for each model of a bench, made of its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final

from workbench.benchmarks.figures import drifts, figure, local_score, ranked, rate
from workbench.benchmarks.planning import LOAD_TEST, speed_tests
from workbench.benchmarks.quality import Judged
from workbench.benchmarks.served import is_served
from workbench.evals.metrics.operation import nearest_rank
from workbench.records.benchmarks import (
    Bench,
    BenchModel,
    BenchReport,
    BenchRow,
    Figure,
    Flag,
    Percentiles,
    Rate,
    Sample,
)

BUSY: Final = 0.25
"""Cores that others take before a repetition is flagged."""
SLOWED: Final = 0.9
"""Of the highest frequency that the bench saw."""
HOT: Final = 0.97
"""Of what the hottest sensor calls high."""
FLAGS: Final[tuple[Flag, ...]] = ("drift", "throttled", "hot", "battery", "busy")


def report(bench: Bench, samples: Sequence[Sample], judged: Judged = Judged()) -> BenchReport:  # noqa: B008 -- frozen
    """The figures so far, with ranks within the bench, and what an evaluation found of the models."""
    fastest = max((s.conditions.frequency or 0.0 for s in samples), default=0.0)
    rows = [
        _row(model, [s for s in samples if s.model == number], bench, fastest, judged.rates.get(number))
        for number, model in enumerate(bench.models)
    ]
    ranked_rows = _with_ranks(rows, [test.name for test in speed_tests(bench.plan)])
    failed = sum(bool(row.problem) and not is_served(row.model.path) for row in rows)
    return BenchReport(bench, tuple(ranked_rows), judged.dataset, failed)


def _row(model: BenchModel, samples: Sequence[Sample], bench: Bench, fastest: float, quality: Rate | None) -> BenchRow:
    by_test: dict[str, list[Sample]] = {}
    for sample in sorted(samples, key=lambda s: s.repetition):
        if not sample.problem:
            by_test.setdefault(sample.test, []).append(sample)
    speeds = {
        test.name: _figure(by_test[test.name], fastest) for test in speed_tests(bench.plan) if test.name in by_test
    }
    prompts = [s for name, found in by_test.items() if name.startswith("prompt/") for s in found]
    flags = {flag for known in speeds.values() for flag in known.flags}
    return BenchRow(
        model=model,
        speeds=tuple(speeds.items()),
        load_ms=figure([s.value for s in by_test[LOAD_TEST]]) if LOAD_TEST in by_test else None,
        ttft_ms=_percentiles([s.ttft_ms for s in prompts if s.ttft_ms is not None]),
        total_ms=_percentiles([s.value for s in prompts]),
        rss=max((s.rss for s in samples), default=0),
        memory=max((s.memory for s in samples), key=lambda m: m.total, default=BenchRow(model).memory),
        json=_rate(by_test, "json/"),
        free=_rate(by_test, "free/"),
        local_score=_score(bench, speeds, prompts),
        quality=quality,
        flags=tuple(flag for flag in FLAGS if flag in flags),
        problem=next((s.problem for s in samples if s.problem), ""),
    )


def _figure(samples: Sequence[Sample], fastest: float) -> Figure:
    values = [s.value for s in samples]
    seen = [s.conditions for s in samples]
    told: dict[Flag, bool] = {
        "drift": drifts(values),
        "throttled": any(c.frequency is not None and c.frequency < SLOWED * fastest for c in seen),
        "hot": any(c.temperature is not None and c.temperature >= HOT for c in seen),
        "battery": any(c.battery for c in seen),
        "busy": any(c.others is not None and c.others > BUSY for c in seen),
    }
    return replace(figure(values), flags=tuple(flag for flag in FLAGS if told[flag]))


def _percentiles(values: Sequence[float]) -> Percentiles | None:
    ordered, n = sorted(values), len(values)
    if not n:
        return None
    return Percentiles(ordered[nearest_rank(n, 0.5) - 1], ordered[nearest_rank(n, 0.95) - 1], n, tuple(ordered))


def _rate(by_test: Mapping[str, Sequence[Sample]], prefix: str) -> Rate | None:
    values = [s.value for name, found in by_test.items() if name.startswith(prefix) for s in found]
    return rate(sum(values), len(values)) if values else None


def _score(bench: Bench, speeds: Mapping[str, Figure], prompts: Sequence[Sample]) -> float | None:
    depth = min(bench.plan.depths)
    at = {test.prompt > 0: speeds.get(test.name) for test in speed_tests(bench.plan) if test.depth == depth}
    ahead, steps, waits = at.get(True), at.get(False), [s.ttft_ms for s in prompts if s.ttft_ms]
    return local_score(ahead.mean, steps.mean, fmean(waits)) if ahead and steps and waits else None


def _with_ranks(rows: Sequence[BenchRow], tests: Sequence[str]) -> list[BenchRow]:
    by_test = {test: ranked([row.speed(test) for row in rows]) for test in tests}
    return [
        replace(row, speeds=tuple((test, found) for test in tests if (found := by_test[test][number])))
        for number, row in enumerate(rows)
    ]
