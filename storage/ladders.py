"""Quantization ladders: a row per rung, and per passage the few numbers that each of its positions comes to."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from storage.connections import Connections
from storage.driver import Connection
from storage.rows import now, record_json
from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.records.benchmarks import BenchManifest
from workbench.records.codec import decode
from workbench.records.ladders import Ladder, LadderPlan, Rung, WindowScores

_LADDER: Final = "SELECT id, created, bench_id, text_hash, plan, manifest FROM ladder"


class FileLadders:
    """Implements ``workbench.ports.LadderRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def create(self, plan: LadderPlan, manifest: BenchManifest, rungs: Sequence[Rung], text_hash: str) -> Ladder:
        """A new ladder; nothing is measured yet."""
        statement = "INSERT INTO ladder (created, text_hash, plan, manifest) VALUES (?, ?, ?, ?) RETURNING id"

        def work(c: Connection) -> int:
            row = (now(), text_hash, record_json(plan), record_json(manifest))
            number = int(c.execute(statement, row).fetchone()[0])
            for rung in rungs:
                _put_rung(c, number, rung)
            return number

        return self.ladder(self._connections.write(work))

    def ladder(self, ladder_id: int) -> Ladder:
        """Raises NotFoundError."""
        with self._connections.read() as c:
            return _find(c, ladder_id)

    def ladders(self) -> tuple[Ladder, ...]:
        """Newest first."""
        with self._connections.read() as c:
            return tuple(_ladder(c, row) for row in c.execute(f"{_LADDER} ORDER BY id DESC").fetchall())

    def put_rung(self, ladder_id: int, rung: Rung) -> None:
        """In place of the one that stood there. Raises NotFoundError."""

        def work(c: Connection) -> None:
            _find(c, ladder_id)
            _put_rung(c, ladder_id, rung)

        self._connections.write(work)

    def set_bench(self, ladder_id: int, bench_id: int) -> None:
        """Which bench measures it. Raises NotFoundError."""

        def work(c: Connection) -> None:
            _find(c, ladder_id)
            c.execute("UPDATE ladder SET bench_id = ? WHERE id = ?", (bench_id, ladder_id))

        self._connections.write(work)

    def put_scores(self, ladder_id: int, place: int, scores: WindowScores) -> None:
        """Of one passage, in a transaction of its own. Raises NotFoundError."""
        statement = """
            INSERT OR REPLACE INTO ladder_window
                (ladder_id, place, window, kl, surprise, reference_surprise, same_top)
            VALUES (?, ?, ?, ?, ?, ?, ?)
        """
        numbers = [array("d", part).tobytes() for part in (scores.kl, scores.surprise, scores.reference_surprise)]
        row = (ladder_id, place, scores.window, *numbers, bytes(scores.same_top))

        def work(c: Connection) -> None:
            _find(c, ladder_id)
            c.execute(statement, row)

        self._connections.write(work)

    def scores(self, ladder_id: int, place: int) -> tuple[WindowScores, ...]:
        """Of a rung, by passage."""
        statement = """
            SELECT window, kl, surprise, reference_surprise, same_top FROM ladder_window
            WHERE ladder_id = ? AND place = ? ORDER BY window
        """
        with self._connections.read() as c:
            rows = c.execute(statement, (ladder_id, place)).fetchall()
        return tuple(
            WindowScores(window, _numbers(kl), _numbers(surprise), _numbers(reference), tuple(map(bool, same)))
            for window, kl, surprise, reference, same in rows
        )

    def delete(self, ladder_id: int) -> None:
        """With its rungs and scores; files stay. Raises NotFoundError."""

        def work(c: Connection) -> None:
            _find(c, ladder_id)
            c.execute("DELETE FROM ladder WHERE id = ?", (ladder_id,))

        self._connections.write(work)


def _put_rung(c: Connection, ladder_id: int, rung: Rung) -> None:
    statement = """
        INSERT INTO ladder_rung (ladder_id, place, body) VALUES (?, ?, ?)
        ON CONFLICT (ladder_id, place) DO UPDATE SET body = excluded.body
    """
    c.execute(statement, (ladder_id, rung.place, record_json(rung)))


def _numbers(blob: bytes) -> tuple[float, ...]:
    return tuple(array("d", blob))


def _find(c: Connection, ladder_id: int) -> Ladder:
    row = c.execute(f"{_LADDER} WHERE id = ?", (ladder_id,)).fetchone()
    if row is None:
        raise NotFoundError(
            tr("No such ladder"),
            tr("There is no ladder {id} in this file.", id=ladder_id),
            tr("List them: workbench ladder list"),
        )
    return _ladder(c, row)


def _ladder(c: Connection, row: tuple[Any, ...]) -> Ladder:
    number, created, bench_id, text_hash, plan, manifest = row
    rungs = c.execute("SELECT body FROM ladder_rung WHERE ladder_id = ? ORDER BY place", (number,)).fetchall()
    return Ladder(
        id=number,
        created=datetime.fromisoformat(created),
        plan=decode(LadderPlan, json.loads(plan)),
        manifest=decode(BenchManifest, json.loads(manifest)),
        rungs=tuple(decode(Rung, json.loads(body)) for (body,) in rungs),
        bench_id=bench_id,
        text_hash=text_hash,
    )
