"""Another system's TREC run beside ours: scored by the same metrics, paired, and what doesn't meet is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals_runs.conftest import BOOKS, FEE, MENU, Bench, Cli
from workbench.errors import DocumentError, UsageError
from workbench.evals.formats.trec_run import read_run, run_text
from workbench.records.evals import CaseResult, Ranked, RunConfig

TOPIC_OF_MENU = "men\u00fa%20\u201ccaf\u00e9\u201d%E2%80%A8\N{PILE OF POO}"  # white space travels as %XX

FOREIGN = f"""\
{FEE.id} Q0 coffee.md 1 3.5 other
{FEE.id} Q0 enrolment.md 2 9.25 other
{BOOKS.id} Q0 nowhere.md 1 2 other
{BOOKS.id} Q0 borrowing.md 2 1 other
{TOPIC_OF_MENU} Q0 enrolment.md 1 1e3 other
"""


def foreign(bench: Bench, text: str = FOREIGN) -> str:
    file = bench.folder / "other.run"
    file.write_text(text, "utf-8")
    return str(file)


def test_a_foreign_run_is_scored_as_ours_is(bench: Bench) -> None:
    imported = bench.lab.import_run("faq", foreign(bench), RunConfig("faq", k=1))
    assert bench.lab.is_run_file(foreign(bench))
    assert not bench.lab.is_run_file(foreign(bench, '{"id": "a", "question": "Q0 1 2 3 4 5"}\n'))
    assert not bench.lab.is_run_file(str(bench.folder))
    run, results = imported.run, {r.case_id: r for r in bench.lab.results(imported.run.id)}
    assert (run.status, run.done, run.total, run.config.layer) == ("complete", 4, 4, "retrieval")
    assert run.manifest.settings["imported.from"] == "other.run"
    assert run.config.title == "other"
    assert [hit.source_id for hit in results[FEE.id].ranked] == ["enrolment.md", "coffee.md"]  # by score, not by rank
    assert (results[FEE.id].passed, results[FEE.id].scores["ndcg@1"]) == (True, 1.0)
    assert (results[BOOKS.id].failure, results[BOOKS.id].scores["mrr"]) == ("cut", 0.5)
    assert (results[MENU.id].failure, results[MENU.id].scores["map"]) == ("not_retrieved", 0.0)
    assert results["pool"].passed is None
    assert [(p.line, p.skipped) for p in imported.problems] == [(0, False)]
    assert "nowhere.md" in imported.problems[0].reason


def test_ours_handed_on_and_taken_in_again_scores_the_same_and_compares_as_another_system(bench: Bench) -> None:
    bench.run()
    file = bench.folder / "ours.run"
    file.write_text(bench.lab.export_report(1, "trec"), "utf-8")
    again = bench.lab.import_run("faq", str(file)).run
    ours, theirs = bench.lab.report(1).overall.metrics, bench.lab.report(again.id).overall.metrics
    for name in ("pass_rate", "recall@5", "hit@5", "ndcg@5", "mrr", "map"):
        assert theirs[name] == ours[name]
    compared = bench.lab.compare(1, again.id)
    assert (compared.differs, compared.paired, compared.p_value) == (("imported.from",), 4, 1.0)


def test_what_does_not_meet_is_named_and_the_rest_counts(bench: Bench) -> None:
    good, again = f"{FEE.id} Q0 enrolment.md 1 5 x", f"{FEE.id} Q0 enrolment.md 2 4 x"
    text = "\n".join([good, again, f"{FEE.id} Q0 a 3 much x", "short", "99 Q0 a 1 1 x", ""])
    imported = bench.lab.import_run("faq", foreign(bench, text))
    assert [p.line for p in imported.problems if p.skipped] == [2, 3, 4]
    told = "; ".join(p.reason for p in imported.problems if not p.skipped)
    assert "1 topics aren't in the dataset and stayed out: 99" in told
    assert f"2 questions aren't in the run and count as nothing found: {BOOKS.id}" in told
    results = {r.case_id: r for r in bench.lab.results(imported.run.id)}
    assert (results[FEE.id].passed, results[BOOKS.id].passed) == (True, False)


@pytest.mark.parametrize("text", ["", "a b c\n", "a Q0 b 1 nan x\n", "\0\1\2"])
def test_a_file_that_is_no_run(bench: Bench, text: str) -> None:
    with pytest.raises(DocumentError):
        bench.lab.import_run("faq", foreign(bench, text))
    assert bench.lab.runs() == ()


def test_a_run_of_another_dataset_leaves_nothing(bench: Bench) -> None:
    with pytest.raises(UsageError, match=FEE.id):
        bench.lab.import_run("faq", foreign(bench, "301 Q0 FT911-1 1 1 x\n"))
    assert bench.lab.runs() == ()


def test_an_imported_run_cannot_be_run_again(bench: Bench) -> None:
    run = bench.lab.import_run("faq", foreign(bench)).run
    with pytest.raises(UsageError, match="imported"):
        bench.lab.rerun(run.id, FEE.id)
    with pytest.raises(UsageError, match="imported"):
        list(bench.lab.resume(run.id))


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "other.run"
    file.write_text(FOREIGN, "utf-8")
    told = cli("import", "faq", str(file), "-k", "1", "--json")
    assert told.code == 0
    assert "nowhere.md" in told.err
    report = json.loads(told.out)
    assert report["segments"][0]["metrics"]["ndcg@1"]["n"] == 3
    assert cli("run", "faq", "--lane", "lexical", "-k", "1").code == 0
    assert "imported.from" in cli("compare", "1", "2").out
    assert cli("import", "faq", str(tmp_path / "absent.run")).code == 1


@given(
    st.dictionaries(
        st.text(min_size=1).filter(str.strip),
        st.lists(st.text(min_size=1).filter(str.strip), min_size=1, unique=True),
        min_size=1,
    )
)
def test_rankings_survive_the_file(tmp_path_factory: pytest.TempPathFactory, rankings: dict[str, list[str]]) -> None:
    results = [
        CaseResult(1, name, 0, None, ranked=tuple(Ranked("", d, 0, 0, n) for n, d in enumerate(documents, 1)))
        for name, documents in rankings.items()
    ]
    file = tmp_path_factory.mktemp("runs") / "x.run"
    file.write_text(run_text(results, "tag of ours"), "utf-8", newline="\n")
    found = read_run(file)
    assert {name: list(documents) for name, documents in found.rankings.items()} == rankings
    assert (found.tag, found.problems) == ("tag of ours", ())


def test_equal_scores_are_ranked_as_trec_eval_does(tmp_path: Path) -> None:
    file = tmp_path / "x.run"
    file.write_text("1 Q0 a 1 7 x\n1 Q0 c 2 7 x\n1 Q0 b 3 8 x\n", "utf-8")
    assert read_run(file).rankings == {"1": ("b", "c", "a")}
