"""A collection copied or moved whole: checked against both files, and removed only then."""

from __future__ import annotations

import threading

import pytest

from tests.embedders import INFO, HashEmbedder, hash_vector
from tests.exchange.conftest import Bench, copy, receive
from tests.exchange.contents import contents
from tests.library import DOCUMENTS, NAME
from workbench.answers.ask import Asker
from workbench.corpus.ingest import Ingester
from workbench.errors import Cancelled, FileError, NotFoundError, UsageError
from workbench.indexing.forms import FORMS
from workbench.records.answers import AskOptions
from workbench.records.corpus import IngestRequest, Recipe
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher


def test_a_copy_is_the_same_in_a_file_that_had_other_things(bench: Bench) -> None:
    other = bench.other("moved.db")
    folder = bench.folder / "more"
    folder.mkdir()
    (folder / "note.md").write_text("# Note\n\nSomething else.", "utf-8")
    for _ in Ingester(other.corpus, HashEmbedder()).run(IngestRequest((str(folder),), "notes", recipe=Recipe(size=64))):
        pass
    notes = contents(other, "notes")
    done = copy(bench)
    assert all(check.same for check in done.checks)
    assert {check.table: check.rows for check in done.checks}["document"] == len(DOCUMENTS)
    assert contents(other) == contents(bench.store)
    assert contents(other, "notes") == notes
    made, copied = (s.corpus.document_changes(NAME, 0, 1_000) for s in (bench.store, other))
    assert copied == made
    assert other.corpus.document_changes(NAME, other.corpus.collection(NAME).version, 1_000) == {}
    assert other.datasets.cases("loans") == bench.store.datasets.cases("loans")
    assert not done.removed
    assert NAME in bench.store.corpus.collection_names()


@pytest.mark.parametrize("name", [name for name in FORMS if name != "float32"])
def test_every_index_comes_along_in_its_form(bench: Bench, name: str) -> None:
    made = bench.store.indexes.open(NAME, INFO, Recipe(size=64), FORMS[name], hash_vector("centre"))
    for document in bench.store.corpus.documents(NAME):
        chunks = bench.store.corpus.chunks(document.id)
        vectors = {chunk.id: hash_vector(chunk.indexed_text) for chunk in chunks}
        parsed = bench.store.corpus.parsed_document(document.id)
        bench.store.corpus.put_document(made, document, parsed, chunks, vectors)
    copy(bench)
    other = bench.other("moved.db")
    assert contents(other) == contents(bench.store)
    assert [index.form for index in other.corpus.indexes(NAME)] == [
        index.form for index in bench.store.corpus.indexes(NAME)
    ]
    folder = bench.export("out").folder
    third = bench.other("third.db")
    receive(third, folder)
    assert contents(third) == contents(bench.store)


def test_a_move_removes_the_collection_here(bench: Bench) -> None:
    before = contents(bench.store)
    assert copy(bench, remove=True).removed
    assert bench.store.corpus.collections() == ()
    assert contents(bench.other("moved.db")) == before


def test_what_was_copied_is_found_there(bench: Bench) -> None:
    copy(bench)
    question, asked = "How many books may a reader borrow?", SearchOptions(NAME)
    found = [
        [hit.chunk_id for hit in Searcher(store, HashEmbedder()).search(question, asked).fusion.hits]
        for store in (bench.store, bench.other("moved.db"))
    ]
    assert found[0] == found[1]
    assert found[0]


def test_traces_come_along_when_asked_for(bench: Bench) -> None:
    searcher = Searcher(bench.store, HashEmbedder())
    *_, trace = Asker(bench.store, searcher, lambda: None).ask(
        "How many books?", AskOptions(), SearchOptions(NAME), None
    )
    copy(bench)
    assert bench.other("moved.db").traces.recent() == ()
    done = copy(bench, "more.db", traces=True)
    assert bench.other("more.db").traces.trace(trace.id) == trace
    assert [check.rows for check in done.checks if check.table == "trace"] == [1]


def test_names_that_are_taken_are_refused_and_nothing_moves(bench: Bench) -> None:
    copy(bench)
    before = contents(bench.store)
    with pytest.raises(UsageError, match="already"):
        copy(bench, remove=True)
    assert contents(bench.store) == before


def test_onto_itself_or_from_nothing_is_refused(bench: Bench) -> None:
    with pytest.raises(UsageError, match="file the collection is in"):
        copy(bench, "library.db")
    with pytest.raises(NotFoundError):
        list(bench.exchange.copy("nowhere", str(bench.folder / "x.db")))
    assert not (bench.folder / "x.db").exists()


def test_a_foreign_file_is_left_as_it_is(bench: Bench) -> None:
    path = bench.folder / "foreign.db"
    path.write_bytes(b"mine" * 1000)
    with pytest.raises(FileError):
        copy(bench, "foreign.db", remove=True)
    assert path.read_bytes() == b"mine" * 1000
    assert bench.store.corpus.collection_names() == (NAME,)


def test_a_stopped_copy_leaves_no_file(bench: Bench) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        list(bench.exchange.copy(NAME, str(bench.folder / "moved.db"), remove=True, cancel=cancel))
    assert not list(bench.folder.glob("moved.db*"))
    assert bench.store.corpus.collection_names() == (NAME,)


def test_a_copy_that_reads_back_differently_is_not_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from storage import copying

    real = copying.create_tables

    def damaged(connection: object, index_id: int, *rest: object, **more: object) -> None:
        real(connection, index_id, *rest, **more)
        connection.execute(  # as a disk that loses a bit would
            "CREATE TEMP TRIGGER lose AFTER INSERT ON main.document_text BEGIN "
            "UPDATE document_text SET text = 'lost' WHERE document_key = new.document_key; END"
        )

    monkeypatch.setattr(copying, "create_tables", damaged)
    with pytest.raises(FileError, match="document_text"):
        copy(bench, remove=True)
    assert bench.store.corpus.collection_names() == (NAME,)
    assert bench.other("moved.db").corpus.collections() == ()
