"""What a model writes that no grammar holds: citations in many forms, thoughts, refusals; and whole free answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answers.fake_generator import FakeGenerator
from tests.library import NAME, open_library
from workbench.answers.ask import Asker
from workbench.answers.free import readable, refuses
from workbench.ports import Store
from workbench.records.answers import Answer, AskOptions
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher

FREE = AskOptions(constrained=False)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_library(tmp_path)
    yield opened
    opened.close()


def answer(store: Store, model: FakeGenerator, options: AskOptions = FREE) -> Answer:
    asker = Asker(store, Searcher(store, None), lambda: model)
    *_, last = asker.ask("How many books may a reader borrow?", options, SearchOptions(NAME))
    assert last.answer
    return last.answer


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Six books (F1).", "Six books [F1]."),
        ("Six books [1].", "Six books [F1]."),
        ("Six books [1, 3] for long.", "Six books [F1][F3] for long."),
        ("Six books【F2】.", "Six books[F2]."),
        ("Six books [Source: F1].", "Six books [F1]."),
        ("Seis libros [fuentes F1, F2].", "Seis libros [F1][F2]."),
        ("<think>It may be [F9].\nI know.</think>\n- Six books [F1].", "Six books [F1]."),
        ("<think>It never ends", ""),
        ("In 1969 (45) and array[i].", "In 1969 (45) and array[i]."),
    ],
)
def test_citations_are_read_in_the_ways_models_write_them(written: str, read: str) -> None:
    assert readable(written) == read


@pytest.mark.parametrize(
    "said",
    [
        "The sources don't mention it.",
        "The provided text? No.",
        "I don't know.",
        "I cannot answer this from the sources.",
        "Las fuentes no lo indican.",
        "No hay información sobre ello.",
        "<think>hm</think>There is no information about it.",
    ],
)
def test_refusals_in_the_usual_words_are_known(said: str) -> None:
    assert refuses(said) == ("No." not in said)


@pytest.mark.parametrize("said", ["The sources don't say it all [F1].", "A reader may borrow six books.", "", "Yes."])
def test_what_cites_or_tells_is_no_refusal(said: str) -> None:
    assert not refuses(said)


@given(st.text(max_size=120))
def test_any_text_is_read(text: str) -> None:
    refuses(text)
    assert readable(readable(text)) is not None


def test_a_free_answer_loses_invented_sources_and_marks_what_it_does_not_cite(store: Store) -> None:
    model = FakeGenerator("<think>books</think>A reader may borrow six books (F1)[7]. Cats purr at night.")
    got = answer(store, model)
    assert model.settings[0].grammar == ""
    assert got.text == "A reader may borrow six books [F1]. Cats purr at night."
    assert got.removed == ("F7",)
    assert [claim.level for claim in got.claims] == ["supported", "uncited"]


def test_a_free_refusal_abstains(store: Store) -> None:
    got = answer(store, FakeGenerator("I don't know."))
    assert got.outcome == "low_support"


def test_small_models_are_held_by_a_grammar_and_large_ones_are_free_unless_told_otherwise(store: Store) -> None:
    def grammar(parameters: int, constrained: bool | None) -> str:
        model = FakeGenerator("A reader may borrow six books [F1].")
        model.model = replace(model.model, file=replace(model.model.file, parameters=parameters))
        answer(store, model, AskOptions(constrained=constrained))
        return model.settings[0].grammar

    assert grammar(135_000_000, None)
    assert not grammar(7_000_000_000, None)
    assert grammar(7_000_000_000, True)
    assert not grammar(135_000_000, False)
