"""Reads that visit a whole index, and the repairs that need nothing but the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from storage.connections import Connections
from storage.driver import Connection
from storage.indexes import (
    best_vectors,
    originals_table,
    put_vectors,
    read_indexes,
    rebuild_vectors,
    unpacked,
    vector_bytes,
    vectors_table,
    words_table,
)
from storage.space import space_map
from storage.token_vectors import put_tokens, tokens_table
from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.ports import Cancel, ChunkFact, PackedTokens, Vector
from workbench.records.corpus import Index
from workbench.records.health import SpaceMap

_BATCH: Final = 2_000
"""Rows read with one statement: few enough that no reader holds the log back for long."""

_FACTS: Final = """
    SELECT c.id, d.id, d.source_id, c.ordinal, c.start, c.end, length(c.text), c.tokens, c.truncated, c.hash,
        c.language, d.status
    FROM chunk c JOIN document d ON d.key = c.document_key WHERE c.index_id = ? AND c.key > ? AND c.key <= ?
"""


class FileHealth:
    """Implements ``workbench.ports.HealthRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def chunk_facts(self, index_id: int) -> Iterator[ChunkFact]:
        """Every chunk of the index, in the order it came in."""
        for row in self._rows(_FACTS, index_id):
            yield ChunkFact(*row)

    def chunk_texts(self, index_id: int) -> Iterator[tuple[str, str]]:
        """(chunk id, header and text), of current documents."""
        statement = """
            SELECT c.id, c.text FROM chunk c JOIN document d ON d.key = c.document_key
            WHERE c.index_id = ? AND c.key > ? AND c.key <= ? AND d.status = 'current'
        """
        yield from self._rows(statement, index_id)

    def without_vector(self, index_id: int) -> tuple[str, ...]:
        """Ids of chunks that the dense lane can't find."""
        return self._missing(index_id, f"{vectors_table(index_id)}_rowids", "rowid")

    def without_words(self, index_id: int) -> tuple[str, ...]:
        """Ids of chunks that the lexical lane can't find."""
        return self._missing(index_id, f"{words_table(index_id)}_docsize", "id")

    def strays(self, index_id: int) -> int:
        """Full-text rows and vectors that belong to no chunk any more."""
        with self._connections.read() as c:
            return len(_stray_vectors(c, index_id)) + len(_stray_words(c, index_id))

    def remove_strays(self, index_id: int) -> int:
        """Deletes them; returns how many there were."""

        def work(c: Connection) -> int:
            vectors, texts = _stray_vectors(c, index_id), _stray_words(c, index_id)
            for table, key in ((vectors_table(index_id), "rowid"), *_beside(c, index_id)):
                c.executemany(f"DELETE FROM {table} WHERE {key} = ?", ((number,) for number in vectors))
            if texts:  # what such a row was made of is gone, and FTS5 deletes by the text that it is given
                _rebuild_words(c, index_id)
            return len(vectors) + len(texts)

        return self._connections.write(work)

    def mark_uncut(self, index_id: int, document_ids: Sequence[str]) -> None:
        """The index doesn't count as holding these documents whole; their chunks stay until they are cut again."""
        statement = """
            DELETE FROM indexed_document WHERE index_id = ?
            AND document_key IN (SELECT d.key FROM json_each(?) w JOIN document d ON d.id = w.value)
        """
        self._connections.write(lambda c: c.execute(statement, (index_id, json.dumps(list(document_ids)))))

    def vector_batches(self, index_id: int) -> Iterator[tuple[Sequence[str], npt.NDArray[np.float32]]]:
        """Chunk ids with their most exact stored vectors (a row each): floats as they are, others as unit vectors."""
        with self._connections.read() as c:
            index = next(iter(read_indexes(c, "i.id = ?", index_id)))
        table, key, vector, component = best_vectors(index)
        statement = f"""
            SELECT c.id, v.{vector} FROM chunk c CROSS JOIN {table} v ON v.{key} = c.key
            WHERE c.index_id = ? AND c.key > ? AND c.key <= ?
        """
        rows = self._rows(statement, index_id)
        while batch := list(islice(rows, _BATCH)):
            blobs = [blob for _, blob in batch]
            if component == "float32":
                yield [name for name, _ in batch], np.stack([np.frombuffer(blob, "<f4") for blob in blobs])
            else:
                with self._connections.read() as c:
                    yield [name for name, _ in batch], unpacked(c, index, blobs, component)

    def rebuild_words(self, index_id: int) -> None:
        """Makes the full-text table anew from the chunks."""
        self._connections.write(lambda c: _rebuild_words(c, index_id))

    def put_vectors(
        self, index: Index, vectors: Mapping[str, Vector], tokens: Mapping[str, PackedTokens] | None = None
    ) -> None:
        """Stores vectors of chunks by id, and token vectors, in place of those they have.

        Raises:
            EngineError: a vector is zero, not finite, or of the wrong dimension (nothing is stored).
            NotFoundError: the index is retired.
        """
        checked = vector_bytes(vectors, index.embedder.dimension)

        def work(c: Connection) -> None:
            rows = c.execute(
                "SELECT c.id, c.key FROM json_each(?) w JOIN chunk c ON c.id = w.value AND c.index_id = ?",
                (json.dumps(list(checked)), index.id),
            ).fetchall()
            keys = dict(rows)
            put_vectors(c, index, ((key, checked[name]) for name, key in rows), set(keys.values()))
            if tokens:
                packed = ((keys[name], rows) for name, rows in tokens.items() if name in keys)
                put_tokens(c, index.id, packed, set(keys.values()))

        self._connections.write(work)

    def space(self, cancel: Cancel | None = None) -> SpaceMap:
        """Where the bytes are; visits every page. Raises Cancelled."""
        return space_map(self._connections, cancel)

    def vacuum(self) -> int:
        """Rewrites the file without free pages; returns the bytes given back."""
        before = self._connections.path.stat().st_size

        def work(c: Connection) -> None:
            c.execute("VACUUM")
            c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

        self._connections.alone(work)
        return before - self._connections.path.stat().st_size

    def rebuild_vectors(self, index: Index, tell: Callable[[int, int], None]) -> int:
        """Makes the vector table anew without the gaps that deleted vectors leave; returns how many it holds.

        Args:
            tell: called on the write thread with the vectors done and those there are.
        """
        return self._connections.write(lambda c: rebuild_vectors(c, index, tell))

    def _rows(self, statement: str, index_id: int) -> Iterator[tuple[Any, ...]]:
        """Rows of a statement that takes an index and two keys: above the first, up to the second."""
        ends = "SELECT coalesce(min(key), 1) - 1, coalesce(max(key), 0) FROM chunk WHERE index_id = ?"
        with self._connections.read() as c:
            first, last = c.execute(ends, (index_id,)).fetchone()
        for after in range(first, last, _BATCH):
            with self._connections.read() as c:
                rows = c.execute(statement, (index_id, after, after + _BATCH)).fetchall()
            yield from rows

    def _missing(self, index_id: int, table: str, key: str) -> tuple[str, ...]:
        with self._connections.read() as c:
            if c.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is None:
                raise NotFoundError(
                    tr("The index is gone"), tr("Another index has replaced it."), tr("Run the checks again.")
                )
            rows = c.execute(
                f"SELECT c.id FROM chunk c LEFT JOIN {table} t ON t.{key} = c.key "
                f"WHERE c.index_id = ? AND t.{key} IS NULL ORDER BY c.key",
                (index_id,),
            )
            return tuple(chunk_id for (chunk_id,) in rows)


def _rebuild_words(connection: Connection, index_id: int) -> None:
    table = words_table(index_id)
    connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")


def _stray_vectors(connection: Connection, index_id: int) -> list[int]:
    return _without_chunk(connection, index_id, f"{vectors_table(index_id)}_rowids", "rowid")


def _stray_words(connection: Connection, index_id: int) -> list[int]:
    return _without_chunk(connection, index_id, f"{words_table(index_id)}_docsize", "id")


def _without_chunk(connection: Connection, index_id: int, table: str, key: str) -> list[int]:
    """Keys of the table's rows that belong to no chunk of the index."""
    rows = connection.execute(
        f"SELECT t.{key} FROM {table} t WHERE NOT EXISTS "
        f"(SELECT 1 FROM chunk c WHERE c.key = t.{key} AND c.index_id = ?)",
        (index_id,),
    )
    return [key for (key,) in rows]


def _beside(connection: Connection, index_id: int) -> list[tuple[str, str]]:
    """Tables that the index has beside its vectors, each with the column of the chunk's key."""
    names = json.dumps([originals_table(index_id), tokens_table(index_id)])
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE name IN (SELECT value FROM json_each(?))", (names,)
    )
    return [(name, "key") for (name,) in found]
