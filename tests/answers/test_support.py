"""Support of answers and of claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.answers.pieces import evidence, plain_units, terms
from workbench.answers.extractive import ranked
from workbench.answers.meaning import Meaning
from workbench.answers.numerals import counted, numbers
from workbench.answers.support import THRESHOLD, Shortfall, Support, answer_support, claim_support, shortfall
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


@pytest.mark.parametrize(
    ("claim", "kind", "lacking"),
    [
        ("The enrolment fee is 181.50 euros.", "numbers", ("181.50",)),
        ("It is refunded after the first week.", "negation", None),
        ("La matrícula cuesta muchísimo dinero para los estudiantes nuevos.", "language", ("es", "en")),
        ("The cafeteria sells sandwiches.", "words", ("cafeteria", "sells", "sandwiches")),
        ("The enrolment fee is 118.50 euros.", "words", ()),
    ],
)
def test_what_a_source_lacks_of_a_claim(claim: str, kind: str, lacking: tuple[str, ...] | None) -> None:
    told = shortfall(claim, FEE, "en")
    assert told.kind == kind
    assert lacking is None or told.lacking == lacking


LOANS = (
    "Books are lent for 21 days. Magazines are lent for 7 days. A renewal costs nothing. "
    "A workshop kit is lent for 3 days. Late kits cost 2 euros."
)
PAIRED = "Books are lent for 21 days and magazines for 7."


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        ("A workshop kit is lent for 21 days", LOANS),
        ("Films are lent for 3 days", LOANS),
        ("Books are lent for three days", LOANS),
        ("Magazines are lent for 21 days and books for 7", LOANS),
        ("Magazines are lent for 21 days and books for 7", PAIRED),
        ("Books are lent for 7 days", PAIRED),
        ("Late kits cost 3 euros", LOANS),
    ],
)
def test_a_number_of_something_else_supports_nothing(claim: str, cited: str) -> None:
    assert claim_support(claim, cited, "en")[1] != "supported"


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        ("Books are lent for 21 days", LOANS),
        ("Books are lent for twenty-one days", LOANS),
        ("Books are lent for 21 days and a workshop kit for 3 days", LOANS),
        ("Magazines are lent for seven days, and late kits cost two euros", LOANS),
        ("Magazines are lent for 7 days and books for 21", PAIRED),
        ("Magazines are lent for 7 days", PAIRED),
        ("Los libros se prestan durante veintiún días", "Los libros se prestan durante 21 días. Las revistas, 7."),
    ],
)
def test_a_number_of_the_same_thing_supports(claim: str, cited: str) -> None:
    assert claim_support(claim, cited)[1] == "supported"


def test_a_number_that_is_given_of_something_else_is_named() -> None:
    assert shortfall("A workshop kit is lent for 21 days", LOANS, "en") == Shortfall("misplaced", ("21",))


def test_a_table_row_gives_its_own_numbers_only() -> None:
    rows = ["item: Late book · price: 0.20 EUR", "item: Lost card · price: 5.00 EUR"]
    cited = "item,price\nLate book,0.20 EUR\nLost card,5.00 EUR"
    assert claim_support("The price of a lost card is 5.00 EUR", cited, "en", rows)[1] == "supported"
    assert claim_support("The price of a lost card is 0.20 EUR", cited, "en", rows)[1] == "unsupported"


def test_numbers_in_words_are_numbers() -> None:
    assert counted("twenty-one days, two hundred and five books, once it is paid", "en") == {"21", "205"}
    assert counted("treinta y uno, veintiún, once y dos mil tres", "es") == {"31", "21", "11", "2003"}
    assert counted("once it is lent, it may be renewed once a year", "en") == {"1"}
    assert counted("two and three, and one of them", "en") == {"2", "3"}
