"""``workbench chat``: what goes to standard output, what to standard error, and the exit code."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, cli

__all__ = ["cli"]
pytestmark = pytest.mark.model


def test_the_answer_alone_is_on_standard_output(cli: Cli, tmp_path: Path) -> None:
    done = cli("--db", tmp_path / "a.db", "chat", "-m", "Name three colours.", "-s", "Be brief.", "--max-tokens", "12")
    assert done.code == 0
    assert done.out.strip()
    assert "TTFT" not in done.out
    assert "complete" in done.err
    assert "TTFT" in done.err
    assert "<|im_start|>" not in done.err


def test_a_preset_says_how_to_load_and_ask_and_options_go_before_it(cli: Cli, tmp_path: Path) -> None:
    modelfile = tmp_path / "Modelfile"
    turns = "MESSAGE user Ahoy?\nMESSAGE assistant Arr!\n"
    modelfile.write_text("PARAMETER num_ctx 512\nPARAMETER num_predict 1\nSYSTEM Be a pirate.\n" + turns, "utf-8")
    cli("--db", tmp_path / "a.db", "models", "modelfile", "import", modelfile, "pirate")
    call = ("--db", tmp_path / "a.db", "chat", "-m", "Hi", "--preset", "pirate", "--json")
    (attempt,) = json.loads(cli(*call).out)["attempts"]
    assert "Be a pirate.<|im_end|>\n<|im_start|>user\nAhoy?" in attempt["prompt"]
    assert attempt["generation"]["output_tokens"] == 1
    (attempt,) = json.loads(cli(*call, "--max-tokens", "2", "-s", "Be calm.").out)["attempts"]
    assert "Be calm.<|im_end|>" in attempt["prompt"]
    assert attempt["generation"]["output_tokens"] == 2
    assert "no preset “other”" in cli("--db", tmp_path / "a.db", "chat", "-m", "Hi", "--preset", "other").err


def test_the_prompt_is_shown_as_it_is_sent(cli: Cli, tmp_path: Path) -> None:
    done = cli("--db", tmp_path / "a.db", "chat", "-m", "Hi", "-s", "Be brief.", "--max-tokens", "2", "--show-prompt")
    assert "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>" in done.err


def test_an_answer_that_does_not_fit_its_schema_exits_with_1_and_says_where(cli: Cli, tmp_path: Path) -> None:
    call = ("chat", "-m", "Say hello.", "--schema", "invoice", "--free", "--retries", "1", "--max-tokens", "8")
    done = cli("--db", tmp_path / "a.db", *call)
    assert done.code == 1
    assert done.out == ""
    assert "attempt 1: $: it is no JSON" in done.err
    assert "attempt 2: $: it is no JSON" in done.err


def test_json_carries_prompt_times_and_text(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("What is 2+2?"))
    done = cli("--db", tmp_path / "a.db", "chat", "--max-tokens", "16", "--json")
    told = json.loads(done.out)
    (attempt,) = told["attempts"]
    assert "What is 2+2?" in attempt["prompt"]
    assert attempt["generation"]["state"] == "complete"
    assert attempt["generation"]["engine"]["decode_ms"] > 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("chat",), 2, "Nothing to say"),
        (("chat", "-m", "Hi", "--schema", "/nowhere.json"), 2, "The schema can't be read"),
        (("chat", "-m", "Hi", "--model", "Smol", "--schema", __file__), 2, "The schema can't be used"),
        (("chat", "-m", "Hi", "--model", "SmolML2-135M"), 1, "Did you mean one of these? SmolLM2-135M"),
        (("chat", "-m", "Hi", "--model", "/nowhere.gguf"), 1, "There is no model “/nowhere.gguf”"),
        (("chat", "-m", "sea " * 5000), 1, "doesn't fit"),
    ],
)
def test_what_goes_wrong_is_told_with_a_code(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, words: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    done = cli("--db", tmp_path / "a.db", *arguments)
    assert done.code == code
    assert done.out == ""
    assert words in done.err


@pytest.mark.parametrize(
    "call",
    [
        ("chat", "-m", "Hi", "--temperature", "nan"),
        ("chat", "-m", "Hi", "--repeat-penalty", "nan"),
        ("chat", "-m", "Hi", "--seed", "-1"),  # the engine would take another one each time
        ("chat", "-m", "Hi", "--seed", "4294967296"),
        ("models", "idle", "nan"),
        ("bench", "nosuch.gguf", "--cooldown", "inf"),
    ],
)
def test_what_is_no_number_is_refused_before_anything_is_loaded(
    cli: Cli, tmp_path: Path, call: tuple[str, ...]
) -> None:
    done = cli("--db", tmp_path / "a.db", *call)
    assert (done.code, done.out) == (2, "")
    assert not (tmp_path / "a.db").exists()
