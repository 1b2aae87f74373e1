"""A run's configuration may hold anything: what doesn't measure is refused, by its key, before a run exists."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.answers.fake_generator import FakeGenerator
from tests.evals_runs.conftest import LEXICAL, Bench
from tests.library import NAME
from workbench.errors import NotFoundError, UsageError
from workbench.evals.reporting.naming import run_words
from workbench.evals.running.sweep import vary
from workbench.evals.running.values import check_values
from workbench.records.answers import AskOptions, Manifest
from workbench.records.codec import decode
from workbench.records.evals import RunConfig
from workbench.records.retrieval import SearchOptions

RETRIEVAL = RunConfig("faq", search=replace(LEXICAL, rerank="none", transforms=()))
CHAIN = replace(RETRIEVAL, layer="chain", ask=AskOptions(retries=0))
MANIFEST = Manifest("1", NAME, 1, 1, "", "", "", "", "")

PLAUSIBLE = (
    "lexical",
    "dense",
    "rrf",
    "weights",
    "chain",
    "model",
    "late",
    "none",
    "auto",
    "edges",
    "q8_0",
    "~nobody/x",
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(0, 9)
    | st.floats()
    | st.floats(0, 1)
    | st.text(st.characters(codec=None), max_size=4)
    | st.sampled_from(PLAUSIBLE)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=5,
)
KEYS = [f"{part}.{name}" for part in ("search", "ask", "load", "prices") for name in getattr(RETRIEVAL, part).__slots__]


def nested(key: str, value: object, layer: str = "retrieval") -> dict[str, Any]:
    """The JSON of a configuration with one value set."""
    data: dict[str, Any] = {"layer": layer, "search": {"collection": NAME, "lanes": ["lexical"]}}
    part, _, name = key.rpartition(".")
    if part:
        data[part] = data.get(part, {}) | {name: value}
    else:
        data[name] = value
    return data


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([*KEYS, *RETRIEVAL.__slots__]), JSON, st.sampled_from(["retrieval", "chain"]))
def test_whatever_a_file_holds_is_refused_or_measures(bench: Bench, key: str, value: object, layer: str) -> None:
    bench.models, before = [FakeGenerator("yes")], len(bench.lab.runs())
    data = json.loads(json.dumps(nested(key, value, layer)))
    try:
        check_values(data)
        config = replace(decode(RunConfig, {"dataset": "faq", **data}), dataset="faq")
        last = bench.run(config)[-1]
    except (UsageError, NotFoundError):
        assert len(bench.lab.runs()) == before
    else:
        assert last.run.status == "complete"
        assert bench.lab.find_run(last.run.id).config == bench.lab.settled(replace(last.run.config))


@pytest.mark.parametrize(
    ("key", "value", "told", "takes"),
    [
        ("k", "5", '"5"', "a whole number from 1"),
        ("k", float("inf"), "Infinity", "a whole number from 1"),
        ("limit", True, "true", "a whole number from 0"),
        ("layer", "foo", '"foo"', "one of retrieval, generation, chain, model"),
        ("search.lanes", [], "[]", "one or more, each one of lexical, dense"),
        ("search.lanes", ["foo"], '["foo"]', "one or more, each one of lexical, dense"),
        ("search.fusion", "foo", '"foo"', "one of rrf, weights"),
        ("search.weights", [["lexical", "x"]], '[["lexical", "x"]]', "[one of lexical, dense, a number from 0"),
        ("search.k0", -61, "-61", "a whole number from 0"),
        ("search.candidates", 0, "0", "a whole number from 1"),
        ("ask.evidence", "two", '"two"', "a whole number from 1"),
        ("ask.threshold", 7, "7", "a number from 0 to 1"),
        ("prices.hour", -5, "-5", "a number from 0"),
        ("load", 5, "5", "an object with context"),
        ("load.adapters", [{}], "[{}]", "each an object with path, scale"),
        ("title", "\ud800", '"\\ud800"', "text"),
    ],
)
def test_a_refused_value_is_named_with_its_key_and_what_that_takes(
    key: str, value: object, told: str, takes: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check_values(nested(key, value))
    assert caught.value.message == f"“{told}” is no value of {key}."
    assert takes in caught.value.remedy


@pytest.mark.parametrize("weights", [(), (("lexical", 0.0), ("dense", 0.0)), (("dense", 1.0),)])
def test_weights_that_leave_nothing_to_rank_are_refused(bench: Bench, weights: tuple[tuple[str, float], ...]) -> None:
    with pytest.raises(UsageError, match="nothing to rank"):
        bench.run(replace(RETRIEVAL, search=replace(LEXICAL, fusion="weights", weights=weights)))
    assert bench.lab.runs() == ()


def test_a_configuration_that_is_no_object_is_refused() -> None:
    with pytest.raises(UsageError, match="configuration"):
        check_values([])  # type: ignore[arg-type]  # as a file may hold it


@pytest.mark.parametrize(
    "config",
    [
        replace(RETRIEVAL, search=replace(LEXICAL, lanes=())),
        replace(RETRIEVAL, search=replace(LEXICAL, fusion="foo", transforms=(5,), weights=(("lexical", "x"),))),
        replace(RETRIEVAL, layer="foo", model=5, k=None, title=7, segment=(1, 2), load=3),
        replace(CHAIN, ask=AskOptions(evidence="two", threshold="high", temperature=float("inf"))),
    ],
)
def test_a_run_that_an_earlier_version_took_is_still_listed(bench: Bench, config: RunConfig) -> None:
    kept = bench.store.runs.create(config, bench.lab.dataset("faq").hash, MANIFEST, 4)
    (listed,) = bench.lab.runs()
    assert isinstance(run_words(listed), str)
    assert listed.id == kept.id
    assert type(listed.config.k) is int
    assert bench.lab.report(kept.id).run.config == listed.config


def test_a_number_out_of_its_range_that_a_run_was_made_with_stays(bench: Bench) -> None:
    config = replace(CHAIN, ask=AskOptions(threshold=7.0, evidence=-1))
    bench.store.runs.create(config, bench.lab.dataset("faq").hash, MANIFEST, 4)
    assert bench.lab.runs()[0].config == config


@pytest.mark.parametrize(
    ("config", "name", "values", "lacking"),
    [
        (CHAIN, "temperature", ["0", "1"], "a model"),
        (CHAIN, "context", ["512", "1024"], "a model"),
        (CHAIN, "mode", ["auto", "extractive"], "a model"),
        (replace(CHAIN, model="a.gguf"), "seed", ["1", "2"], "a temperature"),
        (RETRIEVAL, "rerank-depth", ["5", "10"], "a reranker"),
        (RETRIEVAL, "k0", ["10", "60"], "two lanes"),
        (CHAIN, "fusion", ["rrf", "weights"], "two lanes"),
        (replace(RETRIEVAL, search=SearchOptions(NAME, fusion="weights")), "k0", ["10", "60"], "fusion by RRF"),
    ],
)
def test_a_sweep_over_what_the_runs_would_not_look_at_is_refused(
    config: RunConfig, name: str, values: list[str], lacking: str
) -> None:
    with pytest.raises(UsageError, match=f"Without {lacking}.*{name} changes nothing"):
        vary(config, name, values)


def test_a_sweep_is_refused_for_what_only_its_collection_tells(bench: Bench) -> None:
    configs = vary(replace(RETRIEVAL, search=LEXICAL), "rerank-depth", ["5", "10"])
    with pytest.raises(UsageError, match="Without a reranker"):
        list(bench.lab.sweep(configs))
    assert bench.lab.runs() == ()
    assert len(vary(replace(CHAIN, ask=AskOptions(), search=SearchOptions(NAME)), "k0", ["10", "60"])) == 2
