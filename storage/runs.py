"""Eval runs with the result of each case, people's labels, locked gates, decisions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, replace
from datetime import UTC, datetime
from typing import Any, Final

from storage.connections import Connections
from storage.driver import Connection, storable
from storage.holders import is_alive, this_process
from storage.rows import now, record_json
from workbench.errors import NotFoundError, UsageError
from workbench.evals.running.values import readable
from workbench.i18n import tr
from workbench.records.answers import Manifest
from workbench.records.codec import decode
from workbench.records.evals import (
    CaseResult,
    DecisionRecord,
    Gate,
    GateSet,
    Judgement,
    Label,
    Ranked,
    Run,
    RunConfig,
    RunStatus,
)

_RUN: Final = """
    SELECT id, config, dataset_hash, manifest, status, holder, created, done, total, passed, baseline,
        CASE status WHEN 'complete' THEN (SELECT count(r.passed) FROM eval_result r WHERE r.run_id = eval_run.id) ELSE 0
        END
    FROM eval_run
"""
_PUT_RESULT: Final = """
    INSERT INTO eval_result (run_id, case_id, position, passed, failure, trace_id, ranked, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, case_id) DO UPDATE SET position = excluded.position, passed = excluded.passed,
        failure = excluded.failure, trace_id = excluded.trace_id, ranked = excluded.ranked, body = excluded.body
"""
_RESULT: Final = "SELECT body, ranked FROM eval_result"
_COUNT: Final = """
    UPDATE eval_run SET (done, passed) = (SELECT count(*), total(passed) FROM eval_result WHERE run_id = ?) WHERE id = ?
"""
_LABEL: Final = "SELECT run_id, body, value, note, l.created FROM eval_label l JOIN eval_result USING (run_id, case_id)"


class FileRuns:
    """Implements ``workbench.ports.RunRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    # -- runs and results ------------------------------------------------------------------------------------------

    def create(self, config: RunConfig, dataset_hash: str, manifest: Manifest, total: int) -> Run:
        """A new run, running, held by this process, with no result yet."""
        statement = """
            INSERT INTO eval_run (dataset, dataset_hash, config, manifest, status, holder, created, total)
            VALUES (?, ?, ?, ?, 'running', ?, ?, ?) RETURNING id
        """
        told = record_json(config), record_json(manifest)
        row = (storable(config.dataset), dataset_hash, *told, this_process(), now(), total)
        run_id = self._connections.write(lambda c: int(c.execute(statement, row).fetchone()[0]))
        return self.run(run_id)

    def run(self, run_id: int) -> Run:
        """Raises NotFoundError."""
        with self._connections.read() as c:
            return _find(c, run_id)

    def runs(self, dataset: str = "") -> tuple[Run, ...]:
        """Newest first; of every dataset when ``dataset`` is ""."""
        with self._connections.read() as c:
            rows = c.execute(f"{_RUN} WHERE ? IN ('', dataset) ORDER BY id DESC", (storable(dataset),)).fetchall()
        return tuple(map(_run, rows))

    def set_status(self, run_id: int, status: RunStatus) -> Run:
        """A run that is running from now on is held by this process. Raises NotFoundError."""

        def work(c: Connection) -> Run:
            c.execute("UPDATE eval_run SET status = ?, holder = ? WHERE id = ?", (status, this_process(), run_id))
            return _find(c, run_id)

        return self._connections.write(work)

    def claim(self, run_id: int) -> Run | None:
        """Running, held by this process; None when a living process holds it. Raises NotFoundError."""

        def work(c: Connection) -> Run | None:
            if _find(c, run_id).status == "running":  # read within the writer's transaction: of several, one claims it
                return None
            c.execute("UPDATE eval_run SET status = 'running', holder = ? WHERE id = ?", (this_process(), run_id))
            return _find(c, run_id)

        return self._connections.write(work)

    def put_result(self, result: CaseResult) -> Run:
        """In one transaction with the run's counters; a second one for the case replaces it. Raises NotFoundError."""
        row = (
            result.run_id,
            storable(result.case_id),
            result.position,
            result.passed,
            result.failure,
            result.trace_id,
            json.dumps([astuple(hit) for hit in result.ranked]),
            record_json(replace(result, ranked=())),
        )

        def work(c: Connection) -> Run:
            _find(c, result.run_id)
            c.execute(_PUT_RESULT, row)
            c.execute(_COUNT, (result.run_id, result.run_id))
            return _find(c, result.run_id)

        return self._connections.write(work)

    def results(self, run_id: int) -> tuple[CaseResult, ...]:
        """By position. Raises NotFoundError."""
        with self._connections.read() as c:
            _find(c, run_id)
            rows = c.execute(f"{_RESULT} WHERE run_id = ? ORDER BY position", (run_id,)).fetchall()
        return tuple(map(_result, rows))

    def result(self, run_id: int, case_id: str) -> CaseResult:
        """Raises NotFoundError."""
        statement = f"{_RESULT} WHERE run_id = ? AND case_id = ?"
        with self._connections.read() as c:
            _find(c, run_id)
            row = c.execute(statement, (run_id, storable(case_id))).fetchone()
        if row is None:
            raise _no_result(run_id, case_id)
        return _result(row)

    def set_baseline(self, run_id: int) -> Run:
        """Makes it its dataset's one baseline. Raises NotFoundError."""

        def work(c: Connection) -> Run:
            dataset = storable(_find(c, run_id).config.dataset)
            c.execute("UPDATE eval_run SET baseline = 0 WHERE dataset = ? AND baseline", (dataset,))
            c.execute("UPDATE eval_run SET baseline = 1 WHERE id = ?", (run_id,))
            return _find(c, run_id)

        return self._connections.write(work)

    def delete(self, run_id: int) -> None:
        """With its results and labels. Raises NotFoundError."""

        def work(c: Connection) -> None:
            _find(c, run_id)
            c.execute("DELETE FROM eval_run WHERE id = ?", (run_id,))

        self._connections.write(work)

    # -- labels ----------------------------------------------------------------------------------------------------

    def put_label(self, label: Label) -> None:
        """Adds it; the case's earlier labels are kept for undo. Raises NotFoundError when there is no such result."""
        self.result(label.run_id, label.case_id)
        statement = "INSERT INTO eval_label (run_id, case_id, value, note, created) VALUES (?, ?, ?, ?, ?)"
        row = (label.run_id, storable(label.case_id), label.value, storable(label.note), _stamp(label.created))
        self._connections.write(lambda c: c.execute(statement, row))

    def labels(self, run_id: int) -> tuple[Label, ...]:
        """The latest one of each case, in the order they were given."""
        latest = "SELECT max(id) FROM eval_label WHERE run_id = ? GROUP BY case_id"
        with self._connections.read() as c:
            rows = c.execute(f"{_LABEL} WHERE l.id IN ({latest}) ORDER BY l.id", (run_id,)).fetchall()
        return tuple(map(_label, rows))

    def undo_label(self, run_id: int) -> Label | None:
        """Removes the run's latest label and returns it, None when there is none; the one before counts again."""

        def work(c: Connection) -> Label | None:
            row = c.execute(f"{_LABEL} WHERE run_id = ? ORDER BY l.id DESC LIMIT 1", (run_id,)).fetchone()
            c.execute("DELETE FROM eval_label WHERE id = (SELECT max(id) FROM eval_label WHERE run_id = ?)", (run_id,))
            return _label(row) if row else None

        return self._connections.write(work)

    # -- judges ----------------------------------------------------------------------------------------------------

    def put_judgement(self, judgement: Judgement) -> Judgement:
        """Stores it and returns it with its id; one that has an id is replaced. Raises NotFoundError for the run."""
        statement = """
            INSERT INTO eval_judgement (id, run_id, body) VALUES (?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET body = excluded.body RETURNING id
        """
        row = (judgement.id or None, judgement.run_id, record_json(judgement))

        def work(c: Connection) -> int:
            _find(c, judgement.run_id)
            return int(c.execute(statement, row).fetchone()[0])

        return replace(judgement, id=self._connections.write(work))

    def judgements(self, run_id: int) -> tuple[Judgement, ...]:
        """Of a run, newest first."""
        with self._connections.read() as c:
            rows = c.execute(
                "SELECT id, body FROM eval_judgement WHERE run_id = ? ORDER BY id DESC", (run_id,)
            ).fetchall()
        return tuple(replace(decode(Judgement, json.loads(body)), id=number) for number, body in rows)

    # -- gates and decisions ---------------------------------------------------------------------------------------

    def lock_gates(self, dataset: str, name: str, gates: Sequence[Gate]) -> GateSet:
        """Stores them with the time, for good. Raises UsageError when the dataset has gates of that name."""
        statement = "INSERT INTO gate_set (dataset, name, gates, locked) VALUES (?, ?, ?, ?) RETURNING id"
        row = (storable(dataset), storable(name), record_json(tuple(gates)), now())

        def work(c: Connection) -> int:
            if c.execute("SELECT 1 FROM gate_set WHERE dataset = ? AND name = ?", row[:2]).fetchone():
                raise UsageError(
                    tr("These gates are locked"),
                    tr("“{dataset}” has gates called “{name}” already.", dataset=dataset, name=name),
                    tr("Gates are never edited. Lock the new ones under another name."),
                )
            return int(c.execute(statement, row).fetchone()[0])

        return _gate_set((self._connections.write(work), *row))

    def gate_sets(self, dataset: str = "") -> tuple[GateSet, ...]:
        """Newest first; of every dataset when ``dataset`` is ""."""
        statement = """
            SELECT id, dataset, name, gates, locked FROM gate_set WHERE ? IN ('', dataset) ORDER BY id DESC
        """
        with self._connections.read() as c:
            rows = c.execute(statement, (storable(dataset),)).fetchall()
        return tuple(map(_gate_set, rows))

    def put_decision(self, record: DecisionRecord) -> DecisionRecord:
        """Stores it and returns it with its id."""
        statement = "INSERT INTO decision (created, body) VALUES (?, ?) RETURNING id"
        row = (_stamp(record.created), record_json(record))
        number = self._connections.write(lambda c: int(c.execute(statement, row).fetchone()[0]))
        return replace(record, id=number)

    def decisions(self) -> tuple[DecisionRecord, ...]:
        """Newest first."""
        with self._connections.read() as c:
            rows = c.execute("SELECT id, body FROM decision ORDER BY id DESC").fetchall()
        return tuple(replace(decode(DecisionRecord, json.loads(body)), id=number) for number, body in rows)


def _find(c: Connection, run_id: int) -> Run:
    row = c.execute(f"{_RUN} WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise NotFoundError(
            tr("No such run"),
            tr("There is no run {id} in this file.", id=run_id),
            tr("List them: workbench eval list"),
        )
    return _run(row)


def _no_result(run_id: int, case_id: str) -> NotFoundError:
    return NotFoundError(
        tr("No such result"),
        tr("Run {run} has no result for a case “{case}”.", run=run_id, case=case_id),
        tr("List what it has: workbench eval show {run}", run=run_id),
    )


def _run(row: tuple[Any, ...]) -> Run:
    number, config, dataset_hash, manifest, status, holder, created, done, total, passed, baseline, scored = row
    return Run(
        id=number,
        config=decode(RunConfig, readable(json.loads(config))),
        dataset_hash=dataset_hash,
        manifest=decode(Manifest, json.loads(manifest)),
        status="interrupted" if status == "running" and not is_alive(holder) else status,
        created=datetime.fromisoformat(created),
        done=done,
        total=total,
        passed=passed,
        baseline=bool(baseline),
        scored=scored,
    )


def _result(row: tuple[str, str]) -> CaseResult:
    body, ranked = map(json.loads, row)
    # A hundred hits a case: rows of plain values take a quarter of the room that named fields do.
    return replace(decode(CaseResult, body), ranked=tuple(Ranked(*hit) for hit in ranked))


def _label(row: tuple[Any, ...]) -> Label:
    run_id, body, value, note, created = row
    return Label(run_id, decode(CaseResult, json.loads(body)).case_id, value, note, datetime.fromisoformat(created))


def _gate_set(row: tuple[Any, ...]) -> GateSet:
    number, dataset, name, gates, locked = row
    kept = tuple(decode(Gate, gate) for gate in json.loads(gates))
    return GateSet(number, dataset, name, kept, datetime.fromisoformat(locked))


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
