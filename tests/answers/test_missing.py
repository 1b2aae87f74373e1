"""What the sources don't speak of: told where words can tell, and never of what stands in them."""

from __future__ import annotations

import pytest

from tests.answers.pieces import evidence
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


def test_sources_in_another_language_alone_tell_nothing() -> None:
    assert missing_sentence(ASKED, [SPANISH], "en") == ""
