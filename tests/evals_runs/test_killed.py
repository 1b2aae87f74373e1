"""Killed with SIGKILL in the middle, by another process than the one that goes on: real file, real embedder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.library import DOCUMENTS
from workbench import paths
from workbench.__main__ import open_desk
from workbench.desk import Desk
from workbench.errors import EngineError
from workbench.records.cases import Case, Expectation, GoldSpan
from workbench.records.codec import encode
from workbench.records.corpus import IngestRequest
from workbench.records.evals import RunConfig
from workbench.records.models import LoadSettings

pytestmark = pytest.mark.model

RUN = """
import sys
from pathlib import Path
from workbench.__main__ import open_desk
from workbench.records.evals import RunConfig

desk = open_desk(Path(sys.argv[1]))
for progress in desk.evals.run(RunConfig("faq", layer="chain")):
    print(progress.run.done, flush=True)
"""
QUESTIONS = {
    "enrolment.md": ("How much is the enrolment fee?", "118.50 euros"),
    "borrowing.md": ("How many books may a reader borrow?", "six"),
    "coffee.md": ("¿Cuánto cuesta el menú del día?", "nueve euros"),
}
CASES = [
    Case(f"{source}#{n} ñ", question, gold=(GoldSpan(source, grade=3),), answers=(answer,))
    for n in range(10)
    for source, (question, answer) in QUESTIONS.items()
]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("killed")
    for name, text in DOCUMENTS.items():
        folder.joinpath(name).write_text(text, "utf-8")
    cases = folder / "faq.jsonl"
    cases.write_text("\n".join(json.dumps(encode(case)) for case in CASES), "utf-8")
    desk = open_desk(folder / "lab.db")
    for _ in desk.ingest(IngestRequest(tuple(str(folder / name) for name in DOCUMENTS), "library")):
        pass
    desk.evals.import_dataset(str(cases))
    desk.close()
    return folder / "lab.db"


@pytest.fixture
def desk(db: Path) -> Iterator[Desk]:
    opened = open_desk(db)
    yield opened
    opened.close()


def test_a_run_killed_half_way_is_resumed_without_doing_a_case_twice(db: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", RUN, str(db)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for line in child.stdout:
        if int(line) == len(CASES) // 2:
            break
    embedders = psutil.Process(child.pid).children(recursive=True)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    _, alive = psutil.wait_procs(embedders, timeout=60)
    assert not alive  # the embedder's process doesn't outlive the run's
    desk = open_desk(db)
    (run,) = desk.evals.runs()
    kept = desk.evals.results(run.id)
    assert run.status == "interrupted"  # stored as running, and the process that ran it is gone
    assert run.done == len(kept) >= len(CASES) // 2
    *_, last = desk.evals.resume(run.id)
    results = desk.evals.results(run.id)
    assert (last.run.status, last.run.done, last.run.passed) == ("complete", len(CASES), len(CASES))
    assert results[: len(kept)] == kept
    assert [r.case_id for r in results] == [c.id for c in CASES]
    assert {desk.trace(r.trace_id).query for r in results} == {c.question for c in CASES}
    desk.close()


def test_a_model_killed_between_two_cases_is_loaded_again(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    tasks = [Case(f"t{n}", "Say yes.", expectation=Expectation("regex", "(?i)yes")) for n in range(4)]
    file.write_text("\n".join(json.dumps(encode(task)) for task in tasks), "utf-8")
    desk.evals.import_dataset(str(file))
    model = str(paths.gguf_folder() / paths.STARTER_MODEL)
    config = RunConfig("tasks", layer="model", model=model, load=LoadSettings(context=512))
    pids: list[int] = []
    for progress in desk.evals.run(config):
        if desk.model is None:  # between its end and the next load
            continue
        pids.append(desk.model.pid)
        if progress.run.done == 1 and not progress.finished:
            os.kill(desk.model.pid, signal.SIGKILL)
    results = desk.evals.results(progress.run.id)
    assert progress.run.status == "complete"
    assert [r.failure == "engine_error" for r in results] == [False, True, False, False]
    assert "SIGKILL" in results[1].error
    assert len(set(pids)) == 2
    assert all(r.scores["ttft_ms"] > 0 for r in results if not r.error)
    assert progress.run.manifest.settings["model.quantization"] == "Q4_1"


def test_a_model_that_is_no_model_is_refused_before_the_run(desk: Desk, tmp_path: Path) -> None:
    before = len(desk.evals.runs())
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF but not really")
    with pytest.raises(EngineError):
        list(desk.evals.run(RunConfig("faq", layer="chain", model=str(broken))))
    assert len(desk.evals.runs()) == before
