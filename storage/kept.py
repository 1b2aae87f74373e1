"""What memory keeps of an index, so that a keystroke can search 100,000 chunks: its vectors, and the BM25 scores of the
words asked lately.

Nothing here is an approximation of the lanes' SQL: the vectors are those of the file, and BM25 is a sum over the words
of a query, so that a word's scores, read once from FTS5, serve every later query that holds it. What is kept belongs to
one revision of the index. Additions are appended; any other change reads all of it anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from storage.driver import Connection
from storage.indexes import BOUND, DISTANCE, vectors_table
from storage.word_scores import WordScores
from workbench.indexing.forms import Packed, rows_of, similarity, stored_bytes
from workbench.records.corpus import Component, Index, VectorForm
from workbench.records.retrieval import FilterNode

Keys = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SLACK: Final = 4096
"""Rows that can be appended before the matrix is copied into a larger one."""
_BATCH: Final = 4096
_MASKS: Final = 8
_NEAR: Final = 1e-5
"""How far float32 dot products may stray, so that what is this close to the k-th is measured by sqlite-vec as well."""
_MOST_MEASURED: Final = 8192


@dataclass(frozen=True, slots=True)
class Revision:
    """``version`` grows with every change of the collection, ``rewritten`` with those that are no addition."""

    version: int
    rewritten: int


@dataclass(frozen=True)
class KeptIndex:
    """One index at one revision: ``keys`` ascending (n,), and ``matrix`` of packed vectors (a row each) beside them.

    Attributes:
        matrix: as the vector table holds them, in its ``component``.
        holds: which rows of ``matrix`` are a chunk's vector; a chunk may have none yet.
        languages: that some chunk is in.
    """

    revision: Revision
    keys: Keys
    matrix: Packed
    component: Component
    holds: Mask
    languages: frozenset[str]
    words: WordScores
    masks: dict[FilterNode, Mask | None] = field(default_factory=dict)

    def mask(self, where: FilterNode, passing: Callable[[], Sequence[int] | None]) -> Mask | None:
        """Which rows pass, asked once; None when all of them do."""
        if where in self.masks:
            return self.masks[where]
        keys = passing()
        mask = None if keys is None else np.isin(self.keys, np.array(keys, np.int64))
        if len(self.masks) >= _MASKS:
            self.masks.clear()
        self.masks[where] = mask
        return mask

    def nearest(self, connection: Connection, wanted: bytes, k: int, mask: Mask | None) -> list[tuple[int, float]]:
        """The ``k`` nearest rows as (key, distance): preselected in memory, measured by sqlite-vec itself.

        Args:
            wanted: a vector's bytes in the index's component.
        """
        passing = self.holds if mask is None else self.holds & mask
        rows = np.flatnonzero(passing)
        if not len(rows):
            return []
        nearness = similarity(self.matrix, rows_of(wanted, self.component), self.component)
        if len(rows) < len(nearness):
            nearness = nearness[rows]
        kth = min(k, len(rows)) - 1
        threshold = -np.partition(-nearness, kth)[kth] - _NEAR
        near = np.flatnonzero(nearness >= threshold)
        if len(near) > _MOST_MEASURED:
            near = near[np.lexsort((near, -nearness[near]))][:_MOST_MEASURED]
        places = rows[near]
        measured = [value for place in places for value in (int(self.keys[place]), self.matrix[place].tobytes())]
        bound = BOUND[self.component]
        statement = f"""
            WITH near (key, vector) AS (VALUES {", ".join(["(?, ?)"] * len(places))})
            SELECT key, {DISTANCE[self.component]}({bound.replace("?", "vector")}, {bound}) AS distance FROM near
            ORDER BY distance, key LIMIT ?
        """
        return [(key, distance) for key, distance in connection.execute(statement, (*measured, wanted, k))]


class Keeper:
    """The index that is kept, at most one. Call it inside a read transaction; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[int, KeptIndex] = {}

    def current(self, connection: Connection, index: Index) -> KeptIndex | None:
        """What is kept of ``index`` brought up to what ``connection`` sees; None when it isn't kept."""
        if index.id not in self._kept:
            return None
        with self._lock:
            kept = self._kept.get(index.id)
            if kept is None:
                return None
            now = read_revision(connection, index.id)
            if now is None:
                self._kept.clear()
                return None
            if now == kept.revision:
                return kept
            if now.version < kept.revision.version:
                return None  # another thread has already read on
            fresh = _read(connection, index, now, kept if now.rewritten == kept.revision.rewritten else None)
            self._kept = {index.id: fresh}
            return fresh

    def keep(self, connection: Connection, index: Index, limit: int) -> bool:
        """Reads the index into memory where it isn't yet; False when it would take more than ``limit`` bytes."""
        total = connection.execute("SELECT count(*) FROM chunk WHERE index_id = ?", (index.id,)).fetchone()[0]
        if stored_bytes(VectorForm(index.form.component), index.dimension, total) > limit:
            with self._lock:
                self._kept.pop(index.id, None)
            return False
        revision = read_revision(connection, index.id)
        if revision is not None and index.id not in self._kept:
            kept = _read(connection, index, revision, None)  # takes a second at 100,000 chunks: not under the lock
            with self._lock:
                self._kept = {index.id: kept}
        return True


def read_revision(connection: Connection, index_id: int) -> Revision | None:
    """Of an index that still has its tables."""
    row = connection.execute(
        "SELECT l.version, i.rewritten FROM corpus_index i JOIN collection l ON l.id = i.collection_id "
        "WHERE i.id = ? AND i.status <> 'retired'",
        (index_id,),
    ).fetchone()
    return Revision(*row) if row else None


def _read(connection: Connection, index: Index, revision: Revision, before: KeptIndex | None) -> KeptIndex:
    """All of the index, or what was added since ``before``."""
    last = int(before.keys[-1]) if before and len(before.keys) else 0
    # The unary plus has SQLite begin at the key: by the index's own order it would pass all of its chunks.
    rows = connection.execute(
        "SELECT key, language FROM chunk WHERE +index_id = ? AND key > ? ORDER BY key", (index.id, last)
    ).fetchall()
    added = np.fromiter((key for key, _ in rows), np.int64, len(rows))
    languages = {language for _, language in rows}
    old = len(before.keys) if before else 0
    if before is None:
        matrix = _empty(index, len(rows) + SLACK)
        holds, keys = np.zeros(len(rows), np.bool_), added
    else:
        matrix = _room(before.matrix, old, len(rows))
        holds, keys = (
            np.concatenate([before.holds, np.zeros(len(rows), np.bool_)]),
            np.concatenate([before.keys, added]),
        )
        languages |= before.languages
    whole = matrix[: len(keys)]
    _fill(connection, index, last, keys, whole, holds)
    words = before.words if before else WordScores(index.id)
    return KeptIndex(revision, keys, whole, index.form.component, holds, frozenset(languages), words)


def _empty(index: Index, rows: int) -> Packed:
    width = int(stored_bytes(VectorForm(index.form.component), index.dimension))
    return rows_of(bytes(width * rows), index.form.component).reshape(rows, -1).copy()


def _room(matrix: Packed, used: int, more: int) -> Packed:
    """The array behind ``matrix`` where it has room for ``more`` rows, else a larger copy.

    Rows beyond those that a reader was given may be written while it reads.
    """
    whole = matrix.base if isinstance(matrix.base, np.ndarray) else matrix
    if len(whole) >= used + more:
        return whole
    larger = np.zeros((used + more + SLACK, matrix.shape[1]), matrix.dtype)
    larger[:used] = matrix[:used]
    return larger


def _fill(connection: Connection, index: Index, after: int, keys: Keys, matrix: Packed, holds: Mask) -> None:
    """Reads the vectors of the keys above ``after`` into their rows."""
    table = vectors_table(index.id)
    if after:  # the vector table reads by rowid or from end to end
        source = (
            f"SELECT v.rowid, v.embedding FROM {table} v WHERE v.rowid IN "
            f"(SELECT key FROM chunk WHERE +index_id = {index.id:d} AND key > {after:d})"
        )
    else:
        source = f"SELECT rowid, embedding FROM {table}"
    cursor = connection.execute(source)
    while batch := cursor.fetchmany(_BATCH):
        found = np.fromiter((key for key, _ in batch), np.int64, len(batch))
        places = np.searchsorted(keys, found)
        packed = rows_of(b"".join(blob for _, blob in batch), index.form.component)
        matrix[places] = packed.reshape(len(batch), -1)
        holds[places] = True
