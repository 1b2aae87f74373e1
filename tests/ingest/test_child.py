"""Whatever a document does to the process that reads it, the others are ingested and nobody waits for ever."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from tests.embedders import INFO, HashEmbedder, WordTokenizer, hash_vector
from tests.ingest.conftest import Bench
from workbench import i18n
from workbench.corpus import cutting, ingest
from workbench.corpus.chunking import recipe_from
from workbench.corpus.tasks import ReadFile, Refused, Setup
from workbench.errors import EngineError
from workbench.records.corpus import IngestOutcome, ParsedDocument

BIG = "The reading of this sentence takes a moment. " * 500_000  # seconds of reading


@pytest.fixture
def with_big(bench: Bench) -> Bench:
    """Three documents; once the first is done, the child reads the second for seconds."""
    bench.write("a.md", "First.")
    bench.write("big.txt", BIG)
    bench.write("z.md", "Last.")
    return bench


def child() -> psutil.Process:
    (found,) = psutil.Process().children()
    return found


@pytest.mark.parametrize("how", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_document_that_kills_its_reader_is_reported_and_the_rest_goes_on(
    with_big: Bench, how: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    outcomes: dict[str, IngestOutcome] = {}
    for progress in with_big.progresses():
        outcomes |= {outcome.source_id: outcome for outcome in progress.outcomes}
        if [*outcomes] == ["a.md"] and progress.outcomes:
            child().send_signal(how)
    assert {name: o.action for name, o in outcomes.items()} == {"a.md": "added", "big.txt": "failed", "z.md": "added"}
    assert ("memory" if how is signal.SIGKILL else how.name) in outcomes["big.txt"].reason
    assert outcomes["big.txt"].remedy
    assert psutil.Process().children() == []
    assert capfd.readouterr() == ("", "")


def test_a_document_that_takes_too_long_is_given_up(with_big: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "TIME_LIMIT_S", 3)
    outcomes = with_big.ingest()
    assert {name: o.action for name, o in outcomes.items()} == {"a.md": "added", "big.txt": "failed", "z.md": "added"}
    assert outcomes["big.txt"].reason == "Reading it took longer than 3 s."


def test_a_stop_doesnt_wait_for_a_reader_that_hangs(with_big: Bench) -> None:
    cancel = threading.Event()
    for progress in with_big.progresses(cancel):
        if progress.outcomes:
            child().suspend()
            cancel.set()
    assert (progress.finished, progress.cancelled, progress.done) == (True, True, 1)
    assert psutil.Process().children() == []


PARENT = """
import os, sys
from pathlib import Path
import psutil
from storage import open_store
from tests.embedders import HashEmbedder
from workbench.corpus.ingest import Ingester
from workbench.records.corpus import IngestRequest

for progress in Ingester(open_store(Path(sys.argv[1])).corpus, HashEmbedder()).run(IngestRequest((sys.argv[2],), "c")):
    if progress.outcomes:
        (child,) = psutil.Process().children()
        print(child.pid, flush=True)
        os.kill(os.getpid(), 9)
"""


def test_a_parent_that_dies_leaves_no_reader(with_big: Bench, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARENT, str(tmp_path / "dies.db"), str(with_big.folder)],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(int(done.stdout)).wait(timeout=60)
    assert not psutil.pid_exists(int(done.stdout))


class Broken(WordTokenizer):
    """Can't be had in another process."""

    def __reduce__(self) -> tuple[object, ...]:
        return getattr, (str, "no_such_thing")


def test_a_reader_that_doesnt_start_is_no_documents_fault(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    bench.write("a.md", "First.")
    bench.embedder.tokenizer = Broken()
    with pytest.raises(EngineError, match=r"doesn't start\..*no_such_thing"):
        bench.ingest()
    assert psutil.Process().children() == []
    assert capfd.readouterr() == ("", "")


def test_the_reader_speaks_the_language_of_the_interface(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(i18n, "_chosen", ["es"])
    (bench.folder / "empty.txt").write_bytes(b"")
    assert bench.ingest()["empty.txt"].reason == "No contiene texto."


def test_vectors_that_cutting_asks_for_dont_hold_up_a_stop(bench: Bench) -> None:
    bench.write("a.md", "Cats purr. Ships sail. Dogs bark. Cars drive. " * 20)
    cancel = threading.Event()
    embed = bench.embedder.embed_passages

    def stop_at_the_third(texts: list[str], cancel_: threading.Event | None = None):
        for vector in embed(texts, cancel_):
            if len(bench.embedder.embedded) == 3:
                cancel.set()
            yield vector

    bench.embedder.embed_passages = stop_at_the_third
    *_, last = bench.progresses(cancel, recipe=recipe_from("semantic"))
    assert (last.cancelled, last.done, len(bench.embedder.embedded)) == (True, 0, 3)


def test_an_unexpected_error_of_a_parser_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: Path, name: str = "") -> ParsedDocument:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(cutting, "parse", broken)
    path = tmp_path / "a.md"
    path.write_text("Text.")
    setup = Setup("c", recipe_from("structure"), INFO, WordTokenizer(), {}, "en", 0)
    result = cutting.Cutter(setup, lambda texts: [hash_vector(t) for t in texts]).do(ReadFile(path, str(path), "a.md"))
    assert isinstance(result, Refused)
    assert "a fault of ours" in result.reason


def test_the_embedder_isnt_started_for_what_is_known(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[str] = []
    monkeypatch.setattr(HashEmbedder, "start", lambda self: starts.append("started"))
    bench.write("a.md", "First.")
    bench.ingest()
    assert starts == ["started"]
    bench.ingest()
    assert starts == ["started"]
