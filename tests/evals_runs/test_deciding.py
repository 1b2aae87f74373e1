"""From results to a decision: labels, comparison, gates, τ, records, exports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals_runs.conftest import BOOKS, CASES, FEE, LEXICAL, POOL, Bench
from tests.library import NAME
from workbench.answers.ask import Asker
from workbench.errors import NotFoundError, UsageError
from workbench.evals.deciding.gates import parse_gate
from workbench.records.answers import AskOptions
from workbench.records.cases import Case, GoldSpan
from workbench.records.evals import Run, RunConfig
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher

CHAIN = RunConfig("faq", layer="chain", search=LEXICAL, title="first")


@pytest.fixture
def run(bench: Bench) -> Run:
    return bench.run(CHAIN)[-1].run


def test_labels_stay_apart_from_scores(bench: Bench, run: Run) -> None:
    before = bench.lab.report(run.id)
    bench.lab.label(run.id, FEE.id, -1, "cites the wrong year")
    assert [(one.case_id, one.value) for one in bench.lab.labels(run.id)] == [(FEE.id, -1)]
    assert bench.lab.report(run.id) == before
    undone = bench.lab.undo_label(run.id)
    assert undone is not None
    assert undone.note == "cites the wrong year"
    assert bench.lab.labels(run.id) == ()


def test_the_report_counts_every_case_of_the_version_it_ran(bench: Bench, run: Run) -> None:
    bench.dataset([FEE])
    report = bench.lab.report(run.id)
    assert report.overall.cases == len(CASES)
    assert report.overall.metrics["pass_rate"].n == len(CASES)
    assert any("Only 4 cases" in warning for warning in report.warnings)


def test_a_comparison_names_what_was_broken_and_the_one_cause(bench: Bench, run: Run) -> None:
    other = bench.run(replace(CHAIN, search=replace(LEXICAL, filter="year >= 2025"), title="second"))[-1].run
    compared = bench.lab.compare(run.id, other.id)
    assert compared.differs == ("search.filter",)
    assert (compared.fixed, compared.broken) == ((), (CASES[2].id,))
    assert "1 broken" in bench.lab.export_comparison(run.id, other.id)


def test_runs_of_two_datasets_are_not_compared(bench: Bench, run: Run) -> None:
    bench.dataset(CASES, "other")
    other = bench.run(replace(CHAIN, dataset="other"))[-1].run
    with pytest.raises(UsageError, match="one dataset"):
        bench.lab.compare(run.id, other.id)


def test_gates_are_found_by_name_and_fail_on_few_cases(bench: Bench, run: Run) -> None:
    bench.lab.lock_gates("faq", "release", [parse_gate("recall@5 >= 0.85"), parse_gate("latency_p95_ms <= 60000")])
    recall, latency = bench.lab.check_gates(run.id, "release")
    assert recall.estimate is not None
    assert (recall.estimate.value, recall.passed) == (1.0, False)  # 3 of 3 prove nothing
    assert not latency.passed
    assert bench.lab.check_gates(run.id, [parse_gate("recall@5 >= 0.1")])[0].passed
    with pytest.raises(NotFoundError, match="release"):
        bench.lab.check_gates(run.id, "strict")


@pytest.mark.parametrize(("dataset", "name", "rules"), [("faq", "empty", []), ("faq", " ", ["mrr >= 0.5"])])
def test_a_set_of_gates_has_a_name_and_a_gate(bench: Bench, dataset: str, name: str, rules: list[str]) -> None:
    with pytest.raises(UsageError):
        bench.lab.lock_gates(dataset, name, [parse_gate(rule) for rule in rules])


def test_gates_need_their_dataset(bench: Bench) -> None:
    with pytest.raises(NotFoundError):
        bench.lab.lock_gates("absent", "release", [parse_gate("mrr >= 0.5")])


def test_the_curve_of_a_run_and_the_chosen_threshold(bench: Bench) -> None:
    bench.dataset([*CASES, replace(POOL, id="office", question="When does the office of swimming open?")])
    run = bench.run(replace(CHAIN, ask=AskOptions(threshold=0.0)))[-1].run
    curve = bench.lab.threshold_curve(run.id)
    assert [p.threshold for p in curve] == sorted(p.threshold for p in curve)
    assert curve[0].coverage == max(p.coverage for p in curve)
    assert curve[-1].risk <= curve[0].risk
    bench.lab.choose_threshold(NAME, 0.987)
    asker = Asker(bench.store, Searcher(bench.store, None), lambda: None)
    *_, trace = asker.ask(BOOKS.question, AskOptions(), SearchOptions(NAME))
    assert trace.answer is not None
    assert trace.answer.threshold == 0.987


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan")])
def test_a_threshold_is_a_share(bench: Bench, value: float) -> None:
    with pytest.raises(UsageError):
        bench.lab.choose_threshold(NAME, value)


def test_a_threshold_is_of_a_collection(bench: Bench) -> None:
    with pytest.raises(NotFoundError):
        bench.lab.choose_threshold("absent", 0.5)


def test_a_decision_writes_down_its_figures(bench: Bench, run: Run) -> None:
    record = bench.lab.decide("Keep k = 5", "measure_more", [run.id], reasons=["4 cases"], review="in May")
    assert f"{run.config.dataset} {run.dataset_hash[:12]}" in record.evidence[0]
    assert "Passed 1.000 [" in record.evidence[0]
    assert "n=4" in record.evidence[0]
    assert bench.lab.decisions() == (record,)
    told = bench.lab.export_decision(record.id)
    assert told.startswith("# Keep k = 5")
    assert "in May" in told
    with pytest.raises(NotFoundError):
        bench.lab.export_decision(record.id + 1)
    with pytest.raises(NotFoundError):
        bench.lab.decide("On nothing", "pass", [999], reasons=["none"])
    with pytest.raises(UsageError):
        bench.lab.decide("Without a reason", "pass", [run.id])


def test_a_decision_names_the_gates_that_fail_and_what_weakens_its_runs(bench: Bench) -> None:
    bench.lab.lock_gates("faq", "release", [parse_gate("recall@5 >= 0.85"), parse_gate("recall@5 >= 0.1")])
    run = bench.run(CHAIN)[-1].run
    figures, gates, *cautions = bench.lab.decide("Ship?", "pass", [run.id], reasons=["it works"]).evidence
    assert figures.startswith(f"#{run.id} ")
    assert gates.startswith(f"#{run.id}: the gates “release” fail; recall@5 >= 0.85: 1.000 reaches 0.850, but ")
    assert "recall@5 >= 0.1" not in gates
    assert any("Only 4 cases" in caution for caution in cautions)


def test_a_decision_on_two_runs_says_how_they_compare(bench: Bench, run: Run) -> None:
    second = bench.run(replace(CHAIN, title="second"))[-1].run
    evidence = bench.lab.decide("Keep the second", "pass", [run.id, second.id], reasons=["see below"]).evidence
    assert [f"#{run.id} " in line for line in evidence[:2]] == [True, False]
    assert evidence[-1].startswith(f"#{run.id} → #{second.id}: ")
    assert "McNemar p" in evidence[-1]


def test_reports_in_every_form(bench: Bench, run: Run) -> None:
    assert "first" in bench.lab.export_report(run.id)
    assert bench.lab.export_report(run.id, "html").lstrip().lower().startswith("<!doctype html>")
    second = bench.run(replace(CHAIN, title="second & last"))[-1].run
    assert "#1 first → #2 second &amp; last" in bench.lab.export_report(second.id, "html", run.id)
    table = bench.lab.export_report(second.id, "latex")
    assert r"second \& last" in table
    assert "first" in table


def test_one_baseline(bench: Bench, run: Run) -> None:
    assert bench.lab.baseline("faq") is None
    bench.lab.set_baseline(run.id)
    found = bench.lab.baseline("faq")
    assert found is not None
    assert found.id == run.id
    bench.lab.delete_run(run.id)
    assert bench.lab.baseline("faq") is None


def test_a_decision_tells_a_figure_that_moved_though_as_many_cases_pass(bench: Bench) -> None:
    """Eight golds fall from the first rank to the fifth: nothing is broken, and the ranking is worse."""
    names = [f"d{i}.md" for i in range(5)]
    bench.dataset([Case(f"q{i}", "?", gold=(GoldSpan(names[0], grade=3),)) for i in range(8)], "ranks")
    runs = []
    for order in (names, [*names[1:], names[0]]):
        file = bench.folder / f"{order[0]}.run"
        file.write_text(
            "".join(f"q{i} Q0 {name} {n + 1} {9 - n} x\n" for i in range(8) for n, name in enumerate(order))
        )
        runs.append(bench.lab.import_run("ranks", str(file)).run.id)
    *_, compared = bench.lab.decide("Keep the first", "pass", runs, reasons=["its ranks"]).evidence
    assert "0 fixed, 0 broken: not significant" in compared
    assert "MRR -0.800 [" in compared
    assert "Recall" not in compared
