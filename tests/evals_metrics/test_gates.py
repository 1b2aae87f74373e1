"""Gates: how they are written, and that only the bound of the interval passes one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals_metrics.builders import WHEN, result, run
from workbench.errors import UsageError
from workbench.evals.deciding.gates import (
    all_passed,
    cases_needed,
    check_gate,
    check_gates,
    example_gates,
    gate_state,
    gate_text,
    parse_gate,
    parse_gates,
    written_late,
)
from workbench.evals.measuring.scoring import make_report
from workbench.evals.measuring.statistics import wilson
from workbench.records.evals import Estimate, Gate, GateSet


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("recall@5 >= 0.85", Gate("recall@5", ">=", 0.85)),
        ("recall@5>=.85".replace(".85", "0.85"), Gate("recall@5", ">=", 0.85)),
        ("  ndcg@10 ≥ 80 % ", Gate("ndcg@10", ">=", 0.8)),
        ("latency_p95_ms <= 2500", Gate("latency_p95_ms", "<=", 2500)),
        ("unsupported_answer ≤ 0.02", Gate("unsupported_answer", "<=", 0.02)),
    ],
)
def test_gates_as_written(text: str, expected: Gate) -> None:
    assert parse_gate(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "can't be read"),
        ("recall@5", "can't be read"),
        ("recall@5 > 0.85", "can't be read"),
        ("recall@5 >= 0,85", "can't be read"),
        ("recall@5 >= 0.85 or else", "can't be read"),
        ("recal@5 >= 0.85", "no metric called"),
        ("recall@k >= 0.85", "no metric called"),
        ("recall@5 >= 85", "between 0 and 1"),
        ("recall@5 >= -0.1", "between 0 and 1"),
        ("recall@5 <= 0.85", "worse run"),
        ("latency_p95_ms >= 2500", "worse run"),
    ],
)
def test_what_is_no_gate_is_refused_with_a_remedy(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_gate(text)
    assert says in caught.value.message
    assert caught.value.remedy


@given(st.text(max_size=40))
def test_any_text_is_a_gate_or_a_usage_error(text: str) -> None:
    try:
        gate = parse_gate(text)
    except UsageError:
        return
    assert parse_gate(gate_text(gate)) == gate


def test_a_file_of_gates_with_what_they_protect() -> None:
    gates = parse_gates("# our gates\n\nrecall@5 >= 0.85  # the evidence\nlatency_p95_ms <= 2500\n")
    assert gates == (Gate("recall@5", ">=", 0.85, "the evidence"), Gate("latency_p95_ms", "<=", 2500.0))


def test_the_example_set_is_the_sources() -> None:
    assert [gate_text(g) for g in example_gates()] == [
        "recall@5 >= 0.85",
        "ndcg@5 >= 0.8",
        "groundedness >= 0.9",
        "citation_precision >= 0.95",
        "correct_abstention >= 0.85",
        "unsupported_answer <= 0.02",
        "latency_p95_ms <= 2500",
    ]
    assert all(gate.protects for gate in example_gates())


def test_a_value_that_passes_with_a_bound_that_does_not_says_how_much_to_measure() -> None:
    gate = parse_gate("pass_rate >= 0.85")
    found = check_gate(gate, wilson(0.9, 40))
    assert not found.passed
    assert found.reason == "0.900 reaches 0.850, but the interval ends at 0.769 (n = 40): measure more, n = 196."
    assert check_gate(gate, wilson(0.9, 196)).passed


def test_a_value_below_the_threshold_just_fails() -> None:
    found = check_gate(parse_gate("pass_rate >= 0.85"), wilson(0.8, 1000))
    assert not found.passed
    assert "misses 0.850" in found.reason


def test_a_value_on_the_threshold_will_never_show_it() -> None:
    found = check_gate(parse_gate("pass_rate >= 0.85"), wilson(0.85, 100))
    assert not found.passed
    assert "no number of cases" in found.reason


def test_three_perfect_cases_pass_nothing() -> None:
    report = make_report(run(), [result(str(i), True, {"recall@5": 1.0}) for i in range(3)], [])
    (found,) = check_gates(report, [parse_gate("recall@5 >= 0.85")])
    assert not found.passed
    assert "measure more" in found.reason


def test_a_percentile_without_an_upper_bound_does_not_pass() -> None:
    gate = parse_gate("latency_p95_ms <= 2500")
    few = make_report(run(), [result(str(i), ms=10.0 + i) for i in range(71)], [])
    enough = make_report(run(), [result(str(i), ms=10.0 + i) for i in range(72)], [])
    (short,), (long,) = check_gates(few, [gate]), check_gates(enough, [gate])
    assert not short.passed
    assert "n = 72" in short.reason
    assert long.passed


def test_a_metric_the_run_lacks_fails() -> None:
    (found,) = check_gates(make_report(run(), [result("a")], []), [parse_gate("groundedness >= 0.9")])
    assert not found.passed
    assert found.estimate is None
    assert "Groundedness" in found.reason
    assert not all_passed([found])
    assert not all_passed([]), "no gate is no pass"


@pytest.mark.parametrize(("low", "needed"), [(0.80, 400), (0.849, 104)])
def test_means_need_as_many_cases_as_their_arm_asks_for(low: float, needed: int) -> None:
    estimate = Estimate(0.90, 100, low, 0.95, "bootstrap")
    assert cases_needed(Gate("ndcg@5", ">=", 0.85), estimate) == pytest.approx(needed, abs=1)


def test_gates_written_after_the_run_began_are_told() -> None:
    gates = GateSet(1, "faq", "release", example_gates(), WHEN + timedelta(minutes=1))
    assert "release" in written_late(gates, run())
    assert written_late(GateSet(1, "faq", "release", (), WHEN), run()) == ""


def test_a_measured_failure_fails_whatever_else_is_lacking_or_late() -> None:
    report = make_report(run(), [result(str(n), n > 0, {"hit@5": 1.0}) for n in range(100)], [])
    passes, fails, lacks = "hit@5 >= 0.9", "pass_rate >= 0.99", "f1 >= 0.5"

    def state(*rules: str, minutes: int = 0) -> str:
        gates = tuple(parse_gate(rule) for rule in rules)
        return gate_state(check_gates(report, GateSet(1, "faq", "release", gates, WHEN + timedelta(minutes=minutes))))

    assert state(passes) == "passed"
    assert state(passes, fails) == state(lacks, fails) == state(fails, minutes=1) == "failed"
    assert state(passes, lacks) == state(passes, minutes=1) == state(lacks) == "not judged"
