"""Benchmarks and their repetitions, each of which is committed as it ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from storage.connections import Connections
from storage.driver import Connection
from storage.rows import now, record_json
from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.records.benchmarks import Bench, BenchManifest, BenchModel, BenchPlan, Sample
from workbench.records.codec import decode

_BENCH: Final = """
    SELECT id, created, plan, models, manifest, total,
        (SELECT count(*) FROM bench_sample s WHERE s.bench_id = bench.id),
        (SELECT count(*) FROM bench_sample s WHERE s.bench_id = bench.id AND json_extract(s.body, '$.problem') <> '')
    FROM bench
"""


class FileBenchmarks:
    """Implements ``workbench.ports.BenchRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def create(self, plan: BenchPlan, models: Sequence[BenchModel], manifest: BenchManifest, total: int) -> Bench:
        """A new bench with no sample yet."""
        statement = "INSERT INTO bench (created, total, plan, models, manifest) VALUES (?, ?, ?, ?, ?) RETURNING id"
        row = (now(), total, record_json(plan), record_json(tuple(models)), record_json(manifest))
        return self.bench(self._connections.write(lambda c: int(c.execute(statement, row).fetchone()[0])))

    def bench(self, bench_id: int) -> Bench:
        """Raises NotFoundError."""
        with self._connections.read() as c:
            return _find(c, bench_id)

    def benches(self) -> tuple[Bench, ...]:
        """Newest first."""
        with self._connections.read() as c:
            return tuple(map(_bench, c.execute(f"{_BENCH} ORDER BY id DESC").fetchall()))

    def add_sample(self, sample: Sample) -> None:
        """In a transaction of its own; a second one of the same test, model and repetition replaces the first.

        Raises NotFoundError when the bench is gone.
        """
        statement = """
            INSERT OR REPLACE INTO bench_sample (bench_id, model, test, repetition, value, body)
            VALUES (?, ?, ?, ?, ?, ?)
        """
        row = (sample.bench_id, sample.model, sample.test, sample.repetition, sample.value, record_json(sample))

        def work(c: Connection) -> None:
            _find(c, sample.bench_id)
            c.execute(statement, row)

        self._connections.write(work)

    def samples(self, bench_id: int) -> tuple[Sample, ...]:
        """In the order they were measured. Raises NotFoundError."""
        statement = "SELECT body FROM bench_sample WHERE bench_id = ? ORDER BY id"
        with self._connections.read() as c:
            _find(c, bench_id)
            rows = c.execute(statement, (bench_id,)).fetchall()
        return tuple(decode(Sample, json.loads(body)) for (body,) in rows)

    def take_back(self, samples: Sequence[Sample]) -> None:
        """Removes samples, so that they are measured again."""
        keys = [(s.bench_id, s.model, s.test, s.repetition) for s in samples]
        statement = "DELETE FROM bench_sample WHERE bench_id = ? AND model = ? AND test = ? AND repetition = ?"
        self._connections.write(lambda c: c.executemany(statement, keys))

    def delete(self, bench_id: int) -> None:
        """With its samples. Raises NotFoundError."""

        def work(c: Connection) -> None:
            _find(c, bench_id)
            c.execute("DELETE FROM bench WHERE id = ?", (bench_id,))

        self._connections.write(work)


def _find(c: Connection, bench_id: int) -> Bench:
    row = c.execute(f"{_BENCH} WHERE id = ?", (bench_id,)).fetchone()
    if row is None:
        raise NotFoundError(
            tr("No such bench"),
            tr("There is no bench {id} in this file.", id=bench_id),
            tr("List them: workbench bench --list"),
        )
    return _bench(row)


def _bench(row: tuple[Any, ...]) -> Bench:
    number, created, plan, models, manifest, total, done, failed = row
    return Bench(
        id=number,
        created=datetime.fromisoformat(created),
        plan=decode(BenchPlan, json.loads(plan)),
        models=tuple(decode(BenchModel, model) for model in json.loads(models)),
        manifest=decode(BenchManifest, json.loads(manifest)),
        total=total,
        done=done,
        failed=failed,
    )
