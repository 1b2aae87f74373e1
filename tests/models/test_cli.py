"""``workbench models`` and what is below it, on a real file and a real home folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, cli
from tests.engine.test_gguf_header import write_model
from tests.models.conftest import HASH, keep_in_ollama

__all__ = ["cli"]


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model in the models folder, and the working folder beside it."""
    folder = tmp_path / "models" / "gguf"
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    write_model(folder / "Tiny-F16.gguf")
    return folder


def test_the_list_stays_what_it_was(folder: Path, cli: Cli) -> None:
    assert "Tiny-F16" in cli("models").out
    assert json.loads(cli("models", "--json").out)[0]["name"] == "Tiny-F16"
    assert "weights" in cli("models", "Tiny-F16").out
    help_text = cli("models", "--help").out
    for command in ("list", "show", "note", "hash", "copies", "preset", "modelfile", "idle"):
        assert f"  {command} " in help_text


def test_without_a_model_it_says_where_to_get_one(home: Path, cli: Cli) -> None:
    assert "workbench starter" in cli("models").out
    assert "workbench starter" in cli("chat", "-m", "Hi").err


def test_a_note_is_written_shown_listed_and_cleared(folder: Path, cli: Cli) -> None:
    cli("models", "note", "Tiny-F16", "--for", "drafts", "--review", "2020-01-31")
    shown = cli("models", "show", "Tiny-F16").out
    assert "drafts" in shown
    assert "2020-01-31 (overdue)" in shown
    assert "✗ overdue" in cli("models", "note").out
    assert "## Chosen for\n\ndrafts" in cli("models", "show", "Tiny-F16", "--markdown").out
    cli("models", "note", "Tiny-F16", "--limits", "no tables")
    kept = json.loads(cli("models", "show", "Tiny-F16", "--json").out)["note"]
    assert (kept["chosen_for"], kept["limits"]) == ("drafts", "no tables")
    assert "No notes." in cli("models", "note", "Tiny-F16", "--clear").out
    refused = cli("models", "note", "Tiny-F16", "--review", "soon")
    assert refused.code == 2
    assert "2027-01-31" in refused.err


def test_hashes_copies_and_a_blob_that_lies(folder: Path, home: Path, cli: Cli) -> None:
    (folder / "Same-F16.gguf").write_bytes((folder / "Tiny-F16.gguf").read_bytes())
    assert "2 files have no hash yet" in cli("models", "copies").out
    assert len([line for line in cli("models", "hash").out.splitlines() if len(line.split()[0]) == 64]) == 2
    copies = cli("models", "copies").out
    assert "Same-F16.gguf" in copies
    assert "could be freed" in copies
    keep_in_ollama(home, write_model(folder.parent / "other.gguf", note="x"), HASH)
    checked = cli("models", "hash", "--verify")
    assert checked.code == 1
    assert "smollm2:135m  differs from what was known" in checked.out


def test_a_name_may_be_cut_short_while_it_is_one_file_s(folder: Path, cli: Cli) -> None:
    assert "No file is there twice." in cli("models", "copies").out
    assert "Tiny-F16" in cli("models", "show", "tiny").out
    write_model(folder / "Tiny-Q8.gguf")
    refused = cli("models", "show", "Tiny")
    assert refused.code == 1
    assert "Did you mean one of these? Tiny-F16" in refused.err
    assert "There is no model “zebra”" in cli("models", "show", "zebra").err


def test_a_file_that_is_not_listed_is_named_by_its_path(folder: Path, cli: Cli) -> None:
    """Its card and a preset need no list; a note and a hash do, and the refusal says how it comes there."""
    elsewhere = write_model(folder.parent.parent / "Away-F16.gguf")
    assert "Away-F16" in cli("models", "show", "Away-F16.gguf").out
    assert cli("models", "preset", "save", "away", "--model", "Away-F16.gguf").code == 0
    assert json.loads(cli("models", "preset", "show", "away").out)["model"] == str(elsewhere)
    refused = cli("models", "hash", str(elsewhere))
    assert refused.code == 1
    assert f"workbench models --add {elsewhere.parent}" in refused.err


def test_a_preset_goes_out_as_a_modelfile_and_comes_back(folder: Path, cli: Cli) -> None:
    cli("models", "preset", "save", "small", "--ctx", "2048", "--kv", "q8_0", "--lora", "style.gguf:0.5")
    cli("models", "preset", "save", "small", "--no-flash", "--system", "Be brief.", "--temperature", "0.7")
    kept = json.loads(cli("models", "preset", "show", "small").out)
    assert (kept["load"]["context"], kept["load"]["kv_type"], kept["load"]["flash_attention"]) == (2048, "q8_0", False)
    assert kept["load"]["adapters"] == [{"type": "Adapter", "path": "style.gguf", "scale": 0.5}]
    assert (kept["generation"]["temperature"], kept["generation"]["max_tokens"]) == (0.7, 256)
    cli("models", "modelfile", "export", "small", "Modelfile")
    with Path("Modelfile").open("a") as file:
        file.write("PARAMETER mirostat 2\nBANNER hi\n")
    told = cli("models", "modelfile", "import", "Modelfile", "again").out
    assert "no effect here: PARAMETER mirostat 2" in told
    assert "no effect here: BANNER hi" in told
    assert "again" in cli("models", "preset").out
    cli("models", "preset", "delete", "small")
    assert cli("models", "preset", "show", "small").code == 1


def test_what_ollama_keeps_becomes_a_preset(folder: Path, home: Path, cli: Cli) -> None:
    keep_in_ollama(home, folder / "Tiny-F16.gguf", HASH)
    assert "Ollama smollm2:135m" in cli("models", "show", "Tiny-F16").out
    cli("models", "modelfile", "import", "Tiny-F16", "tiny")
    assert "SYSTEM You are brief." in cli("models", "modelfile", "export", "tiny").out


def test_idle_minutes_are_remembered(folder: Path, cli: Cli) -> None:
    assert "never" in cli("models", "idle").out
    cli("models", "idle", "10")
    assert "after 10 minutes" in cli("models", "idle").out


def test_a_model_that_isnt_there(folder: Path, cli: Cli) -> None:
    refused = cli("models", "show", "nothing")
    assert refused.code == 1
    assert "workbench models lists" in refused.err


def test_a_plan_of_what_cannot_be_made_says_why_and_exits_with_1(folder: Path, cli: Cli) -> None:
    done = cli("ladder", "plan", folder / "Tiny-F16.gguf", "-k", "FOO")
    assert done.code == 1
    assert "There is no such quantization." in done.out
