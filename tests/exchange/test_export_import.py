"""An export is whole or not there; an import gives the same ids, offsets and bytes, or nothing."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.embedders import INFO, HashEmbedder
from tests.exchange.conftest import Bench, last, receive
from tests.exchange.contents import contents
from tests.library import NAME
from workbench.corpus.ingest import Ingester
from workbench.errors import Cancelled, FilterError, NotFoundError, UsageError
from workbench.exchange import Exchange
from workbench.exchange.tables import checked_row, vector_text
from workbench.records.corpus import IngestRequest, Recipe
from workbench.records.exchange import ExportColumn, ExportForm, ExportRequest, Received
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher

FORMS = ("jsonl", "parquet")


def lines(folder: Path, table: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / f"{table}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("form", FORMS)
def test_what_comes_in_is_what_went_out(bench: Bench, form: ExportForm) -> None:
    exported = bench.export(form=form)
    other = bench.other()
    received = receive(other, exported.folder)
    assert (received.added, received.present, received.datasets) == (3, 0, ("loans",))
    assert received.indexes == received.made
    assert contents(other) == contents(bench.store)
    assert other.datasets.cases("loans") == bench.store.datasets.cases("loans")
    assert other.datasets.datasets()[0].hash == bench.store.datasets.datasets()[0].hash


def test_an_imported_collection_answers_as_the_exported_one(bench: Bench) -> None:
    other = bench.other()
    receive(other, bench.export().folder)
    asked = SearchOptions(NAME)
    for question in ("How many books may a reader borrow?", "menú del día", "fee euros"):
        found = [
            [(hit.chunk_id, hit.score) for hit in Searcher(store, HashEmbedder()).search(question, asked).fusion.hits]
            for store in (bench.store, other)
        ]
        assert found[0] == found[1]
        assert found[0]


def test_vectors_are_readable_numbers_that_lose_no_bit(bench: Bench) -> None:
    rows = sorted(lines(bench.export().folder, "chunks-1"), key=lambda row: str(row["id"]))
    stored = [np.frombuffer(row[-4], "<f4") for row in contents(bench.store)["chunks 0"]]
    for row, kept in zip(rows, stored, strict=True):
        assert np.array_equal(np.array(row["vector"], "<f4"), kept)


@example(-0.0)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_nine_digits_tell_every_float32(value: float) -> None:
    cell = np.array([value], "<f4").tobytes()
    row = checked_row({"v": json.loads(vector_text(cell, "float32"))}, [ExportColumn("v", "float32", width=1)])
    assert row["v"] == cell


def test_qrels_name_the_chunks_that_hold_the_gold(bench: Bench) -> None:
    rows = lines(bench.export().folder, "qrels")
    assert [(row["query_id"], row["source_id"], row["grade"]) for row in rows] == [
        ("1", "borrowing.md", 3),
        ("2", "coffee.md", 1),
    ]
    [held] = bench.store.corpus.chunks_by_id(rows[0]["chunk_ids"])
    assert "six books" in held.text


@pytest.mark.parametrize("chosen", [{"filter": 'roles contains "student" and year = 2025'}, {"marked": "borrowing.md"}])
def test_a_part_is_documents_whole(bench: Bench, chosen: dict[str, str]) -> None:
    if "marked" in chosen:
        ids = [d.id for d in bench.store.corpus.documents(NAME) if d.source_id == chosen["marked"]]
        exported = bench.export(document_ids=tuple(ids))
    else:
        exported = bench.export(filter=chosen["filter"])
    assert [row["source_id"] for row in lines(exported.folder, "documents")] == ["borrowing.md"]
    assert {row["source_id"] for row in lines(exported.folder, "chunks-1")} == {"borrowing.md"}
    assert [row["id"] for row in lines(exported.folder, "cases")] == ["1"]
    assert exported.manifest.part
    other = bench.other()
    assert receive(other, exported.folder).added == 1


def test_parts_add_up_and_what_is_there_stays(bench: Bench) -> None:
    first, second, _ = (d.id for d in bench.store.corpus.documents(NAME))
    other = bench.other()
    receive(other, bench.export("a", document_ids=(first,)).folder)
    received = receive(other, bench.export("b", document_ids=(first, second)).folder)
    assert (received.added, received.present, received.made) == (1, 1, ())
    assert receive(other, bench.export("c").folder).added == 1
    assert contents(other) == contents(bench.store)


@pytest.mark.parametrize("form", FORMS)
def test_under_another_name_it_stands_beside_the_exported_one(bench: Bench, form: ExportForm) -> None:
    folder, before = bench.export(form=form).folder, contents(bench.store)
    received = last(bench.exchange.receive(str(folder), collection="copy"), Received)
    assert (received.collection, received.added, received.datasets) == ("copy", 3, ("loans-copy",))
    assert contents(bench.store) == before
    assert bench.store.datasets.cases("loans-copy") == bench.store.datasets.cases("loans")
    again = last(bench.exchange.receive(str(folder), collection="copy"), Received)
    assert (again.added, again.present, again.datasets) == (0, 3, ("loans-copy",))

    def found(name: str) -> list[tuple[str, float]]:
        hits = Searcher(bench.store, HashEmbedder()).search("How many books?", SearchOptions(name)).fusion.hits
        return [(bench.store.corpus.chunks_by_id([hit.chunk_id])[0].text, hit.score) for hit in hits]

    assert found("copy") == found(NAME) != []


def test_ids_under_another_name_are_those_of_an_ingest_into_it(bench: Bench) -> None:
    imported, ingested = bench.other("imported.db"), bench.other("ingested.db")
    last(Exchange(imported).receive(str(bench.export().folder), collection="copy"), Received)
    ingested.corpus.create_collection("copy", Recipe(size=64))
    for _ in Ingester(ingested.corpus, HashEmbedder(INFO)).run(IngestRequest((str(bench.folder / "sources"),), "copy")):
        pass
    for table in ("documents", "chunks 0"):
        ids = [[row[0] for row in contents(store, "copy")[table]] for store in (imported, ingested)]
        assert ids[0] == ids[1] != []


def test_another_stamp_becomes_an_index_of_its_own(bench: Bench) -> None:
    folder = bench.export().folder
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["indexes"][0]["embedder"]["fingerprint"] = "another"
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    before = bench.store.corpus.current_index(NAME)
    received = receive(bench.store, folder)
    assert received.made == received.indexes
    assert bench.store.corpus.current_index(NAME) == before
    made, old = bench.store.corpus.indexes(NAME)
    assert (made.embedder.fingerprint, made.status, made.vectors) == ("another", "building", old.vectors)


def test_a_stopped_export_leaves_nothing(bench: Bench) -> None:
    cancel = threading.Event()
    cancel.set()
    before = sorted(bench.folder.iterdir())
    for form in FORMS:
        with pytest.raises(Cancelled):
            list(bench.exchange.export(ExportRequest(NAME, str(bench.folder / "out"), form), cancel))
    assert sorted(bench.folder.iterdir()) == before


def test_an_export_that_nobody_follows_stops(bench: Bench) -> None:
    following = bench.exchange.export(ExportRequest(NAME, str(bench.folder / "out")))
    next(following)
    following.close()
    assert not [path for path in bench.folder.iterdir() if path.name.startswith(".out")]


def test_an_import_that_is_stopped_leaves_nothing(bench: Bench) -> None:
    folder, other, cancel = bench.export().folder, bench.other(), threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        list(Exchange(other).receive(str(folder), cancel))
    assert other.corpus.collections() == ()


def test_an_export_writes_over_nothing(bench: Bench) -> None:
    (bench.folder / "out").mkdir()
    (bench.folder / "out" / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="never writes over"):
        bench.export()
    assert [path.name for path in (bench.folder / "out").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("chosen", "error"),
    [
        ({"filter": "year >"}, FilterError),
        ({"filter": "year = 1900"}, NotFoundError),
        ({"document_ids": ("x",)}, NotFoundError),
    ],
)
def test_nothing_chosen_is_no_export(bench: Bench, chosen: dict[str, str], error: type[Exception]) -> None:
    with pytest.raises(error):
        bench.export(**chosen)
    assert not (bench.folder / "out").exists()


def test_a_folder_that_can_not_be_made_is_told(bench: Bench) -> None:
    with pytest.raises(UsageError, match="isn't there"):
        bench.export("no/such/place")


@pytest.mark.parametrize("form", FORMS)
def test_a_deleted_document_is_in_no_export(bench: Bench, form: ExportForm) -> None:
    [gone] = [d.id for d in bench.store.corpus.documents(NAME) if d.source_id == "borrowing.md"]
    assert all(check.gone for check in bench.store.corpus.delete_documents([gone]))
    exported = bench.export(form=form)
    for path in exported.folder.iterdir():
        held = path.read_bytes()
        assert b"six books for thirty days" not in held
        assert gone.encode() not in held
    other = bench.other()
    receive(other, exported.folder)
    assert {d.source_id for d in other.corpus.documents(NAME)} == {"enrolment.md", "coffee.md"}
    assert not other.corpus.find_chunks(gone)


def test_retired_documents_and_the_mandatory_filter_come_along(bench: Bench) -> None:
    bench.store.corpus.set_mandatory_filter(NAME, "year >= 2025")
    [coffee] = [d.id for d in bench.store.corpus.documents(NAME) if d.source_id == "coffee.md"]
    bench.store.corpus.set_status([coffee], "retired")
    other = bench.other()
    receive(other, bench.export().folder)
    assert other.corpus.collection(NAME).mandatory_filter == "year >= 2025"
    assert other.corpus.document(coffee).status == "retired"
