"""New cases from the command line: versions, export, the review queue, a question that is saved."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.evals_runs.conftest import BOOKS, FEE, LEXICAL, POOL, Bench, Cli
from tests.library import NAME
from workbench import paths
from workbench.errors import NotFoundError, UsageError
from workbench.records.answers import AskOptions
from workbench.records.evals import RunConfig

MODEL = paths.gguf_folder() / paths.STARTER_MODEL


def test_versions_are_listed_and_an_old_one_is_exported(shell: Cli, tmp_path: Path) -> None:
    short = tmp_path / "short.jsonl"
    short.write_text('{"id": "fee", "question": "How much is it?"}\n', "utf-8")
    shell("datasets", "--import", str(short), "--name", "faq", "-c", NAME)
    versions = json.loads(shell("datasets", "--versions", "faq", "--json").out)
    assert [v["cases"] for v in versions] == [1, 4]
    assert versions[1]["hash"][:12] in shell("datasets", "--versions", "faq").out
    out = tmp_path / "out.csv"
    told = shell("datasets", "--export", "faq", str(out), "--format", "csv", "--version", versions[1]["hash"][:8])
    assert (told.code, told.out, told.err) == (0, "", f"Written: {out}\n")
    assert FEE.question in out.read_text("utf-8")
    assert shell("datasets", "--versions", "absent").code == 1
    assert shell("datasets", "--export", "faq", str(tmp_path / "no" / "out.jsonl")).code == 2


def test_what_a_format_cannot_keep_is_said(shell: Cli, tmp_path: Path) -> None:
    told = shell("datasets", "--export", "faq", str(tmp_path / "out.yaml"), "--format", "promptfoo")
    assert told.code == 0
    assert "couldn't keep" in told.err
    assert "gold" in told.err


def test_unanswerable_cases_wait_until_a_person_accepts_them(shell: Cli) -> None:
    assert "3 wait" in shell("eval", "propose", NAME, "--dataset", "faq", "--unanswerable").out
    waiting = json.loads(shell("eval", "review", "faq", "--json").out)
    assert [c["case"]["question"] for c in waiting][:2] == [FEE.question, BOOKS.question]
    first, second, third = (str(c["id"]) for c in waiting)
    told = shell("eval", "review", "faq", "--accept", first, "--reject", second)
    assert "5 cases" in told.err
    assert third in told.out
    assert BOOKS.question not in told.out
    edited = shell("eval", "review", "faq", "--edit", third, "--question", "What else?")
    assert "6 cases" in edited.err
    run = json.loads(shell("eval", "run", "faq", "--lane", "lexical", "--layer", "chain", "--json").out)
    assert run["segments"][0]["metrics"]["correct_abstention"]["n"] == 3
    assert "4 cases" in shell("eval", "review", "faq", "--undo", first, "--undo", third).err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--accept", "77"], 1, "No such candidate"),
        (["--edit", "1"], 1, "No such candidate"),
        (["--accept", "many"], 2, "many"),
    ],
)
def test_deciding_on_nothing_is_an_error(shell: Cli, arguments: list[str], code: int, says: str) -> None:
    told = shell("eval", "review", "faq", *arguments)
    assert (told.code, says in told.err) == (code, True)


def test_a_queue_of_no_dataset_and_an_edit_without_text_are_errors(shell: Cli) -> None:
    assert shell("eval", "review", "absent").code == 1
    shell("eval", "propose", NAME, "--dataset", "faq", "--unanswerable")
    assert "--edit needs" in shell("eval", "review", "faq", "--edit", "1").err
    assert shell("eval", "propose", NAME, "--dataset", "new").code == 2  # no model is loaded


def test_a_saved_question_has_what_it_cites_as_gold(bench: Bench) -> None:
    bench.run(RunConfig("faq", layer="chain", search=LEXICAL))
    traces = {bench.lab.result(1, case.id).case_id: bench.lab.result(1, case.id).trace_id for case in (FEE, POOL)}
    saved = bench.lab.save_case(traces[FEE.id], "mine")
    assert (saved.collection, saved.cases) == (NAME, 1)
    assert bench.lab.save_case(traces[FEE.id], "mine").cases == 1
    assert bench.lab.save_case(traces[POOL.id], "mine").cases == 2
    fee, pool = bench.lab.cases("mine")
    (document,) = (d for d in bench.store.corpus.documents(NAME) if d.source_id == "enrolment.md")
    text = bench.store.corpus.document_text(document.id)
    assert any("118.50 euros" in text[span.start : span.end] for span in fee.gold)
    assert {span.source_id for span in fee.gold} == {"enrolment.md"}
    assert (fee.question, fee.answerable, fee.tags) == (FEE.question, True, ("saved",))
    assert (pool.answerable, pool.gold) == (False, ())
    ran = bench.results(RunConfig("mine", layer="chain", search=LEXICAL))
    assert all(result.passed for result in ran.values())


def test_a_question_without_gold_or_of_another_collection_is_not_saved(bench: Bench) -> None:
    bench.store.datasets.put("elsewhere", "other", ())
    bench.store.datasets.put("tasks", "", ())
    bench.run(RunConfig("faq", layer="chain", search=LEXICAL))
    with pytest.raises(UsageError, match="other"):
        bench.lab.save_case(bench.lab.result(1, FEE.id).trace_id, "elsewhere")
    assert bench.lab.save_case(bench.lab.result(1, FEE.id).trace_id, "tasks").collection == NAME
    with pytest.raises(NotFoundError):
        bench.lab.save_case("absent", "mine")


def test_ask_saves_a_case(shell: Cli) -> None:
    told = shell("ask", FEE.question, "-c", NAME, "--save-case", "mine")
    assert told.code == 0
    assert "“mine” has 1 cases now." in told.err
    assert "mine" in shell("datasets").out


@pytest.mark.model
def test_a_real_model_proposes_into_the_queue(shell: Cli) -> None:
    told = shell("eval", "propose", NAME, "--dataset", "asked", "--count", "2", "--model", str(MODEL))
    assert told.code == 0
    assert told.err.count("\n") >= 2
    waiting = json.loads(shell("eval", "review", "asked", "--json").out)
    assert all(c["case"]["question"].endswith("?") for c in waiting)
    assert next(d for d in json.loads(shell("datasets", "--json").out) if d["name"] == "asked")["collection"] == NAME


def test_asking_with_a_filter_keeps_it_in_the_case(bench: Bench) -> None:
    bench.dataset([FEE])
    config = RunConfig("faq", layer="chain", search=LEXICAL, ask=AskOptions(threshold=0.0))
    bench.run(config)
    filtered = bench.lab.rerun(1, FEE.id, replace(config, search=replace(LEXICAL, filter="year >= 2026")))
    assert bench.lab.save_case(filtered.trace_id, "mine").cases == 1
    (case,) = bench.lab.cases("mine")
    assert "year" in case.filter
