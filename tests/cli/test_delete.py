"""Deleting documents: what is kept of them, how it is told, and how it is taken out too."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from storage import open_store
from tests.cli.conftest import Cli
from workbench.answers.redaction import MARK
from workbench.records.answers import Context

QUESTION = "Who may not extend their enrolment?"
WORDS = "overdue payments"

pytestmark = pytest.mark.model


@pytest.fixture
def asked(cli: Cli, filled: Path, tmp_path: Path) -> Path:
    """A file in which a question was answered from ``rules.md``, and another from ``carné.txt``."""
    db = tmp_path / "lab.db"
    shutil.copy(filled, db)
    for question in (QUESTION, "¿Cuánto cuesta el carné de la biblioteca?"):
        assert cli("--db", db, "ask", question, "--mode", "extractive").code == 0
    assert WORDS in cli("--db", db, "trace", "--json", trace_id(db)).out
    return db


def trace_id(db: Path) -> str:
    store = open_store(db)
    found = next(trace.id for trace in store.traces.recent() if trace.query == QUESTION)
    store.close()
    return found


def test_deleting_tells_which_traces_keep_their_quotes(cli: Cli, asked: Path) -> None:
    told = cli("--db", asked, "delete", "rules.md", "--yes")
    assert all(f"{place} 0" in told.out for place in ("full text", "vectors", "token vectors", "chunks", "metadata"))
    assert told.code == 0
    assert "gone" in told.out
    assert re.search(r"kept by policy: [12] traces and results quote it", told.out)
    assert WORDS in cli("--db", asked, "trace", "--json", trace_id(asked)).out


@pytest.mark.parametrize("before", [True, False], ids=["deleted before", "at once"])
def test_traces_lose_the_words_and_keep_the_places(cli: Cli, asked: Path, before: bool) -> None:
    if before:
        cli("--db", asked, "delete", "rules.md", "old.md", "--yes")
    told = cli("--db", asked, "delete", "rules.md", "old.md", "--traces", "--yes")
    assert told.code == 0
    assert "taken out of" in told.out
    assert "kept by policy" not in told.out
    store = open_store(asked)
    trace = store.traces.trace(trace_id(asked))
    span = trace.span("context")
    assert span is not None
    assert isinstance(span.output, Context)
    passages = [passage for passage in span.output.evidence if passage.source_id == "rules.md"]
    assert {passage.text for passage in passages} == {MARK}
    assert all(passage.end > passage.start for passage in passages)
    assert trace.answer is not None
    assert trace.answer.text == MARK
    others = [trace for trace in store.traces.recent() if trace.query != QUESTION]
    kept = store.traces.trace(others[0].id).answer
    assert kept is not None
    assert "12 euros" in kept.text
    store.close()
    assert WORDS.encode() not in asked.read_bytes()


def test_a_name_that_never_was_is_no_deletion(cli: Cli, asked: Path) -> None:
    assert cli("--db", asked, "delete", "none.md", "--yes").code == 1
    assert "it isn't in the collection" in cli("--db", asked, "delete", "none.md", "--traces", "--yes").out
