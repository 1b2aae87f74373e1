"""Extractive answers: word for word, cited, the one that answers first."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answers.pieces import evidence, parsed_units, plain_units, terms
from workbench.answers.citations import quoted_answer
from workbench.answers.extractive import MAX_QUOTES, Quote, UnitsOf, chosen, ranked
from workbench.answers.meaning import Meaning
from workbench.answers.terms import codes
from workbench.records.answers import Evidence
from workbench.retrieval.analysis import analyse

LIBRARY = (
    "The library was founded in 1911 by a teacher. It opens at nine in the morning. A reader may borrow six books for "
    "thirty days. The reading room holds forty people."
)
OTHER = "Coffee is served from eight. Books bought by readers are stored in the cellar."


def extract(
    question: str,
    pieces: Sequence[Evidence],
    meaning: Meaning | None = None,
    units_of: UnitsOf = plain_units,
    frequency: dict[str, int] | None = None,
) -> tuple[Quote, ...]:
    asked = terms(question, frequency)
    return chosen(asked, ranked(analyse(question), asked, pieces, units_of, meaning))


def test_the_sentence_that_answers_comes_first_word_for_word() -> None:
    pieces = [evidence(LIBRARY, "F1", start=100), evidence(OTHER, "F2")]
    best = extract("How many books may a reader borrow?", pieces)[0]
    assert best.unit.text == "A reader may borrow six books for thirty days."
    assert LIBRARY[best.unit.start - 100 : best.unit.end - 100] == best.unit.text
    cited = quoted_answer([best])
    assert cited.text == "A reader may borrow six books for thirty days. [F1]"
    (claim,) = cited.claims
    assert (claim.level, claim.support) == ("supported", 1.0)
    (citation,) = claim.citations
    assert (citation.quote, citation.start, citation.end) == (best.unit.text, best.unit.start, best.unit.end)
    assert (citation.page_label, citation.heading) == ("iii", ("Part", "Section"))


def test_a_pronoun_stands_for_the_sentence_before() -> None:
    text = "The botanical garden lies by the river. It was opened in 1890 by the queen. Trams stop at the bridge."
    best = extract("When was the botanical garden opened?", [evidence(text)])[0]
    assert best.unit.text == "It was opened in 1890 by the queen."


def test_meaning_decides_where_words_cannot() -> None:
    def similarity(texts: Sequence[str]) -> list[float]:
        return [0.9 if "nueve" in text else 0.8 for text in texts]

    piece = evidence("La biblioteca cierra los lunes. Abre a las nueve. Hay un jardín.", language="es")
    assert extract("At what time does it open?", [piece], Meaning("e5", similarity))[0].unit.text == "Abre a las nueve."


def test_a_repeated_header_is_delivered_but_not_quoted() -> None:
    piece = evidence("| 2026 | 118.50 |", header="| year | fee |\n|---|---|", start=7)
    (quote,) = extract("fee 2026", [piece])
    assert (quote.unit.text, quote.unit.start) == ("| 2026 | 118.50 |", 7)
    assert quoted_answer([quote]).text == "year: 2026 · fee: 118.50 [F1]"


def test_the_same_sentence_is_not_quoted_twice() -> None:
    pieces = [evidence("The fee is 118.50 euros.", "F1"), evidence("The fee is 118.50 euros.", "F2")]
    assert len(extract("What is the fee?", pieces)) == 1


def test_without_evidence_nothing_is_quoted() -> None:
    assert extract("What?", []) == ()
    assert quoted_answer(()).text == ""


@given(st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=3), st.text(max_size=40))
def test_quotes_are_exact_spans_of_any_text(texts: list[str], question: str) -> None:
    pieces = [evidence(text, f"F{n}", start=10 * n) for n, text in enumerate(texts, 1)]
    quotes = extract(question, pieces)
    assert len(quotes) <= MAX_QUOTES
    for quote in quotes:
        piece = quote.evidence
        assert piece.body[quote.unit.start - piece.start : quote.unit.end - piece.start] == quote.unit.text


def test_a_long_answer_list_stays_short() -> None:
    text = " ".join(f"Room {n} holds {n} people." for n in range(50))
    assert len(extract("How many people does room 7 hold?", [evidence(text)])) <= MAX_QUOTES


def test_rare_words_weigh_more() -> None:
    frequency = {"fee": 90, "refund": 2}
    pieces = [evidence("The fee, that fee, is a fee.", "F1"), evidence("A refund is made in May.", "F2")]
    best = extract("fee refund", pieces, frequency=frequency)[0]
    assert best.evidence.label == "F2"
    weights = {term.word: term.weight for term in terms("fee refund", frequency)}
    assert weights["fee"] == pytest.approx(0.1095, abs=1e-3)  # ln(1 + 10.5/90.5)
    assert weights["refund"] == pytest.approx(3.6988, abs=1e-3)  # ln(1 + 98.5/2.5)


FAQ = "# FAQ\n\n## ¿Hay wifi?\n\nSí, en todo el edificio.\n\n## ¿Puedo entrar con mi perro?\n\nSolo los perros guía.\n"


def test_the_sentence_under_the_matching_question_is_the_answer() -> None:
    quotes = extract(
        "¿Puedo entrar con mi perro?", [evidence(FAQ, language="es")], None, lambda _: parsed_units(FAQ, "faq.md")
    )
    assert [quote.unit.text for quote in quotes] == ["Solo los perros guía."]


FEES = "item,who,price,unit\nLate book,member,0.20 EUR,day\nLaser cutter,member,4.00 EUR,half hour\n"


def test_the_right_row_is_quoted_exactly_and_shown_with_its_header() -> None:
    quotes = extract("How much is the laser cutter?", [evidence(FEES)], None, lambda _: parsed_units(FEES, "fees.csv"))
    cited = quoted_answer(quotes[:1])
    assert cited.text == "item: Laser cutter · who: member · price: 4.00 EUR · unit: half hour [F1]"
    assert cited.claims[0].citations[0].quote == "Laser cutter,member,4.00 EUR,half hour"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When is the tower tour?", "The tower tour starts on Saturday."),
        ("How many join the tower tour?", "The tower tour takes twelve people."),
        ("Where is the tower tour?", "The tower tour is a walk."),
    ],
)
def test_a_question_for_a_date_or_a_number_prefers_one(question: str, answer: str) -> None:
    text = "The tower tour is a walk. The tower tour takes twelve people. The tower tour starts on Saturday."
    assert extract(question, [evidence(text)])[0].unit.text == answer


def test_what_the_first_quote_leaves_out_is_quoted_next() -> None:
    text = (
        "Books are lent for weeks. Lent books are listed in the book of loans. Renewals are free. The garden is green."
    )
    quotes = extract("books lent weeks renewals", [evidence(text)])
    assert [quote.unit.text for quote in quotes][:2] == ["Books are lent for weeks.", "Renewals are free."]


def test_another_language_is_judged_by_meaning_alone() -> None:
    def cosines(texts: Sequence[str]) -> list[float]:
        return [0.85 if "desk" in text else 0.80 for text in texts]

    pieces = [
        evidence("El taller tiene un libro de normas. Los días de limpieza son los lunes.", "F1", language="es"),
        evidence("A reserved item waits at the desk for 5 working days. The garden is for the children.", "F2"),
    ]
    best = extract("¿Cuántos días se guarda un libro reservado?", pieces, Meaning("e5", cosines))[0]
    assert best.unit.text == "A reserved item waits at the desk for 5 working days."
    assert best.across


ERRORS = "E03 means that the water is warm. E07 means that the lid switch is dirty. E11 means that the filter is full."


def test_what_speaks_of_another_code_is_no_second_quote() -> None:
    question = "What does error E07 mean?"
    asked = terms(question)
    found = ranked(analyse(question), asked, [evidence(ERRORS)], plain_units, None)
    quoted = chosen(asked, found, question)
    assert [quote.unit.text for quote in quoted] == ["E07 means that the lid switch is dirty."]


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        ("What does E07 mean?", "code e07: the lid", True),
        ("What does E07 mean?", "E-07 and E 07", True),
        ("What does E07 mean?", "E070 and XE07", False),
        ("Price of SKU-2204?", "sku 2204 costs 3 euros", True),
        ("Price of SKU-2204?", "sku 2205 costs 3 euros", False),
    ],
)
def test_a_code_is_found_however_it_is_written(question: str, text: str, found: bool) -> None:
    (code,) = codes(question)
    assert bool(code.search(text)) is found


@pytest.mark.parametrize("question", ["In the 15th century?", "Which drama of the 80s?", "In 2015, over 10 %?", ""])
def test_ordinals_and_numbers_are_no_codes(question: str) -> None:
    assert codes(question) == ()
