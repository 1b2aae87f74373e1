"""Whatever happens to a child process, this one goes on and says what happened."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.engine.conftest import Damage, model_path
from workbench.engine.client import ChildGenerator, load_generator
from workbench.engine.gguf_header import read_header
from workbench.engine.process import death_of
from workbench.errors import EngineError
from workbench.records.models import GenerationSettings, LoadSettings, ModelFile

pytestmark = pytest.mark.model

SETTINGS = GenerationSettings(max_tokens=8)
SMALL = LoadSettings(context=512)


def load(path: Path) -> ChildGenerator:
    """Loads it whatever its header says."""
    return load_generator(ModelFile(path=str(path), name=path.stem, size=0), SMALL)


@pytest.fixture(autouse=True)
def _silence(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Nothing of the engine reaches our own output, whatever the test does."""
    yield
    assert capfd.readouterr() == ("", "")


def gone(pid: int) -> bool:
    """No such process, or one that only waits for its parent to notice."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_killed_child_is_reported_in_words_and_stays_reported() -> None:
    generator = load(model_path())
    reading = generator.generate("Once upon a time", replace(SETTINGS, max_tokens=400))
    next(reading)
    os.kill(generator.model.pid, signal.SIGKILL)
    with pytest.raises(EngineError) as died:
        list(reading)
    assert "SIGKILL" in died.value.message
    assert "memory" in died.value.message
    assert died.value.remedy
    assert any("buffer size" in line for line in died.value.log)
    for call in (lambda: generator.count_tokens("x"), lambda: generator.generate("x", SETTINGS)):
        with pytest.raises(EngineError, match="SIGKILL"):
            call()
    generator.close()


def test_a_cancelled_prompt_is_not_the_cause_of_a_later_death() -> None:
    """llama.cpp calls a computation that it was told to stop a failed one."""
    path = model_path()
    generator = load_generator(
        ModelFile(path=str(path), name=path.stem, size=0), replace(SMALL, context=4096, batch=2048)
    )
    cancel = threading.Event()
    reading = generator.generate("a lamp " * 1900, replace(SETTINGS, max_tokens=4), cancel)
    next(reading)
    threading.Timer(0.15, cancel.set).start()  # within the first batch, which takes several times as long
    assert [*reading][-1].state == "cancelled"
    os.kill(generator.model.pid, signal.SIGKILL)
    with pytest.raises(EngineError) as died:
        list(generator.generate("Hello", SETTINGS))
    assert not [line for line in died.value.log if "fail" in line]
    generator.close()


def test_threads_that_wait_are_all_told() -> None:
    generator = load(model_path())
    seen: list[str] = []

    def work() -> None:
        try:
            list(generator.generate("Once upon a time", replace(SETTINGS, max_tokens=400)))
        except EngineError as error:
            seen.append(error.title)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    generator.count_tokens("all three have asked, or are about to")
    os.kill(generator.model.pid, signal.SIGKILL)
    for thread in threads:
        thread.join(60)
    generator.close()
    assert seen == ["The language model's process ended"] * 3


def test_closing_while_it_answers_ends_the_answer() -> None:
    generator = load(model_path())
    reading = generator.generate("Once upon a time", replace(SETTINGS, max_tokens=400))
    next(reading)
    generator.close()
    assert gone(generator.model.pid)
    with pytest.raises(EngineError, match="unloaded"):
        list(reading)


@pytest.mark.parametrize("value", [0, 4_000_000_000])
def test_a_wrong_block_count_costs_only_the_child(damage: Damage, value: int) -> None:
    path = damage("llama.block_count", "I", value)
    with pytest.raises(EngineError, match="header is damaged"):
        load_generator(read_header(path), SMALL)
    with pytest.raises(EngineError) as refused:
        load(path)
    assert refused.value.remedy
    assert refused.value.log


def test_a_file_that_loads_and_then_aborts_costs_only_the_child(damage: Damage) -> None:
    generator = load(damage("llama.attention.layer_norm_rms_epsilon", "f", float("nan")))
    with pytest.raises(EngineError) as died:
        list(generator.generate("Hello", SETTINGS))
    assert "SIGABRT" in died.value.message
    assert any("GGML_ASSERT" in line for line in died.value.log)
    assert len(died.value.log) > 20
    assert [line.rpartition(": ")[2] for line in died.value.last_words] == ["GGML_ASSERT(eps >= 0.0f) failed"]
    generator.close()


@pytest.mark.parametrize("key", ["attention.layer_norm_rms_epsilon", "rope.freq_base"])
@pytest.mark.parametrize("value", [float("nan"), -1.0, float("inf")])
def test_a_number_that_makes_no_sense_is_found_in_the_header(damage: Damage, key: str, value: float) -> None:
    file = read_header(damage(f"llama.{key}", "f", value))
    assert file.problem == f"the header is damaged: llama.{key}"


def test_a_log_without_a_cause_tells_its_last_lines() -> None:
    log = ("print_info: general.name = Error", "load: reading", "load: reading", "", "load: mapped", "load: warming up")
    assert EngineError("", "", log=log).last_words == ("load: reading", "load: mapped", "load: warming up")


@pytest.mark.parametrize("keep", [1_000, 2_000_000, 90_000_000])
def test_a_truncated_file_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "short.gguf"
    with model_path().open("rb") as file:
        path.write_bytes(file.read(keep))
    with pytest.raises(EngineError, match=r"cut short|middle of its header"):
        load_generator(read_header(path), SMALL)
    with pytest.raises(EngineError) as refused:
        load(path)
    assert refused.value.title == "short can't be loaded"
    assert refused.value.message


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "poem.gguf"
    path.write_text("Caminante, no hay camino")
    with pytest.raises(EngineError, match="no GGUF file"):
        load_generator(read_header(path), SMALL)
    with pytest.raises(EngineError, match="invalid magic"):
        load(path)


def test_a_truncated_file_costs_only_the_child_even_when_mapped(tmp_path: Path, damage: Damage) -> None:
    path = damage("llama.block_count", "I", 30)
    generator = load_generator(read_header(path), replace(SMALL, mmap=True))
    os.truncate(path, 3_000_000)
    with pytest.raises(EngineError, match=r"SIGBUS.*changed or was cut short"):
        list(generator.generate("Hello", SETTINGS))
    generator.close()


PARENT = """
import os, sys
from pathlib import Path
from workbench.engine.client import load_generator
from workbench.engine.gguf_header import read_header
from workbench.records.models import GenerationSettings, LoadSettings

generator = load_generator(read_header(Path(sys.argv[1])), LoadSettings(context=4096))
answer = generator.generate("One more thing. " * 700, GenerationSettings(max_tokens=500))
next(answer)
print(generator.model.pid, flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_parent_that_dies_leaves_no_child() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARENT, str(model_path())], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    pid = int(done.stdout)
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(timeout=60)
    assert gone(pid)


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="Linux only")
def test_when_memory_runs_out_the_child_goes_first() -> None:
    generator = load(model_path())
    score = Path(f"/proc/{generator.model.pid}/oom_score_adj").read_text()
    generator.close()
    assert int(score) == 1000


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "exit code 1. Its last words: ImportError: no such library"),
        (-signal.SIGILL, "SIGILL: the engine was built for another processor"),
        (-signal.SIGSEGV, "SIGSEGV"),
        (-99, "ended by 99"),
    ],
)
def test_every_death_has_words_and_a_remedy(code: int, words: str) -> None:
    error = death_of("embed", code, ("Traceback", "ImportError: no such library", ""))
    assert error.title == "The embedding model's process ended"
    assert words in error.message
    assert error.remedy
