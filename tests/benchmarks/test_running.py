"""Small benches of the real model: measured, stopped, killed, resumed, refused; and models that can't be measured."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.screens.fake_benchmarks import MANIFEST, FakeBenchmarks
from workbench import paths
from workbench.__main__ import open_desk
from workbench.benchmarks import planning
from workbench.desk import Desk
from workbench.errors import Cancelled, EngineError, NotFoundError, UsageError
from workbench.records.benchmarks import BenchPlan, BenchProgress
from workbench.records.models import LoadSettings

MINI = BenchPlan(
    prompt=32, generate=8, repetitions=2, felt=False, cooldown_s=0, load=LoadSettings(context=512, threads=1)
)
RUN = """
import sys
from pathlib import Path
from workbench.__main__ import open_desk
from workbench.records.benchmarks import BenchPlan
from workbench.records.models import LoadSettings

desk = open_desk(Path(sys.argv[1]))
plan = BenchPlan(32, 8, (0,), 2, False, 0, LoadSettings(context=512, threads=1))
for progress in desk.benchmarks.run(sys.argv[2:], plan):
    print(progress.report.bench.done, flush=True)
"""


HOLD = """
import sys, time
from pathlib import Path
from workbench.__main__ import open_desk

with open_desk(Path(sys.argv[1])).benchmarks.alone:
    print("measuring", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    opened = open_desk(tmp_path / "lab.db")
    yield opened
    opened.close()


@pytest.fixture
def model() -> str:
    return str(paths.gguf_folder() / paths.STARTER_MODEL)


@pytest.fixture
def copy(model: str, tmp_path: Path) -> str:
    """A second file of the same model."""
    return shutil.copyfile(model, tmp_path / "copy.gguf").as_posix()


def last(steps: Iterator[BenchProgress]) -> BenchProgress:
    *_, end = steps
    return end


@pytest.mark.model
def test_two_models_are_measured_in_turns(desk: Desk, model: str, copy: str) -> None:
    report = last(desk.benchmarks.run([model, copy], MINI)).report
    assert report.bench.complete
    for row in report.rows:
        assert [test for test, _ in row.speeds] == ["pp32", "tg8"]
        assert all(found.n == 2 and found.mean > 0 and found.rank >= 1 for _, found in row.speeds)
        assert row.load_ms
        assert row.load_ms.n == 2
        assert row.rss > row.model.size
        assert row.memory.total > row.model.size
        assert not row.problem
    loads = [(s.model, s.repetition) for s in desk._store.benchmarks.samples(report.bench.id) if s.test == "load"]
    assert loads == [(0, 0), (1, 0), (1, 1), (0, 1)]


@pytest.mark.model
def test_what_is_felt_is_measured_too(desk: Desk, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    short = [test for test in planning.prompt_tests() if test.name.endswith(("/en-short", "/ticket"))]
    monkeypatch.setattr(planning, "prompt_tests", lambda: short)
    plan = replace(MINI, generate=0, prompt=0, repetitions=1, felt=True, load=LoadSettings(context=1024, threads=1))
    (row,) = last(desk.benchmarks.run([model], plan)).report.rows
    assert row.ttft_ms
    assert row.total_ms
    assert row.ttft_ms.n == row.total_ms.n == 1
    assert 0 < row.ttft_ms.p50 < row.total_ms.p50
    assert row.json
    assert row.json.share == 1.0  # the grammar forces it
    assert row.free
    assert row.free.n == 1


@pytest.mark.model
def test_a_killed_bench_goes_on_where_it_was(desk: Desk, model: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", RUN, str(desk.path), model], stdout=subprocess.PIPE, text=True)
    assert child.stdout
    next(line for line in child.stdout if int(line) >= 2)
    engines = psutil.Process(child.pid).children(recursive=True)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    psutil.wait_procs(engines, timeout=60)

    (bench,) = desk.benchmarks.benches()
    before = desk._store.benchmarks.samples(bench.id)
    assert 2 <= len(before) < bench.total
    report = last(desk.benchmarks.resume(bench.id)).report
    assert report.bench.complete
    assert desk._store.benchmarks.samples(bench.id)[: len(before)] == before
    with pytest.raises(UsageError, match="complete"):
        last(desk.benchmarks.resume(bench.id))


@pytest.mark.model
def test_a_stop_acts_in_the_middle_of_a_computation(desk: Desk, model: str) -> None:
    cancel = threading.Event()
    plan = replace(MINI, prompt=4096, load=LoadSettings(context=4096, threads=1))  # seconds of computing
    steps = desk.benchmarks.run([model], plan, cancel)
    while next(steps).report.bench.done == 0:
        pass
    cancel.set()
    with pytest.raises(Cancelled):
        last(steps)
    assert not psutil.Process().children()
    (bench,) = desk.benchmarks.benches()
    assert bench.done == 1


@pytest.mark.model
def test_a_bench_goes_on_neither_with_another_file_nor_beside_another(desk: Desk, model: str, copy: str) -> None:
    steps = desk.benchmarks.run([copy], MINI)
    while next(steps).report.bench.done == 0:
        pass
    with pytest.raises(UsageError, match="running"):
        next(desk.benchmarks.run([model], MINI))
    steps.close()
    with Path(copy).open("ab") as file:
        file.write(b"\0")
    (bench,) = desk.benchmarks.benches()
    with pytest.raises(UsageError, match="another file"):
        next(desk.benchmarks.resume(bench.id))


def test_of_two_processes_one_measures_and_a_dead_one_holds_nothing(desk: Desk, tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path / "lab.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "measuring\n"
        assert desk.benchmarks.elsewhere() == desk.ladders.elsewhere() == other.pid
        with pytest.raises(UsageError, match=f"Process {other.pid} runs"), desk.benchmarks.alone:
            pass
        other.kill()
    assert desk.benchmarks.elsewhere() == 0
    with desk.benchmarks.alone, desk.benchmarks.alone:  # a ladder, and its bench within it
        assert desk.benchmarks.elsewhere() == 0


@pytest.mark.model
def test_a_model_that_fails_has_a_problem_and_the_others_go_on(desk: Desk, model: str, copy: str) -> None:
    plan = replace(MINI, repetitions=1)
    steps = desk.benchmarks.run([copy, model], plan)
    next(steps)
    data = Path(copy).read_bytes()
    Path(copy).write_bytes(b"GGUF")
    report = last(steps).report
    broken, whole = report.rows
    assert report.bench.complete
    assert broken.problem
    assert not broken.speeds
    assert whole.speed("tg8")
    assert not whole.problem
    Path(copy).write_bytes(data)
    again = last(desk.benchmarks.resume(report.bench.id)).report
    assert (report.failed, again.failed) == (1, 0)
    assert again.rows[0].speed("tg8")
    assert again.rows[1] == whole  # what has a value isn't measured again


@pytest.mark.model
def test_exports_hold_the_figures_and_what_they_depend_on(desk: Desk, model: str) -> None:
    report = last(desk.benchmarks.run([model], replace(MINI, repetitions=1))).report
    (row,) = report.rows
    speed = row.speed("tg8")
    assert speed
    whole = json.loads(desk.benchmarks.export(report.bench.id, "json"))
    assert len(whole["samples"]) == report.bench.total
    assert whole["bench"]["models"][0]["hash"] == row.model.hash
    assert whole["rows"][0]["speeds"][0][1]["sd"] is None
    lines = csv.DictReader(io.StringIO(desk.benchmarks.export(report.bench.id, "csv")))
    told = [(float(line["value"]), line["sd"]) for line in lines if line["metric"] == "tg8_tokens_per_s"]
    assert told == [(speed.mean, "")]  # one repetition has no spread: 0 would say that it never differs
    words = desk.benchmarks.export(report.bench.id, "markdown")
    assert row.model.hash in words
    assert report.bench.manifest.machine.processor in words
    assert f"{speed.mean:.1f}" in words


def test_another_machine_and_other_settings_are_told(desk: Desk) -> None:
    store = desk._store.benchmarks
    made = FakeBenchmarks()
    last(made.run(["a.gguf"], MINI))
    bench, samples = made.stored[1]
    elsewhere = replace(MANIFEST, machine=replace(MANIFEST.machine, processor="Other CPU"))
    for manifest, plan in ((MANIFEST, MINI), (elsewhere, replace(MINI, load=LoadSettings(threads=4)))):
        created = store.create(plan, bench.models, manifest, bench.total)
        for sample in samples:
            store.add_sample(replace(sample, bench_id=created.id))
    found = desk.benchmarks.compare([(1, 0), (2, 0)])
    assert any("Other CPU" in words for words in found.caveats)
    assert any("threads 1 ↔ 4" in words for words in found.caveats)
    assert desk.benchmarks.compare([(1, 0), (1, 0)]).caveats == ()
    stopped = store.create(MINI, bench.models, elsewhere, bench.total)
    with pytest.raises(UsageError, match="another machine"):
        next(desk.benchmarks.resume(stopped.id))


def test_nothing_and_no_file_are_refused(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one model file"):
        next(desk.benchmarks.run([], MINI))
    with pytest.raises(EngineError, match="can't be used"):
        next(desk.benchmarks.run([str(tmp_path / "none.gguf")], MINI))
    with pytest.raises(NotFoundError, match="no bench 7"):
        desk.benchmarks.report(7)
    assert desk.benchmarks.benches() == ()


def test_a_deleted_bench_is_gone_with_its_samples(desk: Desk) -> None:
    made = FakeBenchmarks()
    last(made.run(["a.gguf"], MINI))
    bench, samples = made.stored[1]
    created = desk._store.benchmarks.create(MINI, bench.models, MANIFEST, bench.total)
    for sample in samples:
        desk._store.benchmarks.add_sample(sample)
    desk._store.benchmarks.add_sample(replace(samples[0], problem="it broke"))
    known = desk.benchmarks.report(created.id).bench
    assert known.complete
    assert (known.measured, known.failed) == (known.total - 1, 1)
    desk.benchmarks.delete(created.id)
    with pytest.raises(NotFoundError):
        desk._store.benchmarks.add_sample(samples[0])
    with pytest.raises(NotFoundError):
        desk.benchmarks.delete(created.id)
