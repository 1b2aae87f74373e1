"""What scripts read from ``--json``: the keys that docs/evaluation.md names stay where they are."""

from __future__ import annotations

import json

from tests.evals_runs.conftest import Cli

LEXICAL = ("--lane", "lexical")
ESTIMATE = {"value", "n", "low", "high", "method"}


def test_a_report(cli: Cli) -> None:
    report = json.loads(cli("run", "faq", *LEXICAL, "--layer", "chain", "--json").out)
    assert {"run", "segments", "failures", "warnings", "judged"} <= report.keys()
    assert {"id", "status", "done", "total", "config", "manifest", "dataset_hash"} <= report["run"].keys()
    whole, *parts = report["segments"]
    assert (whole["field"], whole["value"], whole["cases"]) == ("", "", 4)
    assert {(part["field"], part["value"]) for part in parts} == {("type", "missing"), ("language", "es")}
    assert whole["metrics"]["recall@5"].keys() >= ESTIMATE
    assert json.loads(cli("show", "last", "--json").out) == report


def test_results(cli: Cli) -> None:
    cli("run", "faq", *LEXICAL, "--layer", "chain")
    results = json.loads(cli("show", "last", "--cases", "--json").out)
    asked = {"case_id", "passed", "scores", "failure", "ranked", "answer", "output", "trace_id", "duration_ms", "error"}
    assert all(asked <= result.keys() for result in results)
    assert {"chunk_id", "source_id", "rank", "grade", "lexical_rank", "dense_rank"} <= results[0]["ranked"][0].keys()


def test_a_comparison_and_gates(cli: Cli) -> None:
    cli("run", "faq", *LEXICAL)
    cli("run", "faq", *LEXICAL, "-k", "1")
    compared = json.loads(cli("compare", "1", "2", "--json").out)
    assert {"differs", "paired", "fixed", "broken", "p_value", "metrics", "segments", "warnings"} <= compared.keys()
    change = next(metric for metric in compared["metrics"] if metric["metric"] == "pass_rate")
    assert change["difference"].keys() >= ESTIMATE
    assert {"metric", "a", "b", "p_value", "test"} <= change.keys()
    segment = compared["segments"][0]
    assert {"field", "value", "paired", "fixed", "broken", "p_value", "metrics"} <= segment.keys()
    (gate,) = json.loads(cli("gate", "1", "--gates", "recall@5 >= 0.1", "--json").out)
    assert {"gate", "estimate", "passed", "reason", "written"} <= gate.keys()
    assert {"metric", "op", "threshold"} <= gate["gate"].keys()
