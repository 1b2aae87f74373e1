"""Datasets keep what they were; candidates wait; an import says what it skipped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import open_store
from storage.driver import connect
from storage.migrations import MIGRATIONS, migrate
from tests.library import NAME, open_library
from workbench.errors import NotFoundError
from workbench.evals.collecting.transfer import cautions, export_dataset, import_dataset
from workbench.ports import Store
from workbench.records.cases import Case, Expectation, GoldSpan
from workbench.records.codec import encode

ONE, TWO = Case("1", "Why?"), Case("2", "Who?", answerable=False)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "w.db")
    yield opened
    opened.close()


def test_an_older_version_stays_and_the_same_content_is_no_new_one(store: Store) -> None:
    first = store.datasets.put("set", NAME, [ONE])
    second = store.datasets.put("set", NAME, [ONE, TWO])
    assert store.datasets.put("set", NAME, [ONE, TWO]) == second
    assert [v.hash for v in store.datasets.versions("set")] == [second.hash, first.hash]
    assert store.datasets.cases("set") == (ONE, TWO)
    assert store.datasets.cases("set", first.hash[:8]) == (ONE,)
    back = store.datasets.put("set", NAME, [ONE])
    assert back == first
    assert len(store.datasets.versions("set")) == 2
    assert store.datasets.cases("set") == (ONE,)
    for wrong in ("ffff", "g"):
        with pytest.raises(NotFoundError, match="0 versions"):
            store.datasets.cases("set", wrong)
    with pytest.raises(NotFoundError):
        store.datasets.versions("none")


def test_datasets_of_an_older_file_become_their_first_version(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    before = next(n for n, m in enumerate(MIGRATIONS) if m.name.endswith("dataset_versions"))
    older = connect(path, "create")
    migrate(older, path, MIGRATIONS[:before])
    older.execute("INSERT INTO dataset VALUES (7, 'set', 'c', 'abc', '2026-01-01T00:00:00+00:00', 2, 1)")
    for position, case in enumerate((ONE, TWO)):
        older.execute(
            "INSERT INTO dataset_case VALUES (7, ?, ?, ?)",
            (position, case.id, json.dumps(encode(case), sort_keys=True)),
        )
    older.close()
    store = open_store(path)
    assert store.datasets.cases("set") == (ONE, TWO)
    (version,) = store.datasets.versions("set")
    assert (version.hash, version.created.year) == ("abc", 2026)
    store.close()


def test_an_import_tells_what_it_skipped_and_finds_passages(tmp_path: Path) -> None:
    store = open_library(tmp_path)
    file = tmp_path / "rag.jsonl"
    file.write_text(
        '{"user_input": "How much?", "reference_contexts": ["enrolment fee  is 118.50"], "reference": "118"}\n'
        "nonsense\n",
        "utf-8",
    )
    imported = import_dataset(store, file, "", NAME)
    assert (imported.dataset.name, imported.dataset.cases, imported.format) == ("rag", 1, "ragas")
    assert [p.line for p in imported.problems] == [2]
    (gold,) = store.datasets.cases("rag")[0].gold
    text = store.corpus.document_text(next(d.id for d in store.corpus.documents(NAME) if d.source_id == gold.source_id))
    assert text[gold.start : gold.end] == "enrolment fee is 118.50"
    assert export_dataset(store, "rag", tmp_path / "out.jsonl") == ()
    # The answer is shorter than the passage, which SQuAD has no place for beside it.
    assert export_dataset(store, "rag", tmp_path / "out.json", "squad") == ("gold", "language")
    assert "enrolment fee is 118.50" in (tmp_path / "out.json").read_text("utf-8")
    store.close()


def test_a_fixture_beside_its_dataset_is_found_from_anywhere(store: Store, tmp_path: Path) -> None:
    (tmp_path / "shop.db").write_bytes(b"")
    file = tmp_path / "sql.jsonl"
    file.write_text(
        '{"id": "a", "question": "q", "expectation": {"kind": "sql", "value": "SELECT 1", "fixture": "shop.db"}}\n'
        '{"id": "b", "question": "q", "expectation": {"kind": "sql", "value": "SELECT 1", "fixture": "gone.db"}}\n'
    )
    imported = import_dataset(store, file, "", NAME)
    assert [(p.line, p.skipped, "gone.db" in p.reason) for p in imported.problems] == [(2, False, True)]
    beside, gone = (case.expectation for case in store.datasets.cases("sql"))
    assert beside == Expectation("sql", "SELECT 1", fixture=str(tmp_path / "shop.db"))
    assert gone == Expectation("sql", "SELECT 1", fixture="gone.db")


def test_candidates_wait_and_change(store: Store) -> None:
    one, two = store.datasets.add_candidates("set", [(ONE, "model · seed 1"), (TWO, "model · seed 2")])
    assert (one.state, one.origin) == ("waiting", "model · seed 1")
    edited = Case("1", "Why so?", gold=(GoldSpan("a.md", 1, 2),))
    assert store.datasets.set_candidate(one.id, "accepted", edited).case == edited
    assert store.datasets.candidates("set", "accepted")[0].case == edited
    assert store.datasets.candidates("set", "waiting") == (two,)
    assert len(store.datasets.candidates("set")) == 2
    assert store.datasets.candidates("other") == ()
    with pytest.raises(NotFoundError):
        store.datasets.set_candidate(999, "rejected")


def test_cautions() -> None:
    assert len(cautions([ONE])) == 2
    assert "Only 29 cases" in cautions([TWO] * 29)[0]
    assert cautions([ONE, *[TWO] * 29]) == ()
    assert cautions([Case("m", "2+2?", expectation=Expectation("numeric", "4"))] * 30) == ()


def test_an_expected_query_that_reads_nothing_is_named_with_its_line(store: Store, tmp_path: Path) -> None:
    (tmp_path / "shop.db").write_bytes(b"")
    file = tmp_path / "sql.jsonl"
    row = (
        '{"id": "a", "question": "q", "expectation": {"kind": "sql", "value": "drop table t", "fixture": "shop.db"}}\n'
    )
    file.write_text(row)
    (problem,) = import_dataset(store, file, "", NAME).problems
    assert problem.line == 1
    assert "the expected query fails" in problem.reason
