"""Transformations, follow-ups, second searches and modes from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from workbench import paths

pytestmark = pytest.mark.model


def test_a_search_says_what_else_was_searched_and_corrects_when_asked(cli: Cli, filled: Path) -> None:
    plain = cli("--db", filled, "search", "overdeu paymnets debt", "--transform", "none", "--lane", "lexical")
    assert "spelling" not in plain.err
    mended = cli("--db", filled, "search", "overdeu paymnets debt", "--transform", "spelling")
    assert "overdue payments debt" in mended.err
    assert "2 more searches" in mended.err
    unknown = cli("--db", filled, "search", "x", "--transform", "spellling")
    assert unknown.code != 0
    assert "spelling, languages, split, multi, hyde" in unknown.err


def test_a_question_tells_the_spelling_it_suggests(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled, "ask", "May students with overdeu payments extend their enrolment?")
    assert "did you mean: overdeu → overdue?" in told.err


def test_a_follow_up_names_the_question_it_goes_on_from(cli: Cli, filled: Path) -> None:
    assert cli("--db", filled, "ask", "When do extensions of the enrolment open?").code == 0
    told = cli("--db", filled, "ask", "And when do they close?", "--follow", "last", "--json")
    spans = {span["name"]: span["output"] for span in json.loads(told.out)["spans"]}
    assert {"extensions", "enrolment"} <= set(spans["follow"]["carried"])
    assert "15 September" in json.loads(told.out)["answer"]["text"]
    lost = cli("--db", filled, "ask", "And then?", "--follow", "nosuchtrace")
    assert lost.code != 0


def test_a_collection_remembers_its_transformations(cli: Cli, filled: Path) -> None:
    assert cli("--db", filled, "transforms").out.startswith("None")
    assert cli("--db", filled, "transforms", "--use", "split,spelling").out.strip() == "spelling, split"
    asked = cli("--db", filled, "ask", "When do extensions open and how much is the library card?", "--json")
    assert "split" in [span["name"] for span in json.loads(asked.out)["spans"]]
    assert json.loads(asked.out)["manifest"]["settings"]["search.transforms"] == "spelling split"
    assert cli("--db", filled, "transforms", "--off").out.startswith("None")


def test_modes_that_need_a_model_say_so_and_both_write_with_one(cli: Cli, filled: Path) -> None:
    for wants in (("--mode", "free"), ("--mode", "grammar"), ("--judge",)):
        refused = cli("--db", filled, "ask", "x", *wants)
        assert refused.code != 0
        assert "--model" in refused.err
    model = paths.gguf_folder() / paths.STARTER_MODEL
    said = cli(
        "--db", filled, "ask", "When do extensions open?", "--model", model, "--mode", "free", "--judge", "--json"
    )
    told = json.loads(said.out)
    assert told["manifest"]["settings"]["ask.constrained"] is False
    assert told["answer"]["mode"] == "generated"
    judged = [claim["judged"] for claim in told["answer"]["claims"]]
    assert all(one["verdict"] in ("yes", "partly", "no", "") for one in judged)
