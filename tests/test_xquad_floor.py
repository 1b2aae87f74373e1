"""Retrieval through the product is as good as its parts are outside of it: XQuAD, every question, both languages."""

from __future__ import annotations

import pytest

from bench.xquad import FLOORS, RERANKED_FLOORS, corpus, evaluate, load
from tests.data import shared


@pytest.mark.model
@pytest.mark.parametrize("language", ["en", "es"])
def test_hybrid_search_and_its_reranking_reach_their_floors(language: str) -> None:
    shared("xquad", f"xquad.{language}.json")
    paragraphs, questions = load(language)
    with corpus(paragraphs) as (store, searcher):
        scores = evaluate(store, searcher, questions)
    assert len(questions) == 1190
    hybrid, reranked = scores["hybrid"], scores["reranked"]
    reached = tuple(round(score, 3) for score in (hybrid.recall_1, hybrid.recall_5, hybrid.mrr_10))
    assert all(got >= floor for got, floor in zip(reached, FLOORS[language], strict=True)), reached
    assert round(reranked.recall_1, 3) >= RERANKED_FLOORS[language], reranked
