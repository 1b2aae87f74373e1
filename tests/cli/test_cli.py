"""What a person gets from each command."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from storage import open_store
from tests.cli.conftest import Cli
from workbench import __version__
from workbench.cli.main import workbench
from workbench.desk import Desk
from workbench.i18n import catalogue

pytestmark = pytest.mark.model


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "copy.db"))


def test_one_file_is_left(made: Path) -> None:
    assert [p.name for p in made.parent.iterdir()] == [made.name]


def test_ask_answers_verbatim_with_citation_and_offsets(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled, "ask", "Can I extend my enrolment with overdue payments?", "--json")
    trace = json.loads(told.out)
    answer = trace["answer"]
    assert told.code == 0
    assert answer["outcome"] == "answered"
    assert "may not extend" in answer["text"]
    citation = answer["claims"][0]["citations"][0]
    assert citation["source_id"] == "rules.md"
    assert citation["heading"] == ["Extension"]
    assert [s["name"] for s in trace["spans"]][:5] == ["analysis", "filter", "lexical", "dense", "fusion"]


def test_the_verdict_counts_the_claims_that_are_supported(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled, "ask", "Can I extend my enrolment with overdue payments?")
    claims = told.out.count("✓ [F")
    assert claims
    assert f"supported {claims}/{claims} · s " in told.out
    assert "supported" not in cli("--db", filled, "ask", "¿Quién ganó el mundial de ajedrez de 1985?").out


def test_the_cited_span_is_the_text_of_the_source(cli: Cli, filled: Path, sources: Path) -> None:
    told = cli("--db", filled, "ask", "¿Cuánto cuesta el carné?", "--json")
    citation = json.loads(told.out)["answer"]["claims"][0]["citations"][0]
    text = sources.joinpath("carné.txt").read_text("utf-8")
    assert text[citation["start"] : citation["end"]] == citation["quote"]
    assert "12 euros" in citation["quote"]


def test_the_printed_answer_names_document_section_offsets_and_trace(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled, "ask", "When do extensions open?")
    assert "1 September" in told.out
    assert "[F1] rules.md, " in told.out
    assert "trace " in told.out
    assert "1 October" not in told.out


def test_a_question_the_sources_cannot_answer(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled, "ask", "¿Quién ganó el mundial de ajedrez de 1985?", "--json")
    answer = json.loads(told.out)["answer"]
    assert answer["outcome"] == "low_support"
    assert answer["claims"] == []
    assert "ajedrez" in answer["missing"] + answer["text"]
    assert answer["language"] == "es"


def test_the_trace_of_the_last_question(cli: Cli, copy: Path) -> None:
    cli("--db", copy, "ask", "When do extensions open?")
    told = cli("--db", copy, "trace", "last", "--json")
    assert json.loads(told.out)["query"] == "When do extensions open?"
    listed = cli("--db", copy, "trace")
    assert "When do extensions open?" in listed.out


def test_search_shows_each_lane(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled, "search", "overdue payments", "--json")
    hits = json.loads(told.out)["hits"]
    assert hits[0]["source_id"] == "rules.md"
    assert hits[0]["hit"]["lexical_rank"] == 1
    assert hits[0]["hit"]["dense_rank"] is not None
    assert "old.md" not in {h["source_id"] for h in hits}


@pytest.mark.parametrize("query", ["C++", "¿…?", "3.5 a-b x:y", '"', "NEAR(a b)", "*", ""])
def test_any_raw_text_is_a_query(cli: Cli, filled: Path, query: str) -> None:
    told = cli("--db", filled, "search", query, "--lane", "lexical")
    assert told.code == 0


def test_a_lane_that_cannot_be_searched_is_a_failure_with_its_cause(
    cli: Cli, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path / "nothing"))
    told = cli("--db", filled, "search", "overdue payments", "--lane", "dense")
    assert (told.code, told.out) == (1, "")
    assert "embed" in told.err
    assert cli("--db", filled, "search", "overdue payments").code == 0  # the other lane finds


def test_filters_act_before_ranking(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled, "search", "extensions open", "--filter", "status = retired and year < 2020", "--json")
    assert {h["source_id"] for h in json.loads(told.out)["hits"]} == {"old.md"}


def test_a_filter_with_an_unknown_field_names_the_nearest(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled, "search", "x", "--filter", "yaer >= 2026")
    assert told.code == 2
    assert "year" in told.err


def test_a_mandatory_filter_cannot_be_dropped(cli: Cli, copy: Path) -> None:
    cli("--db", copy, "collections", "--filter", "rules", '"staff" in roles')
    told = cli("--db", copy, "search", "carné biblioteca", "--filter", "language = es or tokens > 0", "--json")
    assert {h["source_id"] for h in json.loads(told.out)["hits"]} == {"rules.md"}


def test_ingesting_again_embeds_nothing(cli: Cli, copy: Path, sources: Path) -> None:
    told = cli("--db", copy, "ingest", sources, "-c", "rules", "--json")
    assert {o["action"] for o in json.loads(told.out)} == {"unchanged"}


def test_a_bad_document_is_reported_and_the_rest_goes_on(cli: Cli, copy: Path, tmp_path: Path) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    folder.joinpath("broken.pdf").write_bytes(b"%PDF-1.7\n" + os.urandom(400))
    folder.joinpath("good.txt").write_text("The lighthouse opens at nine.", "utf-8")
    told = cli("--db", copy, "ingest", folder, "-c", "rules")
    assert told.code == 1
    assert "broken.pdf" in told.out
    assert "good.txt" in cli("--db", copy, "documents").out


def test_an_examination_by_command_is_kept_for_the_screen(cli: Cli, copy: Path) -> None:
    told = cli("--db", copy, "doctor", "--json")
    store = open_store(copy)
    kept = Desk(store).doctor.last("rules")
    store.close()
    assert kept is not None
    assert [check.key for check in kept.checks] == [check["key"] for check in json.loads(told.out)["checks"]]


def test_retire_restore_and_delete(cli: Cli, copy: Path) -> None:
    cli("--db", copy, "retire", "rules.md")
    assert (
        json.loads(cli("--db", copy, "search", "overdue payments", "--json").out)["hits"][0]["source_id"] != "rules.md"
    )
    cli("--db", copy, "restore", "rules.md")
    assert (
        json.loads(cli("--db", copy, "search", "overdue payments", "--json").out)["hits"][0]["source_id"] == "rules.md"
    )
    told = cli("--db", copy, "delete", "rules.md", "--yes")
    assert "✓ rules.md" in told.out
    assert "rules.md" not in cli("--db", copy, "documents").out
    assert cli("--db", copy, "delete", "rules.md", "--yes").code == 1


def test_errors_are_title_cause_and_remedy(cli: Cli, tmp_path: Path) -> None:
    foreign = tmp_path / "letter.db"
    foreign.write_text("Dear file, I am no workbench. " * 40, "utf-8")
    before = foreign.read_bytes()
    told = cli("--db", foreign, "documents")
    assert told.code == 1
    assert "→" in told.err
    assert foreign.read_bytes() == before


def test_asking_an_empty_file(cli: Cli, tmp_path: Path) -> None:
    told = cli("--db", tmp_path / "new.db", "ask", "anything?")
    assert told.code == 1
    assert "ingest" in told.err


def test_datasets(cli: Cli, copy: Path, tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text('{"id": "q1", "question": "When?"}\n', "utf-8")
    assert cli("--db", copy, "datasets", "--import", file).code == 0
    assert "cases" in cli("--db", copy, "datasets").out


def test_the_screens_need_a_terminal(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled)
    assert told.code == 2
    assert "terminal" in told.err


def test_version_from_another_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert __version__ in done.stdout


def test_help_in_spanish(cli: Cli) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "workbench", "--lang", "es", "ask", "--help"], capture_output=True, text=True, check=True
    )
    assert "Responde desde los documentos" in told.stdout


def test_every_help_sentence_has_its_spanish() -> None:
    spanish = catalogue("es")
    sentences = {
        inspect.cleandoc(sentence)
        for command in (workbench, *workbench.commands.values())
        for sentence in (command.help, *(p.help for p in command.params if isinstance(p, click.Option)))
        if sentence and sentence not in {"Show this message and exit.", "Show the version and exit."}
    }
    assert not {s for s in sentences if s not in spanish}
