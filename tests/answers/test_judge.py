"""A model's verdicts on claims: beside the model-free support, read or unscored, never guessed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.answers.fake_generator import FakeGenerator
from tests.library import NAME, open_library
from workbench.answers.ask import Asker
from workbench.answers.judge import VERDICTS
from workbench.answers.redaction import MARK, redacted_trace
from workbench.answers.verdicts import read_verdict
from workbench.ports import Store
from workbench.records.answers import AskOptions, Judged, Trace
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher

PARTLY = '{"reason": "It says thirty days.", "verdict": "partly"}'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_library(tmp_path)
    yield opened
    opened.close()


def judged(store: Store, said: str, **model: bool) -> Trace:
    generator = FakeGenerator(said, **model)  # type: ignore[arg-type]  # flags are all that is given here
    asker = Asker(store, Searcher(store, None), lambda: generator)
    options = AskOptions("extractive", judge=True)
    *_, last = asker.ask("How many books may a reader borrow?", options, SearchOptions(NAME))
    assert last == store.traces.trace("last")
    return last


def test_a_verdict_stands_beside_the_support_and_changes_nothing_of_it(store: Store) -> None:
    last = judged(store, PARTLY)
    assert last.answer
    claim = last.answer.claims[0]
    assert claim.judged
    assert (claim.judged.verdict, claim.judged.reason, claim.judged.judge) == ("partly", "It says thirty days.", "fake")
    assert (claim.support, claim.level) == (1.0, "supported")
    span = last.span("judge")
    assert span
    assert isinstance(span.output, Judged)
    assert [verdict.verdict for verdict in span.output.verdicts] == ["partly"] * len(last.answer.claims)


@pytest.mark.parametrize("said", ["yes", '{"verdict": "perhaps"}', "[1]", '{"reason": "x"'])
def test_what_can_not_be_read_is_unscored(store: Store, said: str) -> None:
    last = judged(store, said)
    assert last.answer
    assert [claim.judged.verdict for claim in last.answer.claims if claim.judged] == [""] * len(last.answer.claims)
    assert read_verdict(said, VERDICTS)[0] == ""


def test_a_judge_that_dies_costs_its_verdict_and_not_the_answer(store: Store) -> None:
    last = judged(store, PARTLY, dies=True)
    assert last.answer
    assert last.answer.outcome == "answered"
    assert last.answer.claims[0].judged
    assert "engine is gone" in last.answer.claims[0].judged.reason


def test_without_being_asked_nobody_judges(store: Store) -> None:
    asker = Asker(store, Searcher(store, None), lambda: FakeGenerator(PARTLY))
    *_, last = asker.ask("How many books may a reader borrow?", AskOptions("extractive"), SearchOptions(NAME))
    assert last.span("judge") is None


def test_a_deleted_document_s_words_leave_the_verdicts_too(store: Store) -> None:
    last = judged(store, PARTLY)
    (gone,) = (d.id for d in store.corpus.documents(NAME) if d.source_id == "borrowing.md")
    clean = redacted_trace(last, [gone])
    assert "thirty days" not in str(clean)
    assert MARK in str(clean.span("judge"))
