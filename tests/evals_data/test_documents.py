"""Documents that a dataset brings along: as files, ingested under the names that its gold uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from storage import open_store
from tests.embedders import HashEmbedder
from tests.evals_runs.conftest import Bench
from workbench.corpus.ingest import Ingester
from workbench.errors import FileError, UsageError
from workbench.evals.collecting.documents import unpack_documents
from workbench.evals.collecting.transfer import import_dataset
from workbench.evals.formats import read_documents
from workbench.ports import Store
from workbench.records.corpus import Document, IngestRequest
from workbench.records.evals import RunConfig
from workbench.records.retrieval import SearchOptions

ROWS = [
    {"_id": "1", "title": "Wings", "text": "A wing in a slipstream.", "metadata": {"year": 1958, "url": None}},
    {"_id": "MED/10 a.b", "title": "Flutter", "text": "Flutter\nof panels at speed.", "metadata": {"status": "odd"}},
    {"_id": ".hidden", "title": "", "text": "# Not a heading of heat"},
    {"_id": "é" * 200, "title": "Only a title", "text": ""},
]


def beir(folder: Path, *more: str) -> Path:
    (folder / "qrels").mkdir(parents=True)
    lines = [*(json.dumps(row) for row in ROWS), *more]
    (folder / "corpus.jsonl").write_text("\n".join(lines), "utf-8")
    queries = [{"_id": "q1", "text": "slipstream wing"}, {"_id": "q2", "text": "panels flutter"}]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), "utf-8")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\t1\t1\nq2\tMED/10 a.b\t2\n", "utf-8")
    return folder


def ingested(store: Store, folder: Path, collection: str = "beir") -> dict[str, Document]:
    list(Ingester(store.corpus, HashEmbedder()).run(IngestRequest((str(folder),), collection)))
    return {d.source_id: d for d in store.corpus.documents(collection)}


def test_a_corpus_is_ingested_under_its_own_names(tmp_path: Path) -> None:
    unpacked = unpack_documents(beir(tmp_path / "mini"))
    assert (unpacked.count, unpacked.folder) == (4, tmp_path / "mini" / "documents")
    assert ["status" in problem.reason for problem in unpacked.problems] == [True]
    store = open_store(tmp_path / "file.db")
    documents = ingested(store, unpacked.folder)
    assert set(documents) == {str(row["_id"]) for row in ROWS}
    wings = documents["1"]
    assert (wings.title, wings.metadata["year"]) == ("Wings", 1958)
    texts = {name: store.corpus.document_text(d.id).strip() for name, d in documents.items()}
    assert texts["1"] == "Wings\n\nA wing in a slipstream."
    assert texts["MED/10 a.b"] == "Flutter\nof panels at speed."  # it begins with its title already
    assert texts["é" * 200] == "Only a title"
    imported = import_dataset(store, tmp_path / "mini", "", "beir")
    assert imported.problems == ()
    store.close()


def test_a_second_time_writes_nothing_and_ingests_nothing(tmp_path: Path) -> None:
    folder = unpack_documents(beir(tmp_path / "mini")).folder
    written = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    store = open_store(tmp_path / "file.db")
    ingested(store, folder)
    assert unpack_documents(tmp_path / "mini").folder == folder
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == written
    *_, last = Ingester(store.corpus, HashEmbedder()).run(IngestRequest((str(folder),), "beir"))
    assert last.finished
    assert len(store.corpus.documents("beir")) == 4
    store.close()


def test_bad_rows_are_named_and_judged_documents_that_are_missing_too(tmp_path: Path) -> None:
    folder = beir(tmp_path / "mini", "{", '{"title": "no id"}', '{"_id": "5", "text": " "}')
    with (folder / "qrels" / "test.tsv").open("a", encoding="utf-8") as file:
        file.write("q1\tabsent\t1\nq9\t1\t1\n")
    unpacked = unpack_documents(folder)
    assert [(p.line, p.skipped) for p in unpacked.problems if p.line] == [(5, True), (6, True), (7, True)]
    store = open_store(tmp_path / "file.db")
    ingested(store, unpacked.folder)
    told = [p.reason for p in import_dataset(store, folder, "", "beir").problems]
    assert told == [
        "qrels: judgements of 1 unknown queries stayed out: q9",
        "qrels: 1 judged documents aren't there: absent",
        "1 of the 3 documents that the gold names aren't in “beir”: absent",
    ]
    alone = import_dataset(store, folder, "alone", "").problems[-1].reason
    assert alone.endswith("aren't here: 1, absent, MED/10 a.b → Import with --ingest COLLECTION to bring them in.")
    store.close()


def test_gold_that_ends_after_its_document_is_named(tmp_path: Path) -> None:
    store = open_store(tmp_path / "file.db")
    ingested(store, unpack_documents(beir(tmp_path / "mini")).folder)
    spans = {"in": (0, 4), "over": (2, 1_000_000), "whole": (0, 0)}
    rows = [
        {"id": name, "question": "?", "gold": [{"source_id": "1", "start": start, "end": end, "grade": 3}]}
        for name, (start, end) in spans.items()
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    imported = import_dataset(store, file, "", "beir")
    assert [p.reason for p in imported.problems] == ["the gold of 1 cases ends after its document does: over"]
    assert imported.dataset.cases == 3
    store.close()


def test_the_paragraphs_of_squad_are_documents_and_their_answers_spans(tmp_path: Path) -> None:
    context = "The fee is 118 euros. It is not refunded."
    question = {"id": "x", "question": "How much?", "answers": [{"text": "118 euros", "answer_start": 11}]}
    body = {"data": [{"title": "Fees", "paragraphs": [{"context": context, "qas": [question]}]}]}
    file = tmp_path / "fees.json"
    file.write_text(json.dumps(body), "utf-8")
    unpacked = unpack_documents(file)
    assert unpacked.folder == tmp_path / "fees.documents"
    store = open_store(tmp_path / "file.db")
    assert set(ingested(store, unpacked.folder)) == {"Fees/1"}
    imported = import_dataset(store, file, "", "beir")
    (gold,) = store.datasets.cases(imported.dataset.name)[0].gold
    assert (gold.source_id, context[gold.start : gold.end]) == ("Fees/1", "118 euros")
    store.close()


def test_formats_without_documents_say_how_to_bring_them_in(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text('{"id": "a", "question": "Why?"}\n', "utf-8")
    with pytest.raises(UsageError, match="workbench ingest"):
        read_documents(file)


def test_another_persons_folder_is_left_alone(tmp_path: Path) -> None:
    folder = beir(tmp_path / "mini")
    (folder / "documents").mkdir()
    (folder / "documents" / "letter.txt").write_text("Dear Ann", "utf-8")
    with pytest.raises(UsageError, match=r"letter\.txt"):
        unpack_documents(folder)
    assert [file.name for file in (folder / "documents").iterdir()] == ["letter.txt"]


def test_a_folder_that_cannot_be_written_is_an_error_in_words(tmp_path: Path) -> None:
    folder = beir(tmp_path / "mini")
    (folder / "documents").write_text("a file", "utf-8")
    with pytest.raises(FileError, match="documents"):
        unpack_documents(folder)


def test_names_lead_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "mini").mkdir()
    rows = [{"_id": name, "text": "x"} for name in ("../../up", "/etc/passwd", "a\0b", "CON", "a\nb")]
    (tmp_path / "mini" / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "mini" / "queries.jsonl").write_text('{"_id": "1", "text": "x"}', "utf-8")
    unpacked = unpack_documents(tmp_path / "mini")
    assert unpacked.count == len(rows)
    assert sum(file.is_file() for file in unpacked.folder.iterdir()) == 2 * len(rows)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mini"]


def test_a_run_finds_the_gold_of_a_beir_folder(tmp_path: Path) -> None:
    folder = unpack_documents(beir(tmp_path / "mini")).folder
    store = open_store(tmp_path / "file.db")
    ingested(store, folder)
    import_dataset(store, tmp_path / "mini", "mini", "beir")
    bench = Bench(store, tmp_path)
    results = bench.results(RunConfig("mini", search=SearchOptions("beir", lanes=("lexical",))))
    assert [result.scores["mrr"] for result in results.values()] == [1.0, 1.0]
    store.close()
