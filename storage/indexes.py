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
from storage.rows import INDEX, index_record
from storage.token_vectors import create_tokens_table, tokens_table
from workbench.errors import EngineError
from workbench.i18n import tr
from workbench.indexing.forms import Matrix, pack, rows_of, shortened, stored_bytes, unpack
from workbench.ports import Vector
from workbench.records.corpus import Component, Index, VectorForm

COLUMNS: Final = ("heading", "text", "stems", "exact")
"""Columns of the full-text table: heading path and title; header and text; stems and accented words of both."""

TOKENIZE: Final = "tokenize='unicode61 remove_diacritics 2'"
"""How the full-text table cuts and folds words."""

_REBUILT: Final = 2_000
"""Vectors copied between two words on how far a rebuild is."""
COLUMN: Final[dict[Component, str]] = {
    "float32": "float[{}] distance_metric=l2",
    "int8": "int8[{}] distance_metric=cosine",
    "bit": "bit[{}]",
}
"""Of the vec0 table. Unit vectors: L2 ranks as cosine does (cos = 1 − d²/2) at half the time; int8 vectors are no unit
vectors, each has a scale of its own."""
BOUND: Final[dict[Component, str]] = {"float32": "?", "int8": "vec_int8(?)", "bit": "vec_bit(?)"}
"""A vector's bytes as SQL takes them."""
DISTANCE: Final[dict[Component, str]] = {
    "float32": "vec_distance_l2",
    "int8": "vec_distance_cosine",
    "bit": "vec_distance_hamming",
}


def words_table(index_id: int) -> str:
    """Name of the index's FTS5 table."""
    return f"index_{index_id:d}_words"


def vectors_table(index_id: int) -> str:
    """Name of the index's vec0 table; its rowid is the chunk's key."""
    return f"index_{index_id:d}_vectors"


def originals_table(index_id: int) -> str:
    """Name of the plain table of the vectors that candidates by signs are rescored with; ``key`` is the chunk's."""
    return f"index_{index_id:d}_originals"


def create_tables(connection: Connection, index_id: int, form: VectorForm, dimension: int, *, tokens: bool) -> None:
    """Makes them, with a table of token vectors when ``tokens``.

    Args:
        dimension: components kept of a vector.
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
    if form.rescore != "none":
        connection.execute(f"CREATE TABLE {originals_table(index_id)} (key INTEGER PRIMARY KEY, vector BLOB NOT NULL)")
        forget += f" DELETE FROM {originals_table(index_id)} WHERE key = old.key;"
    for statement in (
        f"CREATE VIEW {content} AS SELECT key, {columns} FROM chunk WHERE index_id = {index_id:d}",
        f"CREATE VIRTUAL TABLE {words} USING fts5({columns}, content='{content}', content_rowid='key', {TOKENIZE})",
        f"INSERT INTO {words} ({words}, rank) VALUES ('secure-delete', 1)",  # takes deleted words out at once
        _create_vectors(index_id, form.component, dimension),
        f"CREATE TRIGGER index_{index_id:d}_insert AFTER INSERT ON chunk WHEN new.index_id = {index_id:d} "
        f"BEGIN {add} END",
        f"CREATE TRIGGER index_{index_id:d}_update AFTER UPDATE OF {columns} ON chunk "
        f"WHEN old.index_id = {index_id:d} AND ({changed}) BEGIN {remove} {add} END",
        f"CREATE TRIGGER index_{index_id:d}_delete AFTER DELETE ON chunk WHEN old.index_id = {index_id:d} "
        f"BEGIN {remove} {forget} END",
    ):
        connection.execute(statement)


def _create_vectors(index_id: int, component: Component, dimension: int) -> str:
    column = COLUMN[component].format(f"{dimension:d}")
    return f"CREATE VIRTUAL TABLE {vectors_table(index_id)} USING vec0(embedding {column})"


def rebuild_vectors(connection: Connection, index: Index, tell: Callable[[int, int], None]) -> int:
    """Makes the vector table anew: sqlite-vec keeps the room of deleted rows. Returns how many vectors it holds."""
    table, total, component = vectors_table(index.id), count_vectors(connection, index.id), index.form.component
    stored = BOUND[component].replace("?", "embedding")
    connection.execute(f"CREATE TEMP TABLE kept AS SELECT rowid AS key, embedding FROM {table}")
    connection.execute(f"DROP TABLE {table}")
    connection.execute(_create_vectors(index.id, component, index.dimension))
    for done in range(0, total, _REBUILT):
        tell(done, total)
        connection.execute(
            f"INSERT INTO {table} (rowid, embedding) SELECT key, {stored} FROM kept ORDER BY rowid LIMIT ? OFFSET ?",
            (_REBUILT, done),
        )
    connection.execute("DROP TABLE kept")
    tell(total, total)
    return total


def vector_gaps(connection: Connection, index_id: int, form: VectorForm, dimension: int) -> int:
    """Bytes of vectors that were deleted and whose room sqlite-vec keeps, as far as a rebuild gives them back."""
    table = vectors_table(index_id)
    blocks, rooms = connection.execute(f"SELECT count(*), coalesce(max(size), 1) FROM {table}_chunks").fetchone()
    needed = -(-count_vectors(connection, index_id) // rooms)
    searched = VectorForm(form.component)
    return int(int(blocks - needed) * int(rooms) * stored_bytes(searched, form.dimension or dimension))


def drop_index(connection: Connection, index_id: int) -> None:
    """Removes the index's chunks, full-text rows and vectors; its own row in ``corpus_index`` stays."""
    for event in ("insert", "update", "delete"):
        connection.execute(f"DROP TRIGGER IF EXISTS index_{index_id:d}_{event}")
    connection.execute(f"DROP TABLE IF EXISTS {words_table(index_id)}")
    connection.execute(f"DROP TABLE IF EXISTS {vectors_table(index_id)}")
    connection.execute(f"DROP TABLE IF EXISTS {tokens_table(index_id)}")
    connection.execute(f"DROP TABLE IF EXISTS {originals_table(index_id)}")
    connection.execute(f"DROP VIEW IF EXISTS index_{index_id:d}_content")
    connection.execute("DELETE FROM chunk WHERE index_id = ?", (index_id,))
    connection.execute("DELETE FROM indexed_document WHERE index_id = ?", (index_id,))


def count_vectors(connection: Connection, index_id: int) -> int:
    """Vectors stored in the index; 0 when its tables are gone."""
    return _of_keys(connection, index_id, "count(*)")


def newest_vector(connection: Connection, index_id: int) -> int:
    """Key of the vector that came last: no chunk gets a key that another had. 0 when there is none."""
    return _of_keys(connection, index_id, "coalesce(max(rowid), 0)")


def _of_keys(connection: Connection, index_id: int, figure: str) -> int:
    """A figure of the keys of the index's vectors; 0 when its tables are gone."""
    table = vectors_table(index_id)
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is None:
        return 0
    # sqlite-vec keeps its rowids in a plain table, which tells without visiting the vectors.
    return int(connection.execute(f"SELECT {figure} FROM {table}_rowids").fetchone()[0])


def read_indexes(connection: Connection, condition: str, value: str | int) -> tuple[Index, ...]:
    """Those that the condition on ``i`` (index) and ``l`` (collection) names, newest first."""
    rows = connection.execute(f"{INDEX} WHERE {condition} ORDER BY i.id DESC", (value,)).fetchall()
    return tuple(index_record(row, count_vectors(connection, row[0])) for row in rows)


def read_centre(connection: Connection, index_id: int) -> Vector | None:
    """What is taken off the index's vectors before their signs, None when nothing is."""
    row = connection.execute("SELECT centre FROM corpus_index WHERE id = ?", (index_id,)).fetchone()
    return None if row is None or row[0] is None else np.frombuffer(row[0], "<f4")


def put_vectors(
    connection: Connection, index: Index, rows: Iterable[tuple[int, bytes]], replaced: Iterable[int]
) -> None:
    """Stores (chunk key, whole unit vector) in the index's form; the old vectors of the keys in ``replaced`` go first.

    vec0 has no upsert.
    """
    table, originals = vectors_table(index.id), originals_table(index.id)
    rescored = index.form.rescore != "none"
    for name, key in ((table, "rowid"), (originals, "key"))[: 1 + rescored]:
        connection.executemany(f"DELETE FROM {name} WHERE {key} = ?", ((number,) for number in replaced))
    found = list(rows)
    if not found:
        return
    keys, unit = [key for key, _ in found], _matrix([blob for _, blob in found], index)
    packed = pack(unit, index.form.component, read_centre(connection, index.id))
    connection.executemany(
        f"INSERT INTO {table} (rowid, embedding) VALUES (?, {BOUND[index.form.component]})",
        ((key, row.tobytes()) for key, row in zip(keys, packed, strict=True)),
    )
    if rescored:
        connection.executemany(
            f"INSERT INTO {originals} (key, vector) VALUES (?, ?)",
            ((key, row.tobytes()) for key, row in zip(keys, pack(unit, index.form.rescore), strict=True)),
        )


def _matrix(blobs: Sequence[bytes], index: Index) -> Matrix:
    whole = np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), index.embedder.dimension)
    return shortened(whole, index.form.dimension)


def best_vectors(index: Index) -> tuple[str, str, str, Component]:
    """Where the index's most exact vectors are: table, its columns of key and vector, and what they consist of."""
    if index.form.rescore != "none":
        return originals_table(index.id), "key", "vector", index.form.rescore
    return vectors_table(index.id), "rowid", "embedding", index.form.component


def unpacked(connection: Connection, index: Index, blobs: Sequence[bytes], component: Component) -> Matrix:
    """Stored vectors of the index as unit vectors (n, kept dimension)."""
    centre = read_centre(connection, index.id) if component == "bit" else None
    if not blobs:
        return np.empty((0, index.dimension), np.float32)
    return unpack(rows_of(b"".join(blobs), component).reshape(len(blobs), -1), component, index.dimension, centre)


def read_vectors(connection: Connection, index: Index, chunk_ids: Sequence[str]) -> dict[str, Vector]:
    """The unit vectors of those chunks that have one; none where the index has no table of them (any more)."""
    if not count_vectors(connection, index.id):
        return {}
    table, key, vector, component = best_vectors(index)
    # CROSS has SQLite look each vector up by its key, where it would rather pass all of them.
    rows = connection.execute(
        f"SELECT c.id, v.{vector} FROM json_each(?) w CROSS JOIN chunk c ON c.id = w.value AND c.index_id = ? "
        f"CROSS JOIN {table} v ON v.{key} = c.key",
        (json.dumps(list(chunk_ids)), index.id),
    ).fetchall()
    vectors = unpacked(connection, index, [blob for _, blob in rows], component)
    return dict(zip([name for name, _ in rows], vectors, strict=True))


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
