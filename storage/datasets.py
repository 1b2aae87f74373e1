"""Eval datasets and their cases."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime

from storage.connections import Connections
from storage.driver import Connection
from storage.rows import now
from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.records.codec import decode, encode
from workbench.records.evals import Case, Dataset

_COLUMNS = "id, name, collection, hash, created, cases, answerable"
_UPSERT = """
    INSERT INTO dataset (name, collection, hash, created, cases, answerable) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET collection = excluded.collection, hash = excluded.hash,
        created = excluded.created, cases = excluded.cases, answerable = excluded.answerable
    RETURNING id
"""


class FileDatasets:
    """Implements ``workbench.ports.DatasetRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def put(self, name: str, collection: str, cases: Sequence[Case]) -> Dataset:
        """Stores or replaces a dataset by name."""
        bodies = [json.dumps(encode(case), sort_keys=True) for case in cases]
        digest = hashlib.sha256("\n".join(bodies).encode()).hexdigest()
        row = (name, collection, digest, now(), len(cases), sum(case.answerable for case in cases))

        def work(c: Connection) -> int:
            dataset_id = int(c.execute(_UPSERT, row).fetchone()[0])
            c.execute("DELETE FROM dataset_case WHERE dataset_id = ?", (dataset_id,))
            c.executemany(
                "INSERT INTO dataset_case (dataset_id, position, id, body) VALUES (?, ?, ?, ?)",
                ((dataset_id, n, case.id, body) for n, (case, body) in enumerate(zip(cases, bodies, strict=True))),
            )
            return dataset_id

        return _dataset((self._connections.write(work), *row))

    def datasets(self) -> tuple[Dataset, ...]:
        """By name."""
        with self._connections.read() as c:
            return tuple(map(_dataset, c.execute(f"SELECT {_COLUMNS} FROM dataset ORDER BY name")))

    def cases(self, dataset: str) -> tuple[Case, ...]:
        """In order. Raises NotFoundError."""
        with self._connections.read() as c:
            found = c.execute("SELECT id FROM dataset WHERE name = ?", (dataset,)).fetchone()
            if found is None:
                names = [name for (name,) in c.execute("SELECT name FROM dataset ORDER BY name")]
                raise NotFoundError(
                    tr("No such dataset"),
                    tr("There is no dataset “{name}”.", name=dataset),
                    tr("There are: {names}.", names=", ".join(names)) if names else tr("Import one first."),
                )
            rows = c.execute("SELECT body FROM dataset_case WHERE dataset_id = ? ORDER BY position", found).fetchall()
        return tuple(decode(Case, json.loads(body)) for (body,) in rows)


def _dataset(row: tuple[int, str, str, str, str, int, int]) -> Dataset:
    number, name, collection, digest, created, cases, answerable = row
    return Dataset(number, name, collection, digest, datetime.fromisoformat(created), cases, answerable)
