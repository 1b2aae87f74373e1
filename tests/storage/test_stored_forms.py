"""Every form in a real file: searched out of the file and out of memory alike, filtered, deleted, rebuilt."""

from __future__ import annotations

import numpy as np
import pytest

from storage.indexes import originals_table
from storage.store import FileStore
from tests.storage.builders import document_of, embedder, put
from workbench.indexing.forms import FORMS, pack, shortened, similarity, unpack
from workbench.records.corpus import Index, Recipe, VectorForm
from workbench.records.retrieval import AllOf, Comparison

DIMENSION = 64
EVERYTHING = AllOf(())
ALL = [*FORMS.values(), VectorForm("float32", 32), VectorForm("int8", 32), VectorForm("bit", 32, "float32")]
LARGE = 1 << 30


@pytest.fixture(params=ALL, ids=str)
def index(request: pytest.FixtureRequest, store: FileStore) -> Index:
    form: VectorForm = request.param
    store.corpus.create_collection("laws", Recipe())
    centre = np.linspace(-0.05, 0.05, form.dimension or DIMENSION, dtype=np.float32)
    made = store.indexes.open("laws", embedder(dimension=DIMENSION), Recipe(), form, centre)
    for number in range(6):
        document = document_of(f"{number}.txt", "", metadata={"year": 2020 + number})
        put(store, made, document, [f"paragraph {number} {n}" for n in range(20)])
    return made


def asked(seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)


def test_memory_finds_what_the_file_finds_with_a_filter_and_without(store: FileStore, index: Index) -> None:
    some = Comparison("year", ">=", 2023)
    before = [store.search.dense(index, asked(seed), where, 10) for seed in range(4) for where in (EVERYTHING, some)]
    assert store.search.keep(index, LARGE)
    after = [store.search.dense(index, asked(seed), where, 10) for seed in range(4) for where in (EVERYTHING, some)]
    for first, second in zip(before, after, strict=True):
        if index.form != VectorForm("bit"):  # of chunks with equally many signs, either may be the last one
            assert [hit.chunk_id for hit in first] == [hit.chunk_id for hit in second]
        assert np.allclose([hit.score for hit in first], [hit.score for hit in second], atol=1e-5)
    assert len(before[1]) == 10
    sources = {chunk.source_id for chunk in store.corpus.chunks_by_id([hit.chunk_id for hit in before[1]])}
    assert sources <= {"3.txt", "4.txt", "5.txt"}


def test_it_finds_what_its_form_finds_in_numpy(store: FileStore, index: Index) -> None:
    form, query = index.form, asked() / np.linalg.norm(asked())
    chunks = [chunk for d in store.corpus.documents("laws") for chunk in store.corpus.chunks(d.id, index.id)]
    stored = store.search.vectors(index.id, [chunk.id for chunk in chunks])
    assert all(np.isclose(np.linalg.norm(vector), 1, atol=1e-3) for vector in stored.values())
    assert {len(vector) for vector in stored.values()} == {index.dimension}
    hits = store.search.dense(index, query, EVERYTHING, 10)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    cut = shortened(query.reshape(1, -1), form.dimension)
    exact = {name: float(vector @ cut[0]) for name, vector in stored.items()}
    if form.component != "bit" or form.rescore != "none":
        assert np.allclose([hit.score for hit in hits], [exact[hit.chunk_id] for hit in hits], atol=0.02)
    if form.component == "float32":
        assert [hit.chunk_id for hit in hits] == sorted(exact, key=lambda name: -exact[name])[:10]


def test_memory_takes_what_the_form_takes(store: FileStore, index: Index) -> None:
    width = {"float32": 4, "int8": 1, "bit": 1 / 8}[index.form.component]
    needed = int(120 * index.dimension * width)
    assert not store.search.keep(index, needed - 1)
    assert store.search.keep(index, needed)


def test_what_comes_in_later_is_found_out_of_memory(store: FileStore, index: Index) -> None:
    store.search.keep(index, LARGE)
    store.search.dense(index, asked(), EVERYTHING, 5)
    (chunk,) = put(store, index, document_of("new.txt", ""), ["something new"])
    vector = store.search.vectors(index.id, [chunk.id])[chunk.id]
    if index.dimension == DIMENSION:
        assert store.search.dense(index, vector, EVERYTHING, 1)[0].chunk_id == chunk.id


def test_a_deleted_document_leaves_nothing_in_any_table(store: FileStore, index: Index) -> None:
    (check,) = store.corpus.delete_documents(["laws/2.txt"])
    assert check.gone
    assert store.indexes.index(index.id).vectors == 100
    if index.form.rescore != "none":
        with store._connections.read() as c:
            assert c.execute(f"SELECT count(*) FROM {originals_table(index.id)}").fetchone() == (100,)
    before = store.search.dense(index, asked(), EVERYTHING, 10)
    assert store.health.rebuild_vectors(index, lambda done, total: None) == 100
    assert store.search.dense(index, asked(), EVERYTHING, 10) == before


def test_vectors_to_rescore_with_that_stay_are_seen(store: FileStore) -> None:
    store.corpus.create_collection("laws", Recipe())
    form, centre = VectorForm("bit", rescore="int8"), np.zeros(DIMENSION, np.float32)
    index = store.indexes.open("laws", embedder(dimension=DIMENSION), Recipe(), form, centre)
    put(store, index, document_of("0.txt", ""), ["one paragraph", "another"])
    kept = f"CREATE TRIGGER kept BEFORE DELETE ON {originals_table(index.id)} BEGIN SELECT RAISE(IGNORE); END"
    store._connections.write(lambda c: c.execute(kept))
    (check,) = store.corpus.delete_documents(["laws/0.txt"])
    assert (check.gone, check.remaining["vectors"]) == (False, 2)


def test_dropping_it_leaves_no_table(store: FileStore, index: Index) -> None:
    other = store.corpus.open_index("laws", embedder("f2", 8), Recipe())
    store.corpus.switch_index(other.id)
    store.indexes.drop(index.id)
    with store._connections.read() as c:
        left = c.execute("SELECT name FROM sqlite_master WHERE name GLOB ?", (f"index_{index.id}_*",)).fetchall()
    assert left == []


def test_signs_alone_rank_by_the_signs_that_differ() -> None:
    rows = np.random.default_rng(3).normal(size=(50, 16)).astype(np.float32)
    packed = pack(rows, "bit")
    near = similarity(packed, packed[7], "bit")
    assert near[7] == 0
    assert unpack(packed, "bit", 16).shape == (50, 16)
