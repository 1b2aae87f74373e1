"""Eval datasets in all their versions, and the candidates that wait to join them.

A version is one row: its cases as JSON Lines, and the SHA-256 of exactly that text. The ``dataset`` row names the
current one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from storage.connections import Connections
from storage.driver import Connection, storable
from storage.rows import after_prefix, now, record_json
from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.records.cases import (
    Candidate,
    CandidateState,
    Case,
    Dataset,
)
from workbench.records.codec import decode

_DATASET: Final = "SELECT id, name, collection, hash, created, cases, answerable FROM dataset"
_UPSERT: Final = """
    INSERT INTO dataset (name, collection, hash, created, cases, answerable) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET collection = excluded.collection, hash = excluded.hash,
        created = excluded.created, cases = excluded.cases, answerable = excluded.answerable
    RETURNING id
"""
_CANDIDATE: Final = "SELECT id, dataset, body, state, origin FROM candidate"


class FileDatasets:
    """Implements ``workbench.ports.DatasetRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def put(self, name: str, collection: str, cases: Sequence[Case]) -> Dataset:
        """Makes ``cases`` the dataset's current version; content that was there before keeps its date."""
        return self._connections.write(lambda c: put_dataset(c, name, collection, cases))

    def datasets(self) -> tuple[Dataset, ...]:
        """Current versions, by name."""
        with self._connections.read() as c:
            return tuple(map(_dataset, c.execute(f"{_DATASET} ORDER BY name")))

    def versions(self, dataset: str) -> tuple[Dataset, ...]:
        """Every version, newest first. Raises NotFoundError."""
        with self._connections.read() as c:
            number, *_ = _found(c, dataset)
            rows = c.execute(
                "SELECT d.id, d.name, d.collection, v.hash, v.created, v.cases, v.answerable FROM dataset_version v"
                " JOIN dataset d ON d.id = v.dataset_id WHERE d.id = ? ORDER BY v.created DESC, v.hash",
                (number,),
            )
            return tuple(map(_dataset, rows))

    def cases(self, dataset: str, version: str = "") -> tuple[Case, ...]:
        """In order, of the current version or the one whose hash begins so. Raises NotFoundError."""
        with self._connections.read() as c:
            number, current = _found(c, dataset)
            wanted = version or current
            bodies = c.execute(
                "SELECT body FROM dataset_version WHERE dataset_id = ? AND hash >= ? AND hash < ? LIMIT 2",
                (number, wanted, after_prefix(wanted)),
            ).fetchall()
        if len(bodies) != 1:
            raise NotFoundError(
                tr("No such version"),
                tr("“{version}” begins the hash of {count} versions of “{name}”.", version=version,
                   count=len(bodies), name=dataset),
                tr("Give the whole hash of one of its versions."),
            )  # fmt: skip
        return tuple(decode(Case, json.loads(line)) for line in bodies[0][0].split("\n") if line)

    def add_candidates(self, dataset: str, candidates: Sequence[tuple[Case, str]]) -> tuple[Candidate, ...]:
        """Stores (case, origin) pairs as waiting."""
        name, created = storable(dataset), now()

        def work(c: Connection) -> list[int]:
            return [
                c.execute(
                    "INSERT INTO candidate (dataset, state, origin, created, body) VALUES (?, 'waiting', ?, ?, ?)"
                    " RETURNING id",
                    (name, storable(origin), created, record_json(case)),
                ).fetchone()[0]
                for case, origin in candidates
            ]

        numbers = self._connections.write(work)
        return tuple(
            Candidate(number, name, case, "waiting", origin)
            for number, (case, origin) in zip(numbers, candidates, strict=True)
        )

    def candidates(self, dataset: str, state: CandidateState | None = None) -> tuple[Candidate, ...]:
        """In the order they came; of every state when ``state`` is None."""
        with self._connections.read() as c:
            rows = c.execute(
                f"{_CANDIDATE} WHERE dataset = ? AND (? IS NULL OR state = ?) ORDER BY id", (dataset, state, state)
            )
            return tuple(map(_candidate, rows))

    def set_candidate(self, candidate_id: int, state: CandidateState, case: Case | None = None) -> Candidate:
        """Its new state, and its case as a person edited it. Raises NotFoundError."""
        body = record_json(case) if case else None

        def work(c: Connection) -> tuple[Any, ...] | None:
            c.execute(
                "UPDATE candidate SET state = ?, body = coalesce(?, body) WHERE id = ?", (state, body, candidate_id)
            )
            found: tuple[Any, ...] | None = c.execute(f"{_CANDIDATE} WHERE id = ?", (candidate_id,)).fetchone()
            return found

        row = self._connections.write(work)
        if row is None:
            raise NotFoundError(
                tr("No such candidate"),
                tr("There is no candidate {id} in this file.", id=candidate_id),
                tr("Look at the ones that wait again."),
            )
        return _candidate(row)


def put_dataset(connection: Connection, name: str, collection: str, cases: Sequence[Case]) -> Dataset:
    """``FileDatasets.put`` within a transaction."""
    body = "\n".join(map(record_json, cases))
    digest = hashlib.sha256(body.encode()).hexdigest()
    name, answerable = storable(name), sum(case.answerable for case in cases)
    first = connection.execute(
        "SELECT v.created FROM dataset_version v JOIN dataset d ON d.id = v.dataset_id WHERE d.name = ? AND v.hash = ?",
        (name, digest),
    ).fetchone()
    row = (name, storable(collection), digest, first[0] if first else now(), len(cases), answerable)
    (number,) = connection.execute(_UPSERT, row).fetchone()
    if first is None:
        connection.execute(
            "INSERT INTO dataset_version (dataset_id, hash, created, cases, answerable, body)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (number, *row[2:], body),
        )
    return _dataset((number, *row))


def _found(c: Connection, dataset: str) -> tuple[int, str]:
    """The id and current hash of a dataset. Raises NotFoundError, naming those there are."""
    found: tuple[int, str] | None = c.execute("SELECT id, hash FROM dataset WHERE name = ?", (dataset,)).fetchone()
    if found is None:
        names = [name for (name,) in c.execute("SELECT name FROM dataset ORDER BY name")]
        raise NotFoundError(
            tr("No such dataset"),
            tr("There is no dataset “{name}”.", name=dataset),
            tr("There are: {names}.", names=", ".join(names)) if names else tr("Import one first."),
        )
    return found


def _dataset(row: tuple[Any, ...]) -> Dataset:
    number, name, collection, digest, created, cases, answerable = row
    return Dataset(number, name, collection, digest, datetime.fromisoformat(created), cases, answerable)


def _candidate(row: tuple[Any, ...]) -> Candidate:
    number, dataset, body, state, origin = row
    return Candidate(number, dataset, decode(Case, json.loads(body)), state, origin)
