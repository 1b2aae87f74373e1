"""Searching a real file: both lanes, filters that can't be dropped, and lanes that say why they didn't run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.embedders import INFO, HashEmbedder
from tests.library import DOCUMENTS, NAME, open_library
from workbench.errors import EngineError, FilterError, NotFoundError, UsageError
from workbench.ports import Store, Vector
from workbench.records.corpus import Recipe
from workbench.records.retrieval import FilterResult, LaneResult, SearchOptions
from workbench.retrieval.analysis import analyse
from workbench.retrieval.fusion import fuse
from workbench.retrieval.search import FOREIGN_WEIGHT, Searcher

OPTIONS = SearchOptions(NAME)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_library(tmp_path)
    yield opened
    opened.close()


def sources(store: Store, query: str, options: SearchOptions = OPTIONS) -> list[str]:
    return [hit.source_id for hit in Searcher(store, HashEmbedder()).search(query, options).hits]


def test_a_question_finds_its_section_with_what_each_lane_gave(store: Store) -> None:
    result = Searcher(store, HashEmbedder()).search("When does the enrolment office open?", OPTIONS)
    best = next(view for view in result.hits if view.hit.lexical_rank == 1)
    assert (best.source_id, best.title, best.heading) == ("enrolment.md", "Enrolment rules", ("Enrolment",))
    assert "3 September 2026" in best.text
    assert best.hit.dense_rank is not None
    assert best.hit.score == pytest.approx(1 / 61 + 1 / (60 + best.hit.dense_rank))
    assert [lane.lane for lane in result.lanes] == ["lexical", "dense"]
    assert result.filter.matching == result.filter.total == len(result.hits)
    assert result.filter.selectivity == 1.0


def test_a_question_that_the_embedder_reads_only_in_part_says_so(store: Store) -> None:
    searcher = Searcher(store, HashEmbedder())  # it reads 512 tokens of up to four letters
    told = searcher.search("books " * 300, OPTIONS).lanes[1].note
    assert told == "of the question's 600 tokens, the embedder reads 512"
    assert searcher.search("books " * 200, OPTIONS).lanes[1].note == ""


def test_two_chunks_of_a_hundred_are_a_selectivity_of_two_percent() -> None:
    assert FilterResult("year = 2026", "", 2, 100).selectivity == 0.02


def test_the_query_filter_holds_in_both_lanes(store: Store) -> None:
    options = replace(OPTIONS, filter='year >= 2025 and "staff" in roles')
    assert set(sources(store, "books euros cafetería enrolment", options)) == {"enrolment.md"}


def test_a_mandatory_filter_cannot_be_dropped(store: Store) -> None:
    store.corpus.set_mandatory_filter(NAME, '"student" in roles')
    for attempt in ("", "year = 2024 or year > 0", 'year > 0 or "staff" in roles', "not (year = 1)"):
        result = Searcher(store, HashEmbedder()).search("cafetería menú euros", replace(OPTIONS, filter=attempt))
        assert "coffee.md" not in {hit.source_id for hit in result.hits}
        assert result.filter.mandatory == '"student" in roles'
    with pytest.raises(FilterError):
        sources(store, "cafetería", replace(OPTIONS, filter=") or (year > 0"))


def test_a_mandatory_filter_on_a_field_that_nothing_has_lets_nothing_pass(store: Store) -> None:
    store.corpus.set_mandatory_filter(NAME, "clearance = secret")
    result = Searcher(store, HashEmbedder()).search("enrolment", OPTIONS)
    assert (result.hits, result.filter.matching) == ((), 0)


def test_filters_are_checked_against_the_fields_there_are(store: Store) -> None:
    with pytest.raises(FilterError, match="yaer"):
        sources(store, "x", replace(OPTIONS, filter="yaer > 2020"))
    with pytest.raises(FilterError, match="number"):
        sources(store, "x", replace(OPTIONS, filter='year > "many"'))


def test_without_an_embedder_words_still_find(store: Store) -> None:
    result = Searcher(store, None).search("borrow six books", OPTIONS)
    assert result.hits[0].source_id == "borrowing.md"
    assert result.lanes[1].skipped == "no embedder is installed"
    assert result.notes == ("dense lane skipped: no embedder is installed",)


def test_an_embedder_that_did_not_make_the_index_is_not_asked(store: Store) -> None:
    other = HashEmbedder(replace(INFO, name="other", fingerprint="other-print"))
    result = Searcher(store, other).search("borrow six books", OPTIONS)
    assert "hash" in result.lanes[1].skipped
    assert "other" in result.lanes[1].skipped
    assert result.hits[0].source_id == "borrowing.md"


def test_a_dying_embedder_skips_its_lane(store: Store) -> None:
    class Dying(HashEmbedder):
        def embed_query(self, text: str) -> Vector:
            raise EngineError("The embedder died", "Signal 9.")

    result = Searcher(store, Dying()).search("borrow six books", OPTIONS)
    assert result.lanes[1].skipped == "The embedder died: Signal 9."
    assert result.hits


@pytest.mark.parametrize("query", ["", "   ", "¿…?", "🙂", '"', "C++ (a-b) x:y AND NOT"])
def test_any_query_is_accepted(store: Store, query: str) -> None:
    result = Searcher(store, HashEmbedder()).search(query, OPTIONS)
    if not result.analysis.terms:
        assert result.lanes[0].skipped == "the question has no words"


def test_a_phrase_must_occur(store: Store) -> None:
    lexical = replace(OPTIONS, lanes=("lexical",))
    assert sources(store, '"six books" enrolment', lexical) == ["borrowing.md"]
    assert sources(store, '"books six" enrolment', lexical) == []


def test_unknown_and_empty_collections_are_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError, match="library"):
        sources(store, "x", SearchOptions("nowhere"))
    store.corpus.create_collection("empty", Recipe())
    with pytest.raises(NotFoundError, match="workbench ingest"):
        sources(store, "x", SearchOptions("empty"))


def test_a_search_without_lanes_is_a_usage_error(store: Store) -> None:
    with pytest.raises(UsageError):
        sources(store, "x", replace(OPTIONS, lanes=()))
    with pytest.raises(UsageError):
        sources(store, "x", replace(OPTIONS, k=0))


def test_retired_documents_are_not_found(store: Store) -> None:
    (gone,) = (d for d in store.corpus.documents(NAME) if d.source_id == "borrowing.md")
    store.corpus.set_status([gone.id], "retired")
    assert set(sources(store, "borrow six books")) == set(DOCUMENTS) - {"borrowing.md"}


SPANISH = {
    "a.txt": "El faro abre a las nueve de la mañana.",
    "b.txt": "La torre LC-40 se cierra con llave en invierno.",
}


def lexical(store: Store, query: str) -> LaneResult:
    return Searcher(store, HashEmbedder()).search(query, OPTIONS).lanes[0]


def test_a_question_in_a_language_that_no_source_is_in_asks_for_its_names_only(tmp_path: Path) -> None:
    store = open_library(tmp_path, SPANISH)
    try:
        lane = lexical(store, "What does the machine LC-40 of the lighthouse weigh?")
        assert (len(lane.hits), lane.weight) == (1, FOREIGN_WEIGHT)
        assert "only its names and numbers" in lane.note
        result = Searcher(store, HashEmbedder()).search("Where is the machine?", OPTIONS)
        assert "no names or numbers" in result.lanes[0].skipped
        assert result.hits
        fused = fuse([lane], OPTIONS).hits[0]
        assert fused.contributions == (("lexical", FOREIGN_WEIGHT / 61),)
    finally:
        store.close()


def test_words_that_occur_are_looked_for_whatever_language_the_question_seems_to_be_in(tmp_path: Path) -> None:
    store = open_library(tmp_path, SPANISH)
    try:
        assert analyse("is the torre llave invierno").language == "en"  # mistaken: its words are the source's
        lane = lexical(store, "is the torre llave invierno")
        assert (len(lane.hits), lane.weight, lane.note) == (1, 1.0, "")
        assert lexical(store, "torre llave").weight == 1.0
    finally:
        store.close()


def test_a_question_in_the_sources_language_keeps_all_its_words(store: Store) -> None:
    assert lexical(store, "What unheard-of gadgetry is there?").note == ""
    assert lexical(store, "¿Cuánto cuesta el menú del día?").hits
