"""A run is stopped, resumed, refused, kept: whatever happens to it, finished cases stay and none is done twice."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from tests.answers.fake_generator import FakeGenerator
from tests.embedders import HashEmbedder
from tests.evals_runs.conftest import BOOKS, CASES, FEE, LEXICAL, MENU, POOL, Bench
from tests.library import NAME
from workbench.errors import EngineError, FilterError, NotFoundError, UsageError
from workbench.evals.running.sweep import vary, with_variable
from workbench.indexing.building import Builder
from workbench.records.answers import AskOptions
from workbench.records.cases import Case, Expectation
from workbench.records.corpus import Recipe
from workbench.records.evals import CaseResult, RunConfig
from workbench.records.retrieval import SearchOptions

RETRIEVAL = RunConfig("faq", search=LEXICAL)
CHAIN = replace(RETRIEVAL, layer="chain")
TASKS = RunConfig("tasks", layer="model", model="fake.gguf")


def stopped(bench: Bench, after: int, config: RunConfig = RETRIEVAL) -> int:
    """The number of a run that was stopped after so many cases."""
    cancel = threading.Event()
    for progress in bench.lab.run(config, cancel):
        if progress.run.done == after:
            cancel.set()
    assert progress.cancelled
    assert progress.finished
    assert progress.run.status == "stopped"
    return progress.run.id


def timeless(result: CaseResult) -> CaseResult:
    return replace(result, run_id=0, duration_ms=0.0, trace_id="")


def test_progress_tells_what_came_out_and_what_comes_next(bench: Bench) -> None:
    steps = bench.run()
    assert [p.current for p in steps] == [FEE.id, BOOKS.id, MENU.id, POOL.id, "", ""]
    assert [r.case_id for p in steps for r in p.results] == [c.id for c in CASES]
    assert [p.run.done for p in steps] == [0, 1, 2, 3, 4, 4]
    assert [p.finished for p in steps] == [False] * 5 + [True]
    assert steps[0].eta_s is None
    assert steps[-1].eta_s == 0.0
    assert all(p.rate > 0 for p in steps[1:])
    assert steps[-1].run.status == "complete"
    assert steps[-1].run == bench.lab.find_run(1)


def test_a_stopped_run_goes_on_where_it_stopped(bench: Bench) -> None:
    whole = bench.run(CHAIN)[-1].run.id
    run = stopped(bench, 2, CHAIN)
    first = bench.lab.results(run)
    assert [r.case_id for r in first] == [FEE.id, BOOKS.id]
    steps = list(bench.lab.resume(run))
    assert [r.case_id for p in steps for r in p.results] == [MENU.id, POOL.id]
    assert steps[-1].run.status == "complete"
    results = bench.lab.results(run)
    assert results[:2] == first
    assert list(map(timeless, results)) == list(map(timeless, bench.lab.results(whole)))


def test_a_complete_run_has_nothing_to_resume(bench: Bench) -> None:
    run = bench.run()[-1].run
    steps = list(bench.lab.resume(run.id))
    assert not [r for p in steps for r in p.results]
    assert steps[-1].run.status == "complete"


def test_nobody_listens_any_more(bench: Bench) -> None:
    steps = bench.lab.run(RETRIEVAL)
    next(steps)
    next(steps)
    steps.close()
    (run,) = bench.lab.runs()
    assert (run.status, run.done) == ("stopped", 1)
    assert list(bench.lab.resume(run.id))[-1].run.done == len(CASES)


def test_resume_refuses_another_dataset_and_names_it(bench: Bench) -> None:
    run = stopped(bench, 1)
    bench.dataset([FEE, BOOKS])
    with pytest.raises(UsageError, match="dataset"):
        list(bench.lab.resume(run))
    assert bench.lab.find_run(run).done == 1
    assert [c.id for c in bench.lab.run_cases(run)] == [c.id for c in CASES]  # the version it began with


def test_resume_refuses_a_changed_corpus_and_names_it(bench: Bench) -> None:
    run = stopped(bench, 1)
    bench.store.corpus.delete_documents([bench.store.corpus.documents(NAME)[0].id])
    with pytest.raises(UsageError, match="collection_version"):
        list(bench.lab.resume(run))


def test_resume_refuses_another_threshold(bench: Bench) -> None:
    run = stopped(bench, 1, CHAIN)
    bench.lab.choose_threshold(NAME, 0.9)
    with pytest.raises(UsageError, match=r"support\.threshold"):
        list(bench.lab.resume(run))


def test_documents_deleted_on_the_way_cost_their_cases_only(bench: Bench) -> None:
    steps = bench.lab.run(RETRIEVAL)
    next(steps)
    gone = [d.id for d in bench.store.corpus.documents(NAME) if d.source_id == "coffee.md"]
    bench.store.corpus.delete_documents(gone)
    results = {r.case_id: r for p in steps for r in p.results}
    assert results[MENU.id].failure == "not_in_corpus"
    assert results[BOOKS.id].passed


def test_a_collection_deleted_on_the_way_stops_the_run(bench: Bench) -> None:
    steps = bench.lab.run(RETRIEVAL)
    next(steps)
    next(steps)
    bench.store.corpus.delete_collection(NAME)
    with pytest.raises(NotFoundError):
        list(steps)
    (run,) = bench.lab.runs()
    assert (run.status, run.done) == ("stopped", 1)


@pytest.mark.parametrize(
    ("config", "error"),
    [
        (RunConfig("nothing"), NotFoundError),
        (replace(RETRIEVAL, segment=("type", "absent")), UsageError),
        (replace(RETRIEVAL, search=replace(LEXICAL, filter="planet = mars")), FilterError),
        (replace(RETRIEVAL, search=replace(LEXICAL, collection="nowhere")), NotFoundError),
        (replace(RETRIEVAL, search=SearchOptions(NAME)), UsageError),  # no embedder for the dense lane
        (replace(RETRIEVAL, exclude_gold=True), UsageError),
        (replace(RETRIEVAL, k=0), UsageError),
        (replace(CHAIN, ask=AskOptions("generated")), UsageError),
        (RunConfig("faq", layer="model"), UsageError),
        (RunConfig("faq", layer="model", model="fake.gguf"), UsageError),  # no model task in it
    ],
)
def test_what_cannot_be_measured_is_refused_before_a_run_exists(
    bench: Bench, config: RunConfig, error: type[Exception]
) -> None:
    with pytest.raises(error):
        list(bench.lab.run(config))
    assert bench.lab.runs() == ()
    assert bench.run()[-1].finished  # and the lab is free again


def test_a_layer_that_none_of_the_cases_is_for_names_the_one_that_is(bench: Bench) -> None:
    bench.dataset([Case("sum", "1 + 1 =", expectation=Expectation("numeric", "2"))], "tasks")
    for config, layer in ((RunConfig("tasks"), "model"), (RunConfig("faq", layer="model", model="x.gguf"), "chain")):
        with pytest.raises(UsageError) as caught:
            bench.run(config)
        assert f"“{layer}”" in caught.value.remedy


def test_one_run_at_a_time(bench: Bench) -> None:
    steps = bench.lab.run(RETRIEVAL)
    next(steps)
    with pytest.raises(UsageError, match="One evaluation"):
        next(bench.lab.run(RETRIEVAL))
    steps.close()
    assert bench.run()[-1].finished


def test_a_segment_and_a_limit(bench: Bench) -> None:
    bench.dataset([replace(c, language=c.language or "en", tags=("short",)) for c in CASES])
    asked = replace(RETRIEVAL, segment=("language", "en"), limit=2)
    run = bench.run(asked)[-1].run
    assert [(r.case_id, r.position) for r in bench.lab.results(run.id)] == [(FEE.id, 0), (BOOKS.id, 1)]
    assert bench.run(replace(RETRIEVAL, segment=("tag", "short")))[-1].run.total == len(CASES)


# -- models that die -------------------------------------------------------------------------------------------------


def tasks(bench: Bench, count: int) -> None:
    bench.dataset([Case(f"t{n}", f"Say {n}.", expectation=Expectation("exact", "yes")) for n in range(count)], "tasks")


def dying() -> FakeGenerator:
    """Lives until it is asked to write; afterwards it can't even count."""
    model = FakeGenerator("yes", dies=True)

    def die() -> None:
        model._counts = False

    stream = model._stream
    model._stream = lambda cancel: (die(), stream(cancel))[1]  # type: ignore[method-assign]  # what a kill looks like
    return model


def test_a_model_that_dies_costs_one_case(bench: Bench) -> None:
    tasks(bench, 4)
    bench.models = [dying(), FakeGenerator("yes")]
    results = bench.results(TASKS)
    assert [r.failure for r in results.values()] == ["engine_error", "", "", ""]
    assert "signal 9" in results["t0"].error
    assert bench.loaded == ["fake.gguf", "fake.gguf"]
    assert bench.lab.runs()[0].status == "complete"


def test_a_model_that_keeps_dying_stops_the_run_and_nothing_is_lost(bench: Bench) -> None:
    tasks(bench, 6)
    bench.models = [dying(), dying(), dying(), FakeGenerator("yes")]
    with pytest.raises(EngineError, match="3 times"):
        bench.run(TASKS)
    (run,) = bench.lab.runs()
    assert (run.status, run.done, len(bench.loaded)) == ("stopped", 3, 3)
    assert list(bench.lab.resume(run.id))[-1].run.done == 6
    assert [r.failure for r in bench.lab.results(run.id)] == ["engine_error"] * 3 + [""] * 3


def test_an_answer_that_its_model_did_not_survive_is_an_engine_error(bench: Bench) -> None:
    bench.models = [dying(), FakeGenerator("The enrolment fee is 118.50 euros. [F1]")]
    results = bench.results(replace(CHAIN, model="fake.gguf"))
    assert results[FEE.id].failure == "engine_error"
    assert results[FEE.id].trace_id
    assert results[BOOKS.id].failure != "engine_error"


def test_a_loaded_model_is_not_loaded_again(bench: Bench) -> None:
    tasks(bench, 1)
    bench.models = [FakeGenerator("yes")]
    bench.generator = None
    bench.run(TASKS)
    settings = bench.generator.model.settings if bench.generator else None
    assert settings is not None
    bench.run(replace(TASKS, load=settings))
    assert bench.loaded == ["fake.gguf"]


def test_without_a_model_answers_are_extractive_though_one_is_loaded(bench: Bench) -> None:
    bench.generator = FakeGenerator("nonsense")
    results = bench.results(CHAIN)
    assert {r.answer.mode for r in results.values() if r.answer} == {"extractive"}
    assert bench.generator.prompts == []


# -- afterwards ------------------------------------------------------------------------------------------------------


def test_a_rerun_is_compared_and_not_stored(bench: Bench) -> None:
    run = bench.run(CHAIN)[-1].run
    before = bench.lab.result(run.id, BOOKS.id)
    again = bench.lab.rerun(run.id, BOOKS.id)
    search = replace(run.config.search, lanes=("lexical",), filter="year = 2024")
    strict = bench.lab.rerun(run.id, BOOKS.id, replace(run.config, search=search))
    assert timeless(again) == timeless(before)
    assert strict.failure == "filtered_out"
    assert bench.lab.result(run.id, BOOKS.id) == before
    assert bench.store.traces.trace(strict.trace_id).query == BOOKS.question
    with pytest.raises(NotFoundError):
        bench.lab.rerun(run.id, "absent")


def test_a_sweep_is_one_run_per_value(bench: Bench) -> None:
    configs = vary(RETRIEVAL, "k", ["1", "2", "2"])
    ended = [p.run for p in bench.lab.sweep(configs) if p.finished]
    assert [(r.config.k, r.config.title) for r in ended] == [(1, "k=1"), (2, "k=2")]
    assert bench.lab.compare(ended[0].id, ended[1].id).differs == ("k",)


def test_a_stopped_sweep_starts_no_further_run(bench: Bench) -> None:
    cancel = threading.Event()
    cancel.set()
    list(bench.lab.sweep(vary(RETRIEVAL, "k", ["1", "2"]), cancel))
    assert [r.status for r in bench.lab.runs()] == ["stopped"]


def test_variables_reach_the_record_they_are_of() -> None:
    config = RunConfig("faq")
    for name, value in (("lane", "dense"), ("threshold", "0.5"), ("kv-type", "q8_0"), ("evidence", "3")):
        config = with_variable(config, name, value)
    assert config.search.lanes == ("dense",)
    assert (config.ask.threshold, config.ask.evidence, config.load.kv_type) == (0.5, 3, "q8_0")


@pytest.mark.parametrize(
    ("name", "value"), [("k", "0"), ("k", "five"), ("threshold", "1.2"), ("threshold", "nan"), ("lane", ""), ("x", "1")]
)
def test_a_value_out_of_range_is_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError):
        with_variable(RunConfig("faq"), name, value)


def test_a_sweep_needs_two_values_of_what_its_layer_looks_at() -> None:
    with pytest.raises(UsageError, match="two"):
        vary(RETRIEVAL, "k", ["5", "5"])
    for config, name, values in ((RETRIEVAL, "model", ["a.gguf", "b.gguf"]), (TASKS, "k", ["1", "5"])):
        with pytest.raises(UsageError, match=f"{name} changes nothing"):
            vary(config, name, values)
    assert len(vary(replace(RETRIEVAL, layer="chain"), "model", ["a.gguf", "b.gguf"])) == 2


def test_a_complete_run_tells_how_many_cases_were_scored(bench: Bench) -> None:
    steps = bench.run(RETRIEVAL)
    assert steps[-1].run.scored == 3  # of 4 cases one has no gold to retrieve
    assert [run.scored for run in bench.lab.runs()] == [3]


def test_a_sweep_over_indexes_meets_each_of_them_and_tells_their_recipes(bench: Bench) -> None:
    bench.embedder = HashEmbedder()
    builder = Builder(bench.store)
    current = bench.store.corpus.current_index(NAME)
    assert current is not None
    beside = builder.open(NAME, bench.embedder, Recipe(size=16), current.form)
    configs = vary(RETRIEVAL, "index", [str(current.id), str(beside.id)])
    with pytest.raises(UsageError, match="lacks"):
        bench.run(configs[1])
    for _ in builder.fill(beside, bench.embedder):
        pass
    first, second = (bench.run(config)[-1].run for config in configs)
    assert (first.manifest.index_id, second.manifest.index_id) == (current.id, beside.id)
    assert bench.lab.compare(first.id, second.id).differs == ("recipe",)
    cut = [{r.chunk_id for r in bench.lab.result(run.id, FEE.id).ranked} for run in (first, second)]
    assert cut[0].isdisjoint(cut[1])
    assert bench.lab.autopsy(second.id, FEE.id)
    with pytest.raises(NotFoundError, match="no index 99"):
        bench.run(replace(RETRIEVAL, index=99))


def test_a_sweep_whose_last_run_cannot_be_is_refused_before_its_first(bench: Bench) -> None:
    current = bench.store.corpus.current_index(NAME)
    assert current is not None
    with pytest.raises(NotFoundError, match="no index 99"):
        list(bench.lab.sweep(vary(RETRIEVAL, "index", [str(current.id), "99"])))
    assert bench.lab.runs() == ()
