"""workbench chunks and workbench chunk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.model


def test_a_documents_chunks_are_listed_and_one_is_told_from_all_sides(cli: Cli, filled: Path) -> None:
    listed = cli("--db", filled, "chunks", "rules.md")
    assert "Extension" in listed.out
    found = json.loads(cli("--db", filled, "chunks", "rules.md", "--json").out)
    chunk = found[0]["id"]
    assert cli("--db", filled, "ask", "When do extensions open?").code == 0
    told = cli(
        "--db", filled, "chunk", chunk[:8], "--tokens", "overdue payments?", "--used-by", "--like", "--neighbours"
    )
    assert told.code == 0
    assert "BM25 of this chunk" in told.out
    assert "multilingual-e5-small" in told.out
    assert "·with·" in told.out, "its pieces"
    assert "Stored questions that found it: 1" in told.out
    assert "When do extensions open?" in told.out
    assert "carné.txt" in told.out, "the only other current document is near"
    parts = json.loads(cli("--db", filled, "chunk", chunk, "--tokens", "overdue", "--used-by", "--json").out)
    assert list(parts) == ["chunk", "words", "pieces", "used_by"]
    [placed] = parts["chunk"]["indexes"]
    assert placed["norm"] == pytest.approx(1.0, abs=1e-3)
    assert placed["index"]["embedder"]["name"] == "multilingual-e5-small"
    assert parts["used_by"]["traces"][0]["rank"] >= 1


def test_flags_hubs_and_what_was_never_found(cli: Cli, filled: Path) -> None:
    assert "documents: 3" in cli("--db", filled, "chunks", "--flags").out
    assert [one["flags"] for one in json.loads(cli("--db", filled, "chunks", "--flags", "--json").out)] == [[], [], []]
    before = cli("--db", filled, "chunks", "--never")
    assert before.out.startswith("Nothing was asked of rules yet")
    assert before.code == 0
    cli("--db", filled, "ask", "When do extensions open?")
    assert "Questions asked of rules: 1." in cli("--db", filled, "chunks", "--hubs", "-k", "1").out
    assert ".txt  1 " in cli("--db", filled, "chunks", "--never", "-k", "1").out, "which document it is of"


def test_without_a_document_it_says_what_to_name(cli: Cli, filled: Path) -> None:
    refused = cli("--db", filled, "chunks")
    assert refused.code == 2
    assert "--flags, --hubs or --never" in refused.err
    assert "“zzz” begins no chunk's id" in cli("--db", filled, "chunk", "zzz").err
    assert "begins the id of more than one chunk" in cli("--db", filled, "chunk", "").err
