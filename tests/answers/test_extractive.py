"""Extractive answers: word for word, cited, the one that answers first."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answers.pieces import evidence, terms
from workbench.answers.citations import quoted_answer
from workbench.answers.extractive import MAX_QUOTES, extract

LIBRARY = (
    "The library was founded in 1911 by a teacher. It opens at nine in the morning. A reader may borrow six books for "
    "thirty days. The reading room holds forty people."
)
OTHER = "Coffee is served from eight. Books bought by readers are stored in the cellar."


def test_the_sentence_that_answers_comes_first_word_for_word() -> None:
    pieces = [evidence(LIBRARY, "F1", start=100), evidence(OTHER, "F2")]
    best = extract(terms("How many books may a reader borrow?"), pieces)[0]
    assert best.text == "A reader may borrow six books for thirty days."
    assert LIBRARY[best.start - 100 : best.end - 100] == best.text
    cited = quoted_answer([best])
    assert cited.text == "A reader may borrow six books for thirty days. [F1]"
    (claim,) = cited.claims
    assert (claim.level, claim.support) == ("supported", 1.0)
    (citation,) = claim.citations
    assert (citation.quote, citation.start, citation.end) == (best.text, best.start, best.end)
    assert (citation.page_label, citation.heading) == ("iii", ("Part", "Section"))


def test_a_pronoun_stands_for_the_sentence_before() -> None:
    text = "The botanical garden lies by the river. It was opened in 1890 by the queen. Trams stop at the bridge."
    best = extract(terms("When was the botanical garden opened?"), [evidence(text)])[0]
    assert best.text == "It was opened in 1890 by the queen."


def test_meaning_decides_where_words_cannot() -> None:
    def similarity(texts: Sequence[str]) -> list[float]:
        return [0.9 if "nueve" in text else 0.8 for text in texts]

    piece = evidence("La biblioteca cierra los lunes. Abre a las nueve. Hay un jardín.", language="es")
    assert extract(terms("At what time does it open?"), [piece], similarity)[0].text == "Abre a las nueve."


def test_a_repeated_header_is_delivered_but_not_quoted() -> None:
    piece = evidence("| 2026 | 118.50 |", header="| year | fee |\n|---|---|", start=7)
    (quote,) = extract(terms("fee 2026"), [piece])
    assert (quote.text, quote.start) == ("| 2026 | 118.50 |", 7)


def test_the_same_sentence_is_not_quoted_twice() -> None:
    pieces = [evidence("The fee is 118.50 euros.", "F1"), evidence("The fee is 118.50 euros.", "F2")]
    assert len(extract(terms("What is the fee?"), pieces)) == 1


def test_without_evidence_nothing_is_quoted() -> None:
    assert extract(terms("What?"), []) == ()
    assert quoted_answer(()).text == ""


@given(st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=3), st.text(max_size=40))
def test_quotes_are_exact_spans_of_any_text(texts: list[str], question: str) -> None:
    pieces = [evidence(text, f"F{n}", start=10 * n) for n, text in enumerate(texts, 1)]
    quotes = extract(terms(question), pieces)
    assert len(quotes) <= MAX_QUOTES
    for quote in quotes:
        piece = quote.evidence
        assert piece.body[quote.start - piece.start : quote.end - piece.start] == quote.text


def test_a_long_answer_list_stays_short() -> None:
    text = " ".join(f"Room {n} holds {n} people." for n in range(50))
    assert len(extract(terms("How many people does room 7 hold?"), [evidence(text)])) <= MAX_QUOTES


def test_rare_words_weigh_more() -> None:
    frequency = {"fee": 90, "refund": 2}
    pieces = [evidence("The fee, that fee, is a fee.", "F1"), evidence("A refund is made in May.", "F2")]
    best = extract(terms("fee refund", frequency), pieces)[0]
    assert best.evidence.label == "F2"
    weights = {term.word: term.weight for term in terms("fee refund", frequency)}
    assert weights["fee"] == pytest.approx(0.1095, abs=1e-3)  # ln(1 + 10.5/90.5)
    assert weights["refund"] == pytest.approx(3.6988, abs=1e-3)  # ln(1 + 98.5/2.5)
