"""Datasets come in whole, or the bad line is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.data import shared
from workbench.datasets import read_cases
from workbench.errors import UsageError
from workbench.records.evals import GoldSpan


def test_xquad_has_its_1190_questions_with_gold_paragraphs() -> None:
    cases = read_cases(shared("xquad", "xquad.es.json"))
    assert len(cases) == 1190
    assert all(c.answers and c.gold for c in cases)
    assert cases[0].gold == (GoldSpan("Super_Bowl_50/1"),)


def test_jsonl_keeps_gold_spans(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    line = {"id": "q1", "question": "¿?", "gold": [{"source_id": "a.md", "start": 3, "end": 9, "grade": 2}]}
    file.write_text(json.dumps(line) + "\n\n", "utf-8")
    assert read_cases(file)[0].gold == (GoldSpan("a.md", 3, 9, 2),)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('{"id": "a", "question": "x"}\nnot json\n', "line 2"),
        ('{"id": "a"}\n', "line 1"),
        ('{"id": "a", "question": "  "}\n', "line 1"),
        ("[1, 2]\n", "line 1"),
        ('{"id": "a", "question": "x"}\n{"id": "a", "question": "y"}\n', "more than once"),
        ("", "no case"),
    ],
)
def test_bad_jsonl_is_named(tmp_path: Path, lines: str, told: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(lines, "utf-8")
    with pytest.raises(UsageError, match=told):
        read_cases(file)


def test_json_that_is_no_squad(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_text('{"data": [{"paragraphs": 3}]}', "utf-8")
    with pytest.raises(UsageError, match="SQuAD"):
        read_cases(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        read_cases(tmp_path / "nothing.jsonl")
