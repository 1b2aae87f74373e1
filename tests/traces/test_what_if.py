"""What-if: the same settings change nothing, others change what asking again with them would change."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.answers.fake_generator import FakeGenerator
from tests.embedders import HashEmbedder
from tests.library import NAME, open_library
from tests.traces.conftest import Ask
from workbench.answers.ask import Asker
from workbench.errors import UsageError
from workbench.ports import Store
from workbench.records.answers import AskOptions, Context, Trace
from workbench.records.codec import decode, encode
from workbench.records.corpus import Recipe
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher
from workbench.traces.changes import parse_changes
from workbench.traces.stages import evidence_of, final_hits, stage
from workbench.traces.what_if import Material, what_if


def changed(store: Store, trace: Trace, changes: str) -> list[tuple[str, str]]:
    """(source, what became of it) of the evidence that a change moves."""
    material = Material(store, trace)
    result = what_if(material, parse_changes(changes, material.settings))
    return [(move.source_id, move.kind) for move in result.evidence_moves if move.kind != "same"]


def same_as_asking(store: Store, trace: Trace, changes: str, asked: Trace) -> None:
    material = Material(store, trace)
    result = what_if(material, parse_changes(changes, material.settings))
    assert [h.chunk_id for h in result.hits] == [h.chunk_id for h in final_hits(asked)]
    assert result.context is not None
    assert [(e.label, e.text) for e in result.context.evidence] == [(e.label, e.text) for e in evidence_of(asked)]
    asked_context = stage(asked, "context", Context)
    assert asked_context is not None
    then = {piece.chunk_id for piece in evidence_of(trace)}
    assert result.estimated == any(piece.chunk_id not in then for piece in result.evidence)
    assert result.context.ledger.evidence == pytest.approx(asked_context.ledger.evidence, rel=0.05)


def test_without_a_change_nothing_moves(store: Store, ask: Ask) -> None:
    trace = decode(Trace, json.loads(json.dumps(encode(ask()))))
    material = Material(store, trace)
    result = what_if(material, material.settings)
    assert {move.kind for move in (*result.ranking, *result.evidence_moves)} == {"same"}
    assert result.fusion.hits == final_hits(trace)
    assert not result.notes
    assert result.changed == 0
    assert not result.estimated


def test_tokens_that_a_server_estimated_stay_estimates(store: Store, ask: Ask) -> None:
    trace = ask()
    context = stage(trace, "context", Context)
    assert context is not None
    guessed = replace(context, ledger=replace(context.ledger, estimated=True))
    spans = [replace(span, output=guessed) if span.output == context else span for span in trace.spans]
    material = Material(store, replace(trace, spans=tuple(spans)))
    assert what_if(material, material.settings).estimated


@pytest.mark.parametrize(
    ("changes", "options", "search"),
    [
        ("k0=0", AskOptions(threshold=0.0), SearchOptions(NAME, k0=0)),
        ("lexical=off", AskOptions(threshold=0.0), SearchOptions(NAME, lanes=("dense",))),
        ("dense=off", AskOptions(threshold=0.0), SearchOptions(NAME, lanes=("lexical",))),
        ("lexical.k=4,dense.k=4,k=4", AskOptions(threshold=0.0), SearchOptions(NAME, candidates=4, k=4)),
        (
            "lexical.weight=0.9, dense.weight=0.1",
            AskOptions(threshold=0.0),
            SearchOptions(NAME, fusion="weights", weights=(("lexical", 0.9), ("dense", 0.1))),
        ),
        ("evidence=8", AskOptions(threshold=0.0, evidence=8), SearchOptions(NAME)),
        ("mmr=0.3", AskOptions(threshold=0.0, mmr=0.3), SearchOptions(NAME)),
        ("duplicates=on", AskOptions(threshold=0.0, duplicates=True), SearchOptions(NAME)),
    ],
)
def test_a_change_gives_what_asking_with_it_gives(
    store: Store, ask: Ask, changes: str, options: AskOptions, search: SearchOptions
) -> None:
    same_as_asking(store, ask(), changes, ask(options=options, search=search))


def test_more_evidence_enters_and_less_leaves(store: Store, ask: Ask) -> None:
    trace = ask(options=AskOptions(threshold=0.0, evidence=3))
    hits = [hit.chunk_id for hit in final_hits(trace)]
    more, fewer = changed(store, trace, "evidence=4"), changed(store, trace, "evidence=2")
    assert [kind for _, kind in more] == ["entered"]
    assert [kind for _, kind in fewer] == ["left"]
    assert more[0][0] == store.corpus.chunks_by_id(hits[3:4])[0].source_id
    assert fewer[0][0] == store.corpus.chunks_by_id(hits[2:3])[0].source_id


def test_the_order_moves_evidence_without_changing_it(store: Store, ask: Ask) -> None:
    trace = ask(options=AskOptions(threshold=0.0, evidence=3))
    material = Material(store, trace)
    result = what_if(material, parse_changes("order=edges", material.settings))
    assert [piece.label for piece in result.evidence] == ["F1", "F3", "F2"]
    assert [(move.before, move.after) for move in result.evidence_moves] == [(1, 1), (3, 2), (2, 3)]


def test_the_budget_of_a_model_holds_and_what_does_not_fit_is_said(store: Store, ask: Ask) -> None:
    trace = ask(generator=FakeGenerator("Six books [F1].", context=2000), options=AskOptions(threshold=0.0, evidence=4))
    first = evidence_of(trace)[0]
    material = Material(store, trace)
    result = what_if(material, parse_changes(f"budget={first.tokens}", material.settings))
    assert [piece.chunk_id for piece in result.evidence] == [first.chunk_id]
    assert result.context is not None
    assert result.context.ledger.window == 2000
    none = what_if(material, parse_changes("budget=1", material.settings))
    assert none.context is None
    assert "may take 1 token," in none.problem
    assert {move.kind for move in none.evidence_moves} == {"left"}


def test_spans_around_chunks_are_taken_away_and_given_back(tmp_path: Path) -> None:
    sentence = "Rule {0} says that drawer {0} of the archive holds exactly {0} hundred letters of the founder."
    rules = " ".join(sentence.format(number) for number in range(1, 9))
    opened = open_library(tmp_path, {"rules.txt": rules}, recipe=Recipe("parent", size=40, parent_size=400))

    def asked(parents: bool | None) -> Trace:
        options = AskOptions(threshold=0.0, parents=parents)
        *_, last = Asker(opened, Searcher(opened, HashEmbedder()), lambda: None).ask(
            "What does drawer 3 hold?", options, SearchOptions(NAME)
        )
        return last

    try:
        whole, alone = asked(None), asked(False)
        assert len(evidence_of(whole)) < len(evidence_of(alone))
        for trace, change, wanted in ((whole, "parents=off", alone), (alone, "parents=on", whole)):
            material = Material(opened, trace)
            assert material.settings.parents is (None if trace is whole else False)
            tried = what_if(material, parse_changes(change, material.settings))
            assert [(e.start, e.end, e.text) for e in tried.evidence] == [
                (e.start, e.end, e.text) for e in evidence_of(wanted)
            ]
            assert tried.estimated
    finally:
        opened.close()


def test_more_hits_than_are_stored_are_not_invented(store: Store, ask: Ask) -> None:
    trace = ask(search=SearchOptions(NAME, candidates=3, k=3))
    material = Material(store, trace)
    result = what_if(material, parse_changes("lexical.k=50", material.settings))
    assert result.notes == ("The trace holds 3 hits of the lexical lane.",)


def test_deleted_chunks_are_said_and_delivered_ones_stay(store: Store, ask: Ask) -> None:
    trace = ask(options=AskOptions(threshold=0.0, evidence=2))
    delivered = evidence_of(trace)[0]
    store.corpus.delete_documents([document.id for document in store.corpus.documents(NAME)])
    material = Material(store, trace)
    result = what_if(material, replace(material.settings, evidence=9))
    assert result.evidence[0].text == delivered.text
    assert "no longer in the file" in result.notes[0]


def test_a_trace_without_a_ranking_has_nothing_to_try(store: Store, ask: Ask) -> None:
    with pytest.raises(UsageError, match="found nothing"):
        Material(store, ask(search=SearchOptions(NAME, filter="year = 1066")))


@pytest.mark.parametrize(
    "changes",
    [
        *("speed=3", "k0=-1", "k0=many", "evidence=0", "mmr=2", "mmr=nan", "order=worst", "lexical=on", "rerank="),
        *("=", "k0", "lexical=off,dense=off", "fusion=sum", "budget=0", "lexical.weight=-1", "rerank=bogus"),
        *("lexical.weight=0,dense.weight=0", "dense=off,lexical.weight=0", "threshold=2", "threshold=off"),
    ],
)
def test_changes_that_make_no_sense_are_refused(store: Store, ask: Ask, changes: str) -> None:
    material = Material(store, ask())
    with pytest.raises(UsageError) as refused:
        parse_changes(changes, material.settings)
    if changes == "evidence=0":
        assert "“0” is no value for “evidence”, which takes 1, 2, 3 …." in refused.value.message


def test_no_more_pieces_are_kept_than_hits_are_offered(store: Store, ask: Ask) -> None:
    settings = parse_changes("evidence=15", Material(store, ask()).settings)
    assert (settings.k, settings.evidence) == (15, 15)
