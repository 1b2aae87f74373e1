"""Sources whose names or paths are unusual: no UTF-8, a pipe, a new source_id, a path that is gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.corpus_parse.make import pdf
from tests.ingest.conftest import Bench
from workbench.corpus.sources import path_of
from workbench.errors import UsageError
from workbench.records.corpus import Recipe
from workbench.retrieval.filters import parse_filter


def raw(folder: Path, name: bytes) -> Path:
    path = folder / os.fsdecode(name)
    try:
        path.write_text("Some text to find.", "utf-8")
    except OSError:
        pytest.skip("this file system has no names that aren't UTF-8")
    return path


def test_names_that_are_no_utf8_stay_apart_and_are_the_same_in_the_next_run(bench: Bench) -> None:
    raw(bench.folder, b"n_\xff.txt")
    raw(bench.folder, b"n_\xfe.txt")
    assert bench.actions() == {"n_\\xfe.txt": "added", "n_\\xff.txt": "added"}
    assert bench.actions(on_missing="delete") == {"n_\\xfe.txt": "unchanged", "n_\\xff.txt": "unchanged"}
    assert bench.embedder.embedded == []
    documents = bench.store.corpus.documents("c")
    assert [d.title for d in documents] == ["n_\\xfe", "n_\\xff"]
    assert [os.fsencode(path_of(d.uri)).rpartition(b"/")[2] for d in documents] == [b"n_\xfe.txt", b"n_\xff.txt"]
    written_so = bench.folder / "n_\\xff.txt"
    written_so.write_text("Its name is text.", "utf-8")
    assert path_of(documents[1].uri) == written_so


def test_a_pipe_and_an_endless_device_are_reported_not_waited_for(bench: Bench) -> None:
    os.mkfifo(bench.folder / "pipe")
    outcomes = bench.ingest(paths=(str(bench.folder / "pipe"), "/dev/zero"))
    assert {s: (o.action, o.reason) for s, o in outcomes.items()} == {
        "pipe": ("failed", "It is a pipe or a device."),
        "zero": ("failed", "It is a pipe or a device."),
    }


@pytest.mark.parametrize("text", ["The same text.", "Another text."])
def test_a_file_that_gets_another_source_id_is_one_document_still(bench: Bench, text: str) -> None:
    bench.write("f1.txt", "The same text.")
    bench.ingest()
    bench.write("f1.txt", text)
    bench.write("f1.txt.meta.yaml", "source_id: policy-1\n")
    assert bench.ingest()["policy-1"].reason == "It replaces “f1.txt”."
    assert bench.texts("policy-1") == [text]
    assert [d.source_id for d in bench.store.corpus.documents("c")] == ["policy-1"]
    assert bench.actions() == {"policy-1": "unchanged"}


def test_an_empty_path_is_not_the_working_folder(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.txt", "Some text.")
    bench.ingest()
    monkeypatch.chdir(bench.folder)
    for on_missing in ("keep", "delete"):
        with pytest.raises(UsageError):
            bench.ingest(paths=("",), on_missing=on_missing)
    assert len(bench.store.corpus.documents("c")) == 1


@pytest.mark.parametrize(("on_missing", "left"), [("retire", ["retired", "current"]), ("delete", ["current"])])
def test_a_folder_that_is_gone_is_settled_by_its_name(bench: Bench, on_missing: str, left: list[str]) -> None:
    bench.write("old/a.txt", "Some text.")
    bench.write("z.txt", "Other text.")
    bench.ingest()
    (bench.folder / "old" / "a.txt").unlink()
    (bench.folder / "old").rmdir()
    gone = (str(bench.folder / "old"),)
    with pytest.raises(UsageError):
        bench.ingest(paths=gone)
    with pytest.raises(UsageError):
        bench.ingest(paths=(str(bench.folder / "never"),), on_missing=on_missing)
    assert len(bench.ingest(paths=gone, on_missing=on_missing)) == 1
    assert [d.status for d in bench.store.corpus.documents("c")] == left


def test_a_passage_is_found_by_every_page_it_stands_on(bench: Bench) -> None:
    pages = [["It begins on the first page and", "runs"], ["on here."], ["The third stands alone."]]
    (bench.folder / "a.pdf").write_bytes(pdf(pages))
    bench.ingest(recipe=Recipe("structure", 20))
    index = bench.store.corpus.current_index("c")
    assert index is not None
    (document,) = bench.store.corpus.documents("c")
    assert [(c.page, c.page_end) for c in bench.store.corpus.chunks(document.id)] == [(1, 2), (3, 3)]
    asked = ("= 1", "= 2", "= 3", "= 4", "< 2", "<= 2", "> 1", "> 2", ">= 2", ">= 4", "!= 2", "in (2, 3)")
    fields = bench.store.search.fields("c")
    passing = [bench.store.search.matching(index, parse_filter(f"page {test}", fields))[0] for test in asked]
    assert passing == [1, 1, 1, 0, 1, 1, 2, 1, 2, 0, 1, 2]
