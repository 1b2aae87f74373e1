"""Gates: rules of release, written before the run and passed only when the interval's bound passes.

A gate is written as "recall@5 >= 0.85" or "latency_p95_ms <= 2500"; names are those of ``METRICS``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from workbench.errors import UsageError
from workbench.evals.measuring.scoring import describe
from workbench.evals.measuring.statistics import NO_SPREAD, cases_for_quantile, cases_for_share, open_ended
from workbench.evals.metrics import Metric, metric
from workbench.i18n import tr
from workbench.records.evals import (
    Comparison,
    Estimate,
    Gate,
    GateResult,
    GateSet,
    Run,
    RunReport,
)

GateState: TypeAlias = Literal["passed", "failed", "not judged"]

EXAMPLE: Final = (
    ("recall@5 >= 0.85", "the evidence turns up"),
    ("ndcg@5 >= 0.80", "it turns up near the top"),
    ("groundedness >= 0.90", "no claim is added without support"),
    ("citation_precision >= 0.95", "citations can be checked"),
    ("correct_abstention >= 0.85", "it doesn't answer beyond the corpus"),
    ("unsupported_answer <= 0.02", "it doesn't answer without evidence"),
    ("latency_p95_ms <= 2500", "it can be used"),
)
"""A set to start from: thresholds come from the domain, not from a table. What each protects is in English."""

_GATE: Final = re.compile(
    r"^\s*(?P<metric>\S+?)\s*(?P<op>>=|<=|≥|≤)\s*(?P<number>-?\d+(?:\.\d+)?)\s*(?P<percent>%?)\s*$"
)
_OPERATORS: Final[Mapping[str, Comparison]] = {">=": ">=", "≥": ">=", "<=": "<=", "≤": "<="}


def parse_gate(text: str, protects: str = "") -> Gate:
    """Reads "metric >= number" or "metric <= number"; "85 %" is 0.85.

    Raises:
        UsageError: it isn't written so, the metric is unknown, the number is out of its range, or the sign asks for
            the worse side.
    """
    found = _GATE.match(text)
    if not found:
        raise UsageError(
            tr("Not a gate"),
            tr("“{text}” can't be read as a gate.", text=text),
            tr("Write a metric, >= or <=, and a number with a point: {example}", example="recall@5 >= 0.85"),
        )
    named, op = metric(found["metric"]), _OPERATORS[found["op"]]
    threshold = float(found["number"]) / (100 if found["percent"] else 1)
    _check(named, op, threshold, text)
    return Gate(named.name, op, threshold, protects)


def parse_gates(text: str) -> tuple[Gate, ...]:
    """One gate a line; what follows # on it is what the gate protects. Lines without a gate are skipped.

    Raises:
        UsageError: a line isn't a gate.
    """
    parts = (line.partition("#") for line in text.splitlines())
    return tuple(parse_gate(rule, protects.strip()) for rule, _, protects in parts if rule.strip())


def example_gates() -> tuple[Gate, ...]:
    """``EXAMPLE`` as gates, what they protect in the interface's language. A budget of cost is yours to add."""
    return tuple(parse_gate(text, tr(protects)) for text, protects in EXAMPLE)


def gate_text(gate: Gate) -> str:
    """The gate as it is written: "recall@5 >= 0.85"."""
    return f"{gate.metric} {gate.op} {gate.threshold:g}"


def check_gates(report: RunReport, gates: GateSet | Iterable[Gate]) -> tuple[GateResult, ...]:
    """Each gate of a locked set, or of the moment, against the run as a whole."""
    if isinstance(gates, GateSet):
        written: Literal["before", "after"] = "after" if written_late(gates, report.run) else "before"
        return tuple(replace(result, written=written) for result in check_gates(report, gates.gates))
    return tuple(check_gate(gate, report.overall.metrics.get(gate.metric)) for gate in gates)


def check_gate(gate: Gate, estimate: Estimate | None) -> GateResult:
    """Passes if the bound of the interval on the gate's side passes; the reason says what is lacking otherwise."""
    if estimate is None:
        return GateResult(gate, None, False, tr("The run has no {metric}.", metric=describe(gate.metric).title))
    named = describe(gate.metric)
    at_least = gate.op == ">="
    bound = estimate.low if at_least else estimate.high
    unbounded = not at_least and open_ended(estimate)
    facts = {
        "value": named.text(estimate.value),
        "bound": named.text(bound),
        "threshold": named.text(gate.threshold),
        "n": estimate.n,
    }
    if not _reaches(estimate.value, gate):
        return GateResult(gate, estimate, False, tr("{value} (n = {n}) misses {threshold}.", **facts))
    if not unbounded and _reaches(bound, gate):
        return GateResult(
            gate, estimate, True, tr("The interval ends at {bound} (n = {n}): on the right side.", **facts)
        )
    needed = cases_needed(gate, estimate)
    if needed is None:
        lacking = tr("{value} is the threshold itself: no number of cases will show that it holds.", **facts)
    elif unbounded:
        lacking = tr("{value} of {n} cases has no upper bound yet: measure more, n = {needed}.", needed=needed, **facts)
    else:
        lacking = tr(
            "{value} reaches {threshold}, but the interval ends at {bound} (n = {n}): measure more, n = {needed}.",
            needed=needed,
            **facts,
        )
    return GateResult(gate, estimate, False, lacking)


def cases_needed(gate: Gate, estimate: Estimate) -> int | None:
    """How many cases would pass the gate if the value stayed as it is; None when none would, as it is on the threshold.

    Rates by Wilson's formula; otherwise the interval's arm is taken to shrink with √n, and a percentile needs at least
    the cases that bound it at all.
    """
    named = describe(gate.metric)
    at_least = gate.op == ">="
    if named.bounded and estimate.method in ("Wilson", NO_SPREAD):
        return cases_for_share(estimate.value, gate.threshold, at_least=at_least)
    room = abs(estimate.value - gate.threshold)
    if room == 0:
        return None
    arm = estimate.value - estimate.low if at_least or open_ended(estimate) else estimate.high - estimate.value
    needed = max(estimate.n + 1, math.ceil(estimate.n * (arm / room) ** 2))
    return max(needed, cases_for_quantile(named.quantile)) if named.kind == "time" else needed


def written_late(gates: GateSet, run: Run) -> str:
    """A sentence when the run began before the gates were locked, "" otherwise: such a pass proves nothing."""
    if gates.locked <= run.created:
        return ""
    return tr("The gates “{name}” were written after the run began: passing them proves nothing.", name=gates.name)


def all_passed(results: Sequence[GateResult]) -> bool:
    """Whether every gate passed, and there was one; what was written after the run began passes nothing."""
    return bool(results) and all(result.passed and result.written != "after" for result in results)


def gate_state(results: Sequence[GateResult]) -> GateState:
    """What gates say of a run, in every place: "failed" as soon as one that was measured fails, even one written late.

    "not judged" where none does, and one couldn't be measured or came too late to prove anything by passing.
    """
    if any(r.estimate is not None and not r.passed for r in results):
        return "failed"
    return "passed" if all_passed(results) else "not judged"


def _reaches(value: float, gate: Gate) -> bool:
    return value >= gate.threshold if gate.op == ">=" else value <= gate.threshold


def _check(named: Metric, op: Comparison, threshold: float, text: str) -> None:
    if named.bounded and not 0 <= threshold <= 1:
        raise UsageError(
            tr("Not a gate"),
            tr("“{text}”: {metric} is a share between 0 and 1.", text=text, metric=named.title),
            tr("Write 0.85, or 85 %."),
        )
    if named.higher_is_better != (op == ">="):
        raise UsageError(
            tr("Not a gate"),
            tr("“{text}” would let a worse run pass.", text=text),
            tr("{metric} is better when higher: use >=.", metric=named.title)
            if named.higher_is_better
            else tr("{metric} is better when lower: use <=.", metric=named.title),
        )
