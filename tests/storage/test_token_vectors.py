"""Token vectors in the file: they come and go with their chunks, and an index can do without."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from storage import open_store
from storage.driver import connect
from storage.migrations import MIGRATIONS, migrate
from storage.store import FileStore
from storage.token_vectors import tokens_table
from tests.storage.builders import DIMENSION, document_of, embedder, put, tokens_of
from workbench.records.corpus import Index, Recipe

MEAN = np.linspace(-1, 1, DIMENSION, dtype=np.float32)


def rows(store: FileStore, index: Index) -> int:
    with store._connections.read() as c:
        return int(c.execute(f"SELECT count(*) FROM {tokens_table(index.id)}").fetchone()[0])


def test_what_is_stored_is_read_by_chunk(store: FileStore, index: Index) -> None:
    store.corpus.fix_token_mean(index.id, MEAN)
    first, second = put(store, index, document_of("a.txt", ""), ["one two three", "…"])
    found = store.search.token_vectors(index, [second.id, "unknown", first.id])
    assert found.packed[first.id].tolist() == tokens_of("one two three").tolist()
    assert found.packed[second.id].dtype == np.uint8
    assert found.mean is not None
    assert found.mean.tolist() == MEAN.tolist()
    assert store.search.token_vectors(index, []).packed == {}


def test_without_a_mean_they_are_int8(store: FileStore, index: Index) -> None:
    (chunk,) = put(store, index, document_of("a.txt", ""), ["x" * 200])
    found = store.search.token_vectors(index, [chunk.id])
    assert (found.mean, found.packed[chunk.id].tolist()) == (None, [[200 - 256]])


def test_the_first_mean_holds(store: FileStore, index: Index) -> None:
    assert store.corpus.token_mean(index.id) is None
    assert store.corpus.fix_token_mean(index.id, MEAN).tolist() == MEAN.tolist()
    assert store.corpus.fix_token_mean(index.id, MEAN + 1).tolist() == MEAN.tolist()


def test_they_go_with_their_chunks(store: FileStore, index: Index) -> None:
    document, kept = document_of("a.txt", ""), document_of("b.txt", "")
    put(store, index, kept, ["stays here"])
    old = put(store, index, document, ["first words", "second words", ""])
    assert rows(store, index) == 3  # a chunk without tokens has no row
    new = put(store, index, document, ["first words", "other words altogether"])
    found = store.search.token_vectors(index, [chunk.id for chunk in (*old, *new)])
    assert set(found.packed) == {chunk.id for chunk in new}
    (gone,) = store.corpus.delete_documents([document.id])
    assert gone.remaining["token vectors"] == 0
    assert rows(store, index) == 1


def test_the_proof_of_a_deletion_counts_them(store: FileStore, index: Index) -> None:
    document = document_of("a.txt", "")
    put(store, index, document, ["left behind"])
    store._connections.write(lambda c: c.execute(f"DROP TRIGGER index_{index.id}_delete"))
    (check,) = store.corpus.delete_documents([document.id])
    assert check.remaining["token vectors"] == 1
    assert not check.gone


def test_an_index_by_a_recipe_without_keeps_none(store: FileStore, index: Index) -> None:
    bare = store.corpus.open_index("laws", embedder(), Recipe(token_vectors="none"))
    assert bare.id != index.id
    (chunk,) = put(store, bare, document_of("a.txt", ""), ["some words"])
    assert store.search.token_vectors(bare, [chunk.id]).packed == {}
    store.corpus.switch_index(bare.id)
    store.indexes.drop(index.id)
    with store._connections.read() as c:
        tables = {name for (name,) in c.execute("SELECT name FROM sqlite_master")}
    assert not {tokens_table(index.id), tokens_table(bare.id)} & tables
    (check,) = store.corpus.delete_documents(["laws/a.txt"])
    assert check.gone


def test_an_index_of_before_goes_on_without(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    older = connect(path, "create")
    migrate(older, path, MIGRATIONS[:6])
    older.execute(
        "INSERT INTO collection (name, recipe, created) VALUES ('laws', ?, '2026-01-01T00:00:00+00:00')",
        ('{"name": "structure", "overlap": 0, "parent_size": 1200, "size": 400, "threshold": 20.0, "type": "Recipe"}',),
    )
    older.close()
    store = open_store(path)
    recipe = store.corpus.collection("laws").recipe
    assert recipe == Recipe(token_vectors="none")
    index = store.corpus.open_index("laws", embedder(), recipe)
    assert store.corpus.open_index("laws", embedder(), recipe).id == index.id
    assert store.search.token_vectors(index, ["x"]).packed == {}
    store.close()
