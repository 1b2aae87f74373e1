"""A switch from the starter embedder to USE on XQuAD (es), its build killed half-way, and what each form loses.

Every paragraph is a document and a chunk. The build is a process of its own, ended with SIGKILL when half of the
documents are committed, and run again; then both indexes are asked all 1,190 questions, and Recall_ANN is measured.

Run: WORKBENCH_MODELS=… python -m bench.index_switch   (needs: workbench starter --use)
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.xquad import COLLECTION, WHOLE, load
from storage import open_store
from workbench import paths
from workbench.desk import Desk
from workbench.indexing.forms import form_name
from workbench.records.cases import Case, GoldSpan
from workbench.records.corpus import IngestRequest

DATASET = "xquad-es"


@contextmanager
def opened(file: Path) -> Iterator[Desk]:
    """The desk on ``file``."""
    desk = Desk(open_store(file))
    try:
        yield desk
    finally:
        desk.close()


def fill(file: Path, folder: Path) -> None:
    """Ingests the paragraphs with the starter embedder, and stores the questions as a dataset."""
    paragraphs, questions = load("es")
    for name, text in paragraphs.items():
        folder.joinpath(name).write_text(text, "utf-8")
    store = open_store(file)
    cases = [
        Case(str(number), question.text, gold=(GoldSpan(question.source_id, grade=3),))
        for number, question in enumerate(questions)
    ]
    desk = Desk(store)
    try:
        for _ in desk.ingest(IngestRequest((str(folder),), COLLECTION, recipe=WHOLE)):
            pass
        store.datasets.put(DATASET, COLLECTION, cases)
    finally:
        desk.close()


def build(file: Path) -> subprocess.Popen[bytes]:
    """The build, in a process of its own."""
    command = ["indexes", "build", "--embedder", paths.USE_EMBEDDER]
    return subprocess.Popen([sys.executable, "-m", "workbench", "--db", str(file), *command])


def kill_half_way(file: Path) -> int:
    """Ends the build with SIGKILL when half of the documents are committed; returns how many were."""
    running, started = build(file), time.perf_counter()
    store = open_store(file, read_only=True)
    try:
        while True:
            time.sleep(0.02)
            newest = store.corpus.indexes(COLLECTION)[0]
            if (newest.status == "building" and newest.vectors >= 120) or running.poll() is not None:
                break
    finally:
        store.close()
    running.kill()
    running.wait()
    print(f"killed after {time.perf_counter() - started:.1f} s with {newest.vectors} vectors committed", flush=True)
    return newest.vectors


def main() -> None:
    """Prints the figures."""
    paths.go_offline()
    with tempfile.TemporaryDirectory() as scratch:
        file, folder = Path(scratch, "xquad.db"), Path(scratch, "documents")
        folder.mkdir()
        fill(file, folder)
        kill_half_way(file)
        with opened(file) as desk:
            for state in desk.indexes.states(COLLECTION):
                print(f"index {state.index.id} {state.index.status}: {state.complete}/{state.documents}", flush=True)
        started = time.perf_counter()
        print(f"resumed, exit code {build(file).wait()}, {time.perf_counter() - started:.1f} s", flush=True)
        with opened(file) as desk:
            report(desk)


def report(desk: Desk) -> None:
    """Compares, measures, switches and goes back."""
    use, e5 = sorted(desk.indexes.states(COLLECTION), key=lambda state: -state.index.id)
    print(f"whole: {use.whole} ({use.complete}/{use.documents})")
    *_, found = desk.indexes.compare(e5.index.id, use.index.id, DATASET)
    for m in found.metrics:
        d = m.difference
        print(f"{m.metric:16} e5 {m.a.value:.3f}  USE {m.b.value:.3f}  {d.value:+.3f} [{d.low:+.3f}, {d.high:+.3f}]")
    print(f"only e5 right {found.broken}, only USE right {found.fixed}, of {found.cases}")
    for state in (e5, use):
        *_, measured = desk.indexes.recall(state.index.id, DATASET)
        for one in measured.measured:
            r = one.recall
            name = f"{state.index.embedder.name} {form_name(one.form)}"
            print(f"{name:44} @{one.k:<3} {r.value:.4f} [{r.low:.4f}, {r.high:.4f}]  {one.bytes:,.0f} B, n={r.n}")
    started = time.perf_counter()
    desk.indexes.switch(use.index.id)
    print(f"switch {1000 * (time.perf_counter() - started):.0f} ms")
    started = time.perf_counter()
    list(desk.indexes.back(COLLECTION))
    print(f"back {1000 * (time.perf_counter() - started):.0f} ms")
    print([(s.index.id, s.index.status) for s in desk.indexes.states(COLLECTION)])


if __name__ == "__main__":
    main()
