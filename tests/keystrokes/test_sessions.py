"""Saved sessions of typing on a real file: stored, listed, replayed against an index that has changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.embedders import HashEmbedder
from tests.library import NAME, open_library
from workbench.__main__ import open_desk
from workbench.cli import FrontEnds, run
from workbench.corpus.ingest import Ingester
from workbench.errors import NotFoundError, UsageError
from workbench.keystrokes import Keystrokes, of_result, options_of, result_of
from workbench.ports import Store
from workbench.records.corpus import IngestRequest
from workbench.records.keystrokes import Keystroke
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher
from workbench.retrieval.typed import TypedSearch


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_library(tmp_path)
    yield store
    store.close()


def type_out(store: Store, question: str) -> list[Keystroke]:
    typed, searcher = TypedSearch(store), Searcher(store, HashEmbedder())
    options = SearchOptions(collection=NAME)
    keystrokes = []
    for n in range(1, len(question) + 1):
        *_, whole = typed.search(searcher, question[:n], options)
        keystrokes.append(of_result(whole, n * 0.1, options.lanes))
    typed.close()
    return keystrokes


def parts(store: Store) -> Keystrokes:
    return Keystrokes(store, lambda: Searcher(store, HashEmbedder()))


def test_a_session_comes_back_as_it_was_and_holds_no_words_of_the_documents(store: Store) -> None:
    keystrokes = type_out(store, "enrolment fee")
    saved = parts(store).save(keystrokes, NAME)
    again = parts(store).session(saved.id[:5])
    assert again == saved
    assert [k.query for k in again.keystrokes] == ["enrolment fee"[:n] for n in range(1, 14)]
    assert again.keystrokes[0].at == 0.0
    [line] = parts(store).sessions()
    assert (line.question, line.keystrokes, round(line.seconds, 3)) == ("enrolment fee", 13, 1.2)
    assert "118.50" not in json.dumps([str(k) for k in again.keystrokes])


def test_a_keystroke_that_was_overtaken_is_compared_in_the_lanes_that_had_answered(store: Store) -> None:
    searcher = Searcher(store, HashEmbedder())
    alone = searcher.search("enrolment fee", SearchOptions(collection=NAME, lanes=("lexical",)))
    both = searcher.search("enrolment fee", SearchOptions(collection=NAME))
    assert [v.hit.chunk_id for v in alone.hits] != [v.hit.chunk_id for v in both.hits]
    overtaken = of_result(alone, 0.0, ("lexical", "dense"))
    assert not overtaken.whole
    parts(store).save([overtaken, of_result(both, 0.1, ("lexical", "dense"))], NAME)
    assert [(one.change, one.moves) for one in parts(store).replay("last")] == [(0.0, ()), (0.0, ())]


def test_the_search_behind_a_saved_keystroke_comes_back_whole(store: Store) -> None:
    searcher, options = Searcher(store, HashEmbedder()), SearchOptions(NAME, fusion="weights", rerank="late")
    found = searcher.search("enrolment fee", options)
    parts(store).save([of_result(found, 0.0, options.lanes)], NAME)
    [again] = parts(store).session("last").keystrokes
    whole = result_of(again, found.hits)
    assert whole is not None
    assert (whole.analysis, whole.filter, whole.lanes) == (found.analysis, found.filter, found.lanes)
    assert whole.fusion == found.fusion
    assert whole.rerank is not None
    assert not any(hit.matches for hit in whole.rerank.hits)
    assert options_of(again, NAME) == options
    assert result_of(replace(again, stages=None), ()) is None


def test_nothing_typed_is_refused_and_an_unknown_session_is_told(store: Store) -> None:
    with pytest.raises(UsageError):
        parts(store).save([], NAME)
    for name in ("nothing", "", "last"):
        with pytest.raises(NotFoundError):
            parts(store).session(name)


def test_a_replay_says_what_differs_today(store: Store, tmp_path: Path) -> None:
    saved = parts(store).save(type_out(store, "enrolment fee"), NAME)
    assert all(not one.moves and one.change == 0 for one in parts(store).replay(saved.id))
    more = tmp_path / "more"
    more.mkdir()
    more.joinpath("fees.md").write_text("# Enrolment fee\n\nThe enrolment fee is due before enrolment.\n", "utf-8")
    for _ in Ingester(store.corpus, HashEmbedder()).run(IngestRequest((str(more),), NAME)):
        pass
    last = list(parts(store).replay("last"))[-1]
    assert last.change > 0
    came = [move for move in last.moves if move.before is None]
    assert [store.corpus.chunks_by_id([move.chunk_id])[0].source_id for move in came] == ["fees.md"]


def test_deleting_a_session_leaves_none(store: Store) -> None:
    saved = parts(store).save(type_out(store, "fee"), NAME)
    parts(store).delete(saved.id)
    assert parts(store).sessions() == ()


def test_typing_finds_what_a_search_finds(store: Store) -> None:
    searcher, options = Searcher(store, HashEmbedder()), SearchOptions(collection=NAME)
    index = store.corpus.current_index(NAME)
    assert index is not None
    for keep in (False, True):
        if keep:
            assert store.search.keep(index, 1 << 20)
        for keystroke in type_out(store, "Where is the cafetería?"):
            found = searcher.search(keystroke.query, options)
            assert keystroke.hits == tuple(view.hit for view in found.hits)


def test_the_command_lists_shows_and_replays(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    saved = parts(store).save(type_out(store, "six books"), NAME)
    store.close()

    def told(*arguments: str) -> str:
        code = run(["--db", str(store.path), "keystrokes", *arguments], FrontEnds(open_desk, lambda _desk: 0))
        assert code == 0
        return capsys.readouterr().out

    assert "six books" in told()
    assert "six bo" in told(saved.id[:6])
    assert json.loads(told("last", "--json"))["id"] == saved.id
    told(saved.id, "--delete")
    assert "No session is saved" in told()
