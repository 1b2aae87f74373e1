"""The support of what a what-if would deliver: what asking with those settings would have measured."""

from __future__ import annotations

import pytest

from tests.embedders import HashEmbedder
from tests.library import NAME
from tests.traces.conftest import QUESTION, Ask
from workbench.answers.support import THRESHOLD, THRESHOLD_SETTING
from workbench.ports import Store
from workbench.records.answers import AskOptions, Decision
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher
from workbench.traces.inspector import Inspector
from workbench.traces.stages import stage


@pytest.fixture
def inspector(store: Store) -> Inspector:
    searcher = Searcher(store, HashEmbedder())
    return Inspector(store, lambda: searcher, lambda: None)


@pytest.mark.parametrize(
    ("changes", "options", "search"),
    [
        ("", AskOptions(threshold=0.0), SearchOptions(NAME)),
        ("dense=off,evidence=1", AskOptions(threshold=0.0, evidence=1), SearchOptions(NAME, lanes=("lexical",))),
        ("lexical=off,evidence=1", AskOptions(threshold=0.0, evidence=1), SearchOptions(NAME, lanes=("dense",))),
        ("mmr=0", AskOptions(threshold=0.0, mmr=0.0), SearchOptions(NAME)),
    ],
)
def test_it_is_the_support_that_asking_so_measures(
    ask: Ask, inspector: Inspector, changes: str, options: AskOptions, search: SearchOptions
) -> None:
    trace = ask()
    made = inspector.weighed(trace, inspector.what_if(trace, changes)).decision
    asked = stage(ask(options=options, search=search), "decision", Decision)
    assert made is not None
    assert asked is not None
    assert made.support == pytest.approx(asked.support)
    assert dict(made.parts) == pytest.approx(dict(asked.parts))


def test_a_lane_that_found_nothing_counts_as_it_did(ask: Ask, inspector: Inspector) -> None:
    trace = ask("zzyzx qwrtp")
    asked = stage(trace, "decision", Decision)
    made = inspector.weighed(trace, inspector.what_if(trace, "")).decision
    assert asked is not None
    assert made is not None
    assert dict(made.parts) == pytest.approx(dict(asked.parts))
    assert "agreement" in dict(made.parts)


def test_of_a_question_that_was_searched_twice_it_says_which_search_it_is_of(ask: Ask, inspector: Inspector) -> None:
    twice = ask(options=AskOptions(threshold=1.5, retries=1))
    assert "searched 2 times" in inspector.what_if(twice, "").notes[0]
    assert inspector.what_if(ask(options=AskOptions(threshold=1.5, retries=0)), "").notes == ()


def test_evidence_that_says_something_else_is_weighed_anew(ask: Ask, inspector: Inspector) -> None:
    trace = ask()
    kept = inspector.weighed(trace, inspector.what_if(trace, "")).decision
    nothing = inspector.weighed(trace, inspector.what_if(trace, "budget=1"))
    assert kept is not None
    assert nothing.decision is not None
    assert nothing.decision.support < kept.support
    assert nothing.decision.outcome == "answered"  # this question was asked with τ = 0


def test_a_search_that_was_not_asked_is_held_against_the_calibrated_threshold(
    store: Store, inspector: Inspector
) -> None:
    store.settings.set(THRESHOLD_SETTING.format(collection=NAME), "0.99")
    options = SearchOptions(NAME)
    live = inspector.searched(Searcher(store, HashEmbedder()).search(QUESTION, options), AskOptions(), options)
    made = inspector.weighed(live, inspector.what_if(live, "")).decision
    assert made is not None
    assert (made.threshold, made.outcome) == (0.99, "low_support")
    tried = inspector.weighed(live, inspector.what_if(live, "threshold=0.1")).decision
    assert tried is not None
    assert (tried.threshold, tried.outcome) == (0.1, "answered")


def test_the_threshold_of_its_own_is_the_collections(ask: Ask, inspector: Inspector) -> None:
    trace = ask()  # with τ = 0
    for changes, threshold in (("", 0.0), ("threshold=own", THRESHOLD)):
        made = inspector.weighed(trace, inspector.what_if(trace, changes)).decision
        assert made is not None
        assert made.threshold == threshold


def test_of_documents_that_are_gone_it_is_not_told(store: Store, ask: Ask, inspector: Inspector) -> None:
    trace = ask()
    store.corpus.delete_documents([document.id for document in store.corpus.documents(NAME)])
    result = inspector.weighed(trace, inspector.what_if(trace, ""))
    assert result.decision is None
    assert "can't be told" in result.notes[-1]
