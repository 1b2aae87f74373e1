"""Reranking from the command line: on for a search, measured on a dataset, on for good where it gains."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.model

CASES = [
    {"id": "1", "question": "Can I extend my enrolment with overdue payments?", "gold": [{"source_id": "rules.md"}]},
    {"id": "2", "question": "¿Cuánto cuesta el carné?", "gold": [{"source_id": "carné.txt"}]},
]


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "copy.db"))


def test_a_search_shows_where_fusion_had_each_hit(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled, "search", "when do extensions open", "--rerank", "late", "--json")
    result = json.loads(told.out)
    assert result["rerank"]["skipped"] == ""
    matches = {m["query"]: m["passage"] for m in result["rerank"]["hits"][0]["matches"]}
    assert matches["open"] == "open"
    assert [h["hit"]["fused_rank"] for h in result["hits"]] == [h["before"] for h in result["rerank"]["hits"]]
    shown = cli("--db", filled, "search", "when do extensions open", "--rerank", "late")
    assert "fused" in shown.out
    assert "rerank late: its gain was never measured here" in shown.err
    assert "fused" not in cli("--db", filled, "search", "when do extensions open").out


def test_an_answers_trace_has_the_stage(cli: Cli, copy: Path) -> None:
    told = cli("--db", copy, "ask", "When do extensions open?", "--rerank", "late", "--json")
    assert [s["name"] for s in json.loads(told.out)["spans"]][:6] == [
        "analysis", "filter", "lexical", "dense", "fusion", "rerank",
    ]  # fmt: skip
    read = json.loads(cli("--db", copy, "trace", "last", "--json").out)
    assert next(s for s in read["spans"] if s["name"] == "rerank")["output"]["hits"]


def test_it_is_measured_and_stays_off_without_a_gain(cli: Cli, copy: Path, tmp_path: Path) -> None:
    file = tmp_path / "faq.jsonl"
    file.write_text("\n".join(map(json.dumps, CASES)), "utf-8")
    cli("--db", copy, "datasets", "--import", file, "-c", "rules")
    told = cli("--db", copy, "rerank", "--measure", "faq", "--use")  # both were first already
    assert "late: R@1 1.000 → 1.000" in told.out
    assert "on faq (n = 2; 0 better, 0 worse, McNemar p = 1.00)" in told.out
    assert told.code == 2
    assert "brings nothing" in told.err
    assert "Reranking is off." in cli("--db", copy, "rerank").out
    assert "Add --measure DATASET." in cli("--db", copy, "rerank", "--use").err
    assert cli("--db", copy, "rerank", "--off", "-c", "rules").code == 0
    assert cli("--db", copy, "rerank", "--measure", "nothing").code != 0
