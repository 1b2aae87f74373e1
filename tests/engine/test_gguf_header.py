"""Headers of real, written and damaged model files."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.conftest import model_path
from workbench.engine.gguf_header import read_header
from workbench.library.scanning import scan


def write_model(path: Path, *, layers: int = 2, **extra: str) -> Path:
    """A tiny model file, made by the ``gguf`` package's own writer."""
    from gguf import GGUFWriter

    writer = GGUFWriter(path, "llama")
    writer.add_block_count(layers)
    writer.add_context_length(2048)
    writer.add_embedding_length(64)
    writer.add_head_count(8)
    writer.add_head_count_kv([2, 4])
    writer.add_license("mit")
    writer.add_source_url("file:source")
    writer.add_token_list(["a", "ñ", "<|end|>"])
    writer.add_token_scores([0.0] * 5000)
    writer.add_chat_template("{{ messages }}")
    for key, value in extra.items():
        writer.add_string(key, value)
    writer.add_tensor("token_embd.weight", np.ones((64, 32), np.float32))
    writer.add_tensor("output.weight", np.ones((64, 32), np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.model
def test_the_starter_model_is_what_the_engine_says_it_is() -> None:
    file = read_header(model_path())
    assert (file.name, file.architecture, file.quantization) == ("SmolLM2-135M-Instruct.Q4_1", "llama", "Q4_1")
    assert (file.parameters, file.context, file.layers) == (134_515_008, 8192, 30)
    assert (file.embedding, file.heads, file.kv_heads, file.head_dimension) == (576, 9, 3, 64)
    assert file.tensor_types == (("Q4_1", 210), ("F32", 61), ("Q8_0", 1))
    assert (file.shape.output, file.shape.narrow) == (28_311_552, 79_626_240), "180 of its matrices have rows of 576"
    assert abs(file.bits_per_weight - 5.74) < 0.005
    assert file.tokenizer == "gpt2/smollm"
    assert "<|im_start|>" in file.chat_template
    assert file.licence == "apache-2.0"
    assert file.origin == "HuggingFaceTB"
    assert file.size == model_path().stat().st_size
    assert file.problem == ""


def test_a_written_file_is_read_back(tmp_path: Path) -> None:
    file = read_header(write_model(tmp_path / "Tiny-F16.gguf"))
    assert file.problem == ""
    assert (file.parameters, file.layers, file.kv_heads, file.head_dimension) == (4096, 2, 4, 8)
    assert file.bits_per_weight == 24.0
    assert file.tensor_types == (("F32", 1), ("F16", 1))
    assert (file.shape.output, file.shape.narrow) == (2048, 2048)
    assert (file.licence, file.origin, file.chat_template) == ("mit", "file:source", "{{ messages }}")


@pytest.mark.parametrize(
    ("name", "quantization"),
    [
        ("Llama-3.2-1B.Q4_K_M", "Q4_K_M"),
        ("qwen2.5-coder-1.5b-instruct-q8_0", "Q8_0"),
        ("model-IQ2_XXS", "IQ2_XXS"),
        ("gemma-3-270m-BF16", "BF16"),
        ("Qwen3-4B", ""),
    ],
)
def test_the_quantization_is_read_from_the_name(tmp_path: Path, name: str, quantization: str) -> None:
    assert read_header(write_model(tmp_path / f"{name}.gguf")).quantization == quantization


def test_what_is_no_model_file_is_listed_with_its_problem(tmp_path: Path) -> None:
    (tmp_path / "empty.gguf").touch()
    (tmp_path / "poem.gguf").write_text("Caminante, no hay camino")
    (tmp_path / "folder.gguf").mkdir()
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "gone.gguf").symlink_to("nowhere")
    (tmp_path / "old.gguf").write_bytes(b"GGUF\1\0\0\0" + b"\0" * 16)
    (tmp_path / "bare.gguf").write_bytes(b"GGUF\3\0\0\0" + b"\0" * 16)
    problems = {file.name: file.problem for file in scan([tmp_path])}
    assert problems == {
        "bare": "the header names no architecture",
        "empty": "the file is empty",
        "gone": "there is no such file or folder",
        "old": "GGUF version 1 is not supported",
        "pipe": "this is no file but a folder or a device",
        "poem": "this is no GGUF file",
    }
    assert read_header(tmp_path / "folder.gguf").problem == "this is no file but a folder or a device"


def test_a_file_that_may_not_be_read_is_listed_with_its_problem(tmp_path: Path) -> None:
    path = write_model(tmp_path / "secret.gguf")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("root may read everything")
    assert read_header(path).problem == "you have no permission for it"


@pytest.mark.parametrize(
    ("counts", "rest", "what"),
    [
        ((1 << 40, 0), b"", "tensor count"),
        ((0, 1 << 40), b"", "field count"),
        ((0, 1), struct.pack("<Q1sIIQ", 1, b"k", 9, 8, 1 << 40), "array"),
        ((0, 1), struct.pack("<Q1sIIQ", 1, b"k", 9, 6, 1 << 27), "size"),
    ],
)
def test_a_header_that_asks_for_minutes_is_refused_at_once(
    tmp_path: Path, counts: tuple[int, int], rest: bytes, what: str
) -> None:
    path = tmp_path / "zeros.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, *counts) + rest)
    os.truncate(path, 1 << 30)  # zeros, which read as endless empty names
    assert read_header(path).problem == f"the header is damaged: {what}"


def test_a_file_cut_anywhere_has_a_problem_and_its_size(tmp_path: Path) -> None:
    whole = write_model(tmp_path / "whole.gguf").read_bytes()
    path = tmp_path / "cut.gguf"
    for keep in range(0, len(whole), 97):
        path.write_bytes(whole[:keep])
        file = read_header(path)
        assert file.problem
        assert file.size == keep


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), changes=st.integers(1, 12))
def test_a_damaged_header_never_raises(tmp_path: Path, seed: int, changes: int) -> None:
    source = tmp_path / "source.gguf"
    data = bytearray((source if source.exists() else write_model(source)).read_bytes())
    chance = random.Random(seed)
    for _ in range(changes):
        data[chance.randrange(len(data) // 2)] = chance.choice((0, 1, 8, 9, 127, 255, chance.randrange(256)))
    path = tmp_path / "damaged.gguf"
    path.write_bytes(data)
    file = read_header(path)
    assert file.problem or file.architecture


def test_a_split_model_is_one_file_with_the_size_of_all_its_parts(tmp_path: Path) -> None:
    parts = [write_model(tmp_path / f"big-Q8_0-0000{n}-of-00003.gguf") for n in (1, 2, 3)]
    [file] = scan([tmp_path, tmp_path])
    assert (file.name, file.path, file.problem) == ("big-Q8_0", str(parts[0]), "")
    assert file.size == sum(part.stat().st_size for part in parts)
    assert file.parameters == 3 * 4096
    assert read_header(parts[1]).path == str(parts[0])
    parts[1].unlink()
    [file] = scan([tmp_path])
    assert file.problem == "1 of its 3 parts is missing: big-Q8_0-00002-of-00003.gguf"


def test_scanning_goes_into_folders_and_sorts_by_name(tmp_path: Path) -> None:
    (tmp_path / "b" / "deep").mkdir(parents=True)
    write_model(tmp_path / "b" / "deep" / "Zeta.gguf")
    write_model(tmp_path / "alpha.GGUF")
    (tmp_path / "again.gguf").symlink_to(tmp_path / "alpha.GGUF")
    (tmp_path / "notes.txt").touch()
    names = [Path(file.path).name for file in scan([tmp_path, tmp_path / "b", tmp_path / "nowhere"])]
    assert len(names) == 2
    assert names[-1] == "Zeta.gguf"
