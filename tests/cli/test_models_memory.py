"""``workbench models`` tells what loading takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.engine.test_gguf_header import write_model


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "gguf").mkdir()
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    write_model(tmp_path / "gguf" / "Tiny-F16.gguf")
    (tmp_path / "gguf" / "Broken.gguf").write_bytes(b"GGUF and no more")
    return tmp_path / "gguf"


def test_the_list_says_what_fits_and_a_broken_file_is_unknown(library: Path, cli: Cli) -> None:
    lines = cli("models").out.splitlines()
    assert " ✓ " in next(line for line in lines if line.startswith("Tiny"))
    assert " ? " in next(line for line in lines if line.startswith("Broken"))


def test_the_parts_follow_context_and_type(library: Path, cli: Cli) -> None:
    def cache(*options: str) -> int:
        fits = json.loads(cli("models", "--memory", "--json", *options).out)
        (known,) = (f["estimate"] for f in fits if f["estimate"])
        return int(known["kv_cache"])

    by_hand = (2 + 4) * 8 * 2 * 2  # heads of both layers × head × keys and values × two bytes
    assert cache("--ctx", "1000") == by_hand * 1024
    assert cache("--ctx", "2048", "--kv", "q8_0") == by_hand * 2048 * 34 // 64


def test_one_model_is_shown_with_its_products_and_in_other_quantizations(library: Path, cli: Cli) -> None:
    shown = cli("models", "Tiny-F16")
    assert shown.code == 0
    assert "1 layers × 4,096 tokens × (32 + 32) × 2 B" in shown.out
    assert "▸  F16" in shown.out
    assert "Q4_K_M" in shown.out


def test_a_context_beyond_the_training_is_told_as_the_screen_tells_it(library: Path, cli: Cli) -> None:
    shown = cli("models", "Tiny-F16", "--memory", "--ctx", "600000").out
    assert "~ Tiny-F16: trained for 2,048 tokens" in shown
    assert "largest ctx that fits 2,048 (trained limit)" in shown
    assert "trained for" not in cli("models", "--memory", "--ctx", "2048").out


def test_the_parts_have_spanish_names_and_a_note_a_gap(
    library: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_LANG", "es")
    shown = cli("models", "Tiny-F16").out
    assert "  pesos: " in shown
    assert "  KV: " in shown
    assert "Alternativas descartadas  qwen" in cli("models", "note", "Tiny-F16", "--discarded", "qwen").out


def test_a_model_that_is_not_there_says_so(library: Path, cli: Cli) -> None:
    refused = cli("models", "nowhere.gguf")
    assert refused.code != 0
    assert "There is no model “nowhere.gguf”" in refused.err
