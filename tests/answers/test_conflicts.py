"""Conflicts: two versions that give different numbers are both shown; what only looks like it is not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import open_store
from tests.answers.fake_generator import FakeGenerator
from tests.embedders import HashEmbedder
from tests.library import NAME, open_library
from workbench import paths
from workbench.answers.ask import Asker
from workbench.demo import DEMO_COLLECTION
from workbench.engine.embedding import open_embedder
from workbench.ports import Store
from workbench.records.answers import Answer, AskOptions
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher

OLD = """---
title: Loan policy
version: 3
valid_from: 2024-01-01
---
Books are lent for 14 days. A member may have four items at the same time. Members pay 9 euros.
"""
NEW = """---
title: Loan policy
version: 4
valid_from: 2026-01-01
---
Books are lent for 21 days. A member may have six items at the same time. Members pay 9 euros.
"""


def ask(folder: Path, old: str, new: str, question: str, generator: FakeGenerator | None = None) -> Answer:
    store = open_library(folder, {"old.md": old, "new.md": new})
    try:
        asker = Asker(store, Searcher(store, HashEmbedder()), lambda: generator)
        options = AskOptions(threshold=0.0)
        *_, last = asker.ask(question, options, SearchOptions(NAME, lanes=("lexical",)))
    finally:
        store.close()
    assert last.answer is not None
    return last.answer


def test_both_sides_are_quoted_and_the_newer_is_named_first(tmp_path: Path) -> None:
    answer = ask(tmp_path, OLD, NEW, "How long are books lent?")
    (found, *others) = answer.conflicts
    assert not others
    assert (found.newer.source_id, found.newer.quote) == ("new.md", "Books are lent for 21 days.")
    assert (found.older.source_id, found.older.quote) == ("old.md", "Books are lent for 14 days.")
    assert "(version 4, 2026-01-01): “Books are lent for 21 days.” [F" in found.text
    assert "(version 3, 2024-01-01): “Books are lent for 14 days.” [F" in found.text
    assert answer.text.endswith(found.text)
    cited = {citation.source_id for claim in answer.claims for citation in claim.citations}
    assert cited == {"old.md", "new.md"}


def test_words_for_numbers_count(tmp_path: Path) -> None:
    answer = ask(tmp_path, OLD, NEW, "How many items may a member have?")
    assert ["four items" in conflict.older.quote for conflict in answer.conflicts] == [True]


def test_a_model_that_cites_one_side_is_told_of_the_other(tmp_path: Path) -> None:
    writer = FakeGenerator("Books are lent for 21 days [F1][F2].")  # the mark of the one that doesn't say it goes
    answer = ask(tmp_path, OLD, NEW, "How long are books lent?", writer)
    assert answer.mode == "generated"
    assert [c.source_id for c in answer.claims[0].citations] == ["new.md"]
    assert [c.older.quote for c in answer.conflicts] == ["Books are lent for 14 days."]
    assert "14 days" in answer.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(OLD.replace("14", "21").replace("four", "six"), NEW, id="the same numbers"),
        pytest.param(
            OLD.replace("version: 3\nvalid_from: 2024-01-01\n", ""), NEW, id="nothing tells the versions apart"
        ),
        pytest.param(OLD.replace("Loan policy", "Film policy"), NEW, id="another subject"),
        pytest.param(OLD.replace("Books are", "Films and magazines are never"), NEW, id="another thing"),
        pytest.param(
            OLD.replace("lent for 14 days", "lent for 14 days in 2024"),
            NEW.replace("lent for 21 days", "lent for 21 days in 2026"),
            id="each of its own year",
        ),
    ],
)
def test_what_only_looks_like_a_conflict_is_none(tmp_path: Path, old: str, new: str) -> None:
    assert ask(tmp_path, old, new, "How long are books lent?").conflicts == ()


@pytest.fixture
def demo(demo_file: Path, tmp_path: Path) -> Iterator[Store]:
    store = open_store(Path(shutil.copy(demo_file, tmp_path)))
    yield store
    store.close()


@pytest.mark.model
def test_the_demo_policies_conflict_only_when_the_retired_one_is_back(demo: Store) -> None:
    embedder = open_embedder(paths.embedders_folder() / paths.STARTER_EMBEDDER)
    asker = Asker(demo, Searcher(demo, embedder), lambda: None)

    def answer(question: str) -> Answer:
        *_, last = asker.ask(question, AskOptions(), SearchOptions(DEMO_COLLECTION))
        assert last.answer is not None
        return last.answer

    question = "How long can I borrow a book?"
    try:
        assert answer(question).conflicts == ()
        retired = [d.id for d in demo.corpus.documents(DEMO_COLLECTION) if d.status == "retired"]
        demo.corpus.set_status(retired, "current")
        found = answer(question).conflicts
        sides = {(one.newer.source_id, one.older.source_id) for one in found}
        assert sides == {("en/loan-policy-2026.md", "en/loan-policy-2024.md")}
        assert "14 days" in found[0].older.quote
        assert answer("How much is the laser cutter?").conflicts == ()
        assert answer("¿Puedo entrar con mi perro?").conflicts == ()
    finally:
        embedder.close()
