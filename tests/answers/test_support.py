"""Support of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.answers.pieces import evidence, plain_units, terms
from workbench.answers.extractive import ranked
from workbench.answers.meaning import Meaning
from workbench.answers.numerals import counted, numbers
from workbench.answers.support import THRESHOLD, Support, answer_support, arithmetic
from workbench.records.retrieval import Lane, LaneHit, LaneResult
from workbench.retrieval.analysis import analyse

FEE = "The enrolment fee is 118.50 euros. It is not refunded after the first week. Loans last thirty days."


def lane(name: Lane, *found: tuple[str, float], skipped: str = "") -> LaneResult:
    return LaneResult(
        name, tuple(LaneHit(i, rank, score) for rank, (i, score) in enumerate(found, 1)), 50, 0.0, skipped
    )


def support(
    question: str, lanes: Sequence[LaneResult], cosine: float | None = None, language: str = "en", text: str = FEE
) -> Support:
    """Of a question whose nearest unit in ``FEE`` has that cosine, by e5."""
    asked, pieces = terms(question), [evidence(text)]
    meaning = Meaning("e5", lambda texts: [cosine or 0.0] * len(texts)) if cosine else None
    quotes = ranked(replace(analyse(question), language=language), asked, pieces, plain_units, meaning)
    return answer_support(asked, pieces, lanes, quotes, language, question)


def test_worked_numbers() -> None:
    got = support("enrolment fee", [lane("lexical", ("a", 9.0)), lane("dense", ("a", 0.86))], 0.845)
    assert dict(got.parts) == pytest.approx({"coverage": 1.0, "likeness": 0.5, "agreement": 1.0})
    assert got.score == pytest.approx(0.35 * 1.0 + 0.55 * 0.5 + 0.10)
    told = arithmetic(got.parts)
    assert told == f"(0.35 × 1.00 + 0.55 × 0.50 + 0.10 × 1.00) / 1.00 = {got.score:.2f}"


def test_words_that_no_evidence_has_lower_it_below_the_threshold() -> None:
    got = support("airspeed of an unladen swallow", [lane("lexical", ("a", 9.0)), lane("dense", ("b", 0.80))], 0.81)
    assert dict(got.parts)["coverage"] == 0.0
    assert got.score < THRESHOLD


def test_other_words_for_the_same_thing_are_answered_when_their_meaning_is_close() -> None:
    got = support("price to matriculate", [lane("lexical"), lane("dense", ("a", 0.86))], 0.889)
    assert dict(got.parts) == pytest.approx({"coverage": 0.0, "likeness": 0.9889, "agreement": 0.0}, abs=1e-3)
    assert got.score > THRESHOLD


def test_words_of_title_and_headings_count_in_part() -> None:
    got = support("section", [lane("lexical", ("a", 9.0)), lane("dense", skipped="no embedder")])
    assert got.parts == (("coverage", 0.6),)


def test_a_lane_that_did_not_run_does_not_count() -> None:
    got = support("enrolment fee", [lane("lexical", ("a", 9.0)), lane("dense", skipped="no embedder")])
    assert got.parts == (("coverage", 1.0),)
    assert got.score == pytest.approx(1.0)


def test_across_languages_only_meaning_counts() -> None:
    lanes = [lane("lexical", ("z", 1.0)), lane("dense", ("chunk-F1", 0.84))]
    got = support("tasa de matrícula", lanes, 0.837, "es")
    assert dict(got.parts) == pytest.approx({"likeness": 0.8})  # (0.837 + 0.035 − 0.80) / 0.09


def test_a_code_that_no_evidence_has_leaves_no_support() -> None:
    lanes = [lane("lexical", ("a", 9.0)), lane("dense", ("a", 0.89))]
    text = "Error E11 means that the filter is full."
    assert support("What does error E11 mean?", lanes, 0.885, text=text).score > THRESHOLD
    other = support("What does error E99 mean?", lanes, 0.885, text=text)
    assert other.score == 0.0
    assert dict(other.parts)["named"] == 0.0


def test_a_number_that_no_evidence_has_lowers_it() -> None:
    lanes = [lane("lexical", ("a", 9.0)), lane("dense", ("a", 0.86))]
    known, other = (support(f"a fee of {fee} euros", lanes, 0.845).score for fee in ("118.50", "120.50"))
    assert other < 0.7 * known


@pytest.mark.parametrize("asked", ["How many visits in {year}?", "¿Cuántas visitas hubo en {year}?"])
def test_a_year_is_not_answered_with_another_years_figure(asked: str) -> None:
    lanes = [lane("lexical", ("a", 9.0)), lane("dense", ("a", 0.89))]
    text = "The reading room had 41,870 visits in 2025, against 38,240 in 2024."
    undated = "The reading room had 41,870 visits."
    assert support(asked.format(year=2024), lanes, 0.885, text=text).score > THRESHOLD
    assert support(asked.format(year=2023), lanes, 0.885, text=text).score == 0.0
    assert support(asked.format(year=2023), lanes, 0.885, text=undated).score > 0.0


def test_a_question_without_words_is_not_answered() -> None:
    lanes = [lane("lexical"), lane("dense", ("chunk-F1", 0.86))]
    assert support("?", lanes, 0.86).score < THRESHOLD


def test_nothing_found_supports_nothing() -> None:
    assert answer_support((), [], [], [], "").score == 0.0


def test_numbers_are_read_in_both_ways_of_writing() -> None:
    assert numbers("1,190 or 1.190 or 1190") == {"1190"}
    assert numbers("118,50 and 118.50") == {"118.50"}
    assert numbers("711 988 or 711\u202f988; in 2005 300 of 19 018,5") == {"711988", "2005", "300", "19018.5"}
    assert numbers("08 and 8 and 0.5") == {"8", "0.5"}


def test_numbers_in_words_are_numbers() -> None:
    assert counted("el diez por ciento de cien", "es") == {"10", "100"}
    assert counted("twenty-one days, two hundred and five books, once it is paid", "en") == {"21", "205"}
    assert counted("treinta y uno, veintiún, once y dos mil tres", "es") == {"31", "21", "11", "2003"}
    assert counted("once it is lent, it may be renewed once a year", "en") == {"1"}
    assert counted("two and three, and one of them", "en") == {"2", "3"}
