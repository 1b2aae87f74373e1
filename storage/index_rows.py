"""Indexes opened, switched between and dropped; every function that writes runs inside a transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from storage import documents
from storage.connections import Connections
from storage.driver import Connection
from storage.indexes import (
    best_vectors,
    create_tables,
    drop_index,
    newest_vector,
    read_centre,
    read_indexes,
    unpacked,
)
from storage.rows import now, record_json
from storage.search import passing_keys
from storage.token_vectors import keeps_tokens
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.indexing.forms import Matrix
from workbench.ports import Vector
from workbench.records.codec import decode
from workbench.records.corpus import EmbedderInfo, Index, Recipe, VectorForm
from workbench.records.retrieval import FilterNode


class FileIndexes:
    """Implements ``workbench.ports.IndexRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def index(self, index_id: int) -> Index:
        """Raises NotFoundError for one that isn't there or was dropped."""
        with self._connections.read() as c:
            found = read_indexes(c, "i.id = ? AND i.status <> 'retired'", index_id)
        if not found:
            raise no_index(index_id)
        return found[0]

    def embedder(self, collection: str) -> EmbedderInfo | None:
        """That the collection's current index was made with, None where there is none; quick enough for every key."""
        statement = (
            "SELECT i.embedder FROM corpus_index i JOIN collection l ON l.id = i.collection_id "
            "WHERE l.name = ? AND i.status = 'current'"
        )
        with self._connections.read() as c:
            row = c.execute(statement, (collection,)).fetchone()
        return decode(EmbedderInfo, json.loads(row[0])) if row else None

    def open(
        self, collection: str, embedder: EmbedderInfo, recipe: Recipe, form: VectorForm, centre: Vector | None = None
    ) -> Index:
        """The index of that collection, embedder, recipe and form, made when there is none yet.

        Raises:
            NotFoundError: no such collection.
        """

        def work(c: Connection) -> int:
            row = c.execute("SELECT id FROM collection WHERE name = ?", (collection,)).fetchone()
            if row is None:
                raise NotFoundError(
                    tr("No such collection"),
                    tr("There is no collection “{name}”.", name=collection),
                    tr("Ingest some documents first."),
                )
            return open_index(c, int(row[0]), embedder, recipe, form, centre)

        return self.index(self._connections.write(work))

    def previous(self, collection: str) -> Index | None:
        """The kept index of the collection that was current last."""
        condition = (
            "i.id = (SELECT k.id FROM corpus_index k JOIN collection o ON o.id = k.collection_id WHERE o.name = ? "
            "AND k.status = 'building' AND k.replaced IS NOT NULL ORDER BY k.replaced DESC LIMIT 1)"
        )
        with self._connections.read() as c:
            return next(iter(read_indexes(c, condition, collection)), None)

    def newest(self, index_id: int) -> int:
        """Key of the vector that came last, 0 for none: as many vectors with the same newest are the same vectors."""
        with self._connections.read() as c:
            return newest_vector(c, index_id)

    def drop(self, index_id: int) -> None:
        """Removes it with its chunks and vectors. Raises NotFoundError, and UsageError for the current one."""
        self._connections.write(lambda c: _drop(c, index_id))

    def matrix(self, index: Index, where: FilterNode) -> tuple[Sequence[str], Matrix]:
        """Chunk ids and their most exact unit vectors (n, kept dimension), of the chunks that pass."""
        table, key, vector, component = best_vectors(index)
        with self._connections.snapshot() as c:
            keys = passing_keys(c, index, where)
            wanted = None if keys is None else frozenset(keys)
            found = c.execute(
                f"SELECT c.key, c.id, v.{vector} FROM chunk c CROSS JOIN {table} v ON v.{key} = c.key "
                "WHERE c.index_id = ? ORDER BY c.key",
                (index.id,),
            )
            rows = [(name, blob) for number, name, blob in found if wanted is None or number in wanted]
            blobs = [blob for _, blob in rows]
            return [name for name, _ in rows], unpacked(c, index, blobs, component)


def open_index(
    connection: Connection,
    collection_id: int,
    embedder: EmbedderInfo,
    recipe: Recipe,
    form: VectorForm | None = None,
    centre: Vector | None = None,
) -> int:
    """The id of the index; see ``CorpusRepository.open_index`` and ``IndexRepository.open``."""
    found = connection.execute(
        "SELECT id FROM corpus_index WHERE collection_id = ? AND fingerprint = ? AND recipe = ? "
        "AND status <> 'retired' AND form = coalesce(?, form) ORDER BY status = 'current' DESC, id DESC",
        (collection_id, embedder.fingerprint, record_json(recipe), record_json(form) if form else None),
    ).fetchone()
    if found:
        return int(found[0])
    current = next(iter(read_indexes(connection, "l.id = ? AND i.status = 'current'", collection_id)), None)
    if form is None and current and current.embedder.fingerprint == embedder.fingerprint:
        form = current.form
        centre = read_centre(connection, current.id) if centre is None else centre
    return make_index(connection, collection_id, embedder, recipe, form or VectorForm(), centre)


def make_index(
    connection: Connection,
    collection_id: int,
    embedder: EmbedderInfo,
    recipe: Recipe,
    form: VectorForm,
    centre: Vector | None = None,
) -> int:
    """The id of a new index, which is current where the collection had none."""
    current = connection.execute(
        "SELECT 1 FROM corpus_index WHERE collection_id = ? AND status = 'current'", (collection_id,)
    ).fetchone()
    kept = None if centre is None else np.asarray(centre, "<f4").tobytes()
    row = (
        collection_id,
        embedder.fingerprint,
        record_json(embedder),
        record_json(recipe),
        "building" if current else "current",
        now(),
        record_json(form),
        kept,
    )
    index_id = connection.execute(
        "INSERT INTO corpus_index (collection_id, fingerprint, embedder, recipe, status, created, form, centre) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        row,
    ).fetchone()[0]
    dimension = form.dimension or embedder.dimension
    create_tables(connection, index_id, form, dimension, tokens=keeps_tokens(recipe))
    return int(index_id)


def switch_index(connection: Connection, index_id: int) -> None:
    """Makes it current; the previous one stays beside it, and is told from those that never were. NotFoundError."""
    row = connection.execute(
        "SELECT collection_id, recipe FROM corpus_index WHERE id = ? AND status <> 'retired'", (index_id,)
    ).fetchone()
    if row is None:
        raise no_index(index_id)
    collection_id, recipe = row
    previous = connection.execute(
        "UPDATE corpus_index SET status = 'building', replaced = ? "
        "WHERE collection_id = ? AND status = 'current' AND id <> ? RETURNING id",
        (now(), collection_id, index_id),
    ).fetchall()
    connection.execute("UPDATE corpus_index SET status = 'current', replaced = NULL WHERE id = ?", (index_id,))
    if previous:
        connection.execute("UPDATE collection SET recipe = ? WHERE id = ?", (recipe, collection_id))
        documents.bump(connection, [collection_id])


def no_index(index_id: int) -> NotFoundError:
    """For a number that no index has, or one that was dropped."""
    return NotFoundError(
        tr("No such index"),
        tr("There is no index {id}.", id=index_id),
        tr("workbench indexes list tells those there are."),
    )


def _drop(connection: Connection, index_id: int) -> None:
    row = connection.execute(
        "SELECT status FROM corpus_index WHERE id = ? AND status <> 'retired'", (index_id,)
    ).fetchone()
    if row is None:
        raise no_index(index_id)
    if row[0] == "current":
        raise UsageError(
            tr("The index is in use"),
            tr("Queries meet index {id}: without it nothing could be found.", id=index_id),
            tr("Switch to another index first."),
        )
    drop_index(connection, index_id)
    connection.execute("UPDATE corpus_index SET status = 'retired', replaced = NULL WHERE id = ?", (index_id,))
