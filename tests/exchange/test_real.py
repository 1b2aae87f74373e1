"""XQuAD's 240 paragraphs with the real embedder's vectors, out and in again, bit by bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.xquad import COLLECTION, corpus, load
from storage import open_store
from tests.data import shared
from tests.exchange.conftest import last
from tests.exchange.contents import contents
from workbench.exchange import Exchange
from workbench.records.cases import Case, GoldSpan
from workbench.records.exchange import Copied, ExportRequest, Received
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher


@pytest.mark.model
def test_xquad_goes_out_and_comes_in(tmp_path: Path) -> None:
    shared("xquad", "xquad.en.json")
    everything, questions = load("en")
    paragraphs = {name: everything[name] for name in sorted(everything)[:80]}
    with corpus(paragraphs) as (store, searcher):
        asked = [question for question in questions if question.source_id in paragraphs][::20]
        cases = [
            Case(str(number), question.text, gold=(GoldSpan(question.source_id, grade=3),))
            for number, question in enumerate(asked)
        ]
        store.datasets.put("xquad-en", COLLECTION, cases)
        whole = contents(store, COLLECTION)
        assert len(whole["chunks 0"]) == 80
        for form in ("jsonl", "parquet"):
            list(Exchange(store).export(ExportRequest(COLLECTION, str(tmp_path / form), form)))
            other = open_store(tmp_path / f"{form}.db")
            received = last(Exchange(other).receive(str(tmp_path / form)), Received)
            assert (received.added, received.chunks) == (80, 80)
            assert contents(other, COLLECTION) == whole
            there = Searcher(other, searcher._embedder)
            for question in asked[:3]:
                hits = [s.search(question.text, SearchOptions(COLLECTION)).fusion.hits for s in (searcher, there)]
                assert hits[0] == hits[1]
            other.close()
        done = last(Exchange(store).copy(COLLECTION, str(tmp_path / "moved.db"), remove=True), Copied)
        assert all(check.same for check in done.checks)
        moved = open_store(tmp_path / "moved.db")
        assert contents(moved, COLLECTION) == whole
        assert store.corpus.collections() == ()
        moved.close()
