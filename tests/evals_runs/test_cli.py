"""``workbench eval`` as CI calls it: what is printed, as JSON too, and with which exit code."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.evals_runs.conftest import BOOKS, CASES, FEE, Bench, Cli
from tests.evals_runs.conftest import LEXICAL as LEXICAL_SEARCH
from workbench.__main__ import open_desk
from workbench.cli.evals.runs import progress_line, run, sweep
from workbench.cli.main import workbench
from workbench.evals.running.sweep import VARIABLES
from workbench.i18n import catalogue
from workbench.records.evals import RunConfig, RunProgress

LEXICAL = ("--lane", "lexical")


def test_run_show_and_list(cli: Cli) -> None:
    ran = cli("run", "faq", *LEXICAL, "--layer", "chain", "--title", "nightly")
    assert ran.code == 0
    assert "Recall@5" in ran.out
    assert "Only 4 cases" in ran.err
    assert "nightly" in cli("list").out
    assert FEE.id in cli("show", "last", "--cases").out
    case = cli("show", "last", "--case", BOOKS.id)
    assert BOOKS.question in case.out
    assert "borrowing.md (grade 2): lexical 1 · dense – · fusion 1 · context F1" in case.out


@pytest.mark.parametrize(("rate", "text"), [(2.13, "2.1 cases/s"), (0.03, "33.3 s a case"), (0.005, "3:20 a case")])
def test_how_fast_a_run_is_can_be_read_when_it_is_slow(bench: Bench, rate: float, text: str) -> None:
    bench.dataset(CASES)
    finished = bench.run(RunConfig("faq", search=LEXICAL_SEARCH))[-1].run
    progress = RunProgress(finished, "q42", rate, None)
    assert text in progress_line(progress)


def test_json_is_the_whole_report_and_its_configuration_runs_again(cli: Cli, tmp_path: Path) -> None:
    first = json.loads(cli("run", "faq", *LEXICAL, "-k", "3", "--json").out)
    assert first["run"]["status"] == "complete"
    assert first["segments"][0]["metrics"]["recall@3"]["n"] == 3
    file = tmp_path / "config.json"
    file.write_text(json.dumps(first["run"]["config"]))
    second = json.loads(cli("run", "faq", "--config", str(file), "--json").out)
    assert second["run"]["config"] == first["run"]["config"]
    assert second["run"]["dataset_hash"] == first["run"]["dataset_hash"]
    results = json.loads(cli("show", "1", "--cases", "--json").out)
    assert [r["case_id"] for r in results] == [c.id for c in CASES]
    compared = json.loads(cli("compare", "1", "2", "--json").out)
    assert (compared["fixed"], compared["broken"], compared["differs"]) == ([], [], [])


@pytest.mark.parametrize(
    ("config", "unknown", "nearest"),
    [
        ({"kk": 3}, "kk", "k"),
        ({"lane": "lexical"}, "lane", "search.lanes"),
        ({"search": {"lanes": ["lexical"], "candidate": 9}}, "search.candidate", "search.candidates"),
    ],
)
def test_a_key_that_no_configuration_has_is_named_with_the_nearest(
    cli: Cli, tmp_path: Path, config: dict[str, object], unknown: str, nearest: str
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    told = cli("run", "faq", *LEXICAL, "--config", str(file))
    assert told.code == 2
    assert f"“{unknown}”" in told.err
    assert f"“{nearest}”" in told.err


@pytest.mark.parametrize(
    ("rules", "code"),
    [(["recall@5 >= 0.1"], 0), (["recall@5 >= 0.1", "recall@5 >= 0.85"], 1), (["groundedness >= 0.1"], 1)],
)
def test_gate_is_an_exit_code(cli: Cli, rules: list[str], code: int) -> None:
    cli("run", "faq", *LEXICAL)
    options = [part for rule in rules for part in ("--gates", rule)]
    told = cli("gate", "last", *options)
    assert told.code == code
    assert any(mark in told.out for mark in "✗◦") == bool(code)
    assert len(json.loads(cli("gate", "last", "--json", *options).out)) == len(rules)


def test_locked_gates_come_before_the_run(cli: Cli) -> None:
    assert cli("run", "faq", *LEXICAL).code == 0
    assert cli("gate", "1").code == 2  # none are locked, none are given
    assert cli("gates", "lock", "faq", "release", "hit@5 >= 0.2").code == 0
    assert cli("gates", "lock", "faq", "release", "hit@5 >= 0.1").code == 2
    late = cli("gate", "1")
    assert late.code == 1
    assert "✓" in late.out
    assert "proves nothing" in late.err
    cli("run", "faq", *LEXICAL)
    timely = cli("gate", "2", "--gates", "release")
    assert timely.code == 0
    assert "proves nothing" not in timely.err

    def written(*asked: str) -> list[str]:
        return [one["written"] for one in json.loads(cli("gate", *asked, "--json").out)]

    assert (written("1"), written("2")) == (["after"], ["before"])
    mixed = ("2", "--gates", "release", "--gates", "hit@5 >= 0.1")
    assert sorted(written(*mixed)) == ["before", "unlocked"]
    assert "weren't locked" in cli("gate", *mixed).err
    assert "hit@5 >= 0.2" in cli("gates", "list").out
    assert cli("gates", "lock", "faq", "example", "--example").code == 0


def test_resume_of_what_has_changed_is_a_usage_error(cli: Cli, bench: Bench) -> None:
    cli("run", "faq", *LEXICAL)
    desk = open_desk(bench.store.path)
    desk.delete_documents([desk.documents()[0].id])
    desk.close()
    refused = cli("resume", "1")
    assert refused.code == 2
    assert "collection_version" in refused.err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["run", "absent"], 1, "faq"),
        (["run", "faq", "--lane", "dense"], 2, "dense lane"),
        (["run", "faq", *LEXICAL, "-k", "many"], 2, "many"),
        (["run", "faq", *LEXICAL, "--segment", "type=none"], 2, "language=es; type=missing"),
        (["run", "faq", *LEXICAL, "--config", "/nowhere.json"], 2, "/nowhere.json"),
        (["show", "7"], 1, "eval list"),
        (["show", "x"], 2, "eval list"),
        (["show", "last"], 1, "No such run"),
        (["gate", "7", "--gates", "recall@5 >= 2"], 1, "No such run"),
        (["sweep", "faq", *LEXICAL, "--vary", "k=5"], 2, "two"),
        (["sweep", "faq", *LEXICAL, "--vary", "size=1,2"], 2, "collection"),
    ],
)
def test_mistakes_are_told_with_a_remedy(cli: Cli, arguments: list[str], code: int, says: str) -> None:
    told = cli(*arguments)
    assert told.code == code
    assert says in told.err
    assert told.out == ""


def test_sweep_puts_runs_side_by_side(cli: Cli) -> None:
    swept = cli("sweep", "faq", *LEXICAL, "--vary", "k=1,3")
    assert swept.code == 0
    assert "#1 k=1" in swept.out
    assert "#2 k=3" in swept.out
    assert "Recall@k" in swept.out
    assert re.search(r"\[[\d.]+, [\d.]+\] n=3", swept.out)  # of 4 cases one has no gold to retrieve
    assert [
        r["run"]["config"]["k"] for r in json.loads(cli("sweep", "faq", *LEXICAL, "--vary", "k=1,2", "--json").out)
    ] == [1, 2]


def test_labels_baseline_threshold_and_decision(cli: Cli, tmp_path: Path) -> None:
    cli("run", "faq", *LEXICAL, "--layer", "chain", "--threshold", "0")
    assert "why not" in cli("label", "1", FEE.id, "wrong", "--note", "why not").out
    assert cli("label", "1", BOOKS.id, "right").code == 0
    shown = cli("label", "1", FEE.id)
    assert "why not" in shown.out
    assert BOOKS.id not in shown.out
    assert cli("label", "1", "absent").code == 1
    assert cli("label", "1", FEE.id, "--note", "no verdict").code == 2
    assert [one["value"] for one in json.loads(cli("label", "1", FEE.id, "--json").out)] == [-1]
    assert cli("label", "1", "--undo").code == 0
    assert "why not" not in cli("label", "1", "--undo").out
    assert cli("label", "1", "absent", "right").code == 1
    assert "faq" in cli("baseline", "1").out
    assert "1*" in cli("list").out
    picked = cli("threshold", "1", "--choose", "0.7", "--risk", "1")
    assert picked.code == 0
    assert "★" in picked.out
    assert "is 0.7 now" in cli("threshold", "1").err
    assert cli("threshold", "1", "--choose", "7").code == 2
    written = tmp_path / "decision.md"
    told = cli("decide", "Ship", "--verdict", "pass", "-r", "1", "--reason", "it works", "-o", str(written))
    assert told.code == 0
    assert "it works" in written.read_text("utf-8")
    assert "Ship" in cli("decisions").out
    assert "it works" in cli("decisions", "1").out
    report = tmp_path / "report.html"
    assert cli("report", "1", "--format", "html", "-o", str(report)).code == 0
    assert report.read_text("utf-8").lstrip().lower().startswith("<!doctype html>")
    assert cli("report", "1", "-o", str(tmp_path / "no" / "report.md")).code == 2
    assert cli("delete", "1", "--yes").code == 0
    assert cli("show", "1").code == 1


def test_the_help_of_every_level_is_in_spanish_too() -> None:
    def below(command: click.Command) -> Iterator[click.Command]:
        yield command
        for each in command.commands.values() if isinstance(command, click.Group) else ():
            yield from below(each)

    spanish = catalogue("es")
    known = {*spanish, *spanish.values()}  # an earlier test may have put the commands of this process into Spanish
    sentences = {
        inspect.cleandoc(sentence)
        for command in below(workbench.commands["eval"])
        for sentence in (command.help, *(p.help for p in command.params if isinstance(p, click.Option)))
        if sentence
    }
    assert len(sentences) > 40
    assert not sentences - known


def test_a_ladder_holds_each_run_against_the_one_before(cli: Cli) -> None:
    for k in ("1", "2", "3"):
        cli("run", "faq", *LEXICAL, "-k", k, "--title", f"k {k}" + " and so on" * 5 * (k == "2"))
    told = cli("ladder", "1", "2", "3")
    assert told.code == 0
    lines = told.out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["1", "2", "3"]
    places = {line.index(f"k {k}") for k, line in enumerate(lines[1:], start=1)}
    assert len(places) == 1, "a long title moves no column"
    assert "+0 −0" in told.out
    steps = json.loads(cli("ladder", "1", "2", "3", "--json").out)
    assert [(s["a"]["id"], s["b"]["id"]) for s in steps] == [(1, 2), (2, 3)]
    assert cli("ladder", "1").code == 2


def test_a_run_leaves_as_trec_and_a_comparison_as_html(cli: Cli) -> None:
    cli("run", "faq", *LEXICAL)
    cli("run", "faq", *LEXICAL)
    rows = [line.split() for line in cli("report", "1", "--format", "trec").out.splitlines() if line]
    assert ["fee", "Q0", "enrolment.md", "1"] in [row[:4] for row in rows]
    assert {row[5] for row in rows} == {"workbench-1"}
    assert "<table" in cli("compare", "1", "2", "--html").out
    assert "# #1" in cli("compare", "1", "2", "--markdown").out.replace("\\", "")


def test_a_run_reranks_as_many_first_hits_as_asked(cli: Cli) -> None:
    ran = json.loads(cli("run", "faq", *LEXICAL, "--layer", "retrieval", "--rerank-depth", "7", "--json").out)
    assert ran["run"]["config"]["search"]["rerank_depth"] == 7


@pytest.mark.parametrize("command", [run, sweep])
def test_each_variable_of_a_run_has_an_option(command: click.Command) -> None:
    assert {name.replace("-", "_") for name in VARIABLES} <= {parameter.name for parameter in command.params}


def test_a_comparison_says_what_it_leaves_out_and_shows_units_and_questions(cli: Cli) -> None:
    cli("run", "faq", *LEXICAL, "--filter", "source_id = 'nowhere.md'")
    cli("run", "faq", *LEXICAL, "-k", "3")
    compared = cli("compare", "1", "2")
    assert "as k is 5 in one run and 3 in the other" in compared.err
    assert "Recall@5 (#1)" in compared.err
    assert "Recall@3 (#2)" in compared.err
    assert f"  {FEE.id}  {FEE.question}" in compared.out
    assert "don't bound a percentile: Latency p50, Latency p95, Latency p99" in compared.err
