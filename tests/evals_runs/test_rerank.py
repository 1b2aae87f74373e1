"""A reranker is on only where a person's own questions gain by it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embedders import HashEmbedder
from tests.library import NAME, open_library
from workbench.desk import Desk
from workbench.errors import Cancelled, NotFoundError, UsageError
from workbench.evals.running.rerank import measure_rerank
from workbench.ports import Store
from workbench.records.cases import Case, GoldSpan
from workbench.records.corpus import Recipe
from workbench.records.rerankers import LATE
from workbench.records.retrieval import RerankGain, SearchOptions
from workbench.retrieval.search import Searcher

WHOLE = (GoldSpan("borrowing.md"),)
CASES = (
    Case("1", "A reader may borrow six books for thirty days.", gold=WHOLE),
    Case("2", "El menú del día cuesta nueve euros", gold=(GoldSpan("coffee.md"),)),
    Case("3", "What is not in there?", answerable=False),
    Case("4", "No gold here"),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_library(tmp_path)
    yield opened
    opened.close()


def measured(store: Store, *cases: Case) -> list[RerankGain]:
    dataset = store.datasets.put("faq", NAME, cases)
    return list(measure_rerank(store, Searcher(store, HashEmbedder()), dataset))


def gain(before: float, after: float, mrr: tuple[float, float] = (0.9, 0.9)) -> RerankGain:
    return RerankGain("late", NAME, "faq", 100, 100, (before, after), mrr, 1 + round(100 * (after - before)), 1, 0.6)


def test_both_rankings_of_each_question_with_gold_are_scored(store: Store) -> None:
    steps = measured(store, *CASES)
    assert [(step.cases, step.total) for step in steps] == [(1, 2), (2, 2)]
    last = steps[-1]
    assert last.recall_1[1] == last.mrr_10[1] == 1.0  # the question's own tokens are in the passage
    assert last.fixed - last.broken == round(2 * (last.recall_1[1] - last.recall_1[0]))


def test_questions_whose_gold_is_gone_are_left_out_and_counted(store: Store) -> None:
    gone = next(document for document in store.corpus.documents(NAME) if document.source_id == "coffee.md")
    store.corpus.delete_documents([gone.id])
    last = measured(store, *CASES)[-1]
    assert (last.cases, last.total, last.left_out, last.recall_1[1]) == (1, 1, 1, 1.0)
    with pytest.raises(UsageError, match="any more"):
        measured(store, CASES[1])


def test_what_can_not_be_measured_says_why(tmp_path: Path, store: Store) -> None:
    with pytest.raises(UsageError, match="gold"):
        measured(store, *CASES[2:])
    (tmp_path / "bare").mkdir()
    bare = open_library(tmp_path / "bare", recipe=Recipe(size=64, token_vectors="none"))
    with pytest.raises(UsageError, match="no token vectors"):
        measured(bare, *CASES)
    bare.close()


def test_measuring_can_be_stopped(store: Store) -> None:
    stop = threading.Event()
    steps = measure_rerank(store, Searcher(store, HashEmbedder()), store.datasets.put("faq", NAME, CASES), LATE, stop)
    next(steps)
    stop.set()
    with pytest.raises(Cancelled):
        next(steps)


def test_only_a_gain_turns_it_on_and_its_numbers_are_told(store: Store) -> None:
    desk, searcher = Desk(store), Searcher(store, HashEmbedder())
    for nothing in (gain(0.9, 0.9), gain(0.9, 0.8), gain(0.9, 0.9, (0.9, 0.85))):
        with pytest.raises(UsageError, match="brings nothing"):
            desk.rerankers.use(nothing)
    assert searcher.search("books", SearchOptions(NAME)).rerank is None
    desk.rerankers.use(gain(0.9, 0.95))
    found = searcher.search("books", SearchOptions(NAME)).rerank
    assert found is not None
    assert found.gain == gain(0.9, 0.95) == desk.rerankers.gain(NAME)
    assert searcher.search("books", SearchOptions(NAME, rerank="none")).rerank is None
    desk.rerankers.stop(NAME)
    assert searcher.search("books", SearchOptions(NAME)).rerank is None
    with pytest.raises(NotFoundError):
        desk.rerankers.stop("nowhere")
