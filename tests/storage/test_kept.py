"""What memory keeps of an index answers as the file itself does, and follows its changes."""

from __future__ import annotations

import random
import threading

import pytest

from storage.store import FileStore
from storage.word_scores import inverse_frequency
from tests.storage.builders import DIMENSION, analyse, document_of, put, vector_of
from workbench.errors import Cancelled
from workbench.records.corpus import Index
from workbench.records.retrieval import AllOf, Comparison, FilterNode, LaneHit

ALL = AllOf(())
RECENT = Comparison("year", ">=", 2020)
WORDS = "river bridge council treaty winter school engine border market island protein castle".split()
QUESTIONS = (
    "river",
    "the bridge of the council",
    "winter school market",
    "castle castle river protein",
    "nothing of it",
)

Found = list[tuple[LaneHit, ...]]


def store_one(store: FileStore, index: Index, name: str, paragraphs: list[str]) -> None:
    year = 2000 + int(name[:2]) if name[:2].isdigit() else 2000
    put(store, index, document_of(name, "\n\n".join(paragraphs), metadata={"year": year}), paragraphs)


def fill(store: FileStore, index: Index, first: int, count: int) -> None:
    draw = random.Random(first)
    for number in range(first, first + count):
        store_one(
            store, index, f"{number:02}.txt", [" ".join(draw.choices(WORDS, k=draw.randint(3, 30))) for _ in range(4)]
        )


def asked(store: FileStore, index: Index, where: FilterNode = ALL, k: int = 10) -> Found:
    lexical = [store.search.lexical(index, analyse(q), where, k) for q in QUESTIONS]
    return lexical + [store.search.dense(index, vector_of(q, DIMENSION), where, k) for q in QUESTIONS]


def assert_same(a: Found, b: Found) -> None:
    assert [[(hit.chunk_id, hit.score) for hit in hits] for hits in a] == [
        [(hit.chunk_id, hit.score) for hit in hits] for hits in b
    ]


@pytest.mark.parametrize("where", [ALL, RECENT], ids=["all", "filtered"])
@pytest.mark.parametrize("k", [1, 7, 500])
def test_results_and_scores_are_those_of_the_file_to_the_last_bit(
    store: FileStore, index: Index, where: FilterNode, k: int
) -> None:
    fill(store, index, 0, 40)
    before = asked(store, index, where, k)
    total = store.search.matching(index, where)
    assert store.search.keep(index, 1 << 20)
    assert_same(before, asked(store, index, where, k))
    assert_same(before, asked(store, index, where, k))
    assert store.search.matching(index, where) == total
    assert any(before)


def test_what_is_added_deleted_or_retired_shows_at_once(store: FileStore, index: Index) -> None:
    fill(store, index, 0, 20)
    store.search.keep(index, 1 << 20)
    kept = asked(store, index)
    fill(store, index, 20, 15)
    documents = store.corpus.documents("laws")
    store.corpus.set_status([documents[3].id], "retired")
    store.corpus.delete_documents([documents[5].id])
    fill(store, index, 35, 3)
    after = asked(store, index)
    assert [[h.chunk_id for h in hits] for hits in kept] != [[h.chunk_id for h in hits] for hits in after]
    assert_same(after, asked_of_the_file(store, index))


def test_additions_to_a_small_index_rank_as_in_the_file(store: FileStore, index: Index) -> None:
    fill(store, index, 0, 40)
    store.search.keep(index, 1 << 20)
    asked(store, index)
    store_one(store, index, "one more.txt", ["A castle on an island, and a river under its bridge."])
    assert_same(asked(store, index), asked_of_the_file(store, index))


def test_a_few_additions_to_a_large_index_are_appended(store: FileStore, index: Index) -> None:
    fill(store, index, 0, 251)
    store.search.keep(index, 1 << 20)
    asked(store, index)
    store_one(store, index, "one more.txt", ["A castle on an island."])
    appended, read = asked(store, index, k=2000), asked_of_the_file(store, index, k=2000)
    for some, all_ in zip(appended, read, strict=True):
        scores = {hit.chunk_id: hit.score for hit in all_}
        assert {hit.chunk_id: hit.score for hit in some} == pytest.approx(scores, rel=1e-3)


def asked_of_the_file(store: FileStore, index: Index, k: int = 10) -> Found:
    store.search.keep(index, 0)  # beyond the limit: memory lets go of it
    return asked(store, index, k=k)


def test_an_index_beyond_the_limit_stays_in_the_file(store: FileStore, index: Index) -> None:
    fill(store, index, 0, 5)
    assert not store.search.keep(index, 5 * 4 * DIMENSION * 4 - 1)
    assert store.search.keep(index, 5 * 4 * DIMENSION * 4)


def test_a_phrase_is_still_required(store: FileStore, index: Index) -> None:
    fill(store, index, 0, 10)
    store_one(store, index, "treaty.txt", ["The winter treaty was signed."])
    store.search.keep(index, 1 << 20)
    [only] = store.search.lexical(index, analyse('"winter treaty was"'), ALL, 10)
    assert store.corpus.chunks_by_id([only.chunk_id])[0].source_id == "treaty.txt"


def test_a_search_that_nobody_waits_for_ends(store: FileStore, index: Index) -> None:
    fill(store, index, 0, 5)
    cancel = threading.Event()
    cancel.set()
    store.search.keep(index, 1 << 20)
    with pytest.raises(Cancelled):
        store.search.lexical(index, analyse("river bridge"), ALL, 10, cancel)


@pytest.mark.parametrize(("rows", "holding", "idf"), [(10, 1, 1.8458266904983307), (10, 10, 1e-6), (0, 0, 1e-6)])
def test_the_inverse_frequency_is_that_of_fts5(rows: int, holding: int, idf: float) -> None:
    assert inverse_frequency(rows, holding) == pytest.approx(idf)
