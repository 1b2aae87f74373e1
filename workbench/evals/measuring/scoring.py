"""From the results of a run's cases to its report: each metric with n and its interval, overall and per segment."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np

from workbench.evals.measuring.segments import groups_of
from workbench.evals.measuring.statistics import (
    FEW,
    Sample,
    StatisticOf,
    bootstrap,
    bounded_mean,
    mean,
    order_interval,
    quantile,
    ratio,
    wilson,
)
from workbench.evals.metrics import METRICS, Metric, find_metric
from workbench.i18n import tr
from workbench.records.cases import Case
from workbench.records.evals import (
    CaseResult,
    Estimate,
    Layer,
    Run,
    RunReport,
    Segment,
)

_OF_A_CASE: Final = {
    m.name: m
    for m in (
        Metric("ttft_ms", "Time to first token", "ms", False),
        Metric("tokens", "Tokens", "tokens", False),
        Metric("cost", "Cost", "cost", False),
        Metric("estimated_tokens", "Tokens estimated"),
    )
}
"""What one case has, and a run only as a percentile or a ratio."""

_OF_TOKENS: Final = frozenset(
    {"tokens", "tokens_per_s", "prompt_tokens", "output_tokens", "tokens_per_useful", "cost", "cost_per_useful"}
)
_SOURCES: Final = {m.source for m in METRICS.values() if m.source}
_ORDER: Final = [name for m in METRICS.values() for name in (m.source, m.name)]
_UNSCORED_SHARE: Final = 0.05
_PERFECT: Final = ("pass_rate", "exact_match", "correctness", "correct_abstention")

HEADLINES: Final = (
    "pass_rate",
    "recall@",
    "ndcg@",
    "mrr",
    "groundedness",
    "citation_precision",
    "correctness",
    "coverage",
    "correct_abstention",
    "latency_p95_ms",
)
"""How the names of the metrics begin that narrow tables and segments show, in this order."""

Column: TypeAlias = Mapping[str, tuple[float, ...]]  # case id → its figures: one, or two for a ratio


def make_report(run: Run, results: Sequence[CaseResult], cases: Iterable[Case]) -> RunReport:
    """The run in figures, over all cases first, then per type, language, difficulty and tag.

    A field on which all cases agree makes no segment. Cases without a result don't count.
    """
    by_case = {result.case_id: result for result in results}
    groups: dict[tuple[str, str], Sequence[CaseResult]] = {("", ""): results}
    for key, members in groups_of([case for case in cases if case.id in by_case]).items():
        groups[key] = [by_case[case.id] for case in members]
    tables = {key: columns(group, run.config.layer) for key, group in groups.items()}
    segments = tuple(
        Segment(field, value, len(group), measure(tables[field, value], are_estimates(group)))
        for (field, value), group in groups.items()
    )
    failures = Counter(r.failure for r in results if r.failure)
    faults = Counter(r.fault for r in results if r.fault)
    warnings = _warnings(segments, results)
    over = {name: _fingerprint(column) for name, column in tables["", ""].items()}
    return RunReport(
        run, segments, dict(failures.most_common()), warnings, faults=dict(faults.most_common()), over=over
    )


def columns(results: Iterable[CaseResult], layer: Layer) -> dict[str, Column]:
    """Metric → case → figures, in the order of ``METRICS``; a case for which a metric isn't defined is not in it.

    The retrieval layer has no answers, and so no time per useful answer.

    Latency and time per useful answer are taken from the case's duration; a case that ended in an error took time,
    but has none to show for an answer, so it has no latency. A case that was never asked (of the generation layer,
    without passages to answer from) has no times, tokens and cost at all. A score that the table doesn't know is a
    mean.
    """
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    for result in results:
        for name, figures in _figures(result, layer).items():
            found.setdefault(name, {})[result.case_id] = figures
    if layer == "retrieval":
        found.pop("seconds_per_useful", None)
    found.pop("estimated_tokens", None)
    return {name: found[name] for name in ordered(found)}


def ordered(names: Iterable[str]) -> list[str]:
    """Names of metrics, or of a case's own figures that metrics are made of, in the order of ``METRICS``."""
    return sorted(names, key=lambda name: (_place(name), name))


def measure(table: Mapping[str, Column], estimated: bool = False) -> dict[str, Estimate]:
    """Each metric's estimate over the cases in its column; a ratio of nothing (no useful answer) is left out.

    Args:
        estimated: some of the cases' tokens are estimates.
    """
    estimates = {name: estimate(describe(name), sample(column.values())) for name, column in table.items() if column}
    return {name: noted(name, e, estimated) for name, e in estimates.items() if np.isfinite(e.value)}


def are_estimates(results: Iterable[CaseResult]) -> bool:
    """Whether tokens of one of the cases are an estimate, as its server counted none."""
    return any(result.scores.get("estimated_tokens") for result in results)


def noted(name: str, found: Estimate, estimated: bool) -> Estimate:
    """``found``, marked where it is made of tokens and these are ``estimated``."""
    return replace(found, estimated=True) if estimated and name in _OF_TOKENS else found


def describe(name: str) -> Metric:
    """The metric of that name; a plain mean where the table has none, so that no score is lost."""
    return find_metric(name) or _OF_A_CASE.get(name) or Metric(name, name)


def sample(figures: Iterable[tuple[float, ...]]) -> Sample:
    """Figures of cases as an array: (n,), or (2, n) for a ratio."""
    rows = np.array(list(figures), dtype=np.float64).T.copy()
    return rows[0] if len(rows) == 1 else rows


def estimate(metric: Metric, values: Sample) -> Estimate:
    """Rates by Wilson, percentiles by order statistics, means within 0–1 as ``bounded_mean``, all else by bootstrap."""
    if metric.kind == "rate":
        return wilson(float(values.mean()), len(values))
    if metric.kind == "time":
        return order_interval(values, metric.quantile)
    if metric.kind == "mean" and metric.bounded and ((values >= 0) & (values <= 1)).all():
        return bounded_mean(values)
    return bootstrap(values, statistic(metric))


def statistic(metric: Metric) -> StatisticOf:
    """What sums up the metric's cases."""
    if metric.kind == "time":
        return quantile(metric.quantile)
    return ratio if metric.kind == "ratio" else mean


def estimated_tokens() -> str:
    """What the mark ≈ means beside a run's figures."""
    return tr("≈ made of estimated tokens: the model's server counts none.")


def _fingerprint(case_ids: Iterable[str]) -> str:
    return hashlib.sha256(json.dumps(sorted(case_ids)).encode()).hexdigest()[:12]


def _figures(result: CaseResult, layer: Layer) -> dict[str, tuple[float, ...]]:
    scores = dict(result.scores)
    if result.passed is not None:
        scores["pass_rate"] = float(result.passed)
    asked = layer != "generation" or result.answer is not None or bool(result.error)
    if asked and not result.error and result.duration_ms > 0:
        scores.setdefault("latency_ms", result.duration_ms)
    found: dict[str, tuple[float, ...]] = {
        name: (value,) for name, value in scores.items() if name not in _SOURCES and np.isfinite(value)
    }
    if not asked:
        return found
    if result.duration_ms > 0:
        scores.setdefault("seconds", result.duration_ms / 1000)
    for metric in METRICS.values():
        value = scores.get(metric.source) if metric.source else None
        if value is None or not np.isfinite(value):
            continue
        if metric.kind == "time":
            found[metric.name] = (value,)
        elif result.passed is not None:
            found[metric.name] = (value, float(result.passed))
    return found


def _place(name: str) -> int:
    family = name.partition("@")[0] + "@k" if "@" in name else name
    return _ORDER.index(family) if family in _ORDER else len(_ORDER)


def _warnings(segments: Sequence[Segment], results: Sequence[CaseResult]) -> tuple[str, ...]:
    n = len(results)
    if not n:
        return (tr("No case has a result yet."),)
    found: list[str] = []
    if n < FEW:
        found.append(tr("Only {n} cases: under {few}, gross failures show and little else.", n=n, few=FEW))
    overall = segments[0].metrics
    perfect = [describe(m).title for m in _PERFECT if m in overall and overall[m].value == 1.0]
    if perfect:
        found.append(
            tr("100 % ({names}) is suspicious: are the cases too easy, or known beforehand?", names=", ".join(perfect))
        )
    if are_estimates(results):
        found.append(estimated_tokens())
    unscored = sum(r.passed is None for r in results)
    if unscored > n * _UNSCORED_SHARE:
        found.append(tr("{unscored} of {n} cases are unscored: the rates leave them out.", unscored=unscored, n=n))
    errors = sum(bool(r.error) for r in results)
    if errors:
        found.append(tr("{errors} of {n} cases ended in an error.", errors=errors, n=n))
    small = [f"{s.value} ({s.cases})" for s in segments[1:] if s.cases < FEW]
    if small and n >= FEW:
        found.append(tr("Segments under {few} cases: {names}.", few=FEW, names=", ".join(small)))
    return tuple(found)
