"""Support of answers and of claims."""

from __future__ import annotations

import pytest

from tests.answers.pieces import evidence, terms
from workbench.answers.support import THRESHOLD, answer_support, claim_support, numbers
from workbench.records.retrieval import Lane, LaneHit, LaneResult

FEE = "The enrolment fee is 118.50 euros. It is not refunded after the first week. Loans last thirty days."


def lane(name: Lane, *found: tuple[str, float], skipped: str = "") -> LaneResult:
    return LaneResult(
        name, tuple(LaneHit(i, rank, score) for rank, (i, score) in enumerate(found, 1)), 50, 0.0, skipped
    )


def test_worked_numbers() -> None:
    lanes = [lane("lexical", ("a", 9.0)), lane("dense", ("a", 0.86))]
    got = answer_support(terms("enrolment fee"), [evidence(FEE)], lanes, "en", "multilingual-e5-small")
    assert dict(got.parts) == pytest.approx({"coverage": 1.0, "similarity": 0.75, "agreement": 1.0})
    assert got.score == pytest.approx(0.45 * 1.0 + 0.45 * 0.75 + 0.10)


def test_words_that_no_evidence_has_lower_it_below_the_threshold() -> None:
    lanes = [lane("lexical", ("a", 9.0)), lane("dense", ("b", 0.80))]
    got = answer_support(terms("airspeed of an unladen swallow"), [evidence(FEE)], lanes, "en", "multilingual-e5-small")
    assert dict(got.parts)["coverage"] == 0.0
    assert got.score < THRESHOLD


def test_a_lane_that_did_not_run_does_not_count() -> None:
    lanes = [lane("lexical", ("a", 9.0)), lane("dense", skipped="no embedder")]
    got = answer_support(terms("enrolment fee"), [evidence(FEE)], lanes, "en", "")
    assert got.parts == (("coverage", 1.0),)
    assert got.score == pytest.approx(1.0)


def test_across_languages_only_meaning_counts() -> None:
    lanes = [lane("lexical", ("z", 1.0)), lane("dense", ("chunk-F1", 0.84))]
    got = answer_support(terms("tasa de matrícula"), [evidence(FEE)], lanes, "es", "multilingual-e5-small")
    assert got.parts == (("similarity", pytest.approx(0.875)),)


def test_nothing_found_supports_nothing() -> None:
    assert answer_support((), [], [], "", "").score == 0.0


@pytest.mark.parametrize(
    ("claim", "level"),
    [
        ("The enrolment fee is 118.50 euros.", "supported"),
        ("The enrolment fee amounts to 118.50 euros.", "supported"),
        ("The enrolment fee is 181.50 euros.", "unsupported"),
        ("It is refunded after the first week.", "unsupported"),
        ("The fee is not refunded after the first week.", "supported"),
        ("The cafeteria sells cheap sandwiches on Mondays.", "unsupported"),
        ("The enrolment fee is charged to visitors.", "weak"),
        ("", "unsupported"),
    ],
)
def test_claims(claim: str, level: str) -> None:
    score, got = claim_support(claim, FEE, "en")
    assert got == level
    assert 0.0 <= score <= 1.0


def test_a_claim_in_another_language_is_never_more_than_weak() -> None:
    spanish = "La tasa de la matrícula es de 118,50 euros y no se devuelve."
    assert claim_support("The fee for the enrolment is 118.50 euros and it isn't returned.", spanish)[1] == "weak"
    assert claim_support("The fee for the enrolment is 200 euros and it isn't returned.", spanish)[1] == "unsupported"


def test_numbers_are_read_in_both_ways_of_writing() -> None:
    assert numbers("1,190 or 1.190 or 1190") == {"1190"}
    assert numbers("118,50 and 118.50") == {"118.50"}
