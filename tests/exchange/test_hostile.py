"""Files that were cut, changed or made up: each is refused with its place, and nothing of it comes in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.exchange.conftest import Bench, receive
from tests.exchange.contents import contents
from tests.library import NAME
from workbench.errors import DocumentError, UsageError
from workbench.records.exchange import ExportForm

Rows = list[dict[str, Any]]


def forge(folder: Path, table: str, change: Callable[[Rows], None]) -> None:
    """Changes a table, and the manifest with it, as one who knows the format would."""
    path = folder / f"{table}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    seal(folder)


def seal(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    for file in manifest["files"]:
        held = (folder / file["name"]).read_bytes()
        file.update(sha256=hashlib.sha256(held).hexdigest(), rows=held.count(b"\n"), bytes=len(held))
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def restate(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def refused(bench: Bench, folder: Path, match: str) -> DocumentError:
    """Refused by an empty file and by the file it came from; both are as they were."""
    before, other = contents(bench.store), bench.other()
    with pytest.raises(DocumentError, match=match) as told:
        receive(other, folder)
    assert other.corpus.collections() == ()
    assert other.datasets.datasets() == ()
    bench.store.corpus.set_mandatory_filter(NAME, "")
    assert contents(bench.store) == before
    return told.value


@pytest.mark.parametrize("table", ["documents", "chunks-1", "cases"])
@pytest.mark.parametrize("left", [0.0, 0.5, 0.999])
def test_a_table_that_was_cut_is_refused(bench: Bench, table: str, left: float) -> None:
    folder = bench.export().folder
    path = folder / f"{table}.jsonl"
    held = path.read_bytes()
    path.write_bytes(held[: int(len(held) * left)])
    refused(bench, folder, rf"{table}\.jsonl|its document isn't there")


@pytest.mark.parametrize("left", [0, 3, 200, -1])
def test_parquet_that_was_cut_is_refused_before_a_row_is_read(bench: Bench, left: int) -> None:
    folder = bench.export(form="parquet").folder
    path = folder / "chunks-1.parquet"
    path.write_bytes(path.read_bytes()[:left])
    refused(bench, folder, r"chunks-1\.parquet was changed or cut")


def test_parquet_that_is_none_is_refused(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    folder = bench.export(form="parquet").folder
    (folder / "documents.parquet").write_bytes(b"PAR1" + bytes(100))
    seal(folder)
    refused(bench, folder, "damaged")
    capfd.readouterr()  # the library says on stderr that it gives up


def test_a_changed_byte_is_found(bench: Bench) -> None:
    folder = bench.export().folder
    path = folder / "documents.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"2024"', b'"2025"').replace(b"2024", b"2023"))
    refused(bench, folder, "changed or cut")


@pytest.mark.parametrize(
    ("table", "line", "reason", "change"),
    [
        ("documents", 2, "twice", lambda rows: rows.insert(1, rows[0])),
        ("documents", 1, "“text” is missing", lambda rows: rows[0].pop("text")),
        ("documents", 3, "“characters” is not", lambda rows: rows[2].update(characters="many")),
        ("documents", 1, "can't be a document", lambda rows: rows[0].update(status="secret")),
        ("documents", 1, "can't be a document", lambda rows: rows[0].update(structure=[1])),
        ("documents", 1, "can't be a document", lambda rows: rows[0].update(ingested="yesterday")),
        ("documents", 1, "“indexes” is not", lambda rows: rows[0].update(indexes=[7])),
        ("documents", 1, "“indexes” is not", lambda rows: rows[0].update(indexes="1")),
        ("documents", 1, "“title” is not", lambda rows: rows[0].update(title="\ud800")),
        ("chunks-1", 2, "text isn't what", lambda rows: rows[1].update(start=0, end=3)),
        ("chunks-1", 1, "text isn't what", lambda rows: rows[0].update(end=10**9)),
        ("chunks-1", 1, "“start” is not", lambda rows: rows[0].update(start=1 << 70)),
        ("chunks-1", 1, "“start” is not", lambda rows: rows[0].update(start=True)),
        ("chunks-1", 1, "“vector” is not", lambda rows: rows[0]["vector"].pop()),
        ("chunks-1", 1, "“vector” is not", lambda rows: rows[0].update(vector=[float("nan")] * 16)),
        ("chunks-1", 1, "“vector” is not", lambda rows: rows[0].update(vector=[1e300] * 16)),
        ("chunks-1", 1, "“vector” is not", lambda rows: rows[0].update(vector="all of it")),
        ("chunks-1", 1, "vector is zero", lambda rows: rows[0].update(vector=[0] * 16)),
        ("chunks-1", 1, "vector is zero", lambda rows: rows[0].update(vector=[1] * 16)),
        ("chunks-1", 1, "token vectors aren't", lambda rows: rows[0].update(token_count=10**6)),
        ("chunks-1", 1, "“token_vectors” is not", lambda rows: rows[0].update(token_vectors="!!")),
        ("chunks-1", 1, "heading", lambda rows: rows[0].update(heading=7)),
        ("chunks-1", 1, "heading", lambda rows: rows[0].update(metadata={"d": {"date": "never"}})),
        ("chunks-1", 1, "document isn't there", lambda rows: rows[0].update(document_id="nobody")),
        ("chunks-1", 2, "has the id of another chunk", lambda rows: rows[1].update(id=rows[0]["id"])),
        ("cases", 1, "“case” is not", lambda rows: rows[0].update(case={"id": 1})),
        ("cases", 2, "twice", lambda rows: rows.insert(1, rows[0])),
    ],
)
def test_a_row_that_can_not_be_is_named(
    bench: Bench, table: str, line: int, reason: str, change: Callable[[Rows], None]
) -> None:
    folder = bench.export().folder
    forge(folder, table, change)
    told = refused(bench, folder, reason)
    assert f"{table}.jsonl, line {line}:" in told.message


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "something else"),
        ('{"format": "workbench-export", "version": 2}', "another version"),
        ('{"format": "workbench-export", "version": 1}', "missing or wrong"),
        ('{"format": "workbench-export", "version": 1, "files": 7}', "missing or wrong"),
    ],
)
def test_a_manifest_that_is_none_is_refused(bench: Bench, text: str, match: str) -> None:
    folder = bench.export().folder
    (folder / "manifest.json").write_text(text, "utf-8")
    refused(bench, folder, match)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(form="csv"),
        lambda m: m.update(form="../../etc/passwd"),
        lambda m: m.update(collection=" "),
        lambda m: m.update(mandatory_filter="year >"),
        lambda m: m["recipe"].update(name="shell"),
        lambda m: m["indexes"][0]["embedder"].update(dimension=10**9),
        lambda m: m["indexes"][0]["embedder"].update(dimension="16); DROP TABLE chunk; --"),
        lambda m: m["indexes"][0]["form"].update(component="float64"),
        lambda m: m["indexes"][0]["form"].update(rescore="int8"),
        lambda m: m["indexes"][0].update(token_mean="AAAA"),
        lambda m: m["files"][0].update(rows="3"),
        lambda m: m.update(files=[]),
    ],
)
def test_a_manifest_that_asks_for_what_can_not_be_is_refused(
    bench: Bench, change: Callable[[dict[str, Any]], object]
) -> None:
    folder = bench.export().folder
    restate(folder, change)
    refused(bench, folder, "manifest")


def test_names_in_a_manifest_lead_to_no_file(bench: Bench) -> None:
    folder = bench.export().folder
    secret = bench.folder / "documents.jsonl"
    secret.write_bytes((folder / "documents.jsonl").read_bytes())
    (folder / "documents.jsonl").unlink()
    restate(folder, lambda m: m["files"][0].update(name="../documents.jsonl"))
    refused(bench, folder, "doesn't list")


def test_an_id_of_another_collection_takes_nothing_from_it(bench: Bench) -> None:
    folder = bench.export().folder
    restate(folder, lambda m: m.update(collection="mine"))
    before = contents(bench.store)
    with pytest.raises(DocumentError, match="another document's"):
        receive(bench.store, folder)
    assert contents(bench.store) == before
    assert bench.store.corpus.collection_names() == (NAME,)


def test_a_document_with_another_text_is_not_overwritten(bench: Bench) -> None:
    folder = bench.export().folder
    [coffee] = [d.id for d in bench.store.corpus.documents(NAME) if d.source_id == "coffee.md"]
    other = bench.other()
    receive(other, folder)
    forge(folder, "documents", lambda rows: [row.update(text=row["text"] + "!") for row in rows if row["id"] == coffee])
    before = contents(other)
    with pytest.raises(
        DocumentError, match=r"documents\.jsonl, line .: “coffee\.md” is in this file with another text"
    ):
        receive(other, folder)
    assert contents(other) == before


def test_a_dataset_of_another_collection_keeps_its_name(bench: Bench) -> None:
    folder, other = bench.export().folder, bench.other()
    other.datasets.put("loans", "elsewhere", bench.store.datasets.cases("loans"))
    with pytest.raises(UsageError, match="asks about “elsewhere”"):
        receive(other, folder)
    assert other.corpus.collections() == ()


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_missing_table_is_told(bench: Bench, form: ExportForm) -> None:
    folder = bench.export(form=form).folder
    (folder / f"chunks-1.{form}").unlink()
    refused(bench, folder, "no such file")


def test_a_folder_that_is_none_is_told(bench: Bench) -> None:
    refused(bench, bench.folder / "nowhere", "no such file")
    refused(bench, bench.folder / "library.db", "part of its path is no folder")
