"""Two traces side by side, and a question asked again: what differs, and why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.answers.fake_generator import FakeGenerator
from tests.embedders import HashEmbedder
from tests.library import NAME
from tests.traces.conftest import Ask
from workbench.corpus.ingest import Ingester
from workbench.curation import Curator
from workbench.errors import UsageError
from workbench.ports import Store
from workbench.records.answers import AskOptions, Trace
from workbench.records.codec import decode, encode
from workbench.records.corpus import IngestRequest
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher
from workbench.traces.compare import compare_traces
from workbench.traces.inspector import Inspector
from workbench.traces.stages import evidence_of, settled


def test_the_same_question_again_differs_in_nothing(ask: Ask) -> None:
    told = compare_traces(ask(), ask(), {})
    assert (told.same_ranking, told.same_evidence, told.same_answer) == (True, True, True)
    assert told.differences == ()
    assert told.reasons == ("Nothing differs: the same question meets the same documents, and gets the same answer.",)


def test_a_setting_is_named_with_both_values(ask: Ask) -> None:
    told = compare_traces(
        ask(), ask(options=AskOptions(threshold=0.0, evidence=2), search=SearchOptions(NAME, k0=0)), {}
    )
    assert {(d.name, d.before, d.after) for d in told.differences} == {
        ("ask.evidence", "5", "2"),
        ("search.k0", "60", "0"),
    }
    assert told.reasons == ("Settings differ: ask.evidence 5 → 2, search.k0 60 → 0.",)
    assert "left" in {move.kind for move in told.evidence}


def test_new_documents_are_the_reason(store: Store, ask: Ask, tmp_path: Path) -> None:
    before = ask()
    new = tmp_path / "new.md"
    new.write_text("# Loans\n\nA reader may borrow nine books. How many books may a reader borrow? Nine.", "utf-8")
    for _ in Ingester(store.corpus, HashEmbedder()).run(IngestRequest((str(new),), NAME)):
        pass
    after = ask()
    told = compare_traces(before, after, {})
    version = before.manifest.collection_version
    assert told.reasons == (f"The documents have changed since: version {version} of the collection → {version + 1}.",)
    assert "entered" in {move.kind for move in told.ranking}


def test_documents_that_came_changed_or_went_since_are_named(store: Store, ask: Ask, tmp_path: Path) -> None:
    inspector = Inspector(store, lambda: Searcher(store, HashEmbedder()), lambda: None)
    few = SearchOptions(NAME, k=4)
    before = ask(search=few)
    shown = {piece.source_id: piece.document_id for piece in evidence_of(before)}
    retired, deleted, *_ = sorted(shown)
    new = tmp_path / "new.md"
    new.write_text("# Loans\n\nA reader may borrow nine books. How many books may a reader borrow? Nine.", "utf-8")
    for _ in Ingester(store.corpus, HashEmbedder()).run(IngestRequest((str(new),), NAME)):
        pass
    store.corpus.set_status([shown[retired]], "retired")
    store.corpus.delete_documents([shown[deleted]])
    told = " ".join(inspector.compare(before.id, ask(search=few).id).reasons)
    assert "only the later one found it: new.md" in told
    assert f"Retired since: {retired}." in told
    assert f"Passages of these are no longer there: {deleted}" in told


def test_an_edit_of_metadata_and_a_document_that_neither_found_are_named(
    store: Store, ask: Ask, tmp_path: Path
) -> None:
    inspector = Inspector(store, lambda: Searcher(store, HashEmbedder()), lambda: None)
    few = SearchOptions(NAME, k=1, candidates=1)
    before = ask(search=few)
    shown, *_ = evidence_of(before)
    curator = Curator(store)
    curator.apply(curator.preview([shown.document_id], {"owner": "Bea"}))
    only = inspector.compare(before.id, ask(search=few).id).reasons
    assert f"As far as is known, only metadata was edited since: {shown.source_id}." in only
    new = tmp_path / "elsewhere.md"
    new.write_text("# Zeppelins\n\nHydrogen lifts.", "utf-8")
    for _ in Ingester(store.corpus, HashEmbedder()).run(IngestRequest((str(new),), NAME)):
        pass
    both = inspector.compare(before.id, ask(search=few).id).reasons
    assert {"Came in or changed since: elsewhere.md.", f"Metadata was edited since: {shown.source_id}."} <= set(both)


def test_another_model_is_the_reason(ask: Ask) -> None:
    told = compare_traces(ask(generator=FakeGenerator("A reader may borrow six books [F1].")), ask(), {})
    assert told.reasons[0] == "Another model wrote: fake → –."
    assert not told.same_answer


def test_settings_that_a_trace_of_an_older_version_lacks_are_the_defaults(ask: Ask) -> None:
    trace = ask()
    older = {name: value for name, value in trace.manifest.settings.items() if name != "ask.order"}
    told = compare_traces(replace(trace, manifest=replace(trace.manifest, settings=older)), trace, {})
    assert told.differences == ()


def test_the_manifest_gives_back_the_options_it_was_made_of(ask: Ask) -> None:
    options = AskOptions(
        "extractive", 4, 99, 0.25, False, 0.5, 7, 0.4, 900, "edges", retries=2, rewrite="model", judge=True
    )
    search = SearchOptions(
        NAME,
        7,
        30,
        ("dense",),
        "weights",
        10,
        (("lexical", 0.2), ("dense", 0.8)),
        "year >= 2020",
        "none",
        transforms=("languages", "split"),
        extra_searches=5,
        query_tokens=77,
        rerank_depth=5,
        rerank_ms=0,
    )
    trace = decode(Trace, json.loads(json.dumps(encode(ask(options=options, search=search)))))
    assert settled(trace) == (options, search)


def test_settings_that_nobody_understands_are_said(ask: Ask) -> None:
    trace = ask()
    odd = replace(trace.manifest, settings={**trace.manifest.settings, "ask.order": "upside down"})
    with pytest.raises(UsageError, match="upside down"):
        settled(replace(trace, manifest=odd))
