"""What the sources don't speak of: told where words can tell, and never of what stands in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.answers.pieces import evidence, terms
from workbench.answers.abstain import missing_sentence, unspoken_sentence
from workbench.answers.terms import Term

ASKED = tuple(Term(word, frozenset({word.lower()}), 1.0) for word in ("minimum", "age", "LC", "40"))
ENGLISH = evidence("The LC-40 stands in the workshop.")
SPANISH = evidence("Cortadora LC-40: solo desde los 18 años.", "F2", language="es")


def test_a_source_in_another_language_may_say_it_in_other_words() -> None:
    assert unspoken_sentence(ASKED, [ENGLISH], "en") == "No source here speaks of: minimum, age."
    assert unspoken_sentence(ASKED, [ENGLISH, SPANISH], "en") == ""
    assert unspoken_sentence(ASKED, [SPANISH], "en") == ""


@pytest.mark.parametrize("offered", [[ENGLISH], [ENGLISH, SPANISH], [evidence("Workshop."), SPANISH]])
def test_no_word_that_stands_in_a_source_of_any_language_is_missing(offered: list) -> None:
    assert missing_sentence(ASKED, offered, "en") == "They don't speak of: minimum, age."


def test_that_no_source_brings_the_words_together_is_said_only_of_words_in_several_documents() -> None:
    asked = terms("Which lens has the lamp?")
    lens, lamp = evidence("A lens."), evidence("A lamp.", "F2")
    elsewhere = replace(lamp, document_id="other")
    assert missing_sentence(asked, [lens, elsewhere], "en").startswith("Each of its words is in some source")
    assert missing_sentence(asked, [lens, lamp], "en") == ""
    assert missing_sentence(asked, [evidence("The lamp has a lens."), elsewhere], "en") == ""


def test_sources_in_another_language_alone_tell_nothing() -> None:
    assert missing_sentence(ASKED, [SPANISH], "en") == ""


@pytest.mark.parametrize(
    ("question", "said", "missing"),
    [
        ("What does error E-07 mean?", "Error E07: the lid switch is dirty.", ""),
        ("What is the LC40?", "The LC-40 is a cutter.", ""),
        ("Is there Wi-Fi?", "There is wifi.", ""),
        ("Speed for plywood 6mm?", "Plywood 6 mm: speed 8.", ""),
        ("May I borrow 6 items, or twelve?", "Borrow six items, 12 at most.", ""),
        ("Is it closed in August's evenings?", "Closed in August.", "evenings"),
        ("Does error E-08 concern Wi-Fi?", "Error E07 does concern the lid.", "08, Wi, Fi"),
    ],
)
def test_a_word_written_otherwise_stands_in_a_source_too(question: str, said: str, missing: str) -> None:
    told = unspoken_sentence(terms(question), [evidence(said)], "en")
    assert told == (f"No source here speaks of: {missing}." if missing else "")
