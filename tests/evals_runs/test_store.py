"""Runs, results, labels, gates and decisions survive in the file, exactly as they were given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest

from storage import open_store
from tests.evals_runs.records import CONFIG, MANIFEST, result
from workbench.errors import FileError, NotFoundError, UsageError
from workbench.ports import Store
from workbench.records.evals import (
    DecisionRecord,
    Gate,
    Label,
    Run,
)

GATES = (Gate("recall@5", ">=", 0.85, "evidence appears"), Gate("unsupported_answer", "<=", 0.02))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "lab.db")
    yield opened
    opened.close()


@pytest.fixture
def run(store: Store) -> Run:
    return store.runs.create(CONFIG, "a" * 64, MANIFEST, 3)


def label(run: Run, case_id: str, value: Literal[-1, 0, 1], note: str = "") -> Label:
    return Label(run.id, case_id, value, note, datetime.now(UTC))


def test_a_run_and_its_results_come_back_as_they_were(store: Store, run: Run, tmp_path: Path) -> None:
    given = [
        result(run.id, "b", 1, passed=False),
        result(run.id, "año “ñ”\n\ud800", 0),
        result(run.id, "c", 2, passed=None),
    ]
    for each in given:
        counted = store.runs.put_result(each)
    assert (counted.done, counted.passed, counted.total, counted.status) == (3, 1, 3, "running")
    store.close()
    again = open_store(tmp_path / "lab.db")
    assert again.runs.run(run.id) == counted
    assert again.runs.results(run.id) == tuple(sorted(given, key=lambda r: r.position))
    assert again.runs.result(run.id, given[1].case_id) == given[1]
    again.close()


def test_a_second_result_for_a_case_replaces_the_first_and_keeps_its_labels(store: Store, run: Run) -> None:
    store.runs.put_result(result(run.id, "a"))
    store.runs.put_label(label(run, "a", 1))
    counted = store.runs.put_result(result(run.id, "a", passed=False))
    assert (counted.done, counted.passed) == (1, 0)
    assert [one.passed for one in store.runs.results(run.id)] == [False]
    assert [one.value for one in store.runs.labels(run.id)] == [1]


def test_one_baseline_a_dataset(store: Store, run: Run) -> None:
    second = store.runs.create(CONFIG, "b", MANIFEST, 1)
    other = store.runs.create(replace(CONFIG, dataset="other"), "b", MANIFEST, 1)
    for each in (run, other, second):
        assert store.runs.set_baseline(each.id).baseline
    assert {r.id for r in store.runs.runs() if r.baseline} == {second.id, other.id}
    assert [r.id for r in store.runs.runs("faq")] == [second.id, run.id]


def test_labels_are_undone_one_by_one(store: Store, run: Run) -> None:
    for case_id in ("a", "b"):
        store.runs.put_result(result(run.id, case_id))
    store.runs.put_label(label(run, "a", 1, "fine"))
    store.runs.put_label(label(run, "b", 0))
    store.runs.put_label(label(run, "a", -1, "no: “señal”"))
    assert [(one.case_id, one.value) for one in store.runs.labels(run.id)] == [("b", 0), ("a", -1)]
    undone = store.runs.undo_label(run.id)
    assert undone is not None
    assert (undone.case_id, undone.value, undone.note) == ("a", -1, "no: “señal”")
    assert {(one.case_id, one.value) for one in store.runs.labels(run.id)} == {("a", 1), ("b", 0)}
    assert [one.case_id for one in (store.runs.undo_label(run.id), store.runs.undo_label(run.id)) if one] == ["b", "a"]
    assert store.runs.undo_label(run.id) is None


def test_a_label_needs_a_result(store: Store, run: Run) -> None:
    with pytest.raises(NotFoundError, match="no result"):
        store.runs.put_label(label(run, "nothing", 1))


def test_deleting_a_run_takes_results_and_labels_along(store: Store, run: Run) -> None:
    store.runs.put_result(result(run.id, "a"))
    store.runs.put_label(label(run, "a", 1))
    store.runs.delete(run.id)
    for ask in (store.runs.run, store.runs.results, store.runs.delete, store.runs.set_baseline):
        with pytest.raises(NotFoundError, match=f"no run {run.id}"):
            ask(run.id)
    assert store.runs.labels(run.id) == ()
    with pytest.raises(NotFoundError):
        store.runs.put_result(result(run.id, "a"))
    assert store.runs.create(CONFIG, "a", MANIFEST, 1).id > run.id  # a run's number is never used again


def test_gates_are_locked_with_their_time_and_never_edited(store: Store) -> None:
    before = datetime.now(UTC)
    locked = store.runs.lock_gates("faq", "release", GATES)
    assert before <= locked.locked <= datetime.now(UTC)
    assert locked.gates == GATES
    with pytest.raises(UsageError, match="never edited"):
        store.runs.lock_gates("faq", "release", GATES[:1])
    store.runs.lock_gates("other", "release", GATES[:1])
    assert store.runs.gate_sets("faq") == (locked,)
    assert len(store.runs.gate_sets()) == 2


def test_not_even_sql_edits_locked_gates(store: Store, tmp_path: Path) -> None:
    store.runs.lock_gates("faq", "release", GATES)
    store.close()
    from storage.driver import Error, connect

    connection = connect(tmp_path / "lab.db", "write")
    with pytest.raises(Error, match="never edited"):
        connection.execute("UPDATE gate_set SET gates = '[]'")
    connection.close()


def test_decisions_come_back_newest_first(store: Store) -> None:
    record = DecisionRecord(0, "k = 5", "change", "", ("5", "10"), ("recall",), (), (1, 2), "", "", datetime.now(UTC))
    first = store.runs.put_decision(record)
    second = store.runs.put_decision(replace(record, title="τ = 0.6"))
    assert store.runs.decisions() == (second, first)
    assert first == replace(record, id=first.id)


def test_a_closed_file_says_so(store: Store, run: Run) -> None:
    store.close()
    with pytest.raises(FileError):
        store.runs.put_result(result(run.id, "a"))
