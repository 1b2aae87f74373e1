"""Segments: in reports and comparisons, of runs, and as datasets of their own."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.evals_runs.conftest import BOOKS, CASES, FEE, LEXICAL, MENU, NAME, POOL, Bench, Cli
from workbench.errors import UsageError
from workbench.evals.gold.anchors import Anchors
from workbench.evals.measuring.segments import groups_of, members_of
from workbench.records.cases import Expectation, GoldSpan
from workbench.records.evals import RunConfig


def test_the_report_has_a_table_a_field(cli: Cli) -> None:
    shown = cli("run", "faq", "--lane", "lexical").out
    assert "\nlanguage  n  Passed" in shown
    assert "\nes        1  1.000 [0.207, 1.000]" in shown
    assert "\nmissing  1  –" in shown


def test_a_comparison_tells_which_segment_moved(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.dataset([replace(case, type="fee" if case is FEE else "other") for case in CASES])
    bench.run()
    bench.run(RunConfig("faq", search=replace(LEXICAL, filter='source_id != "enrolment.md"')))
    compared = bench.lab.compare(1, 2)
    moved = {(s.field, s.value): (s.paired, s.fixed, s.broken, s.p_value) for s in compared.segments}
    assert moved[("type", "fee")] == (1, 0, 1, 1.0)
    assert moved[("type", "other")] == (3, 0, 0, 1.0)
    fee = next(s for s in compared.segments if s.value == "fee")
    assert next(m for m in fee.metrics if m.metric == "pass_rate").difference.value == -1.0
    from workbench.cli.evals.text import print_comparison

    print_comparison(compared)
    shown = capsys.readouterr().out
    assert re.search(r"type: fee +1 +\+0 −1 +p = 1.00 +-1.000", shown)
    assert "3 segments were tested" in shown
    assert "| type: fee | 1 | 0 | 1 | -1.000" in bench.lab.export_comparison(1, 2)


def test_a_misspelt_segment_is_told_those_there_are(bench: Bench) -> None:
    with pytest.raises(UsageError, match="language=es; type=missing") as told:
        bench.run(RunConfig("faq", search=LEXICAL, segment=("lang", "es")))
    assert "lang=es" in told.value.message
    assert bench.lab.runs() == ()
    assert [r.case_id for r in bench.run(RunConfig("faq", search=LEXICAL, segment=("language", "es")))[-2].results] == [
        MENU.id
    ]


def test_a_dataset_is_split_by_a_field(bench: Bench) -> None:
    bench.dataset([replace(FEE, language="en"), replace(BOOKS, language="en"), MENU, POOL])
    parts = bench.lab.split_dataset("faq", "language")
    assert [(d.name, d.cases, d.collection) for d in parts] == [("faq-en", 2, NAME), ("faq-es", 1, NAME)]
    assert [case.id for case in bench.lab.cases("faq-en")] == [FEE.id, BOOKS.id]
    with pytest.raises(UsageError, match="type=missing"):
        bench.lab.split_dataset("faq", "tag")


def test_the_split_command(shell: Cli) -> None:
    told = shell("datasets", "--split", "faq", "--by", "language")
    assert (told.code, told.out.split("\n")[1].split()[:2]) == (0, ["faq-es", NAME])
    assert shell("datasets", "--split", "faq", "--by", "difficulty").code == 2


def test_what_all_cases_share_is_no_segment() -> None:
    cases = [replace(case, language="en", tags=("a",) if case is FEE else ()) for case in CASES]
    assert list(groups_of(cases)) == [("type", "missing"), ("tag", "a")]
    assert members_of(("tag", "a"), cases) == (cases[0],)


def test_model_tasks_are_filed_under_no_collection(bench: Bench) -> None:
    bench.dataset([replace(FEE, expectation=Expectation("exact", "x"), gold=())], "tasks")
    bench.dataset([replace(FEE, expectation=Expectation("exact", "x"), gold=()), BOOKS], "mixed")
    assert (bench.lab.dataset("tasks").collection, bench.lab.dataset("mixed").collection) == ("", NAME)


def test_filtered_out_is_told_of_the_chunk_with_the_gold_and_not_of_its_document(bench: Bench) -> None:
    index = bench.store.corpus.current_index(NAME)
    assert index
    document = next(d for d in bench.store.corpus.documents(NAME) if d.source_id == "enrolment.md")
    text = bench.store.corpus.document_text(document.id)
    start = text.index("118.50")
    gold = GoldSpan("enrolment.md", start, start + 6, grade=3)
    (fees,) = Anchors(bench.store.corpus, index).holders(gold)
    other = next(c for c in bench.store.corpus.chunks(document.id, index.id) if c.id != fees.id)
    assert (other.heading, fees.heading) == (("Enrolment",), ("Fees",))
    bench.dataset([replace(FEE, gold=(gold,), filter='section = "Enrolment"')], "cut")
    (lost,) = bench.results(RunConfig("cut", search=LEXICAL)).values()
    assert lost.failure == "filtered_out"
    assert "holds the gold" in lost.reason
    bench.dataset([replace(FEE, question="Quagga?", gold=(gold,), filter='section = "Fees"')], "words")
    (unfound,) = bench.results(RunConfig("words", search=LEXICAL)).values()
    assert unfound.failure == "not_retrieved"
