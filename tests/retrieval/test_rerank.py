"""The rerank stage on a real file: the new order and why, and words for when it can't run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.embedders import HashEmbedder
from tests.library import NAME, open_library
from workbench.errors import EngineError
from workbench.ports import Embedding, Store, StoredTokens
from workbench.records.corpus import Recipe
from workbench.records.retrieval import FusedHit, FusionResult, RerankResult, SearchOptions, SearchResult
from workbench.retrieval.rerank import DEPTH, reordered, rerank
from workbench.retrieval.search import Searcher

LATE = SearchOptions(NAME, rerank="late")
LOANS = "A reader may borrow six books for thirty days."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_library(tmp_path, recipe=Recipe(size=64, token_vectors="int8"))
    yield opened
    opened.close()


def searched(store: Store, query: str = LOANS, options: SearchOptions = LATE) -> SearchResult:
    return Searcher(store, HashEmbedder()).search(query, options)


def stage(store: Store, query: str = LOANS, options: SearchOptions = LATE) -> RerankResult:
    result = searched(store, query, options).rerank
    assert result is not None
    return result


def test_the_passage_with_the_questions_own_tokens_comes_first(store: Store) -> None:
    result = searched(store)
    assert result.rerank is not None
    best = result.rerank.hits[0]
    assert result.hits[0].source_id == "borrowing.md"
    assert best.score == pytest.approx(1, abs=0.01)
    assert (result.hits[0].hit.rank, result.hits[0].hit.rerank_score) == (1, best.score)
    assert [view.hit.fused_rank for view in result.hits] == [hit.before for hit in result.rerank.hits]
    assert sorted(hit.before for hit in result.rerank.hits) == list(range(1, len(result.fusion.hits) + 1))


def test_matched_tokens_are_named_as_written(store: Store) -> None:
    matches = stage(store, "borrow Books").hits[0].matches
    assert [(m.query, m.passage) for m in matches][:2] == [("borr", "borr"), ("ow", "ow")]
    assert matches[0].cosine == pytest.approx(1, abs=0.01)


def test_off_by_default_and_then_no_stage(store: Store) -> None:
    result = searched(store, options=SearchOptions(NAME))
    assert result.rerank is None
    assert all(view.hit.fused_rank is None for view in result.hits)


@pytest.mark.parametrize("form", ["bits", "int8"])
def test_both_forms_rank(tmp_path: Path, form: str) -> None:
    store = open_library(tmp_path, recipe=Recipe(size=64, token_vectors=form))  # type: ignore[arg-type]  # parametrized
    scores = [hit.score for hit in stage(store).hits]
    assert scores == sorted(scores, reverse=True)  # type: ignore[type-var]  # every chunk has tokens
    assert len(scores) > 1
    store.close()


def test_an_index_made_without_says_so_and_keeps_the_fused_order(tmp_path: Path) -> None:
    store = open_library(tmp_path, recipe=Recipe(size=64, token_vectors="none"))
    result = searched(store)
    assert result.rerank is not None
    assert result.rerank.skipped == "the index has no token vectors"
    assert result.notes == ("rerank skipped: the index has no token vectors",)
    assert [view.hit for view in result.hits] == list(result.fusion.hits)
    store.close()


def test_without_an_embedder_or_with_a_dying_one_the_fused_order_stays(store: Store) -> None:
    class Dying(HashEmbedder):
        def embed_query_tokens(self, text: str) -> Embedding:
            raise EngineError("The embedder died", "Signal 9.")

    for embedder, reason in ((None, "no embedder is installed"), (Dying(), "The embedder died: Signal 9.")):
        result = Searcher(store, embedder).search(LOANS, LATE)
        assert result.rerank is not None
        assert result.rerank.skipped == reason
        assert result.hits[0].hit == result.fusion.hits[0]


@pytest.mark.parametrize("query", ["", "   ", "¿…?", "🙂", "b", "\x00", "six " * 700])
def test_any_query_is_accepted(store: Store, query: str) -> None:
    result = searched(store, query)
    assert sorted(view.hit.rank for view in result.hits) == list(range(1, len(result.hits) + 1))


def hits(*names: str) -> tuple[FusedHit, ...]:
    return tuple(FusedHit(name, rank, 1 / (60 + rank)) for rank, name in enumerate(names, 1))


def test_chunks_without_tokens_follow_those_with_and_ties_keep_their_order() -> None:
    row = np.array([[127, 0]], np.int8)
    stored = StoredTokens({"tie": row, "tied": row})
    ranked = rerank(hits("bare", "tie", "empty", "tied"), np.array([[1, 0]], np.float16), stored)
    assert [(hit.chunk_id, hit.before, hit.rank) for hit in ranked] == [
        ("tie", 2, 1), ("tied", 4, 2), ("bare", 1, 3), ("empty", 3, 4),
    ]  # fmt: skip
    assert [hit.score for hit in ranked] == [1, 1, None, None]


def test_nothing_to_compare_ranks_nothing() -> None:
    one = np.ones((1, 2), np.float16)
    assert rerank(hits("a"), one, StoredTokens({})) == ()
    assert rerank(hits("a"), one[:0], StoredTokens({"a": np.ones((1, 2), np.int8)})) == ()
    assert rerank((), one, StoredTokens({})) == ()


def test_hits_below_the_depth_stay_where_they_are() -> None:
    fused = hits(*(f"c{i}" for i in range(DEPTH + 5)))
    stored = StoredTokens({hit.chunk_id: np.array([[i + 1, 100]], np.int8) for i, hit in enumerate(fused)})
    result = RerankResult("late", DEPTH, rerank(fused[:DEPTH], np.array([[1, 0]], np.float16), stored), 0.0)
    after = reordered(FusionResult("rrf", 60, (), fused, 0.0), result)
    assert [hit.chunk_id for hit in after[:2]] == [f"c{DEPTH - 1}", f"c{DEPTH - 2}"]
    assert [hit.rank for hit in after] == list(range(1, DEPTH + 6))
    assert after[DEPTH:] == fused[DEPTH:]
    assert reordered(FusionResult("rrf", 60, (), fused, 0.0), replace(result, skipped="x")) == fused
