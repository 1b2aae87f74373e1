"""Two runs: flips, tests, what differs, and the sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals_metrics.builders import MANIFEST, result, run
from workbench.evals.measuring.compare import beside_baseline, compare_runs, differences, p_text, verdict
from workbench.evals.measuring.scoring import make_report
from workbench.evals.reporting.reports import difference_text, estimate_text
from workbench.evals.running.marks import operation_marks
from workbench.records.answers import AskOptions, Generation
from workbench.records.evals import RunConfig
from workbench.records.retrieval import SearchOptions

BEFORE = [True] * 37 + [False] * 3
AFTER = [True] * 35 + [False] * 2 + [True] * 3


def _results(passed: list[bool], metric: str = "f1", shift: float = 0.0) -> list:
    return [result(f"c{i}", p, {metric: i / 100 + shift, "hit@5": float(p)}) for i, p in enumerate(passed)]


def test_three_fixed_two_broken_is_not_significant() -> None:
    comparison = compare_runs(run(1), _results(BEFORE), run(2), _results(AFTER))
    assert comparison.fixed == ("c37", "c38", "c39")
    assert comparison.broken == ("c35", "c36")
    assert verdict(comparison) == "3 fixed, 2 broken: not significant (McNemar p = 1.00)"


def test_ten_fixed_is_significant() -> None:
    comparison = compare_runs(run(1), _results([False] * 10), run(2), _results([True] * 10))
    assert verdict(comparison) == "10 fixed, 0 broken: significant (McNemar p = 0.002)"


def test_each_metric_is_paired_and_tested_by_its_kind() -> None:
    comparison = compare_runs(run(1), _results(BEFORE), run(2), _results(AFTER, shift=0.1))
    changes = {change.metric: change for change in comparison.metrics}
    assert changes["hit@5"].test == "McNemar"
    assert not changes["hit@5"].significant
    assert changes["f1"].test == "paired bootstrap"
    assert changes["f1"].difference.value == pytest.approx(0.1)
    assert changes["f1"].significant


def test_percentiles_that_so_few_cases_do_not_bound_have_no_difference() -> None:
    few = [result(f"c{i}", True, {"f1": i / 100}, ms=float(i + 1)) for i in range(40)]
    comparison = compare_runs(run(1), few, run(2), [replace(r, duration_ms=r.duration_ms + 9) for r in few])
    assert "latency_p50_ms" in {change.metric for change in comparison.metrics}
    assert {"latency_p95_ms", "latency_p99_ms"}.isdisjoint(change.metric for change in comparison.metrics)
    assert "Not compared, as so few cases don't bound a percentile: Latency p95, Latency p99." in comparison.warnings


def test_figures_of_estimated_tokens_are_marked_in_reports_and_comparisons() -> None:
    said = Generation("complete", "text", 389, 16, ttft_ms=9.0, decode_tps=99.8)
    counted = [result(f"c{i}", True, operation_marks(said)) for i in range(10)]
    guessed = [replace(one, scores=operation_marks(replace(said, estimated=True))) for one in counted]
    told = {name: estimate_text(name, e) for name, e in make_report(run(1), guessed, ()).overall.metrics.items()}
    assert told["prompt_tokens"].startswith("≈ 389 tokens [")
    assert told["tokens_per_s"].startswith("≈ 99.8")
    assert "≈" not in told["ttft_p50_ms"] + told["pass_rate"]
    assert "estimated_tokens" not in told
    comparison = compare_runs(run(1), counted, run(2), guessed)
    change = next(change for change in comparison.metrics if change.metric == "prompt_tokens")
    assert (change.a.estimated, change.b.estimated) == (False, True)
    assert difference_text(change).startswith("≈ +0")
    assert any("counts none" in warning for warning in comparison.warnings)
    assert not any("counts none" in warning for warning in make_report(run(1), counted, ()).warnings)


def test_order_does_not_matter_and_only_shared_cases_count() -> None:
    a, b = _results(BEFORE), list(reversed(_results(AFTER)))[:-10]
    comparison = compare_runs(run(1), a, run(2), b)
    assert comparison.paired == 30
    assert comparison.fixed == ("c37", "c38", "c39")
    assert any("30 of 40" in warning for warning in comparison.warnings)


def test_unscored_cases_are_no_flip() -> None:
    comparison = compare_runs(run(1), [result("a", None)], run(2), [result("a", True)])
    assert comparison.fixed == ()
    assert comparison.p_value == 1.0


def test_a_changed_dataset_is_told() -> None:
    comparison = compare_runs(run(1), [result("a")], run(2, dataset_hash="e" * 64), [result("a")])
    assert any("dataset changed" in warning for warning in comparison.warnings)


def test_one_change_of_model_is_one_difference() -> None:
    before = run(1, RunConfig("faq", model="/m/q4.gguf"), model="q4.gguf", model_hash="1")
    after = run(2, RunConfig("faq", model="/m/q8.gguf"), model="q8.gguf", model_hash="2")
    assert differences(before, after) == ("model",)
    rebuilt = run(2, RunConfig("faq", model="/m/q4.gguf"), model="q4.gguf", model_hash="2")
    assert differences(before, rebuilt) == ("model_hash",)


def test_a_run_says_when_it_differs_from_the_baseline_in_more_than_one_thing() -> None:
    baseline = run(1)
    assert beside_baseline(run(2, RunConfig("faq", model="/m/q4.gguf"), model="q4.gguf"), baseline) == ()
    (told,) = beside_baseline(run(2, RunConfig("faq", depth=50), embedder="use"), baseline)
    assert (
        told == "Beside the baseline #1: 2 things differ (depth, embedder): no one of them can be named as the cause."
    )
    assert beside_baseline(baseline, baseline) == beside_baseline(run(2), None) == ()


def test_loading_a_model_at_all_is_one_difference() -> None:
    loaded = run(2, model="q4.gguf", model_hash="1", settings={**MANIFEST.settings, "model.n_ctx": 4096})
    assert differences(run(1), loaded) == ("model",)


def test_a_new_embedder_makes_a_new_index_and_is_one_difference() -> None:
    assert differences(run(1), run(2, embedder="use", embedder_fingerprint="bb", index_id=2)) == ("embedder",)


def test_settings_differ_by_their_own_names_and_titles_are_no_cause() -> None:
    before = run(1, RunConfig("faq", title="one", limit=10))
    after = run(2, RunConfig("faq", ask=AskOptions(evidence=3), search=SearchOptions(k=20), title="two"))
    comparison = compare_runs(before, [result("a")], after, [result("a")])
    assert comparison.differs == ("ask.evidence", "search.k")
    assert any("2 things differ" in warning for warning in comparison.warnings)
    same = compare_runs(before, [result("a")], replace(before, id=2), [result("a")])
    assert same.differs == ()
    assert any("chance" in warning for warning in same.warnings)


def test_a_stored_threshold_and_the_same_one_given_are_no_difference() -> None:
    chain = RunConfig("faq", layer="chain")
    stored = run(1, chain, settings={**MANIFEST.settings, "support.threshold": 0.9})
    given, other = (run(2, replace(chain, ask=AskOptions(threshold=value))) for value in (0.9, 0.5))
    assert differences(stored, given) == ()
    assert differences(stored, other) == ("ask.threshold",)
    assert differences(stored, run(3, chain, settings={**MANIFEST.settings, "support.threshold": 0.5})) == (
        "support.threshold",
    )


def test_passing_is_not_the_same_in_two_layers() -> None:
    told = "One run passes a case when its gold is found"
    found = compare_runs(
        run(1, RunConfig("faq")), [result("a")], run(2, RunConfig("faq", layer="chain")), [result("a", False)]
    )
    assert any(told in warning for warning in found.warnings)
    alike = compare_runs(run(1, RunConfig("faq")), [result("a")], run(2, RunConfig("faq", k=9)), [result("a")])
    assert not any(told in warning for warning in alike.warnings)


def test_passing_is_not_the_same_where_the_gold_is_left_out() -> None:
    chain = RunConfig("faq", layer="chain")
    runs = run(1, chain), [result("a", False)], run(2, replace(chain, exclude_gold=True)), [result("a")]
    assert "One run leaves the gold out: there, a case passes by abstaining." in compare_runs(*runs).warnings


def test_runs_that_share_no_case() -> None:
    comparison = compare_runs(run(1), [result("a")], run(2), [result("b")])
    assert comparison.paired == 0
    assert comparison.metrics == ()
    assert comparison.p_value == 1.0


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "p = 1.00"), (0.031, "p = 0.031"), (0.0004, "p < 0.001"), (0.049999, "p = 0.050")]
)
def test_p_values_as_read(p: float, text: str) -> None:
    assert p_text(p) == text


def test_the_sentence_in_spanish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_LANG", "es")
    comparison = compare_runs(run(1), _results(BEFORE), run(2), _results(AFTER))
    assert verdict(comparison) == "3 arreglados, 2 rotos: no significativo (McNemar p = 1.00)"
