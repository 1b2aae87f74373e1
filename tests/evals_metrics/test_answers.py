"""Metrics of context, answers, citations, abstention and operation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.evals.metrics import (
    METRICS,
    abstention_scores,
    answer_correctness,
    answer_relevance,
    citation_precision,
    citation_recall,
    context_precision,
    context_recall,
    cost_per_useful,
    exact_match,
    find_metric,
    groundedness,
    metric,
    normalise,
    percentile,
    token_f1,
)

phrases = st.lists(st.sampled_from("the el cat gato 3.5 año ano sat, on mat.".split())).map(" ".join)


def test_two_of_three_claims_supported() -> None:
    assert groundedness(2, 3) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "share",
    [context_precision, context_recall, groundedness, answer_relevance, citation_precision, citation_recall],
)
def test_a_share_of_nothing_is_undefined_and_an_impossible_one_refused(share) -> None:
    assert share(0, 0) is None
    assert share(0, 4) == 0.0
    assert share(4, 4) == 1.0
    with pytest.raises(ValueError, match="no share"):
        share(5, 4)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The Cat, sat.", "en", "cat sat"),
        ("¿El año 2026?", "es", "año 2026"),
        ("3.5", "", "3.5"),
        ("1990-1995", "", "1990-1995"),
        ("U.S.", "en", "us"),
        ("a la carta", "es", "a carta"),
        ("a la carte", "en", "la carte"),
        ("a la carte", "fr", "carte"),
        ("100 €", "es", "100"),
        ("…", "", ""),
    ],
)
def test_normalised(text: str, language: str, expected: str) -> None:
    assert normalise(text, language) == expected


def test_accents_are_kept_and_composed() -> None:
    assert exact_match("tres anos", ["tres años"], "es") == 0.0
    assert exact_match("tres an\u0303os", ["Tres años"], "es") == 1.0


def test_f1_by_hand_and_the_best_gold_counts() -> None:
    assert token_f1("in the old town", ["old town hall"], "en") == pytest.approx(2 * 2 / (3 + 3))
    assert token_f1("hall", ["old town hall", "the hall"], "en") == 1.0
    assert token_f1("", [""]) == 1.0
    assert token_f1("", ["x"]) == 0.0


def test_a_sentence_that_says_the_gold_is_right_though_no_exact_match() -> None:
    said = "It opens on 3 September 2026 at nine."
    assert exact_match(said, ["3 September 2026"], "en") == 0.0
    assert answer_correctness(said, ["3 September 2026"], "en") == 1.0
    assert answer_correctness("It opens on 13 September 2026.", ["3 September 2026"], "en") < 1.0


def test_without_a_gold_answer_nothing_is_right_or_wrong() -> None:
    assert exact_match("x", []) is None
    assert token_f1("x", []) is None
    assert answer_correctness("x", []) is None


@given(phrases, phrases)
def test_exact_match_then_f1_then_correctness(said: str, gold: str) -> None:
    em, f1, right = (score(said, [gold]) for score in (exact_match, token_f1, answer_correctness))
    assert None not in (em, f1, right)
    assert 0 <= em <= f1 <= right <= 1  # type: ignore[operator]  # none is None, just asserted
    assert f1 == token_f1(gold, [said]), "F1 is the same both ways"


@pytest.mark.parametrize(
    ("answerable", "outcome", "expected"),
    [
        (True, "answered", {"coverage": 1, "needless_abstention": 0}),
        (True, "low_support", {"coverage": 0, "needless_abstention": 1}),
        (False, "answered", {"coverage": 1, "correct_abstention": 0, "unsupported_answer": 1}),
        (False, "no_result", {"coverage": 0, "correct_abstention": 1, "unsupported_answer": 0}),
        (False, "engine_gone", {"coverage": 0}),
        (True, "does_not_fit", {"coverage": 0}),
    ],
)
def test_the_matrix_of_abstention(answerable: bool, outcome: str, expected: dict[str, float]) -> None:
    assert abstention_scores(answerable=answerable, outcome=outcome) == expected


def test_percentiles_are_measured_values() -> None:
    assert percentile(range(1, 21), 0.95) == 19
    assert percentile([10.0, 1000.0], 0.5) == 10.0
    assert percentile([7.0], 0.99) == 7.0
    assert percentile([], 0.95) is None


@given(st.lists(st.floats(0, 1e6), min_size=1), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_percentile_is_the_smallest_value_that_enough_do_not_exceed(values: list[float], q: float) -> None:
    found = percentile(values, q)
    assert found in values
    assert sum(v <= found for v in values) >= q * len(values) - 1e-6
    assert sum(v < found for v in values) < q * len(values)


def test_failures_are_paid_for_by_the_useful_answers() -> None:
    assert cost_per_useful([2.0, 2.0, 2.0], 2) == 3.0
    assert cost_per_useful([2.0], 0) is None


def test_metrics_are_found_by_their_k() -> None:
    assert find_metric("recall@5") is not None
    assert metric("ndcg@10").title == "nDCG@10"
    assert metric("latency_p95_ms").quantile == 0.95
    assert find_metric("recall@k") is None
    assert find_metric("recall@0") is None
    assert all(name == m.name for name, m in METRICS.items())


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        metric("groundednes")
    assert "groundedness" in caught.value.remedy


def test_metrics_speak_spanish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_LANG", "es")
    assert metric("recall_ann@10").title == "Recall del índice@10"
    assert metric("latency_p95_ms").title == "Latencia p95"


@pytest.mark.parametrize(
    ("said", "gold"),
    [
        ("He was a six-time champion.", "Six"),
        ("Gano kicked a 24-yard field goal.", "24"),
        ("It was Manning's last season.", "Manning"),
        ("It was Manning’s last season.", "Manning's"),
        ("Send an e-mail.", "email"),
        ("from 1990–1995", "1995"),
        ("a well known port", "well-known port"),
    ],
)
def test_a_gold_answer_is_found_across_hyphens_and_possessives(said: str, gold: str) -> None:
    assert answer_correctness(said, [gold], "en") == 1.0


def test_hyphens_join_in_em_and_f1_as_squad_has_it_and_numbers_stay_whole() -> None:
    assert exact_match("e-mail", ["email"], "en") == 1.0
    assert exact_match("six time", ["six-time"], "en") == 0.0
    assert token_f1("six-time", ["six"], "en") == 0.0
    assert answer_correctness("It takes 3.5 hours.", ["5"], "en") == 0.0
    assert answer_correctness("It has sixteen.", ["six"], "en") == 0.0
