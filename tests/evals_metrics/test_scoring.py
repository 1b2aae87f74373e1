"""A run's report: estimates with n, segments, failures, warnings."""

from __future__ import annotations

import math

import pytest

from tests.evals_metrics.builders import answer, case, result, run
from workbench.evals.measuring.scoring import make_report
from workbench.records.evals import RunConfig


def test_a_rate_and_a_mean_and_a_percentile_each_by_its_own_method() -> None:
    results = [
        result(f"c{i}", i % 4 > 0, {"hit@5": float(i % 4 > 0), "ndcg@5": i / 80}, ms=float(i + 1)) for i in range(80)
    ]
    cases = [case(f"c{i}") for i in range(80)]
    overall = make_report(run(config=RunConfig("faq", layer="chain")), results, cases).overall
    assert overall.cases == 80
    assert (overall.metrics["pass_rate"].value, overall.metrics["pass_rate"].method) == (0.75, "Wilson")
    assert overall.metrics["hit@5"].method == "Wilson"
    assert overall.metrics["ndcg@5"].method == "bootstrap"
    assert overall.metrics["ndcg@5"].low < overall.metrics["ndcg@5"].value < overall.metrics["ndcg@5"].high
    assert overall.metrics["latency_p95_ms"].value == 76.0
    assert overall.metrics["latency_p95_ms"].high > 76.0
    assert overall.metrics["seconds_per_useful"].value == pytest.approx(sum(range(1, 81)) / 1000 / 60)
    assert list(overall.metrics)[:3] == ["pass_rate", "hit@5", "ndcg@5"], "in the table's order"
    searched = make_report(run(config=RunConfig("faq")), results, cases).overall.metrics
    assert overall.metrics.keys() - searched.keys() == {"seconds_per_useful"}, "a search answers nothing"


def test_87_of_100_tickets_are_an_accuracy_of_0_87_which_tells_no_class_apart() -> None:
    cases = [case(f"t{n}", type="rare" if n < 10 else "usual") for n in range(100)]
    results = [result(f"t{n}", n >= 13) for n in range(100)]
    report = make_report(run(), results, cases)
    assert report.overall.metrics["pass_rate"].value == 0.87
    rates = {s.value: s.metrics["pass_rate"].value for s in report.segments if s.field == "type"}
    assert rates == {"rare": 0.0, "usual": pytest.approx(87 / 90)}  # what the accuracy alone hides


def test_a_metric_that_a_case_lacks_leaves_the_case_out() -> None:
    results = [result("a", True, {"groundedness": 1.0}), result("b", True), result("c", False, {"groundedness": 0.5})]
    grounded = make_report(run(), results, []).overall.metrics["groundedness"]
    assert (grounded.n, grounded.value) == (2, 0.75)


def test_unscored_cases_are_in_no_rate_and_are_told() -> None:
    results = [result("a"), result("b", False), result("c", None)]
    report = make_report(run(), results, [])
    assert report.overall.metrics["pass_rate"].n == 2
    assert any("1 of 3 cases are unscored" in warning for warning in report.warnings)


def test_segments_show_what_the_mean_hides() -> None:
    cases = [case(f"t{i}", type="table", language="en", tags=("2026",)) for i in range(10)]
    cases += [case(f"d{i}", type="direct", language="en") for i in range(30)]
    results = [result(c.id, c.type == "direct") for c in cases]
    report = make_report(run(), results, cases)
    rates = {(s.field, s.value): s.metrics["pass_rate"].value for s in report.segments}
    assert rates == {("", ""): 0.75, ("type", "direct"): 1.0, ("type", "table"): 0.0, ("tag", "2026"): 0.0}
    assert any("table (10)" in warning for warning in report.warnings)


def test_few_cases_and_a_perfect_score_are_warned_of() -> None:
    warnings = make_report(run(), [result("a"), result("b")], []).warnings
    assert any("Only 2 cases" in warning for warning in warnings)
    assert any("100 %" in warning for warning in warnings)
    many = [result(str(i), i > 0) for i in range(30)]
    assert make_report(run(), many, []).warnings == ()


def test_failures_are_counted_by_stage_most_first() -> None:
    results = [
        result("a", False, failure="cut"),
        result("b", False, failure="ignored"),
        result("c", False, failure="cut"),
    ]
    assert list(make_report(run(), results, []).failures.items()) == [("cut", 2), ("ignored", 1)]


def test_what_costs_and_never_helps_has_no_price_per_answer() -> None:
    report = make_report(run(), [result("a", False, {"cost": 2.0}, ms=5), result("b", False, {"cost": 1.0}, ms=5)], [])
    assert "cost_per_useful" not in report.overall.metrics
    helped = make_report(run(), [result("a", False, {"cost": 2.0}), result("b", True, {"cost": 1.0})], [])
    assert helped.overall.metrics["cost_per_useful"].value == 3.0


def test_the_price_of_the_one_useful_answer_has_no_upper_bound() -> None:
    results = [result(str(i), i == 0, {"cost": 1.0}) for i in range(5)]
    price = make_report(run(), results, []).overall.metrics["cost_per_useful"]
    assert (price.value, price.method) == (5.0, "bootstrap, open-ended")
    assert price.low < 5.0
    assert price.high == math.inf
    free = make_report(run(), [result("a", False, {"cost": 0.0}), result("b", True, {"cost": 0.0})], [])
    assert free.overall.metrics["cost_per_useful"].value == 0.0


def test_a_run_without_results_and_scores_that_are_no_numbers() -> None:
    empty = make_report(run(), [], [])
    assert empty.overall.metrics == {}
    assert empty.warnings
    report = make_report(run(), [result("a", True, {"f1": float("nan"), "house_style": 0.5})], [])
    assert "f1" not in report.overall.metrics
    assert report.overall.metrics["house_style"].value == 0.5, "a score of someone's own is kept"


def test_an_error_has_no_latency() -> None:
    report = make_report(run(), [result("a", ms=10), result("b", False, ms=9000, error="the engine died")], [])
    assert report.overall.metrics["latency_p50_ms"].n == 1
    assert any("1 of 2 cases ended in an error" in warning for warning in report.warnings)


def test_a_case_that_was_never_asked_has_no_time() -> None:
    asked = [result(f"a{i}", ms=200.0 + i, answer=answer(0.9)) for i in range(3)]
    unasked = [result("u", None, ms=0.02), result("lost", False, ms=0.03)]
    metrics = make_report(run(config=RunConfig("faq", layer="generation")), [*asked, *unasked], []).overall.metrics
    assert (metrics["latency_p50_ms"].value, metrics["latency_p50_ms"].n) == (201.0, 3)
    assert metrics["seconds_per_useful"].n == 3
    assert metrics["pass_rate"].n == 4, "it is scored all the same"
