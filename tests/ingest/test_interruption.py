"""Stopped or killed anywhere, and run again: the same end state as without."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from storage import open_store
from tests.embedders import HashEmbedder
from tests.ingest.conftest import Bench, snapshot
from workbench.corpus.ingest import Ingester
from workbench.records.corpus import IngestRequest

INGEST = """
import sys, time
from pathlib import Path
from storage import open_store
from tests.embedders import HashEmbedder
from workbench.corpus.ingest import Ingester
from workbench.records.corpus import IngestRequest

class Slow(HashEmbedder):
    def embed_passages(self, texts, cancel=None):
        for vector in super().embed_passages(texts, cancel):
            time.sleep(0.002)
            print("chunk", flush=True)
            yield vector

store = open_store(Path(sys.argv[1]))
for progress in Ingester(store.corpus, Slow()).run(IngestRequest((sys.argv[2],), "c")):
    pass
store.close()
"""


def fill(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for i in range(12):
        sections = (f"## S{j}\n\n" + " ".join(f"Word{i}-{j}-{k}." for k in range(60)) for j in range(3))
        (folder / f"{i:02}.md").write_text("\n\n".join(sections))


def ingest(path: Path, folder: Path) -> list[object]:
    store = open_store(path)
    for progress in Ingester(store.corpus, HashEmbedder()).run(IngestRequest((str(folder),), "c")):
        assert not progress.cancelled
    found = snapshot(store)
    store.close()
    return found


@pytest.mark.parametrize("chunks", [1, 7, 20])
def test_killed_at_any_chunk_the_next_run_completes_it(tmp_path: Path, chunks: int) -> None:
    folder = tmp_path / "sources"
    fill(folder)
    child = subprocess.Popen(
        [sys.executable, "-c", INGEST, str(tmp_path / "killed.db"), str(folder)],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    with child:
        assert child.stdout is not None
        for _ in range(chunks):
            assert child.stdout.readline() == "chunk\n"
        os.kill(child.pid, signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    assert ingest(tmp_path / "killed.db", folder) == ingest(tmp_path / "clean.db", folder)


def test_a_stop_takes_effect_at_the_next_chunk_and_stores_no_half_document(bench: Bench, tmp_path: Path) -> None:
    fill(bench.folder)
    cancel = threading.Event()
    embed = bench.embedder.embed_passages

    def stop_at_the_eighth(texts: list[str], cancel_: threading.Event | None = None):
        for vector in embed(texts, cancel_):
            if len(bench.embedder.embedded) == 8:
                cancel.set()
            yield vector

    bench.embedder.embed_passages = stop_at_the_eighth
    *_, last = bench.progresses(cancel)
    assert (last.finished, last.cancelled) == (True, True)
    assert len(bench.embedder.embedded) == 8
    stored = bench.store.corpus.documents("c")
    assert 0 < len(stored) < 8
    assert snapshot(bench.store)[1] == sum(d.chunks for d in stored)
    bench.embedder = HashEmbedder()
    bench.ingest()
    assert snapshot(bench.store) == ingest(tmp_path / "clean.db", bench.folder)


def test_leaving_the_iterator_ends_the_process_that_works_ahead(bench: Bench) -> None:
    fill(bench.folder)
    progresses = bench.progresses()
    next(progresses)
    assert len(psutil.Process().children()) == 1
    progresses.close()
    assert psutil.Process().children() == []
    assert len(bench.store.corpus.documents("c")) < 12
