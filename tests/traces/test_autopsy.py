"""Autopsy: the stage that lost a chunk, and a change that, asked for real, does find it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.embedders import HashEmbedder
from tests.library import NAME
from tests.traces.conftest import SHELVES, Ask
from workbench.errors import NotFoundError
from workbench.ports import Store
from workbench.records.answers import AskOptions, Trace
from workbench.records.retrieval import SearchOptions
from workbench.records.traces import Autopsy
from workbench.retrieval.search import Searcher
from workbench.traces.autopsy import Coroner
from workbench.traces.stages import evidence_of, final_hits

LOW = AskOptions(threshold=0.0, evidence=2)


def autopsy(store: Store, trace: Trace, wanted: str) -> Autopsy:
    return Coroner(store, Searcher(store, HashEmbedder()), trace).examine(wanted)


def test_a_cited_chunk_was_lost_nowhere(store: Store, ask: Ask) -> None:
    trace = ask()
    assert trace.answer is not None
    cited = trace.answer.claims[0].citations[0]
    told = autopsy(store, trace, cited.chunk_id)
    assert (told.lost_at, told.label, told.cited, told.fixes) == ("", cited.label, True, ())
    assert told.fused_rank == next(hit.rank for hit in final_hits(trace) if hit.chunk_id == cited.chunk_id)


def test_citations_lose_nothing_before_there_is_an_answer(store: Store, ask: Ask) -> None:
    unanswered = replace(ask(), answer=None)
    told = autopsy(store, unanswered, evidence_of(unanswered)[0].chunk_id)
    assert (told.lost_at, told.cited) == ("", False)
    assert told.reason == "It is in the evidence as F1; nothing was answered, so nothing was cited."


def test_an_abstention_is_told_of_what_it_did_not_cite(store: Store, ask: Ask) -> None:
    abstained = ask(options=AskOptions(threshold=1.5, retries=0))
    told = autopsy(store, abstained, evidence_of(abstained)[0].chunk_id)
    assert told.lost_at == "citations"
    assert told.reason == "It was in the evidence as F1, and the question was not answered."


def test_a_chunk_over_the_limit_is_kept_by_the_change_that_is_named(store: Store, ask: Ask) -> None:
    trace = ask(options=LOW)
    third = final_hits(trace)[2]
    told = autopsy(store, trace, third.chunk_id[:12])
    assert (told.lost_at, told.dropped) == ("context", "limit")
    assert "left out because enough evidence was kept" in told.reason
    by_change = {fix.change: fix for fix in told.fixes}
    assert by_change["evidence=3"].changed == 1
    assert told.fixes[0].changed == 1
    asked = ask(options=replace(LOW, evidence=3))
    assert third.chunk_id in [piece.chunk_id for piece in evidence_of(asked)]


def test_a_chunk_that_no_lane_gave_has_its_real_rank(store: Store, ask: Ask) -> None:
    few = SearchOptions(NAME, candidates=2, k=2)
    trace = ask(options=LOW, search=few)
    found = {hit.chunk_id for hit in final_hits(trace)}
    whole = Searcher(store, HashEmbedder()).search(trace.query, SearchOptions(NAME, candidates=50))
    lost = next(hit for hit in whole.fusion.hits if hit.chunk_id not in found and hit.lexical_rank and hit.dense_rank)
    told = autopsy(store, trace, lost.chunk_id)
    assert told.lost_at == "lanes"
    assert (told.lexical_rank, told.dense_rank) == (lost.lexical_rank, lost.dense_rank)
    assert set(told.looked_up) == {"lexical", "dense"}
    assert told.fused_rank is None
    assert f"dense {lost.dense_rank}" in told.reason
    assert told.fixes
    assert all(".k=" in fix.change for fix in told.fixes)


def test_a_text_is_looked_for_as_the_source_has_it(store: Store, ask: Ask) -> None:
    told = autopsy(store, ask(options=LOW), "it is NOT refunded\n after the first week")
    assert told.source_id == "enrolment.md"
    assert told.lost_at in ("context", "fusion", "citations")


def test_the_filter_is_named(store: Store, ask: Ask) -> None:
    trace = ask(search=SearchOptions(NAME, filter="year >= 2026"))
    told = autopsy(store, trace, "may borrow six books")
    assert (told.source_id, told.lost_at, told.passes_filter) == ("borrowing.md", "filter", False)
    assert told.fixes[0].advice.startswith("Leave out the filter “year >= 2026”. (")


def test_a_retired_document_is_named(store: Store, ask: Ask) -> None:
    document = next(d for d in store.corpus.documents(NAME) if d.source_id == "borrowing.md")
    store.corpus.set_status([document.id], "retired")
    told = autopsy(store, ask(), "may borrow six books")
    assert (told.lost_at, told.retired) == ("filter", True)
    assert "workbench restore borrowing.md" in told.fixes[0].advice


def test_a_duplicate_can_only_be_one(store: Store, ask: Ask) -> None:
    trace = ask(options=AskOptions(threshold=0.0, evidence=50), search=SearchOptions(NAME, k=50))
    assert len(evidence_of(trace)) == len(SHELVES) + 4
    assert all(autopsy(store, trace, piece.chunk_id).label for piece in evidence_of(trace)[:3])


@pytest.mark.parametrize("wanted", ["", "   ", "no source says these words", "ffffffffffffffff", '"*^:()'])
def test_what_is_in_no_chunk_is_said(store: Store, ask: Ask, wanted: str) -> None:
    with pytest.raises(NotFoundError, match="No chunk of “library”"):
        autopsy(store, ask(), wanted)
