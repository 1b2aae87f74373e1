"""``workbench bench`` on a small bench of the real model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from workbench import paths

SMALL = ("-p", "16", "-n", "4", "-r", "2", "--speed-only", "--cooldown", "0", "--ctx", "512")


@pytest.mark.model
def test_a_bench_is_printed_listed_shown_exported_and_deleted(cli: Cli, tmp_path: Path) -> None:
    db = ("--db", tmp_path / "lab.db")
    model = paths.gguf_folder() / paths.STARTER_MODEL
    whole = json.loads(cli(*db, "bench", model, *SMALL, "--json").out)
    assert whole["bench"]["done"] == whole["bench"]["total"] == 6
    assert {sample["test"] for sample in whole["samples"]} == {"load", "pp16", "tg4"}
    assert "6/6" in cli(*db, "bench", "--list").out
    assert "pp16 t/s" in cli(*db, "bench", "--show", "1").out
    assert whole["bench"]["models"][0]["hash"] in cli(*db, "bench", "--show", "1", "--as", "markdown").out
    assert "complete" in cli(*db, "bench", "--resume", "1").err
    assert cli(*db, "bench", "--delete", "1").code == 0
    assert "no bench 1" in cli(*db, "bench", "--show", "1").err


@pytest.mark.model
def test_what_could_not_be_measured_makes_the_exit_code_and_counts_as_nothing(cli: Cli, tmp_path: Path) -> None:
    model = paths.gguf_folder() / paths.STARTER_MODEL
    options = (*SMALL, "-r", "1", "--ctx", "1000000000", "--json")
    told = cli("--db", tmp_path / "lab.db", "bench", model, *options)
    assert told.code == 1
    assert "trained for 8,192 tokens; the tests reach 1,000,000,000" in told.err
    whole = json.loads(told.out)
    assert all(sample["problem"] for sample in whole["samples"])
    listed = cli("--db", tmp_path / "lab.db", "bench", "--list").out
    assert f" 0/{whole['bench']['total']} " in listed
    assert "without value" in listed


@pytest.mark.model
def test_a_ladder_whose_only_rung_could_not_be_measured_exits_with_1(cli: Cli, tmp_path: Path) -> None:
    model, other = paths.gguf_folder() / paths.STARTER_MODEL, tmp_path / "other.Q4_1.gguf"
    other.write_bytes(model.read_bytes().replace("Ġlamp".encode(), "Ġlqmp".encode(), 1))
    text = tmp_path / "text.txt"
    text.write_text("The lamp is lit when the ship passes the harbour mouth at dusk. " * 50, "utf-8")
    options = ("-k", "none", "--with", other, "--text", text, "--windows", "1", "--tokens", "64", "-r", "0")
    told = cli("--db", tmp_path / "lab.db", "ladder", "run", model, *options)
    assert told.code == 1
    assert "another tokenizer" in told.err


def test_a_bench_of_nothing_or_of_two_things_is_refused(cli: Cli, tmp_path: Path) -> None:
    db = ("--db", tmp_path / "lab.db")
    assert cli(*db, "bench").code == 2
    assert cli(*db, "bench", "a.gguf", "--list").code == 2
    assert "can't be used" in cli(*db, "bench", tmp_path / "none.gguf").err
