"""Claims against what they cite: by words, by meaning, and the vetoes; and whether they concern the question."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.answers.pieces import terms
from workbench.answers.claims import Shortfall, claim_support, shortfall
from workbench.answers.meaning import Meaning
from workbench.answers.relevance import Relevance
from workbench.errors import EngineError
from workbench.records.answers import Citation, Claim

FEE = "The enrolment fee is 118.50 euros. It is not refunded after the first week. Loans last thirty days."
TASA = "La biblioteca abre a las nueve. La tasa de matrícula es de 118,50 euros. No se devuelve tras la primera semana."


def meaning(cosine: float, of: str = "", embedder: str = "multilingual-e5-small") -> Meaning:
    """By which the text with ``of`` in it has that cosine with a claim, and every other one 0.75."""

    def between(claim: str, texts: Sequence[str]) -> list[float]:
        return [cosine if of in text else 0.75 for text in texts]

    return Meaning(embedder, lambda texts: [cosine] * len(texts), between)


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
    score, got, *_ = claim_support(claim, FEE, "en")
    assert got == level
    assert 0.0 <= score <= 1.0


def test_without_an_embedder_a_claim_in_another_language_is_never_more_than_weak() -> None:
    spanish = "La tasa de la matrícula es de 118,50 euros y no se devuelve."
    assert claim_support("The fee for the enrolment is 118.50 euros and it isn't returned.", spanish)[1] == "weak"
    assert claim_support("The fee for the enrolment is 200 euros and it isn't returned.", spanish)[1] == "unsupported"


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


@pytest.mark.parametrize(
    ("cosine", "level", "score"),
    [(0.88, "supported", 1.0), (0.85, "supported", 0.7125), (0.83, "weak", 0.4625), (0.80, "unsupported", 0.0875)],
)
def test_meaning_supports_a_claim_in_another_language(cosine: float, level: str, score: float) -> None:
    got = claim_support("The fee for the enrolment is 118.50 euros.", TASA, "en", (), meaning(cosine, "tasa"))
    assert (got.level, got.part) == (level, 1), "at the sentence that says it"
    assert got.score == pytest.approx(score)


@pytest.mark.parametrize(
    ("claim", "near"),
    [
        ("The fee for the enrolment is 200 euros.", "tasa"),
        ("It is given back after the first week.", "devuelve"),
        ("The fee for the enrolment is never 118.50 euros.", "tasa"),
    ],
)
def test_no_likeness_outweighs_a_veto_across_languages(claim: str, near: str) -> None:
    assert claim_support(claim, TASA, "en", (), meaning(0.95, near)).level == "unsupported"


def test_a_number_of_another_sentence_is_weak_at_most_across_languages() -> None:
    assert claim_support("The library opens at 118.50.", TASA, "en", (), meaning(0.95, "abre")).level == "weak"


def test_where_negations_cannot_be_read_nothing_is_more_than_weak() -> None:
    french = "La taxe est de 118,50 euros et elle est payée par tous les étudiants dans la première semaine."
    assert (
        claim_support("The fee is 118.50 euros for all of the students.", french, "en", (), meaning(0.95)).level
        == "weak"
    )


def test_an_embedder_whose_cosines_are_not_known_tells_nothing_of_claims() -> None:
    claim = "The fee for the enrolment is 118.50 euros."
    assert claim_support(claim, TASA, "en", (), meaning(0.95, "tasa", "all-MiniLM-L6-v2")).level == "weak"
    assert claim_support(claim, FEE, "en", (), meaning(0.95, "", "bge-small")) == claim_support(claim, FEE, "en")


def test_an_embedder_that_ends_leaves_it_to_the_words() -> None:
    def ended(claim: str, texts: Sequence[str]) -> list[float]:
        raise EngineError("gone", "gone")

    claim = "The enrolment fee is 118.50 euros."
    told = Meaning("multilingual-e5-small", lambda texts: [], ended)
    assert claim_support(claim, FEE, "en", (), told) == claim_support(claim, FEE, "en")


def test_meaning_and_words_are_weighed_in_one_language() -> None:
    claim = "The enrolment fee comes to 118.50 euros in total."
    words = claim_support(claim, FEE, "en").score
    got = claim_support(claim, FEE, "en", (), meaning(0.935))
    assert got.score == pytest.approx(0.7 * words + 0.3)
    assert got.likeness == pytest.approx(1.0)
    assert claim_support(claim, FEE, "en", (), meaning(0.80)).score == pytest.approx(0.7 * words)


def test_words_on_their_own_are_not_outweighed_by_likeness() -> None:
    assert claim_support("The cafeteria sells cheap sandwiches.", FEE, "en", (), meaning(1.0)).level == "unsupported"


def test_what_is_negated_otherwise_in_another_language_is_shown() -> None:
    quote = "No se devuelve tras la primera semana."
    assert shortfall("It is given back after the first week.", TASA, "en", quote) == Shortfall("negation", (quote,))


def claim(text: str, quote: str) -> Claim:
    return Claim(text, (Citation("F1", "c", "d", "s", "", (), None, "", 0, len(quote), quote),), 1.0, "supported")


def relevance(question: str, cosine: float) -> Relevance:
    return Relevance(terms(question), "en", meaning(cosine))


def test_a_supported_claim_that_does_not_concern_the_question_is_marked() -> None:
    said = claim("Loans last thirty days.", "Loans last thirty days.")
    (off,) = relevance("What does enrolment cost?", 0.76).rated([said])
    assert off.off_topic
    assert off.relevance == pytest.approx((0.76 - 0.80) / 0.09 / 2)
    (on,) = relevance("How many days do loans last?", 0.76).rated([said])
    assert not on.off_topic, "it has the question's words"
    (near,) = relevance("What does enrolment cost?", 0.86).rated([said])
    assert not near.off_topic, "it is close in meaning"


def test_a_short_answer_concerns_what_its_source_does() -> None:
    said = claim("118.50.", "The enrolment fee is 118.50 euros.")
    (got,) = relevance("What does enrolment cost?", 0.78).rated([said])
    assert not got.off_topic
    (alone,) = relevance("What does enrolment cost?", 0.78).rated([claim("118.50.", "")])
    assert alone.off_topic


def test_without_an_embedder_nothing_is_off_topic() -> None:
    (got,) = Relevance(terms("What does enrolment cost?"), "en", None).rated([claim("Loans last.", "Loans last.")])
    assert (got.relevance, got.off_topic) == (None, False)
