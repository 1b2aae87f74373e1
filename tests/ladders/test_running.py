"""Ladders of the real model: made, cancelled, killed, resumed, refused; a file against its own copy."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from workbench import paths
from workbench.__main__ import open_desk
from workbench.desk import Desk
from workbench.engine.gguf_header import file_hash
from workbench.errors import Cancelled, EngineError, FileError, UsageError
from workbench.ladders import making, stages
from workbench.records.benchmarks import BenchPlan
from workbench.records.ladders import LadderPlan, LadderProgress, Rung, TextPlan
from workbench.records.models import LoadSettings

pytestmark = pytest.mark.model
TEXT = "".join(f"The {n}th lamp is lit when the {n + 1}th ship passes the harbour mouth at dusk. " for n in range(200))
LOAD = LoadSettings(threads=1)
RUN = """
import sys
from pathlib import Path
from workbench.__main__ import open_desk
from workbench.records.ladders import LadderPlan, TextPlan
from workbench.records.models import LoadSettings

desk = open_desk(Path(sys.argv[1]))
text = TextPlan(path=sys.argv[4], windows=4, tokens=64)
plan = LadderPlan(sys.argv[2], ("Q2_K",), sys.argv[3], text=text, load=LoadSettings(threads=1))
for progress in desk.ladders.run(plan):
    found = progress.report.rows[1].divergence
    print(progress.stage, found.windows if found else 0, flush=True)
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
def text(tmp_path: Path) -> TextPlan:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, "utf-8")
    return TextPlan(path=str(path), windows=2, tokens=64)


def last(steps: Iterator[LadderProgress]) -> LadderProgress:
    *_, end = steps
    return end


def test_a_ladder_of_two_and_a_copy(desk: Desk, model: str, text: TextPlan, tmp_path: Path) -> None:
    """A bit-equal copy is at KL 0, Q8_0 hardly further, Q2_K far; Q2_K is smaller, and says what fell back."""
    copy = shutil.copyfile(model, tmp_path / "copy.Q4_1.gguf").as_posix()
    bench = BenchPlan(32, 8, (0,), 2, felt=False, cooldown_s=0, load=replace(LOAD, context=512))
    plan = LadderPlan(model, ("Q8_0", "Q2_K"), str(tmp_path / "out"), files=(copy,), text=text, bench=bench, load=LOAD)
    report = last(desk.ladders.run(plan)).report
    assert not report.left
    reference, fine, coarse, same = report.rows
    found = [row.divergence for row in (same, fine, coarse)]
    assert all(found)
    zero, near, far = (one.kl.value for one in found if one)
    assert zero == 0.0
    assert 0 < near < 0.05 < far
    assert same.divergence
    assert same.divergence.same_top.value == 1.0
    assert reference.perplexity == same.perplexity
    assert coarse.rung.size < reference.rung.size < fine.rung.size
    assert coarse.saving
    assert coarse.saving == pytest.approx(1 - coarse.rung.size / reference.rung.size)
    assert dict(coarse.rung.tensor_types)["Q4_0"] == coarse.rung.fallbacks == 180
    assert "requantized from Q4_1" in desk.ladders.export(report.ladder.id, "markdown")
    assert all(row.bench and row.bench.rss > row.rung.size for row in report.rows)
    assert same.front
    record = desk.ladders.decide(report.ladder.id, desk.ladders.sentence(report.ladder.id, 2), "it is a test")
    told = desk.evals.export_decision(record.id)
    assert "it is a test" in told
    assert file_hash(Path(coarse.rung.path)) in told
    Path(coarse.rung.path).unlink()
    moved = desk.ladders.report(report.ladder.id)
    assert not moved.left, "it was made and measured"
    assert [row.gone for row in moved.rows] == [False, False, True, False]
    record = desk.ladders.decide(report.ladder.id, desk.ladders.sentence(report.ladder.id, 2), "it is a test")
    assert "its file isn't there any more" in record.evidence[2]


def test_a_cancelled_quantization_leaves_no_file(model: str, tmp_path: Path) -> None:
    cancel = threading.Event()
    rung = Rung(1, "Q6_K", str(tmp_path / "out" / "x.Q6_K.gguf"), "x.Q6_K", True)

    def until_begun() -> None:
        for step in making.make(model, rung, 1, cancel):
            if isinstance(step, float) and step > 0:
                assert list((tmp_path / "out").iterdir())  # something is being written
                cancel.set()

    with pytest.raises(Cancelled):
        until_begun()
    assert list((tmp_path / "out").iterdir()) == []


def test_a_rung_that_failed_is_tried_again_and_benched_beside_the_others(
    desk: Desk, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> Iterator[Rung]:
        raise EngineError("The ladder's process ended", "It was ended by SIGKILL", "")
        yield

    bench = BenchPlan(8, 2, (0,), 1, felt=False, cooldown_s=0, load=replace(LOAD, context=256))
    copy = shutil.copyfile(model, tmp_path / "copy.gguf").as_posix()
    plan = LadderPlan(model, ("Q2_K",), str(tmp_path / "out"), files=(copy,), bench=bench, load=LOAD)
    with monkeypatch.context() as patched:
        patched.setattr(stages, "make", killed)
        first = last(desk.ladders.run(plan)).report
    assert first.failed == 1
    assert [row.bench is not None for row in first.rows] == [True, False, True]
    again = last(desk.ladders.resume(first.ladder.id)).report
    assert not again.failed
    assert not again.left
    assert all(row.bench and row.bench.speeds for row in again.rows)


def test_a_killed_ladder_goes_on_where_it_was(desk: Desk, model: str, text: TextPlan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, str(desk.path), model, str(out), text.path], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout
    next(line for line in child.stdout if line.strip() == "quality 1")
    engines = psutil.Process(child.pid).children(recursive=True)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    psutil.wait_procs(engines, timeout=60)
    (ladder,) = desk.ladders.ladders()
    made = (out / f"{ladder.rungs[1].name}.gguf").stat().st_mtime_ns
    before = desk._store.ladders.scores(ladder.id, 1)
    assert 1 <= len(before) < 4
    report = last(desk.ladders.resume(ladder.id)).report
    assert report.rows[1].divergence
    assert report.rows[1].divergence.windows == 4
    assert desk._store.ladders.scores(ladder.id, 1)[: len(before)] == before
    assert (out / f"{ladder.rungs[1].name}.gguf").stat().st_mtime_ns == made  # not made again
    Path(text.path).write_text(TEXT[::-1], "utf-8")
    with pytest.raises(UsageError, match="another text"):
        last(desk.ladders.resume(ladder.id))


def test_dry_run_tells_fallbacks_and_what_is_refused(desk: Desk, model: str) -> None:
    small, refused = desk.ladders.preview(model, ("Q2_K", "IQ2_XXS"))
    assert dict(small.tensor_types) == {"Q4_0": 180, "F32": 61, "Q3_K": 30, "Q8_0": 1}
    assert sum(f.tensors for f in small.fallbacks) == 180
    assert 80 << 20 < small.size < 90 << 20
    assert "importance matrix" in refused.problem


def test_another_tokenizer_is_told_and_the_others_go_on(desk: Desk, model: str, text: TextPlan, tmp_path: Path) -> None:
    other = tmp_path / "other.Q4_1.gguf"
    data = Path(model).read_bytes()
    other.write_bytes(data.replace("Ġlamp".encode(), "Ġlqmp".encode(), 1))
    plan = LadderPlan(
        model, (), str(tmp_path), files=(str(other), str(shutil.copy(model, tmp_path / "same.gguf"))), text=text
    )
    report = last(desk.ladders.run(plan)).report
    assert "another tokenizer" in report.rows[1].rung.problem
    assert report.rows[2].divergence
    assert not report.rows[2].rung.problem


def test_a_file_in_the_way_stays_and_a_full_disk_is_told(
    desk: Desk, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "SmolLM2-135M-Instruct.Q2_K.gguf"
    mine.write_bytes(b"mine")
    with pytest.raises(UsageError, match="was there before"):
        last(desk.ladders.run(LadderPlan(model, ("Q2_K",), str(tmp_path))))
    assert mine.read_bytes() == b"mine"
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1 << 30, 1 << 30, 1 << 20))
    with pytest.raises(FileError, match="Q8_0 takes 136 MiB"):
        last(desk.ladders.run(LadderPlan(model, ("Q8_0",), str(tmp_path))))
    assert [path.name for path in tmp_path.glob("*Q8_0*")] == []
