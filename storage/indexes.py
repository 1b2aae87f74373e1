"""The tables of one index: its full-text table, its vectors, and the triggers that tie both to its chunks.

Every index has its own, so that a query can only meet its own index, document frequencies are those of the collection,
and retiring an index is a DROP. The one number in their names is an integer that this file made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from storage.driver import Connection
from storage.token_vectors import create_tokens_table, tokens_table
from workbench.errors import EngineError
from workbench.i18n import tr
from workbench.ports import Vector
from workbench.records.corpus import Index

COLUMNS: Final = ("heading", "text", "stems", "exact")
"""Columns of the full-text table: heading path and title; header and text; stems and accented words of both."""


_REBUILT: Final = 2_000
"""Vectors copied between two words on how far a rebuild is."""


def words_table(index_id: int) -> str:
    """Name of the index's FTS5 table."""
    return f"index_{index_id:d}_words"


def vectors_table(index_id: int) -> str:
    """Name of the index's vec0 table; its rowid is the chunk's key."""
    return f"index_{index_id:d}_vectors"


def create_tables(connection: Connection, index_id: int, dimension: int, *, tokens: bool) -> None:
    """Makes them, with a table of token vectors when ``tokens``.

    Vectors are unit vectors, so L2 ranks as cosine does: cos = 1 − d²/2, at half the time.
    """
    columns = ", ".join(COLUMNS)
    words, vectors, content = words_table(index_id), vectors_table(index_id), f"index_{index_id:d}_content"
    new, old = (", ".join(f"{row}.{name}" for name in COLUMNS) for row in ("new", "old"))
    changed = " OR ".join(f"old.{name} IS NOT new.{name}" for name in COLUMNS)
    add = f"INSERT INTO {words} (rowid, {columns}) VALUES (new.key, {new});"
    remove = f"INSERT INTO {words} ({words}, rowid, {columns}) VALUES ('delete', old.key, {old});"
    forget = f"DELETE FROM {vectors} WHERE rowid = old.key;"
    if tokens:
        create_tokens_table(connection, index_id)
        forget += f" DELETE FROM {tokens_table(index_id)} WHERE key = old.key;"
    for statement in (
        f"CREATE VIEW {content} AS SELECT key, {columns} FROM chunk WHERE index_id = {index_id:d}",
        f"CREATE VIRTUAL TABLE {words} USING fts5({columns}, content='{content}', content_rowid='key', "
        "tokenize='unicode61 remove_diacritics 2')",
        f"INSERT INTO {words} ({words}, rank) VALUES ('secure-delete', 1)",  # takes deleted words out at once
        _create_vectors(index_id, dimension),
        f"CREATE TRIGGER index_{index_id:d}_insert AFTER INSERT ON chunk WHEN new.index_id = {index_id:d} "
        f"BEGIN {add} END",
        f"CREATE TRIGGER index_{index_id:d}_update AFTER UPDATE OF {columns} ON chunk "
        f"WHEN old.index_id = {index_id:d} AND ({changed}) BEGIN {remove} {add} END",
        f"CREATE TRIGGER index_{index_id:d}_delete AFTER DELETE ON chunk WHEN old.index_id = {index_id:d} "
        f"BEGIN {remove} {forget} END",
    ):
        connection.execute(statement)


def _create_vectors(index_id: int, dimension: int) -> str:
    return (
        f"CREATE VIRTUAL TABLE {vectors_table(index_id)} USING vec0(embedding float[{dimension:d}] distance_metric=l2)"
    )


def rebuild_vectors(connection: Connection, index: Index, tell: Callable[[int, int], None]) -> int:
    """Makes the vector table anew: sqlite-vec keeps the room of deleted rows. Returns how many vectors it holds."""
    table, total = vectors_table(index.id), count_vectors(connection, index.id)
    connection.execute(f"CREATE TEMP TABLE kept AS SELECT rowid AS key, embedding FROM {table}")
    connection.execute(f"DROP TABLE {table}")
    connection.execute(_create_vectors(index.id, index.embedder.dimension))
    for done in range(0, total, _REBUILT):
        tell(done, total)
        connection.execute(
            f"INSERT INTO {table} (rowid, embedding) SELECT key, embedding FROM kept ORDER BY rowid LIMIT ? OFFSET ?",
            (_REBUILT, done),
        )
    connection.execute("DROP TABLE kept")
    tell(total, total)
    return total


def vector_gaps(connection: Connection, index_id: int, dimension: int) -> int:
    """Bytes of vectors that were deleted and whose room sqlite-vec keeps, as far as a rebuild gives them back."""
    table = vectors_table(index_id)
    blocks, rooms = connection.execute(f"SELECT count(*), coalesce(max(size), 1) FROM {table}_chunks").fetchone()
    needed = -(-count_vectors(connection, index_id) // rooms)
    return int(blocks - needed) * int(rooms) * dimension * 4


def drop_index(connection: Connection, index_id: int) -> None:
    """Removes the index's chunks, full-text rows and vectors; its own row in ``corpus_index`` stays."""
    for event in ("insert", "update", "delete"):
        connection.execute(f"DROP TRIGGER IF EXISTS index_{index_id:d}_{event}")
    connection.execute(f"DROP TABLE IF EXISTS {words_table(index_id)}")
    connection.execute(f"DROP TABLE IF EXISTS {vectors_table(index_id)}")
    connection.execute(f"DROP TABLE IF EXISTS {tokens_table(index_id)}")
    connection.execute(f"DROP VIEW IF EXISTS index_{index_id:d}_content")
    connection.execute("DELETE FROM chunk WHERE index_id = ?", (index_id,))
    connection.execute("DELETE FROM indexed_document WHERE index_id = ?", (index_id,))


def count_vectors(connection: Connection, index_id: int) -> int:
    """Vectors stored in the index; 0 when its tables are gone."""
    table = vectors_table(index_id)
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is None:
        return 0
    # sqlite-vec keeps its rowids in a plain table, which counts without visiting the vectors.
    return int(connection.execute(f"SELECT count(*) FROM {table}_rowids").fetchone()[0])


def put_vectors(connection: Connection, index_id: int, rows: Iterable[tuple[int, bytes]], replaced: set[int]) -> None:
    """Stores (chunk key, vector bytes); the old vectors of the keys in ``replaced`` go first, as vec0 has no upsert."""
    table = vectors_table(index_id)
    connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", ((key,) for key in replaced))
    connection.executemany(f"INSERT INTO {table} (rowid, embedding) VALUES (?, ?)", rows)


def read_vectors(connection: Connection, index_id: int, chunk_ids: Sequence[str]) -> dict[str, Vector]:
    """The unit vectors of those chunks that have one; none where the index has no table of them (any more)."""
    table = vectors_table(index_id)
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is None:
        return {}
    rows = connection.execute(
        f"SELECT c.id, v.embedding FROM json_each(?) w JOIN chunk c ON c.id = w.value AND c.index_id = ? "
        f"JOIN {table} v ON v.rowid = c.key",
        (json.dumps(list(chunk_ids)), index_id),
    )
    return {chunk_id: np.frombuffer(blob, "<f4") for chunk_id, blob in rows}


def vector_bytes(vectors: Mapping[str, Vector], dimension: int) -> dict[str, bytes]:
    """Each vector checked, L2-normalised and as little-endian float32.

    Raises:
        EngineError: one is zero, not finite, or not of ``dimension``.
    """
    if not vectors:
        return {}
    names = list(vectors)
    return dict(zip(names, unit_vectors([vectors[name] for name in names], names, dimension), strict=True))


def unit_vectors(vectors: Sequence[Vector], names: Sequence[str], dimension: int) -> list[bytes]:
    """``vectors`` normalised, as bytes; ``names`` are for the error message only. Raises EngineError."""
    for name, vector in zip(names, vectors, strict=True):
        if np.shape(vector) != (dimension,):
            raise _bad_vector(
                tr(
                    "The vector of {name} has {found} numbers, and the index holds vectors of {dimension}.",
                    name=name,
                    found=np.size(vector),
                    dimension=dimension,
                )
            )
    matrix = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(matrix, axis=1)
    for name, norm in zip(names, norms, strict=True):
        if not np.isfinite(norm):
            raise _bad_vector(tr("The vector of {name} holds values that are not numbers.", name=name))
        if norm == 0:
            raise _bad_vector(tr("The vector of {name} is zero, so nothing can be near it.", name=name))
    unit = (matrix / norms[:, None]).astype("<f4")
    return [row.tobytes() for row in unit]


def _bad_vector(message: str) -> EngineError:
    return EngineError(
        tr("The embedder returned a bad vector"),
        message,
        tr("Restart the embedder, or use the one the index was made with."),
    )
