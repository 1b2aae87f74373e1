"""What each layer measures, and the stage that it names when a case is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.answers.fake_generator import FakeGenerator
from tests.embedders import HashEmbedder
from tests.evals_runs.conftest import BOOKS, CASES, FEE, LEXICAL, MENU, POOL, Bench
from tests.library import NAME
from workbench.records.answers import AskOptions
from workbench.records.cases import (
    Case,
    CheckKind,
    Expectation,
    GoldSpan,
)
from workbench.records.evals import FailureStage, RunConfig
from workbench.records.retrieval import SearchOptions

RETRIEVAL = RunConfig("faq", search=LEXICAL)
CHAIN = RunConfig("faq", layer="chain", search=LEXICAL)
GENERATION = RunConfig("faq", layer="generation", search=LEXICAL)


def enrolment_span(bench: Bench, words: str) -> tuple[GoldSpan, ...]:
    (document,) = (d for d in bench.store.corpus.documents(NAME) if d.source_id == "enrolment.md")
    start = bench.store.corpus.document_text(document.id).index(words)
    return (GoldSpan("enrolment.md", start, start + len(words), grade=3),)


def test_retrieval_needs_no_model_and_scores_the_ranking(bench: Bench) -> None:
    results = bench.results(RETRIEVAL)
    assert [results[c.id].passed for c in CASES] == [True, True, True, None]
    fee = results[FEE.id]
    assert fee.scores["recall@5"] == fee.scores["mrr"] == 1.0
    first = fee.ranked[0]
    assert (first.source_id, first.rank, first.lexical_rank, first.dense_rank, first.grade) == (
        "enrolment.md",
        1,
        1,
        None,
        3,
    )
    assert fee.trace_id == ""
    assert results[POOL.id].scores == {}
    assert bench.store.traces.recent() == ()


def test_one_lane_and_both_show_their_ranks(bench: Bench) -> None:
    bench.embedder = HashEmbedder()
    both = bench.results(replace(RETRIEVAL, search=SearchOptions(NAME)))[FEE.id]
    assert all(hit.dense_rank for hit in both.ranked)
    assert any(hit.lexical_rank for hit in both.ranked)
    assert [hit.rank for hit in both.ranked] == list(range(1, len(both.ranked) + 1))


def test_a_shallow_run_measures_the_same_search(bench: Bench) -> None:
    bench.embedder = HashEmbedder()
    deep, shallow = (
        bench.results(replace(RETRIEVAL, search=SearchOptions(NAME), depth=depth))[FEE.id] for depth in (100, 2)
    )
    assert shallow.ranked == deep.ranked[:2]


@pytest.mark.parametrize(
    ("case", "stage", "says"),
    [
        (replace(FEE, gold=(GoldSpan("absent.md", grade=3),)), "not_in_corpus", "No document"),
        (replace(FEE, gold=(GoldSpan("enrolment.md", 90_000, 90_100, 3),)), "not_ingested", "no chunk"),
        (replace(FEE, filter="year = 2024"), "filtered_out", "filters"),
        (replace(FEE, filter="planet = mars"), "filtered_out", "planet"),
        (replace(FEE, question="Zebra crossing xylophone?"), "not_retrieved", "neither lane"),
    ],
)
def test_the_stage_that_lost_a_search(bench: Bench, case: Case, stage: FailureStage, says: str) -> None:
    bench.dataset([case])
    result = bench.results(RETRIEVAL)[case.id]
    assert (result.passed, result.failure) == (False, stage)
    assert says in result.reason
    assert result.reason
    assert result.advice
    assert bench.lab.autopsy(1, case.id)[-1] == f"→ {result.advice}"


def test_behind_the_cut_is_cut_with_its_rank(bench: Bench) -> None:
    bench.dataset([replace(FEE, question="reader enrolment loans book books borrow fee")])
    result = bench.results(replace(RETRIEVAL, k=1))[FEE.id]
    assert result.failure == "cut"
    gold = next(hit for hit in result.ranked if hit.grade)
    assert gold.rank > 1
    assert f"rank {gold.rank}" in result.reason


def test_a_retired_document_is_filtered_out(bench: Bench) -> None:
    ids = [d.id for d in bench.store.corpus.documents(NAME) if d.source_id == "borrowing.md"]
    bench.store.corpus.set_status(ids, "retired")
    result = bench.results(RETRIEVAL)[BOOKS.id]
    assert result.failure == "filtered_out"
    assert "retired" in result.reason


def test_the_chain_leaves_traces_and_abstains(bench: Bench) -> None:
    results = bench.results(CHAIN)
    assert [results[c.id].passed for c in CASES] == [True, True, True, True]
    books = results[BOOKS.id]
    trace = bench.store.traces.trace(books.trace_id)
    assert trace.answer == books.answer
    assert books.scores["correctness"] == books.scores["citation_recall"] == books.scores["groundedness"] == 1.0
    assert books.scores["context_recall"] == 1.0
    assert next(hit for hit in books.ranked if hit.grade).evidence == "F1"
    assert results[POOL.id].scores == {"coverage": 0.0, "correct_abstention": 1.0, "unsupported_answer": 0.0}
    assert books.duration_ms > 0


def test_answering_without_evidence_is_named(bench: Bench) -> None:
    bench.dataset([replace(POOL, question="When is the office of swimming open?")])
    result = bench.results(replace(CHAIN, ask=AskOptions(threshold=0.0)))[POOL.id]
    assert result.failure == "should_have_abstained"
    assert result.scores["unsupported_answer"] == 1.0


def test_abstaining_on_delivered_gold_is_needless(bench: Bench) -> None:
    bench.dataset([replace(MENU, question="¿Cuánto cuesta el menú vegetariano del día?")])
    result = bench.results(replace(CHAIN, ask=AskOptions(threshold=1.0)))[MENU.id]
    assert result.failure == "abstained_needlessly"
    assert result.scores["needless_abstention"] == 1.0


@pytest.mark.parametrize(
    ("said", "answers", "stage"),
    [
        ("It is not refunded after the first week of classes. [F1]", ("midnight",), "wrong_answer"),
        ("The enrolment fee is 990 euros. [F1]", ("118.50 euros",), "unsupported"),
    ],
)
def test_a_written_answer_is_judged(bench: Bench, said: str, answers: tuple[str, ...], stage: FailureStage) -> None:
    bench.dataset([replace(FEE, answers=answers)])
    bench.models = [FakeGenerator(said)]
    result = bench.results(replace(CHAIN, model="fake.gguf"))[FEE.id]
    assert result.answer is not None
    assert result.answer.mode == "generated"
    assert (result.passed, result.failure) == (False, stage)


def test_cut_at_the_output_limit_is_truncated(bench: Bench) -> None:
    bench.dataset([replace(FEE, answers=("midnight",))])
    bench.models = [FakeGenerator("The enrolment fee is 118.50 euros. [F1]", stop="length")]
    assert bench.results(replace(CHAIN, model="fake.gguf"))[FEE.id].failure == "truncated"


def test_generation_gets_the_gold_and_nothing_else(bench: Bench) -> None:
    misleading = replace(FEE, question="Zebra crossing: how much is the fee?", answers=("118.50",))
    bench.dataset([replace(misleading, gold=enrolment_span(bench, "The enrolment fee is 118.50 euros.")), BOOKS])
    results = bench.results(replace(GENERATION, ask=AskOptions(threshold=0.0)))
    fee = results[FEE.id]
    assert fee.passed
    assert {hit.grade for hit in fee.ranked} == {3}
    assert fee.scores["context_precision"] == fee.scores["context_recall"] == 1.0
    assert not [name for name in fee.scores if name.startswith(("recall", "precision", "hit", "mrr", "map", "ndcg"))]


def test_generation_ignores_filters_and_finds_retired_gold(bench: Bench) -> None:
    ids = [d.id for d in bench.store.corpus.documents(NAME) if d.source_id == "borrowing.md"]
    bench.store.corpus.set_status(ids, "retired")
    bench.dataset([replace(BOOKS, filter="year = 1900")])
    assert bench.results(GENERATION)[BOOKS.id].passed


def test_generation_without_passages(bench: Bench) -> None:
    bench.dataset([POOL, replace(FEE, gold=(GoldSpan("absent.md"),)), replace(POOL, id="n", negatives=FEE.gold)])
    results = bench.results(GENERATION)
    assert results[POOL.id].passed is None
    assert results[FEE.id].failure == "not_in_corpus"
    assert results["n"].passed is True  # the hard negative was its context, and it abstained
    assert results["n"].ranked


def test_gold_left_out_must_be_abstained_from(bench: Bench) -> None:
    results = bench.results(replace(CHAIN, exclude_gold=True))
    assert set(results) == {FEE.id, BOOKS.id, MENU.id}  # the others have nothing to leave out
    for result in results.values():
        assert "coverage" in result.scores
        assert "needless_abstention" not in result.scores
        assert not any(hit.grade for hit in result.ranked)
    run = bench.lab.runs()[0]
    assert not any(case.answerable for case in bench.lab.run_cases(run.id))
    assert "correct_abstention" in bench.lab.report(run.id).overall.metrics


def test_a_filter_with_an_or_cannot_widen_what_is_left_out(bench: Bench) -> None:
    bench.dataset([replace(FEE, filter="year = 2026 or year = 2025")])
    result = bench.results(replace(CHAIN, exclude_gold=True))[FEE.id]
    assert {hit.source_id for hit in result.ranked} <= {"borrowing.md"}


def test_model_tasks_are_checked_without_a_corpus(bench: Bench) -> None:
    def task(name: str, kind: str, value: str) -> Case:
        return Case(name, f"{name}?", expectation=Expectation(kind, value))  # type: ignore[arg-type]  # parametrised

    bench.dataset([task("a", "exact", "forty two"), task("b", "regex", "forty"), task("c", "json_schema", "{}"), FEE])
    bench.models = [FakeGenerator("forty two")]
    results = bench.results(RunConfig("faq", layer="model", model="fake.gguf"))
    assert {name: r.passed for name, r in results.items()} == {"a": True, "b": True, "c": False}
    assert results["c"].failure == "wrong_format"
    assert results["c"].scores["format_valid"] == 0.0
    assert results["a"].output == "forty two"
    run = bench.lab.runs()[0]
    assert (run.manifest.collection, run.manifest.model, run.manifest.model_hash) == ("", "fake", "abc123")


def test_a_task_that_cannot_be_checked_is_unscored(bench: Bench) -> None:
    bench.dataset([Case("sql", "Count.", expectation=Expectation("sql", "SELECT 1", fixture="/nowhere.db"))])
    bench.models = [FakeGenerator("SELECT 1")]
    result = bench.results(RunConfig("faq", layer="model", model="fake.gguf"))["sql"]
    assert (result.passed, result.failure) == (None, "broken_case")
    assert "/nowhere.db" in result.error
    assert "/nowhere.db" in bench.lab.autopsy(result.run_id, "sql")[0]
    assert bench.lab.report(result.run_id).failures == {"broken_case": 1}


@pytest.mark.parametrize(
    ("kind", "value", "said", "stage"),
    [
        ("exact", "forty two", "Forty", "truncated"),
        ("exact", "forty two", "Fifty, I think", "wrong_answer"),
        ("numeric", "42", "Let us see: it", "truncated"),
        ("numeric", "42", "It is 4", "truncated"),
        ("numeric", "42", "It is 43 because", "wrong_answer"),
        ("regex", "forty", "Let us", "truncated"),
        ("regex", r"\Aforty", "fifty", "wrong_answer"),
        ("f1", "forty two", "It is forty", "truncated"),
        ("f1", "forty two", "one two three four five six seven eight nine ten", "wrong_answer"),
        ("json_schema", '{"type": "object"}', '{"a": ', "truncated"),
        ("json_schema", '{"type": "object"}', "[1]", "wrong_format"),
    ],
)
def test_a_wrong_answer_before_the_cut_is_no_truncated_one(
    bench: Bench, kind: CheckKind, value: str, said: str, stage: FailureStage
) -> None:
    bench.dataset([Case("a", "a?", expectation=Expectation(kind, value, tolerance=0.6 if kind == "f1" else 0.0))])
    bench.models = [FakeGenerator(said, stop="length")]
    assert bench.results(RunConfig("faq", layer="model", model="fake.gguf"))["a"].failure == stage


def test_the_autopsy_of_a_chain_names_the_change_that_would_have_kept_the_gold(bench: Bench) -> None:
    question = "How many books may a reader borrow, and what is the enrolment fee?"
    bench.dataset([replace(FEE, question=question)])
    result = bench.results(replace(CHAIN, ask=AskOptions("extractive", evidence=1, threshold=0.0)))[FEE.id]
    assert result.failure == "cut"
    lines = bench.lab.autopsy(1, FEE.id)
    assert any(line.startswith("would have kept it: --what-if evidence=2: place 2") for line in lines)
    assert lines[-1] == f"→ {result.advice}"
