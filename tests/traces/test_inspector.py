"""The inspector: searches that are no questions yet, chunks by what a person remembers of them, questions that go."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.embedders import HashEmbedder
from tests.library import NAME
from tests.traces.conftest import QUESTION, Ask
from workbench.errors import NotFoundError
from workbench.ports import Store
from workbench.records.answers import AskOptions
from workbench.records.retrieval import Lane, LaneResult, SearchOptions
from workbench.retrieval.search import Searcher
from workbench.traces.exports import TraceForm, trace_text
from workbench.traces.inspector import Inspector
from workbench.traces.stages import evidence_of, final_hits, settled, stage


@pytest.fixture
def inspector(store: Store) -> Inspector:
    searcher = Searcher(store, HashEmbedder())
    return Inspector(store, lambda: searcher, lambda: None)


def test_a_search_is_inspected_as_the_question_would_be(store: Store, ask: Ask, inspector: Inspector) -> None:
    options = SearchOptions(NAME)
    result = Searcher(store, HashEmbedder()).search(QUESTION, options)
    live = inspector.searched(result, AskOptions(threshold=0.0), options)
    asked = ask()
    assert live.id == ""
    assert final_hits(live) == final_hits(asked)
    assert [e.chunk_id for e in evidence_of(live)] == [e.chunk_id for e in evidence_of(asked)]
    assert inspector.settings(live) == inspector.settings(asked.id)
    assert len(inspector.what_if(live, "evidence=1").evidence) == 1
    first = final_hits(live)[0].chunk_id
    assert inspector.autopsy(live, first).fused_rank == 1
    assert [t.id for t in inspector.history()] == [asked.id]


def test_a_search_of_before_names_the_version_and_the_index_that_it_met(store: Store, inspector: Inspector) -> None:
    result, options = Searcher(store, HashEmbedder()).search(QUESTION, SearchOptions(NAME)), SearchOptions(NAME)
    version, mandatory, index_id = store.corpus.revision(NAME)
    made = inspector.searched(result, AskOptions(), options, (7, mandatory, index_id)).manifest
    assert (made.collection_version, made.index_id) == (7, index_id)
    gone = inspector.searched(result, AskOptions(), options, (version, mandatory, 99))
    assert gone.manifest.index_id == 0
    assert inspector.weighed(gone, inspector.what_if(gone, "")).decision is None


def test_what_ifs_of_a_search_and_of_a_question_do_not_mix(store: Store, ask: Ask, inspector: Inspector) -> None:
    asked = ask()
    result = Searcher(store, HashEmbedder()).search("shelf 7", SearchOptions(NAME))
    live = inspector.searched(result, AskOptions(), SearchOptions(NAME))
    assert inspector.what_if(asked.id, "k0=60").hits == final_hits(asked)
    assert inspector.what_if(live, "k0=60").hits == final_hits(live)
    assert inspector.what_if(asked, "k0=60").hits == final_hits(asked)


def test_chunks_are_suggested_by_id_words_and_document(ask: Ask, inspector: Inspector) -> None:
    trace = ask()
    (first, *_) = final_hits(trace)
    assert inspector.suggest(trace, first.chunk_id[:10])[0].id == first.chunk_id
    assert inspector.suggest(trace, "kind 7")[0].source_id == "shelf7.md"
    assert {chunk.source_id for chunk in inspector.suggest(trace, "COFFEE")} == {"coffee.md"}
    assert [chunk.id for chunk in inspector.suggest(trace, "")] == [hit.chunk_id for hit in final_hits(trace)][:20]
    assert inspector.suggest(trace, '"*" AND (') == ()


def test_a_deleted_question_is_gone_and_cannot_go_twice(ask: Ask, inspector: Inspector) -> None:
    kept, gone = ask(), ask("shelf 3")
    inspector.delete(gone.id)
    assert [t.id for t in inspector.history()] == [kept.id]
    with pytest.raises(NotFoundError):
        inspector.delete(gone.id)
    with pytest.raises(NotFoundError):
        inspector.delete(kept.id[:5])


def test_tokens_are_pieces_of_the_text(inspector: Inspector) -> None:
    assert "".join(inspector.tokens("six books")).replace(" ", "") == "sixbooks"


def test_a_lanes_own_depth_is_in_the_trace_and_read_back(ask: Ask) -> None:
    trace = ask(search=SearchOptions(NAME, lane_candidates=(("lexical", 2),)))
    assert settled(trace)[1].lane_candidates == (("lexical", 2),)
    found = stage(trace, "lexical", LaneResult)
    assert found is not None
    assert len(found.hits) == 2


@pytest.mark.parametrize(("form", "begins"), [("json", "{"), ("otel", "{"), ("markdown", "# ")])
def test_a_trace_as_text_in_each_form(ask: Ask, form: TraceForm, begins: str) -> None:
    words = trace_text(ask(), form)
    assert words.startswith(begins)
    if begins == "{":
        json.loads(words)


@pytest.mark.parametrize("wanted", [2, 4, 7])
def test_the_smallest_change_of_an_autopsy_keeps_the_chunk_in_a_what_if_and_when_it_is_asked_with(
    store: Store, ask: Ask, inspector: Inspector, wanted: int
) -> None:
    low = AskOptions(threshold=0.0, evidence=2)
    trace = ask(options=low, search=SearchOptions(NAME, candidates=2, k=2))
    lost = Searcher(store, HashEmbedder()).search(QUESTION, SearchOptions(NAME, k=20)).fusion.hits[wanted]
    change = inspector.autopsy(trace, lost.chunk_id).fixes[0].change
    tried = inspector.what_if(trace, change)
    assert lost.chunk_id in [piece.chunk_id for piece in tried.evidence]
    assert not tried.notes
    settings = tried.settings
    depth: tuple[tuple[Lane, int], ...] = (("lexical", settings.lexical_k), ("dense", settings.dense_k))
    search = SearchOptions(
        NAME,
        k=settings.k,
        lanes=tuple(lane for lane, most in depth if most),
        lane_candidates=tuple((lane, most) for lane, most in depth if most),
        fusion=settings.fusion,
        k0=settings.k0,
        weights=settings.weights,
    )
    asked = ask(options=replace(low, evidence=settings.evidence, mmr=settings.mmr), search=search)
    assert [piece.chunk_id for piece in evidence_of(asked)] == [piece.chunk_id for piece in tried.evidence]
