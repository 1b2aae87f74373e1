"""Collections, indexes, documents and chunks, stored, changed and deleted."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest

from storage import open_store
from storage.indexes import unit_vectors
from storage.store import FileStore
from tests.storage.builders import chunk_of, counts, document_of, embedder, put, query, vector_of
from workbench.errors import EngineError, NotFoundError, UsageError
from workbench.records.corpus import Block, Index, Metadata, Page, ParsedDocument, Recipe
from workbench.records.retrieval import AllOf, Comparison

EVERYTHING = AllOf(())


def found(store: FileStore, index: Index, text: str) -> list[str]:
    return [hit.chunk_id for hit in store.search.lexical(index, query(text), EVERYTHING, 10)]


def test_a_collection_comes_back_as_it_was_made(store: FileStore) -> None:
    made = store.corpus.create_collection("  leyes  ", Recipe("window", 350, 60), "status = current")
    assert made == store.corpus.collection("leyes")
    assert (made.recipe, made.mandatory_filter, made.version) == (Recipe("window", 350, 60), "status = current", 0)
    assert store.corpus.set_mandatory_filter("leyes", "").mandatory_filter == ""
    assert store.corpus.set_recipe("leyes", Recipe("parent")).recipe == Recipe("parent")


def test_collections_are_refused_in_words(store: FileStore) -> None:
    store.corpus.create_collection("laws", Recipe())
    with pytest.raises(UsageError, match="already"):
        store.corpus.create_collection("laws", Recipe())
    with pytest.raises(UsageError, match="empty"):
        store.corpus.create_collection("  ", Recipe())
    with pytest.raises(NotFoundError, match="There are: laws"):
        store.corpus.collection("x'; DROP TABLE collection; --")
    assert store.corpus.collection("laws").documents == 0


def test_a_document_comes_back_whole(store: FileStore, index: Index) -> None:
    text = "id;name\n1;Ana\n\nEl año pasado 🙂 llovió."
    metadata: Metadata = {
        "year": 2026,
        "rate": 0.5,
        "draft": False,
        "valid_from": date(2026, 1, 2),
        "roles": ("student", "staff"),
    }
    document = document_of("a.csv", text, title="Lluvia", language="es", metadata=metadata)
    parsed = ParsedDocument(
        text,
        "Lluvia",
        "text/csv",
        (Block(0, 7, "table"), Block(8, 13, "row", header="id;name")),
        (Page(1, "i", 0, len(text)),),
        {"date": date(2025, 5, 5), "at": datetime(2025, 5, 5, 10, 30)},
        ("guessed",),
    )
    rows = [
        replace(chunk_of(document, 0, 8, "1;Ana", header="id;name", heading=("A > B", "C")), metadata={"row": 1}),
        replace(chunk_of(document, 1, 15, text[15:]), parent_start=0, parent_end=len(text), truncated=True),
    ]
    store.corpus.put_document(index, document, parsed, rows, {c.id: vector_of(c.text) for c in rows})
    assert store.corpus.document(document.id) == replace(document, chunks=2)
    assert store.corpus.documents("laws") == store.corpus.documents() == (replace(document, chunks=2),)
    assert store.corpus.document_text(document.id) == text
    assert store.corpus.parsed_document(document.id) == parsed
    assert store.corpus.chunks(document.id) == tuple(rows)
    assert store.corpus.chunks_by_id([rows[1].id, "none", rows[0].id]) == (rows[1], rows[0])
    assert store.corpus.find_chunks(rows[0].id[:6]) == (rows[0],)
    assert store.corpus.chunks(document.id, limit=1, offset=1) == (rows[1],)
    assert all(text[c.start : c.end] == c.text for c in store.corpus.chunks(document.id))


@pytest.mark.parametrize("call", ["document", "document_text", "parsed_document"])
def test_an_unknown_document_is_told(store: FileStore, call: str) -> None:
    with pytest.raises(NotFoundError, match="no document “%_”"):
        getattr(store.corpus, call)("%_")


def test_putting_again_keeps_vectors_and_drops_what_is_gone(store: FileStore, index: Index) -> None:
    document = document_of("a.txt", "")
    first = put(store, index, document, ["the kept paragraph", "the zebra paragraph"])
    before = store.corpus.embedded_chunks(index.id, document.id)
    assert before == {chunk.id for chunk in first}
    second = put(store, index, document, ["the kept paragraph", "the giraffe paragraph", "the heron paragraph"])
    assert first[0].id == second[0].id
    assert counts(store, index) == {"chunks": 3, "words": 3, "vectors": 3}
    assert found(store, index, "zebra") == []
    assert found(store, index, "giraffe") == [second[1].id]
    assert store.corpus.chunks_by_id([first[1].id]) == ()
    assert store.corpus.collection("laws").version == 2


def test_a_chunk_whose_text_changed_under_its_id_loses_its_old_vector(store: FileStore, index: Index) -> None:
    document = document_of("a.txt", "")
    (chunk,) = put(store, index, document, ["before"])
    changed = replace(chunk, text="after", end=5, hash="another")
    store.corpus.put_document(index, document, ParsedDocument("after", "", "text/plain", ()), [changed], {})
    assert store.corpus.embedded_chunks(index.id, document.id) == frozenset()
    assert not store.corpus.document_states("laws", index.id)["a.txt"].complete
    assert found(store, index, "before") == []


def test_states_tell_what_ingest_must_do_again(store: FileStore, index: Index) -> None:
    put(store, index, document_of("whole.txt", ""), ["one", "two"])
    put(store, index, document_of("half.txt", ""), ["three", "four"], vectors=False)
    put(store, index, document_of("empty.txt", ""), [])
    states = store.corpus.document_states("laws", index.id)
    assert {name: state.complete for name, state in states.items()} == {
        "whole.txt": True,
        "half.txt": False,
        "empty.txt": True,
    }
    assert states["whole.txt"].uri == "/docs/whole.txt"
    other = store.corpus.open_index("laws", embedder(), Recipe("sentence"))
    assert not any(state.complete for state in store.corpus.document_states("laws", other.id).values())


@pytest.mark.parametrize(
    ("vector", "why"),
    [
        (np.zeros(8, dtype=np.float32), "zero"),
        (np.full(8, np.nan, dtype=np.float32), "not numbers"),
        (np.full(8, np.inf, dtype=np.float32), "not numbers"),
        (np.ones(7, dtype=np.float32), "7 numbers"),
        (np.ones((1, 8), dtype=np.float32), "8 numbers"),
    ],
)
def test_a_bad_vector_is_refused_and_nothing_is_stored(
    store: FileStore, index: Index, vector: object, why: str
) -> None:
    document = document_of("a.txt", "good bad")
    good, bad = chunk_of(document, 0, 0, "good"), chunk_of(document, 1, 5, "bad")
    parsed = ParsedDocument("good bad", "", "text/plain", ())
    with pytest.raises(EngineError, match=why):
        store.corpus.put_document(index, document, parsed, [good, bad], {good.id: vector_of("g"), bad.id: vector})  # type: ignore[dict-item]  # that is the test
    assert store.corpus.documents() == ()
    assert counts(store, index) == {"chunks": 0, "words": 0, "vectors": 0}
    with pytest.raises(EngineError, match=why):
        store.search.dense(index, vector, EVERYTHING, 5)  # type: ignore[arg-type]  # that is the test


def test_chunk_ids_that_clash_are_refused(store: FileStore, index: Index) -> None:
    (chunk,) = put(store, index, document_of("a.txt", ""), ["one"])
    other = document_of("b.txt", "")
    parsed = ParsedDocument("one", "", "text/plain", ())
    stolen = replace(chunk, document_id=other.id, source_id="b.txt")
    with pytest.raises(UsageError, match="id of another chunk"):
        store.corpus.put_document(index, other, parsed, [stolen], {})
    with pytest.raises(UsageError, match="id of another chunk"):
        store.corpus.put_document(index, document_of("a.txt", ""), parsed, [chunk, chunk], {})
    assert [d.source_id for d in store.corpus.documents()] == ["a.txt"]


def test_indexes_live_side_by_side_until_one_is_switched_to(store: FileStore, index: Index) -> None:
    document = document_of("a.txt", "")
    put(store, index, document, ["one two", "three"])
    other = store.corpus.open_index("laws", embedder("f2", 4), Recipe("sentence"))
    assert (index.status, other.status) == ("current", "building")
    assert store.corpus.open_index("laws", embedder("f2", 4), Recipe("sentence")).id == other.id
    version = store.corpus.collection("laws").version
    put(store, other, document, ["one two", "three"])
    assert store.corpus.collection("laws").version == version  # its documents are what they were
    assert counts(store, index) == counts(store, other) == {"chunks": 2, "words": 2, "vectors": 2}
    assert [i.vectors for i in store.corpus.indexes("laws")] == [2, 2]
    with pytest.raises(EngineError, match="4 numbers"):
        store.search.dense(index, vector_of("q", 4), EVERYTHING, 5)
    version = store.corpus.collection("laws").version
    store.corpus.switch_index(other.id)
    current = store.corpus.current_index("laws")
    assert current is not None
    assert current.id == other.id
    assert [(i.status, i.vectors) for i in store.corpus.indexes("laws")] == [("current", 2), ("kept", 2)]
    assert store.corpus.collection("laws").version == version + 1
    assert store.corpus.collection("laws").recipe == Recipe("sentence")
    assert len(store.corpus.chunks(document.id)) == 2
    assert len(found(store, index, "one")) == 1
    with pytest.raises(UsageError, match="Queries meet"):
        store.indexes.drop(other.id)
    store.indexes.drop(index.id)
    assert [(i.status, i.vectors) for i in store.corpus.indexes("laws")] == [("current", 2), ("retired", 0)]
    assert store.corpus.chunks(document.id, index.id) == ()
    with pytest.raises(NotFoundError, match="replaced"):
        found(store, index, "one")
    with pytest.raises(NotFoundError):
        store.corpus.switch_index(index.id)
    with pytest.raises(NotFoundError):
        put(store, index, document, ["one two"], vectors=False)
    assert store.corpus.open_index("laws", embedder(), Recipe()).id not in (index.id, other.id)


def test_a_changed_text_leaves_no_chunks_of_the_old_one_in_other_indexes(store: FileStore, index: Index) -> None:
    document = document_of("a.txt", "")
    put(store, index, document, ["the old words"])
    other = store.corpus.open_index("laws", embedder(), Recipe("sentence"))
    put(store, other, document, ["the new words"])
    assert counts(store, index) == {"chunks": 0, "words": 0, "vectors": 0}
    assert not store.corpus.document_states("laws", index.id)["a.txt"].complete
    assert store.corpus.document_states("laws", other.id)["a.txt"].complete


def test_metadata_can_be_replaced(store: FileStore, index: Index) -> None:
    document = document_of("a.txt", "", title="Old title", metadata={"year": 2020, "tag": "x"})
    (chunk,) = put(store, index, document, ["body"])
    new: Metadata = {"year": 2026, "title": "Becas nuevas", "status": "retired", "language": "es"}
    store.corpus.update_metadata(document.id, new, "m2")
    stored = store.corpus.document(document.id)
    assert (stored.title, stored.status, stored.language, stored.metadata_hash) == (
        "Becas nuevas",
        "retired",
        "es",
        "m2",
    )
    assert stored.metadata == new
    store.corpus.update_metadata(document.id, {"status": "current"}, "m3")
    assert store.corpus.document(document.id).title == "Old title"
    assert found(store, index, "title") == [chunk.id]
    assert found(store, index, "becas") == []
    assert "year" not in store.search.fields("laws")
    assert counts(store, index) == {"chunks": 1, "words": 1, "vectors": 1}
    with pytest.raises(NotFoundError):
        store.corpus.update_metadata("none", {}, "m")


def test_retired_documents_are_listed_and_not_retrieved(store: FileStore, index: Index) -> None:
    documents = [document_of(name, "") for name in ("a.txt", "b.txt")]
    first, second = (put(store, index, d, [f"shared words of {d.source_id}"])[0] for d in documents)
    assert store.corpus.set_status([d.id for d in documents[:1]], "retired") == 1
    assert store.corpus.set_status([documents[0].id, "none"], "retired") == 0
    assert found(store, index, "shared words") == [second.id]
    assert [h.chunk_id for h in store.search.dense(index, vector_of("q"), EVERYTHING, 5)] == [second.id]
    assert store.search.matching(index, EVERYTHING) == (1, 2)
    retired = Comparison("status", "=", "retired")
    assert [h.chunk_id for h in store.search.dense(index, vector_of("q"), retired, 5)] == [first.id]
    assert [d.status for d in store.corpus.documents("laws")] == ["retired", "current"]
    assert store.corpus.set_status([documents[0].id], "current") == 1
    assert len(found(store, index, "shared words")) == 2


def test_counts_that_are_kept_follow_every_change(store: FileStore, index: Index) -> None:
    def counted() -> tuple[int, int]:
        known = store.corpus.collection("laws")
        assert (known,) == store.corpus.collections()
        return known.documents, known.chunks

    assert counted() == (0, 0)
    document = document_of("a.txt", "")
    put(store, index, document, ["one", "two", "three"])
    assert counted() == counted() == (1, 3)
    put(store, index, document, ["one", "two"])
    put(store, index, document_of("b.txt", ""), ["four"])
    assert counted() == (2, 3)
    store.corpus.switch_index(store.corpus.open_index("laws", embedder("f2"), Recipe()).id)
    assert counted() == (2, 0)
    store.corpus.switch_index(index.id)
    store.corpus.delete_documents([document.id])
    assert counted() == (1, 1)
    store.corpus.delete_collection("laws")
    store.corpus.create_collection("laws", Recipe())  # which may get the same number
    put(store, store.corpus.open_index("laws", embedder(), Recipe()), document, ["one"])
    assert counted() == (1, 1)


def test_counts_that_are_kept_follow_another_process(store: FileStore, index: Index) -> None:
    put(store, index, document_of("a.txt", ""), ["one"])
    assert store.corpus.collection("laws").chunks == 1
    other = open_store(store.path)
    assert isinstance(other, FileStore)
    put(other, index, document_of("b.txt", ""), ["two"])
    other.close()
    assert store.corpus.collection("laws").chunks == 2


def test_deleting_is_proved(store: FileStore, index: Index) -> None:
    document, kept = document_of("a.txt", "", metadata={"year": 2026}), document_of("b.txt", "")
    put(store, index, document, ["zebra one", "zebra two", "…"], chunk_metadata={"part": 1})
    put(store, index, kept, ["zebra three"])
    version = store.corpus.collection("laws").version
    gone, unknown = store.corpus.delete_documents([document.id, "none", document.id])
    assert gone.gone
    assert gone.source_id == "a.txt"
    assert set(gone.remaining) == {
        "document",
        "text",
        "chunks",
        "metadata",
        "full text",
        "vectors",
        "token vectors",
    }
    assert unknown.source_id == ""
    assert counts(store, index) == {"chunks": 1, "words": 1, "vectors": 1}
    assert len(found(store, index, "zebra")) == 1
    assert [d.id for d in store.corpus.documents()] == [kept.id]
    assert store.corpus.collection("laws").version == version + 1


def test_deleted_words_and_vectors_are_not_in_the_file_any_more(tmp_path: Path) -> None:
    path = tmp_path / "workbench.db"
    store = open_store(path)
    assert isinstance(store, FileStore)
    store.corpus.create_collection("laws", Recipe())
    index = store.corpus.open_index("laws", embedder(), Recipe())
    put(store, index, document_of("kept.txt", ""), [f"kept words {n}" for n in range(50)])
    document = document_of("a.txt", "", metadata={"owner": "Zyxwmeta"})
    (chunk,) = put(store, index, document, ["The Zyxwsecret stands here."])
    (vector,) = unit_vectors([vector_of(chunk.text)], [""], 8)
    store.close()
    data = path.read_bytes()
    assert all(trace in data for trace in (b"Zyxwsecret", b"zyxwsecret", b"Zyxwmeta", vector))
    store = open_store(path)
    assert store.corpus.delete_documents([document.id])[0].gone
    store.close()
    data = path.read_bytes()
    assert [trace for trace in (b"Zyxwsecret", b"zyxwsecret", b"zyxw", b"Zyxwmeta", vector) if trace in data] == []


def test_a_deletion_that_leaves_something_behind_is_seen(store: FileStore, index: Index) -> None:
    document = document_of("a.txt", "")
    put(store, index, document, ["zebra one", "zebra two"])
    store._connections.write(lambda c: c.execute(f"DROP TRIGGER index_{index.id}_delete"))
    (check,) = store.corpus.delete_documents([document.id])
    assert not check.gone
    assert check.remaining["vectors"] == 2
    assert check.remaining["full text"] >= 2


def test_deleting_a_collection_leaves_no_table_of_it(store: FileStore, index: Index) -> None:
    put(store, index, document_of("a.txt", "", metadata={"year": 2026}), ["one"])
    store.corpus.open_index("laws", embedder("f2"), Recipe())
    store.corpus.create_collection("other", Recipe())
    store.corpus.delete_collection("laws")
    assert [c.name for c in store.corpus.collections()] == ["other"]
    with store._connections.read() as c:
        assert c.execute("SELECT name FROM sqlite_master WHERE name LIKE 'index\\_%' ESCAPE '\\'").fetchall() == []
        for table in ("document", "document_text", "chunk", "field", "indexed_document", "corpus_index"):
            assert c.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        assert c.execute("PRAGMA foreign_key_check").fetchall() == []
    with pytest.raises(NotFoundError):
        store.corpus.delete_collection("laws")


def test_text_that_utf8_cannot_hold_is_stored_at_the_same_offsets(store: FileStore, index: Index) -> None:
    document = document_of(
        "a\ud800.txt", "", title="bad \udfff title", metadata={"k\ud800": "v\udfff", "tags": ("\ud800",)}
    )
    (chunk,) = put(store, index, document, ["before \ud83d after\x00null"], heading=("\ud800 heading",))
    (stored,) = store.corpus.chunks(document.id)
    assert (stored.start, stored.end, stored.text) == (chunk.start, chunk.end, "before ? after\x00null")
    assert store.corpus.document_text(document.id) == stored.text
    assert found(store, index, "after \ud800") == [chunk.id]
