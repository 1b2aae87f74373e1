"""Adapters change what a model says, idle models go, and layers that a GPU didn't take are told."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from screens.models.card import Shelf
from screens.models.card import row as card_row
from screens.widgets.memory import memory_lines
from tests.models.conftest import ORIGINAL
from workbench.engine.log_lines import LogReader
from workbench.engine.offload import offload
from workbench.errors import EngineError
from workbench.library import Library
from workbench.records.models import Adapter, GenerationSettings, LoadedModel, LoadSettings

SMALL = LoadSettings(context=512)
CPU_LOG = """\
load_tensors:   CPU_REPACK model buffer size =    42.15 MiB
load_tensors:          CPU model buffer size =    50.01 MiB
llama_kv_cache:        CPU KV buffer size =    11.25 MiB
sched_reserve:        CPU compute buffer size =    99.00 MiB"""
GPU_LOG = """\
load_tensors: offloading output layer to GPU
load_tensors: offloading 29 repeating layers to GPU
load_tensors: offloaded 31/31 layers to GPU
load_tensors:   CPU_Mapped model buffer size =    28.69 MiB
load_tensors:        CUDA0 model buffer size =    92.04 MiB"""
FALLEN_LOG = """\
load_tensors: offloaded 12/31 layers to GPU
load_tensors:   CPU_Mapped model buffer size =   120.73 MiB"""


def write_lora(path: Path, size: float = 0.5) -> Path:
    """A rank-2 adapter of the first layer's query of SmolLM2."""
    from gguf import GGUFWriter

    numbers = np.random.default_rng(7)
    writer = GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 2.0)
    for layer in range(30):
        name = f"blk.{layer}.attn_q.weight"
        writer.add_tensor(f"{name}.lora_a", numbers.normal(0, size, (2, 576)).astype(np.float32))
        writer.add_tensor(f"{name}.lora_b", numbers.normal(0, size, (576, 2)).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def load(library: Library, settings: LoadSettings) -> LoadedModel:
    *_, last = library.load(str(ORIGINAL), settings)
    assert last.model
    return last.model


def say(library: Library) -> str:
    assert library.generator
    *_, last = library.generator.generate("The capital of France is", GenerationSettings(max_tokens=12))
    return last.text


@pytest.mark.model
def test_an_adapter_changes_the_answer_by_its_scale(library: Library, tmp_path: Path) -> None:
    path = write_lora(tmp_path / "style.gguf")
    load(library, SMALL)
    plain = say(library)
    load(library, replace(SMALL, adapters=(Adapter(str(path), 1.0),)))
    assert library.generator
    *_, last = library.generator.generate("The capital of France is", GenerationSettings(max_tokens=12))
    assert last.text != plain
    assert last.prefill_tps
    assert last.ttft_ms
    assert last.prefill_tps * last.ttft_ms / 1e3 < 50, "the first prompt of five tokens is timed, with an adapter too"
    load(library, replace(SMALL, adapters=(Adapter(str(path), 0.0),)))
    assert say(library) == plain


@pytest.mark.model
def test_an_adapter_is_listed_as_one_and_refused_as_a_model(library: Library, tmp_path: Path) -> None:
    write_lora(tmp_path / "style.gguf")
    library.add_folder(str(tmp_path))
    (file,) = library.files()
    assert file.kind == "adapter"
    (fit,) = library.memory([file])
    assert "added to a model" in str(memory_lines(file, SMALL, fit))
    assert str(card_row(file, "", Shelf()).cells[-1]).startswith("('adapter'")
    with pytest.raises(EngineError, match="of the kind “adapter”"):
        list(library.load(file.path))


@pytest.mark.model
def test_a_load_that_cannot_work_leaves_the_loaded_model(library: Library, tmp_path: Path) -> None:
    before = load(library, SMALL)
    write_lora(tmp_path / "style.gguf")
    for path, settings in (
        (str(tmp_path / "style.gguf"), SMALL),
        (str(tmp_path / "gone.gguf"), SMALL),
        (str(ORIGINAL), replace(SMALL, context=1 << 30)),
        (str(ORIGINAL), replace(SMALL, adapters=(Adapter(str(tmp_path / "gone.gguf")),))),
    ):
        with pytest.raises(EngineError):
            list(library.load(path, settings))
    assert library.model == before


@pytest.mark.model
def test_an_idle_model_is_unloaded_and_says_what_came_back(library: Library) -> None:
    model = load(library, SMALL)
    assert library.released == 0
    library.idle_minutes = 0.001
    psutil.Process(model.pid).wait(20)
    while library.generator:
        threading.Event().wait(0.01)
    assert library.model is None
    while not library.released:
        threading.Event().wait(0.01)
    assert library.released > 100 << 20
    library.idle_minutes = 0
    load(library, SMALL)
    assert library.released == 0


@pytest.mark.model
def test_unloading_tells_what_came_back(library: Library) -> None:
    load(library, SMALL)
    assert library.unload() > 100 << 20
    assert library.unload() == 0


@pytest.mark.model
def test_layers_asked_of_a_machine_without_a_gpu_are_told(library: Library) -> None:
    told = load(library, replace(SMALL, gpu_layers=99)).offload
    if told.taken:
        pytest.skip("this machine has a GPU")
    assert (told.asked, told.taken, told.layers) == (31, 0, 31)
    assert "no GPU" in told.reason


def read(log: str) -> LogReader:
    reader = LogReader()
    for line in log.splitlines():
        reader.read(line)
    return reader


def test_the_log_tells_layers_and_buffers() -> None:
    cpu, gpu = read(CPU_LOG), read(GPU_LOG)
    assert (cpu.offloaded, cpu.on_device) == (None, False)
    assert (gpu.offloaded, gpu.on_device) == ((31, 31), True)
    assert cpu.memory().weights == round(92.16 * (1 << 20))
    fallen = read(FALLEN_LOG)
    assert fallen.offloaded == (12, 31)
    assert not fallen.on_device, "every buffer is the CPU's"


@pytest.mark.parametrize(
    ("asked", "taken", "words"),
    [(0, None, ""), (31, (31, 31), ""), (99, (31, 31), ""), (31, (12, 31), "only some"), (10, None, "no GPU")],
)
def test_what_became_of_the_layers(asked: int, taken: tuple[int, int] | None, words: str) -> None:
    told = offload(asked, 31, taken)
    assert words in told.reason
    assert bool(told.reason) == bool(words)
    assert told.asked <= told.layers
