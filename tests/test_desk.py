"""The desk on a real file: models are named by their hash, a loaded model writes cited answers, memory comes back."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from workbench import paths
from workbench.__main__ import open_desk
from workbench.desk import Desk
from workbench.errors import NotFoundError, UsageError
from workbench.records.answers import Generation
from workbench.records.corpus import IngestRequest
from workbench.records.models import LoadSettings

pytestmark = pytest.mark.usefixtures("one_embedder")

TIDES = "The harbour bridge closes at high tide. High tide comes twice a day at Puerto Alba.\n"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    opened = open_desk(tmp_path / "lab.db")
    yield opened
    opened.close()


@pytest.fixture
def filled(desk: Desk, tmp_path: Path) -> Desk:
    tmp_path.joinpath("tides.txt").write_text(TIDES, "utf-8")
    for _ in desk.ingest(IngestRequest((str(tmp_path / "tides.txt"),), "tides")):
        pass
    return desk


def test_an_empty_file_says_what_to_do(desk: Desk) -> None:
    assert desk.collection == ""
    assert desk.documents() == ()
    with pytest.raises(NotFoundError, match="ingest"):
        desk.search("anything")


def test_a_folder_that_is_none(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        desk.library.add_folder(str(tmp_path / "nothing"))


@pytest.mark.model
def test_the_first_ingest_chooses_its_collection(filled: Desk) -> None:
    assert filled.collection == "tides"
    (document,) = filled.documents()
    (chunk,) = filled.chunks(document.id)
    assert filled.document_text(document.id)[chunk.start : chunk.end] == chunk.text
    assert filled.chunk(chunk.id[:6]) == chunk


@pytest.mark.model
def test_a_loaded_model_answers_with_citations_and_its_hash_in_the_manifest(filled: Desk) -> None:
    (file,) = (f for f in filled.library.files() if f.path.endswith(paths.STARTER_MODEL))
    steps = list(filled.library.load(file.path, LoadSettings(context=1024)))
    assert steps[-1].model is not None
    assert filled.model is not None
    *growing, last = filled.ask("When does the harbour bridge close?")
    digest = hashlib.sha256(Path(file.path).read_bytes()).hexdigest()
    assert last.manifest.model_hash == digest
    assert {f.path: f.hash for f in filled.library.files(rescan=True)}[file.path] == digest
    assert last.answer is not None
    assert last.answer.mode == "generated"
    assert last.answer.outcome == "answered"
    assert all(c.source_id == "tides.txt" for claim in last.answer.claims for c in claim.citations)
    streamed = [s.output for t in growing for s in t.spans[-1:] if isinstance(s.output, Generation)]
    assert len({g.text for g in streamed}) > 1
    assert filled.trace(last.id) == last


@pytest.mark.model
def test_a_model_whose_process_was_killed_is_not_loaded_and_says_why(desk: Desk) -> None:
    *_, last = desk.library.load(str(paths.gguf_folder() / paths.STARTER_MODEL), LoadSettings(context=512))
    assert last.model is not None
    assert (desk.status().model, desk.status().ended) == (last.model, "")
    os.kill(last.model.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while desk.model and time.monotonic() < deadline:
        time.sleep(0.02)
    status = desk.status()
    assert status.model is None
    assert "SIGKILL" in status.ended
    desk.library.unload()
    assert desk.status().ended == ""


@pytest.mark.model
def test_another_ingest_leaves_the_chosen_collection(filled: Desk, tmp_path: Path) -> None:
    tmp_path.joinpath("a.txt").write_text("Apples are red.\n", "utf-8")
    list(filled.ingest(IngestRequest((str(tmp_path / "a.txt"),), "another")))
    assert filled.collection == "tides"


@pytest.mark.model
def test_a_collection_that_was_stopped_before_its_first_document_goes_again(desk: Desk, tmp_path: Path) -> None:
    tmp_path.joinpath("a.txt").write_text("Apples are red.\n", "utf-8")
    stop = threading.Event()
    stop.set()
    *_, last = desk.ingest(IngestRequest((str(tmp_path / "a.txt"),), "apples"), stop)
    assert last.cancelled
    assert (desk.collections(), desk.collection) == ((), "")


@pytest.mark.model
def test_unloading_gives_the_memory_back(desk: Desk) -> None:
    path = str(paths.gguf_folder() / paths.STARTER_MODEL)
    *_, last = desk.library.load(path, LoadSettings(context=512))
    assert last.model is not None
    assert desk.library.unload() > 50 * 2**20
    assert not psutil.pid_exists(last.model.pid)
    assert desk.model is None
    assert desk.library.unload() == 0
