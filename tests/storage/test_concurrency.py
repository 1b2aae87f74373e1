"""Threads that read while one writes, and a process that is killed in the middle of an ingest."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

from storage import open_store
from storage.driver import connect
from storage.store import FileStore
from tests.storage.builders import counts, document_of, embedder, put, query, vector_of
from workbench.records.corpus import Index, Recipe
from workbench.records.retrieval import AllOf

PER_DOCUMENT = 5


def test_readers_beside_a_writer_see_whole_documents(store: FileStore, index: Index) -> None:
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            hits = store.search.lexical(index, query("shared words"), AllOf(()), 50)
            assert len(store.corpus.chunks_by_id([h.chunk_id for h in hits])) == len(hits)
            store.search.dense(index, vector_of("q"), AllOf(()), 10)
            assert all(d.chunks == PER_DOCUMENT for d in store.corpus.documents("laws"))
            assert all(state.complete for state in store.corpus.document_states("laws", index.id).values())

    def write(prefix: str) -> None:
        for n in range(30):
            paragraphs = [f"shared words {prefix} {n} {part}" for part in range(PER_DOCUMENT)]
            put(store, index, document_of(f"{prefix}{n}", ""), paragraphs)
            store.settings.set(f"{prefix}.{n}", "stored")

    with ThreadPoolExecutor(max_workers=6) as threads:
        reading = [threads.submit(read) for _ in range(4)]
        writing = [threads.submit(write, prefix) for prefix in "ab"]
        wait(writing)
        done.set()
    for work in (*writing, *reading):
        work.result()
    assert counts(store, index) == dict.fromkeys(("chunks", "words", "vectors"), 60 * PER_DOCUMENT)
    assert all(store.settings.get(f"{prefix}.{n}") == "stored" for prefix in "ab" for n in range(30))


INGEST = f"""
import sys, pathlib
from storage import open_store
from tests.storage.builders import document_of, embedder, put
from workbench.records.corpus import Recipe
store = open_store(pathlib.Path(sys.argv[1]))
index = store.corpus.open_index("laws", embedder(), Recipe())
for n in range(10_000):
    name = f"{{n % 40}}.txt"  # later rounds replace half of the chunks, and delete some documents
    paragraphs = [f"words of {{name}} {{part}} {{n // 40 if part % 2 else 0}}" for part in range({PER_DOCUMENT})]
    put(store, index, document_of(name, ""), paragraphs)
    if n % 7 == 6:
        store.corpus.delete_documents([f"laws/{{n % 5}}.txt"])
    print(n, flush=True)
"""


def test_a_killed_ingest_leaves_a_consistent_file(tmp_path: Path) -> None:
    path = tmp_path / "workbench.db"
    store = open_store(path)
    store.corpus.create_collection("laws", Recipe())
    store.close()
    for committed in (1, 13, 60):
        child = subprocess.Popen([sys.executable, "-c", INGEST, str(path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for _ in range(committed):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        again = open_store(path)
        assert isinstance(again, FileStore)
        index = again.corpus.open_index("laws", embedder(), Recipe())
        rows = counts(again, index)
        assert rows["chunks"] == rows["words"] == rows["vectors"] > 0
        assert {d.chunks for d in again.corpus.documents("laws")} == {PER_DOCUMENT}
        again.close()
        connection = connect(path, "write")
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()
        assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_only_what_others_commit_counts_as_a_foreign_change(store: FileStore) -> None:
    def now() -> int:
        store.foreign_changes()
        store.settings.set("own", "word")  # the write thread has answered what was asked before
        return store.foreign_changes()

    before = now()
    assert now() == before
    with closing(open_store(store.path)) as other:
        other.settings.set("foreign", "word")
        now()
        after = now()
        assert after > before
        assert now() == after
