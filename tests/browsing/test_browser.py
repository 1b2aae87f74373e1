"""Listings of a real file: every order, filters, words, and what is known of a chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.browsing import _numbers, words_expression
from tests.ingest.conftest import Bench
from tests.ingest.conftest import bench as empty
from tests.lenses.test_lenses import ask
from tests.library import NAME, open_library
from workbench.browsing import Browser, Listing
from workbench.errors import Cancelled, FilterError, NotFoundError
from workbench.ports import Cancel, Store
from workbench.records.browsing import ChunkQuery, ChunkRow
from workbench.records.corpus import Recipe

__all__ = ["empty"]

DOCUMENTS = {
    f"{number}.md": f"---\ndate: 20{26 - number:02}-01-01\n---\n"
    + "\n\n".join(
        f"# Part {n}\n\n{'Words of matter. ' * (1 + (number * 7 + n * 3) % 9)}Number {number}." for n in range(4)
    )
    for number in range(5)
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("browsing")
    store = open_library(folder, {**DOCUMENTS, "es.md": "# Matrícula\n\nLa ampliación de matrícula se pide en mayo."})
    yield store
    store.close()


@pytest.fixture
def browser(store: Store) -> Browser:
    return Browser(store, lambda: None)


def listed(browser: Browser, query: ChunkQuery) -> list[ChunkRow]:
    *_, listing = browser.open(query)
    assert listing.whole
    return list(browser.rows(listing, 0, listing.total))


def test_all_chunks_stand_by_document_and_in_the_order_of_the_text(store: Store, browser: Browser) -> None:
    rows = listed(browser, ChunkQuery(NAME))
    assert len(rows) == sum(document.chunks for document in store.corpus.documents(NAME)) > 6
    places = [(row.source_id, row.ordinal) for row in rows]
    for document in store.corpus.documents(NAME):
        assert [n for name, n in places if name == document.source_id] == list(range(document.chunks))


@pytest.mark.parametrize("descending", [False, True])
def test_orders_are_orders_and_lose_nothing(browser: Browser, descending: bool) -> None:
    everything = {row.id for row in listed(browser, ChunkQuery(NAME))}
    measures = {
        "tokens": lambda row: row.tokens,
        "length": lambda row: row.characters,
        "language": lambda row: row.language,
        "date": lambda row: row.date,
    }
    for order, measure in measures.items():
        rows = listed(browser, ChunkQuery(NAME, order=order, descending=descending))  # type: ignore[arg-type]  # a ChunkOrder
        assert [measure(r) for r in rows] == sorted(map(measure, rows), reverse=descending), order
        assert {row.id for row in rows} == everything, order
    assert rows[-1 if not descending else 0].date == "2026-01-01"


@pytest.mark.parametrize("descending", [False, True])
def test_the_first_rows_by_date_are_those_of_the_whole_order(browser: Browser, descending: bool) -> None:
    query = ChunkQuery(NAME, order="date", descending=descending)
    first, whole = list(browser.open(query, known=1000))
    assert first.keys.tolist() == whole.keys[: len(first.keys)].tolist()
    rows = browser.rows(whole, 0, whole.total)
    assert [row.ordinal for row in rows if row.source_id == "1.md"] == sorted(range(4), reverse=descending)
    dated = listed(browser, ChunkQuery(NAME, order="date", descending=descending, filter="tokens >= 0"))
    assert [row.id for row in dated] == [row.id for row in rows], "as by the filtered order's own statement"
    document = rows[0].document_id
    assert {row.document_id for row in listed(browser, replace(query, document_id=document))} == {document}


def test_what_questions_found_is_counted_and_stands_first(empty: Bench) -> None:
    for name in "abc":
        empty.write(f"{name}.txt", f"The {name} office opens at nine.")
    empty.ingest()
    browser = Browser(empty.store, lambda: None)
    chunks = {row.source_id: row.id for row in listed(browser, ChunkQuery("c"))}
    ask(empty, "t1", "When?", [chunks["b.txt"], chunks["c.txt"]])
    ask(empty, "t2", "Where?", [chunks["c.txt"]])
    most = listed(browser, ChunkQuery("c", order="hits", descending=True))
    assert [(row.source_id, row.hits) for row in most] == [("c.txt", 2), ("b.txt", 1), ("a.txt", 0)]
    assert [row.source_id for row in listed(browser, ChunkQuery("c", order="hits"))] == ["a.txt", "b.txt", "c.txt"]
    found = listed(browser, ChunkQuery("c", order="hits", descending=True, words="b"))
    assert [row.source_id for row in found] == ["b.txt"]


def test_a_filter_and_words_restrict_one_document_or_all(browser: Browser) -> None:
    rows = listed(browser, ChunkQuery(NAME, filter='date >= 2025-01-01 and section = "Part 2"'))
    assert sorted(row.source_id for row in rows) == ["0.md", "1.md"]
    assert [row.source_id for row in listed(browser, ChunkQuery(NAME, words="matricul amplia"))] == ["es.md"]
    found = listed(browser, ChunkQuery(NAME, document_id=rows[0].document_id, words='"number 0"'))
    assert {row.source_id for row in found} == {rows[0].source_id}
    assert len(found) == 4


@pytest.mark.parametrize(
    "hostile", ['"', '""', "a OR", "NEAR(", "text:", "*", "^x", 'x" OR "y', "(", "-", "ΩΩ 漢字", "\x00"]
)
def test_words_are_never_syntax(browser: Browser, hostile: str) -> None:
    for row in listed(browser, ChunkQuery(NAME, words=hostile)):
        assert row.id


@given(st.text(max_size=40))
def test_every_text_makes_an_expression_of_quoted_words(asked: str) -> None:
    assert words_expression(asked).count('"') % 2 == 0


def test_what_cannot_be_asked_is_said(browser: Browser) -> None:
    with pytest.raises(FilterError):
        next(browser.open(ChunkQuery(NAME, filter="tokens >")))
    with pytest.raises(NotFoundError):
        next(browser.open(ChunkQuery("nowhere")))
    cancel = Cancel()
    cancel.set()
    with pytest.raises(Cancelled):
        next(browser.open(ChunkQuery(NAME, words="words"), cancel))


def test_a_retired_document_is_listed_but_passes_no_filter_that_does_not_name_it(tmp_path: Path) -> None:
    store = open_library(tmp_path)
    browser = Browser(store, lambda: None)
    before = len(listed(browser, ChunkQuery(NAME)))
    coffee = next(d for d in store.corpus.documents(NAME) if d.source_id == "coffee.md")
    store.corpus.set_status([coffee.id], "retired")
    rows = listed(browser, ChunkQuery(NAME))
    assert len(rows) == before
    assert {row.source_id for row in rows if row.status == "retired"} == {"coffee.md"}
    assert "coffee.md" not in {row.source_id for row in listed(browser, ChunkQuery(NAME, filter="year >= 2000"))}
    named = listed(browser, ChunkQuery(NAME, filter="status = retired"))
    assert {row.source_id for row in named} == {"coffee.md"}
    store.close()


def test_neighbours_ids_and_facts_of_a_chunk(store: Store, browser: Browser) -> None:
    document = next(d for d in store.corpus.documents(NAME) if d.chunks > 2)
    first, second, *_ = store.corpus.chunks(document.id)
    assert browser.neighbour(NAME, first.id, 1) == second
    assert browser.neighbour(NAME, first.id, -1) is None
    assert first in browser.find(NAME, first.id[:6])
    assert browser.find(NAME, "") == browser.find(NAME, "none") == ()
    store.corpus.create_collection("another", Recipe())
    assert browser.find("another", first.id[:6]) == ()
    (placement,) = browser.facts(first).placements
    assert placement.there
    assert placement.norm == pytest.approx(1.0, abs=1e-5)


def test_a_place_is_found_by_number_and_a_deleted_chunk_leaves_its_line_out(tmp_path: Path) -> None:
    store = open_library(tmp_path)
    browser = Browser(store, lambda: None)
    *_, listing = browser.open(ChunkQuery(NAME))
    last = browser.rows(listing, listing.total - 1, listing.total)[0]
    assert listing.place(last.key) == listing.total - 1
    store.corpus.delete_documents([last.document_id])
    assert last.id not in {row.id for row in browser.rows(listing, 0, listing.total)}
    assert browser.chunk(last.id) is None
    assert browser.key(NAME, last.id) is None
    store.close()


@given(st.lists(st.integers(1, 1 << 40), max_size=300))
def test_numbers_come_back_as_they_were_joined(numbers: list[int]) -> None:
    assert _numbers(",".join(map(str, numbers))).tolist() == numbers


def test_an_empty_collection_lists_nothing(tmp_path: Path) -> None:
    store = open_library(tmp_path)
    store.corpus.create_collection("empty", store.corpus.collection(NAME).recipe)
    (listing,) = Browser(store, lambda: None).open(ChunkQuery("empty"))
    assert isinstance(listing, Listing)
    assert listing.total == 0
    store.close()
