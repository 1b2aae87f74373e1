"""The demo collection says what its cases expect of it."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from workbench import demo
from workbench.corpus.metadata import merge, sidecar
from workbench.corpus.parse import parse
from workbench.corpus.sources import find_sources
from workbench.evals.formats import read_dataset
from workbench.records.cases import Case
from workbench.records.corpus import Metadata, ParsedDocument

SOURCES = {source.source_id: source for source in find_sources([str(demo.demo_folder())])}
CASES = read_dataset(demo.cases_file()).cases


def _parsed(source_id: str) -> ParsedDocument:
    return parse(SOURCES[source_id].path, source_id)


def _metadata(source_id: str) -> Metadata:
    return merge(_parsed(source_id).metadata, sidecar(SOURCES[source_id].path), {})


@pytest.mark.parametrize("source_id", sorted(SOURCES))
def test_every_document_reads_without_a_warning_and_is_described(source_id: str) -> None:
    assert _parsed(source_id).warnings == ()
    metadata = _metadata(source_id)
    assert metadata["status"] in {"current", "retired"}
    assert isinstance(metadata["date"], date)
    assert metadata["roles"]
    assert isinstance(metadata["year"], int)


def test_what_python_compiles_beside_a_document_is_no_document(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "late_fee.cpython-311.pyc").write_bytes(b"\xcb\r\r\n")
    (tmp_path / "late_fee.py").write_text("GRACE_DAYS = 2\n")
    assert [source.source_id for source in find_sources([str(tmp_path)])] == ["late_fee.py"]


def test_two_languages_and_many_formats() -> None:
    assert {"md", "csv", "html", "txt", "json", "py", "pdf"} <= {name.rsplit(".", 1)[1] for name in SOURCES}
    assert {"en", "es"} <= {_metadata(name).get("language") for name in SOURCES}


def test_the_retired_policy_contradicts_the_current_one() -> None:
    old, new = "en/loan-policy-2024.md", "en/loan-policy-2026.md"
    assert (_metadata(old)["status"], _metadata(new)["status"]) == ("retired", "current")
    assert "lent for 14 days" in _parsed(old).text
    assert "lent for 21 days" in _parsed(new).text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_gold_spans_hold_what_answers_the_case(case: Case) -> None:
    spans = [_parsed(gold.source_id).text[gold.start : gold.end] for gold in case.gold]
    assert all(span.strip() == span and len(span) > 10 for span in spans)
    numbers = {number for answer in case.answers for number in re.findall(r"\d[\d,.]*\d|\d", answer)}
    assert all(any(number in span for span in spans) for number in numbers)


def test_some_cases_have_no_answer_and_the_demo_question_has() -> None:
    assert sum(not case.answerable for case in CASES) >= 2
    assert next(case for case in CASES if case.question == demo.DEMO_QUESTION).answerable
    assert {case.language for case in CASES} == {"en", "es"}
