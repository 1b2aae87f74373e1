"""Every kind of damage of ``bench.crashes``: a child may die, this process says what happened and what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from bench.crashes import ANSWERS, ENDS, KINDS, SILENT, Kind, try_kind
from tests.models.conftest import ORIGINAL
from workbench.engine.process import death_of
from workbench.engine.safer import safer
from workbench.errors import EngineError
from workbench.records.models import LoadSettings

pytestmark = pytest.mark.model

SAYS: Final = {
    "a file of 0 bytes": "empty",
    "a folder called like a model": "folder",
    "no permission to read": "no permission",
    "another kind of file": "no GGUF file",
    "an unknown version of GGUF": "version 99",
    "cut off in the header": "middle of its header",
    "cut off in the weights": "cut short",
    "a part of a split file is missing": "2 of its 3 parts",
    "a wrong count of tensors": "tensor count",
    "a wrong count of fields": "field count",
    "a tensor of 100 dimensions": "n_dimensions",
    "a dimension of a tensor is wrong": "577 × Q4_1",
    "a tensor of an unknown type": "invalid ggml type 250",
    "a tensor beyond the end": "cut short",
    "no layers": "block_count",
    "four thousand million layers": "block_count",
    "epsilon is not a number": "layer_norm_rms_epsilon",
    "epsilon is negative": "layer_norm_rms_epsilon",
    "an unknown architecture": "architecture “Llama”",
    "damaged weights": "SHA-256",
    "a broken chat template": "unknown tag 'fxr'",
    "no chat template": "base model",
    "the file vanishes before it is loaded": "gone",
    "the file vanishes while loaded": "",
    "the file is cut off while loaded": "",
    "the same while mapped into memory": "SIGBUS",
    "no memory for the weights": "memory",
    "no memory for the context": "memory",
    "a context larger than the machine": "this machine has",
    "KV in q4_0 without flash attention": "flash_attn",
    "the adapter isn't there": "no file",
    "the adapter is none": "no GGUF file",
    "the adapter is a model": "of the kind “model”",
    "the adapter is for another architecture": "“qwen2”",
    "the adapter is for a wider model": "incorrect shape",
    "a broken grammar": "Correct it",
    "a grammar without a root": "root",
    "a broken schema": "Correct the schema",
    "the process is killed": "SIGKILL",
}
RETRIES: Final = {
    "the same while mapped into memory": "without memory mapping",
    "no memory for the context": "with 8,192 tokens of context",
    "KV in q4_0 without flash attention": "with KV in f16",
    "the adapter isn't there": "without adapters",
    "the adapter is none": "without adapters",
    "the adapter is a model": "without adapters",
    "the adapter is for another architecture": "without adapters",
    "the adapter is for a wider model": "without adapters",
    "the process is killed": "with batches of 128 tokens",
}


@pytest.fixture(autouse=True)
def _silence(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert capfd.readouterr() == ("", ""), "nothing of the engine reaches the terminal"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_it_says_what_is_wrong_and_what_to_do(kind: Kind, tmp_path: Path) -> None:
    if kind.name == "no permission to read" and os.geteuid() == 0:
        pytest.skip("root may read everything")
    seen = try_kind(kind, ORIGINAL, tmp_path)
    assert SAYS[kind.name] in seen.message
    assert (seen.title == ANSWERS) == (SAYS[kind.name] == "")
    if seen.title not in (ANSWERS, ENDS, SILENT):
        assert seen.remedy
    assert RETRIES.get(kind.name, seen.retry) == seen.retry
    if "process ended" in seen.title:
        assert seen.log, "its last words are kept"


def test_retries_get_milder_until_nothing_is_left_to_give_up() -> None:
    error = EngineError("", "", cause="memory")
    settings, changes = LoadSettings(context=4096, gpu_layers=10), []
    while proposal := safer(error, settings, largest_context=3000):
        settings = proposal.settings
        changes.append(proposal.change)
    assert changes == [
        "with fewer layers on the GPU: 5",
        "with fewer layers on the GPU: 2",
        "with fewer layers on the GPU: 1",
        "on the CPU alone",
        "with 2,048 tokens of context",
        "with 1,024 tokens of context",
        "with 512 tokens of context",
        "with batches of 128 tokens",
        "with KV in q8_0",
    ]


def test_a_death_for_want_of_memory_is_told_as_such() -> None:
    error = death_of("llama", -6, ("terminate called after throwing an instance of 'std::bad_alloc'",))
    assert error.cause == "memory"
    assert "memory" in error.message
