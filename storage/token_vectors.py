"""The token vectors of one index: a table of its own, and the mean that sign bits are centred on.

An index whose recipe keeps none has no such table, as have those of files made before there were any.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from storage.driver import Connection
from workbench.ports import PackedTokens, StoredTokens, Vector
from workbench.records.corpus import Recipe


def tokens_table(index_id: int) -> str:
    """Name of the table; ``key`` is the chunk's, ``count`` the rows that ``vectors`` holds."""
    return f"index_{index_id:d}_tokens"


def create_tokens_table(connection: Connection, index_id: int) -> None:
    """Makes it. The chunks' triggers take rows out of it."""
    connection.execute(
        f"CREATE TABLE {tokens_table(index_id)} "
        "(key INTEGER PRIMARY KEY, count INTEGER NOT NULL, vectors BLOB NOT NULL)"
    )


def keeps_tokens(recipe: Recipe) -> bool:
    """Whether an index by that recipe has the table."""
    return recipe.keeps_tokens


def put_tokens(
    connection: Connection, index_id: int, rows: Iterable[tuple[int, PackedTokens]], replaced: Iterable[int]
) -> None:
    """Stores (chunk key, token vectors); those of the keys in ``replaced`` go first. No tokens, no row."""
    table = tokens_table(index_id)
    connection.executemany(f"DELETE FROM {table} WHERE key = ?", ((key,) for key in replaced))
    connection.executemany(
        f"INSERT INTO {table} (key, count, vectors) VALUES (?, ?, ?)",
        ((key, len(packed), packed.tobytes()) for key, packed in rows if len(packed)),
    )


def read_tokens(connection: Connection, index_id: int, chunk_ids: Sequence[str]) -> StoredTokens:
    """The token vectors of those chunks that have any."""
    mean = read_mean(connection, index_id)
    rows = connection.execute(
        f"SELECT c.id, t.count, t.vectors FROM json_each(?) w JOIN chunk c ON c.id = w.value AND c.index_id = ? "
        f"JOIN {tokens_table(index_id)} t ON t.key = c.key",
        (json.dumps(list(chunk_ids)), index_id),
    )
    kind: npt.DTypeLike = np.int8 if mean is None else np.uint8
    return StoredTokens({name: np.frombuffer(blob, kind).reshape(count, -1) for name, count, blob in rows}, mean)


def read_mean(connection: Connection, index_id: int) -> Vector | None:
    """The mean that the index's sign bits are centred on, None when it has none."""
    row = connection.execute("SELECT token_mean FROM corpus_index WHERE id = ?", (index_id,)).fetchone()
    return None if row is None or row[0] is None else np.frombuffer(row[0], "<f4")


def fix_mean(connection: Connection, index_id: int, mean: Vector) -> None:
    """Stores it unless there is one."""
    connection.execute(
        "UPDATE corpus_index SET token_mean = ? WHERE id = ? AND token_mean IS NULL",
        (np.asarray(mean, "<f4").tobytes(), index_id),
    )
