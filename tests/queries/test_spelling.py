"""Spelling by a real index's own words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.library import NAME, open_library
from workbench.ports import Store
from workbench.queries.spelling import Speller, corrected, edits, one_edit
from workbench.retrieval.analysis import analyse

WORDS = st.text("abcdeñ", max_size=7)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = open_library(tmp_path_factory.mktemp("spelling"))
    yield opened
    opened.close()


def spelled(store: Store, question: str) -> str:
    index = store.corpus.current_index(NAME)
    assert index
    return corrected(question, Speller(store, index).corrections(analyse(question)))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("How many boosk may a raeder borrow?", "How many books may a reader borrow?"),  # swaps
        ("When does the offfice open?", "When does the office open?"),
        ("¿Qué sirve la caffeteria de ocho a veinte?", "¿Qué sirve la cafetería de ocho a veinte?"),  # with its accent
        ("Refundedd after the frist week?", "Refunded after the first week?"),  # keeps the capital
        ("The enrolmetn fee of 118,50", "The enrolment fee of 118,50"),
    ],
)
def test_what_the_index_has_not_got_is_corrected_by_what_it_has(store: Store, typed: str, meant: str) -> None:
    assert spelled(store, typed) == meant


@pytest.mark.parametrize(
    "question",
    [
        "How many books may a reader borrow?",  # all known
        "How often are loans renewing?",  # known by its stem
        "When is the enrollment?",  # its stem is that of "enrolment"
        "Who is Mr Officce?",  # a name
        "What does SKU-2204 or bokks7 mean?",  # codes
        "Is the fee nice?",  # short words stay
        "Who readied the station?",  # another word of seven letters, not "reading" or "rented"
        "xqzzw vvkqj",  # nothing like it
        "",
        "🙂 ¿…? \x1b[31m",
    ],
)
def test_known_words_names_numbers_and_nonsense_are_left_alone(store: Store, question: str) -> None:
    assert spelled(store, question) == question


def test_a_question_in_a_language_that_no_source_is_in_is_not_wrong(tmp_path: Path) -> None:
    store = open_library(tmp_path, {"a.txt": "El faro abre a las nueve de la mañana y cierra de noche."})
    try:
        index = store.corpus.current_index(NAME)
        assert index
        assert store.search.languages(index) == {"es": 1}
        assert store.search.known_words(index, ["manana", "xa00f1o", "faro", "abr"]) == {"manana": 1, "faro": 1}
        assert "noche" in store.search.words_like(index, "no", 4, 6)
        assert store.search.words_like(index, "no", 6, 9) == {}
    finally:
        store.close()


def test_the_distance_is_damerau_s_with_no_letter_edited_twice() -> None:
    assert [edits(a, b, 3) for a, b in (("book", "boko"), ("ca", "abc"), ("kitten", "sitting"), ("", "ab"))] == [
        1,
        3,
        3,
        2,
    ]
    assert edits("kitten", "sitting", 2) == 3  # more than asked about


@given(WORDS)
def test_everything_one_edit_away_is_one_edit_away(word: str) -> None:
    assert all(edits(word, other, 2) == 1 for other in one_edit(word))


@given(WORDS, WORDS)
def test_the_distance_is_symmetric_and_zero_only_for_the_same(one: str, other: str) -> None:
    assert edits(one, other, 9) == edits(other, one, 9)
    assert (edits(one, other, 9) == 0) == (one == other)


def test_a_word_as_long_as_a_page_is_left_alone_at_once(store: Store) -> None:
    long = "z" * 20_000
    assert (
        spelled(store, f"{long} How many boosk may a reader borrow?") == f"{long} How many books may a reader borrow?"
    )
