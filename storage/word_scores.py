"""BM25 of single words over a whole index, read from FTS5 once and added up for every query that holds them."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from storage.driver import Connection
from storage.indexes import words_table
from workbench.errors import Cancelled
from workbench.ports import Cancel

BM25_WEIGHTS: Final = (2.0, 2.0, 2.0, 0.1)
"""Of the columns heading, text, stems, exact; the best of those tried on XQuAD in English and Spanish (bench/bm25.py).
FTS5 saturates the weighted count (k1 = 1.2), so 2 says that one occurrence nearly settles it, and 0.1 breaks ties."""

RANK: Final = f"bm25({', '.join(map(str, BM25_WEIGHTS))})"
"""How FTS5 is told to rank."""

MOST_BYTES: Final = 64 << 20
_FEW: Final = 1000
"""The index may grow by one part in so many before a word is read anew. Until then the added rows are scored by FTS5
and the others keep what the mean length of then gave them; the inverse frequency is always that of now."""

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Word:
    """The places among the index's keys of the chunks that hold a word, and FTS5's ``rank`` of each (lower is better).

    Attributes:
        idf: in the scores; ``read``: rows of the index when they were read; ``covers``: rows looked through so far.
    """

    places: npt.NDArray[np.intp]
    scores: npt.NDArray[np.float64]
    idf: float
    read: int
    covers: int


class WordScores:
    """Words of one index, the least recently asked forgotten first. Threads may share it."""

    def __init__(self, index_id: int) -> None:
        self._table = words_table(index_id)
        self._lock = threading.Lock()
        self._words: OrderedDict[str, _Word] = OrderedDict()
        self._bytes = 0

    def total(
        self, connection: Connection, phrases: Sequence[str], keys: Keys, cancel: Cancel | None
    ) -> npt.NDArray[np.float64]:
        """The rank that FTS5 gives each of ``keys`` for the phrases joined by OR; 0 for a chunk with none of them.

        FTS5 adds up its phrases in this order too, so that even the rounding is the same.

        Raises:
            Cancelled: it was set.
        """
        total = np.zeros(len(keys))
        for phrase in phrases:
            if cancel and cancel.is_set():
                raise Cancelled
            word = self._word(connection, phrase, keys)
            count = int(np.searchsorted(word.places, len(keys)))
            ratio = inverse_frequency(len(keys), count) / word.idf
            scores = word.scores[:count]
            total[word.places[:count]] += scores if ratio == 1.0 else scores * ratio
        return total

    def _word(self, connection: Connection, phrase: str, keys: Keys) -> _Word:
        with self._lock:
            known = self._words.get(phrase)
            if known is not None:
                self._words.move_to_end(phrase)
        if known is not None and known.covers >= len(keys):
            return known
        if known is None or (len(keys) - known.read) * _FEW > known.read:
            word = self._read(connection, phrase, keys, 0)
        else:
            word = self._extended(connection, phrase, keys, known)
        self._remember(phrase, word)
        return word

    def _extended(self, connection: Connection, phrase: str, keys: Keys, known: _Word) -> _Word:
        more = self._read(connection, phrase, keys, known.covers)
        idf = inverse_frequency(len(keys), len(known.places) + len(more.places))
        scores = np.concatenate([known.scores, more.scores * (known.idf / idf)])
        return _Word(np.concatenate([known.places, more.places]), scores, known.idf, known.read, len(keys))

    def _read(self, connection: Connection, phrase: str, keys: Keys, covered: int) -> _Word:
        # One row with all of them: a step of a statement hands Python's lock over twice, and thousands of them would
        # wait thousands of times for a thread that paints. Seventeen digits are a double, exactly.
        names, ranks = connection.execute(
            "SELECT group_concat(rowid), group_concat(printf('%!.17g', rank)) "
            f"FROM {self._table} WHERE {self._table} MATCH ? AND rank MATCH ? AND rowid > ?",
            (phrase, RANK, int(keys[covered - 1]) if covered else 0),
        ).fetchone()
        places = np.searchsorted(keys, np.fromstring(names or "", np.int64, sep=","))
        scores = np.fromstring(ranks or "", np.float64, sep=",")
        return _Word(places, scores, inverse_frequency(len(keys), len(places)), len(keys), len(keys))

    def _remember(self, phrase: str, word: _Word) -> None:
        with self._lock:
            before = self._words.pop(phrase, None)
            self._bytes -= _size(before) if before else 0
            self._words[phrase] = word
            self._bytes += _size(word)
            while self._bytes > MOST_BYTES and len(self._words) > 1:
                _, gone = self._words.popitem(last=False)
                self._bytes -= _size(gone)


def inverse_frequency(rows: int, holding: int) -> float:
    """FTS5's idf = ln((N − n + 0.5) / (n + 0.5)), and 10⁻⁶ where that isn't above zero."""
    return max(math.log((rows - holding + 0.5) / (holding + 0.5)), 0.0) or 1e-6


def _size(word: _Word) -> int:
    return word.places.nbytes + word.scores.nbytes + 200
