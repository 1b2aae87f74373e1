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
from workbench.traces.stages import settled


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
    ingest(store, tmp_path / "new.md", "# Loans\n\nA reader may borrow nine books. How many books? Nine.")
    after = ask()
    told = compare_traces(before, after, {}, {"added": ("new.md",)})
    version = before.manifest.collection_version
    assert told.reasons == (
        f"The documents have changed since: version {version} of the collection → {version + 1}.",
        "Added since: new.md.",
    )
    assert "entered" in {move.kind for move in told.ranking}


def ingest(store: Store, file: Path, text: str) -> None:
    file.write_text(text, "utf-8")
    for _ in Ingester(store.corpus, HashEmbedder()).run(IngestRequest((str(file),), NAME)):
        pass


def test_documents_that_came_changed_or_went_since_are_told_apart(store: Store, ask: Ask, tmp_path: Path) -> None:
    """Whether or not one of the two found them; what came and went in between is no difference."""
    inspector = Inspector(store, lambda: Searcher(store, HashEmbedder()), lambda: None)
    few = SearchOptions(NAME, k=1, candidates=1)
    ingest(store, tmp_path / "hours.md", "# Hours\n\nThe desk opens at nine.")
    before = ask(search=few)
    documents = {d.source_id: d.id for d in store.corpus.documents(NAME)}
    ingest(store, tmp_path / "new.md", "# Zeppelins\n\nHydrogen lifts.")
    ingest(store, tmp_path / "hours.md", "# Hours\n\nThe desk opens at ten.")
    ingest(store, tmp_path / "brief.md", "# Brief\n\nThis stays a moment.")
    brief = next(d.id for d in store.corpus.documents(NAME) if d.source_id == "brief.md")
    store.corpus.delete_documents([documents["shelf1.md"], brief])
    store.corpus.set_status([documents["shelf2.md"], documents["shelf3.md"]], "retired")
    store.corpus.set_status([documents["shelf3.md"]], "current")
    curator = Curator(store)
    curator.apply(curator.preview([documents["shelf4.md"]], {"owner": "Bea"}))
    between = ask(search=few)
    store.corpus.set_status([documents["shelf2.md"]], "current")
    reasons = inspector.compare(before.id, between.id).reasons
    assert reasons[0].startswith("The documents have changed since: version")
    assert reasons[1:6] == (
        "Added since: new.md.",
        "Changed since: hours.md.",
        "Gone since: shelf1.md.",
        "Retired since: shelf2.md.",
        "Only the metadata changed since: shelf4.md.",
    )
    assert "brief.md" not in " ".join(reasons)
    assert inspector.compare(between.id, ask(search=few).id).reasons[1] == "Restored since: shelf2.md."


def test_what_was_deleted_and_ingested_again_is_neither_retired_nor_said_to_be_changed(
    store: Store, ask: Ask, tmp_path: Path
) -> None:
    inspector = Inspector(store, lambda: Searcher(store, HashEmbedder()), lambda: None)
    ingest(store, tmp_path / "hours.md", "# Hours\n\nThe desk opens at nine.")
    before = ask()
    hours = next(d.id for d in store.corpus.documents(NAME) if d.source_id == "hours.md")
    store.corpus.set_status([hours], "retired")
    store.corpus.delete_documents([hours])
    ingest(store, tmp_path / "hours.md", "# Hours\n\nThe desk opens at nine.")
    assert inspector.compare(before.id, ask().id).reasons[1:] == ("Deleted and ingested again since: hours.md.",)
    store.corpus.set_status([hours], "retired")
    assert inspector.compare(before.id, ask().id).reasons[1:] == ("Retired since: hours.md.",)


def test_no_document_is_said_to_differ_where_none_does(store: Store, ask: Ask, tmp_path: Path) -> None:
    """A snapshot's restore and a switch of indexes raise the version too."""
    inspector = Inspector(store, lambda: Searcher(store, HashEmbedder()), lambda: None)
    before = ask()
    store.exchange.snapshot(tmp_path / "now.db", None)
    store.exchange.restore(tmp_path / "now.db")
    (reason,) = inspector.compare(before.id, ask().id).reasons
    assert reason.startswith("The collection's version is another")


def test_another_collection_of_that_name_is_told_as_such(store: Store, ask: Ask, tmp_path: Path) -> None:
    """Its versions count from 0 again: what became of its documents since some version says nothing."""
    inspector = Inspector(store, lambda: Searcher(store, HashEmbedder()), lambda: None)
    before = ask()
    store.corpus.delete_collection(NAME)
    for n in range(3):
        ingest(store, tmp_path / f"{n}.md", f"# Part {n}\n\nA reader may borrow {n} books.")
    reasons = inspector.compare(before.id, ask().id).reasons
    assert reasons[1] == f"The collection was deleted and made anew since: {NAME}."
    assert not any("Added" in reason for reason in reasons)


def test_a_collection_goes_with_what_became_of_its_documents(store: Store) -> None:
    assert store.corpus.document_changes(NAME, 0, 1_000)["shelf1.md"] == ("added",)
    store.corpus.delete_collection(NAME)
    assert store.corpus.document_changes(NAME, 0, 1_000) == {}


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
