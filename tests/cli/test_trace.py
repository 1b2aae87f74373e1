"""``workbench trace``: what a person gets from a stored trace."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from workbench import paths

pytestmark = pytest.mark.model
QUESTION = "Can I extend my enrolment with overdue payments?"


@pytest.fixture(scope="module")
def asked(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one question asked of it."""
    from workbench.__main__ import open_desk
    from workbench.cli import FrontEnds, run

    db = Path(shutil.copy(made, tmp_path_factory.mktemp("trace") / "asked.db"))
    assert run(["--db", str(db), "ask", QUESTION], FrontEnds(open_desk, lambda _desk: 0)) == 0
    return db


def test_each_stage_tells_what_went_in_and_out_and_what_it_dropped(cli: Cli, asked: Path) -> None:
    told = cli("--db", asked, "trace", "last").out
    spans = {span["name"]: span for span in json.loads(cli("--db", asked, "trace", "last", "--json").out)["spans"]}
    terms, context = spans["analysis"]["output"], spans["context"]["output"]
    kept, all_ = len(terms["terms"]), len(terms["terms"]) + len(terms["dropped"])
    assert terms["dropped"]
    [line] = [line for line in told.splitlines() if line.startswith("terms ")]
    assert f" {all_} → {kept} " in line
    assert " ".join(f"«{word}»" for word in terms["dropped"]) in told
    assert f"evidence {context['ledger']['evidence']:,} tokens" in told


def test_a_follow_up_tells_what_it_became(cli: Cli, asked: Path, tmp_path: Path) -> None:
    db = Path(shutil.copy(asked, tmp_path / "followed.db"))
    assert cli("--db", db, "ask", "And without them?", "--follow", "last").code == 0
    [span] = [s for s in json.loads(cli("--db", db, "trace", "last", "--json").out)["spans"] if s["name"] == "follow"]
    carried = span["output"]["carried"]
    assert carried
    assert f"carried: {' '.join(carried)}" in cli("--db", db, "trace", "last").out


def test_what_if_shows_what_moves(cli: Cli, asked: Path) -> None:
    told = cli("--db", asked, "trace", "last", "--what-if", "evidence=1,order=edges")
    assert told.code == 0
    assert "−" in told.out
    assert "1 piece of evidence changes." in told.out
    assert cli("--db", asked, "trace", "last", "--what-if", "evidence=none").code == 2
    result = json.loads(cli("--db", asked, "trace", "last", "--what-if", "dense=off", "--json").out)
    assert result["settings"]["dense_k"] == 0
    assert {hit["dense_rank"] for hit in result["hits"]} == {None}


def test_autopsy_names_the_stage_and_a_way(cli: Cli, asked: Path) -> None:
    told = cli("--db", asked, "trace", "last", "--autopsy", "Extensions opened on 1 October")
    assert told.code == 0
    assert "old.md" in told.out
    assert "retired" in told.out
    assert "workbench restore old.md" in told.out
    kept = cli("--db", asked, "trace", "last", "--autopsy", "overdue payments may not extend")
    assert "cited    ✓\n" in kept.out


def test_replay_says_that_nothing_differs_and_leaves_a_trace(cli: Cli, asked: Path, tmp_path: Path) -> None:
    db = Path(shutil.copy(asked, tmp_path / "again.db"))
    before = json.loads(cli("--db", db, "trace", "--json").out)
    told = cli("--db", db, "trace", "last", "--replay")
    assert told.code == 0
    assert "→ Nothing differs" in told.out
    listed = json.loads(cli("--db", db, "trace", "--json").out)
    assert len(listed) == len(before) + 1
    cli("--db", db, "retire", "rules.md")
    changed = cli("--db", db, "trace", before[0]["id"], "--replay")
    assert "rules.md" in changed.out
    assert "→ The documents have changed since" in changed.out
    both = cli("--db", db, "trace", listed[0]["id"], "--compare", listed[1]["id"], "--json")
    assert json.loads(both.out)["a"] == listed[1]["id"]


def test_replay_loads_the_model_that_answered_or_says_that_it_is_gone(
    cli: Cli, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = Path(shutil.copy(made, tmp_path / "model.db"))
    ggufs = paths.gguf_folder()
    [model] = [path for path in ggufs.iterdir() if path.name.startswith("SmolLM2-135M")]
    assert cli("--db", db, "ask", QUESTION, "--model", model).code == 0
    told = cli("--db", db, "trace", "last", "--replay")
    assert told.code == 0
    assert "Replayed without a model" not in told.out
    assert "Another model wrote" not in told.out
    assert json.loads(cli("--db", db, "trace", "last", "--json").out)["manifest"]["model"]
    bare = tmp_path / "models"
    bare.mkdir()
    (bare / "embedders").symlink_to(ggufs.parent / "embedders")
    monkeypatch.setenv("WORKBENCH_MODELS", str(bare))
    gone = cli("--db", db, "trace", "last", "--replay")
    assert gone.out.startswith("Replayed without a model: ")
    assert "--model FILE" in gone.out.splitlines()[0]
    assert "Another model wrote" in gone.out


def test_exports(cli: Cli, asked: Path, tmp_path: Path) -> None:
    page = tmp_path / "answer.md"
    assert cli("--db", asked, "trace", "last", "--export", "markdown", "-o", page).code == 0
    assert page.read_text("utf-8").startswith(f"# {QUESTION}\n")
    assert "[^F1]: " in page.read_text("utf-8")
    spans = json.loads(cli("--db", asked, "trace", "last", "--export", "otel").out)
    assert spans["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] == "ask"
    whole = cli("--db", asked, "trace", "last", "--export", "json").out
    assert whole == cli("--db", asked, "trace", "last", "--json").out
    nowhere = cli("--db", asked, "trace", "last", "--export", "json", "-o", tmp_path / "no" / "where.json")
    assert nowhere.code == 1
    assert "can't be written" in nowhere.err


def test_the_history_is_searched_by_words_in_any_case(cli: Cli, asked: Path) -> None:
    assert QUESTION in cli("--db", asked, "trace", "--search", "OVERDUE extend").out
    assert QUESTION not in cli("--db", asked, "trace", "--search", "overdue lighthouse").out
    assert QUESTION not in cli("--db", asked, "trace", "--search", "100% _").out
    assert cli("--db", asked, "trace", "--search", "x", "--replay").code == 2


def test_help_in_spanish() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "workbench", "--lang", "es", "trace", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Qué fue del fragmento que debía encontrarse" in told.stdout


def test_what_a_what_if_changes_can_be_asked_for(cli: Cli, asked: Path, tmp_path: Path) -> None:
    db = Path(shutil.copy(asked, tmp_path / "options.db"))
    told = json.loads(cli("--db", db, "ask", QUESTION, "--mmr", "0.5", "--order", "edges", "--json").out)
    assert told["manifest"]["settings"]["ask.mmr"] == 0.5
    assert told["manifest"]["settings"]["ask.order"] == "edges"
    small = json.loads(cli("--db", db, "ask", QUESTION, "--budget", "1", "--json").out)
    assert small["answer"]["outcome"] == "does_not_fit"
