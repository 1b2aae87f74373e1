"""The two lanes: BM25 over full text, and exact nearest neighbours. Filters apply before ranking in both."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from storage.connections import Connections
from storage.driver import Connection, storable
from storage.filters import BUILT_IN, Sql, field_kinds, passing
from storage.indexes import (
    BOUND,
    best_vectors,
    read_centre,
    read_indexes,
    read_vectors,
    unit_vectors,
    unpacked,
    vectors_table,
    words_table,
)
from storage.kept import Keeper, KeptIndex, Keys, Mask
from storage.token_vectors import keeps_tokens, read_tokens
from storage.vocabulary import known_words, words_like
from storage.word_scores import RANK
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.indexing.forms import OVERSAMPLING, Matrix, cosine_of_hamming, pack, shortened
from workbench.ports import Cancel, StoredTokens, Vector
from workbench.records.corpus import Index
from workbench.records.retrieval import AllOf, Analysis, FilterNode, LaneHit
from workbench.text.words import cjk_pairs, exact_form, words

MAX_NEIGHBOURS: Final = 4096
"""The most that sqlite-vec returns for one query."""


class FileSearch:
    """Implements ``workbench.ports.SearchRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._keeper = Keeper()

    def keep(self, index: Index, limit: int) -> bool:
        """Reads the index's vectors into memory, where they take at most ``limit`` bytes, and keeps them up to date.

        From then on both lanes answer out of memory, with the same results; another index takes its place.
        """
        with self._connections.snapshot() as c:
            return self._keeper.keep(c, index, limit)

    def lexical(
        self, index: Index, analysis: Analysis, where: FilterNode, k: int, cancel: Cancel | None = None
    ) -> tuple[LaneHit, ...]:
        """BM25 over heading, text, stems and exact accents; terms are OR-ed, phrases required. No terms, no hits.

        Raises:
            Cancelled: it was set.
            NotFoundError: the index is retired.
        """
        query = match_expression(analysis)
        if not query or k <= 0:
            return ()
        table = words_table(index.id)
        with self._connections.snapshot(cancel) as c:
            kept = None if analysis.phrases else self._keeper.current(c, index)
            if kept:
                total = kept.words.total(c, wanted_words(analysis), kept.keys, cancel)
                return _named(c, _lowest(kept.keys, total, _mask(c, kept, index, where), k), lambda rank: -rank)
            keys = _restriction(c, index, where)
            # The unary plus keeps SQLite from looking rows up one by one, which would rank each on its own.
            restriction = f"AND +rowid IN ({keys.text})" if keys else ""
            rows = c.execute(
                f"""
                WITH hit AS MATERIALIZED (
                    SELECT rowid AS key, rank AS score FROM {table}
                    WHERE {table} MATCH ? AND rank MATCH ? {restriction} ORDER BY rank LIMIT ?
                )
                SELECT c.id, -hit.score FROM hit JOIN chunk c ON c.key = hit.key ORDER BY hit.score, c.key
                """,
                (query, RANK, *(keys.values if keys else ()), k),
            ).fetchall()
        return _ranked(rows)

    def dense(
        self, index: Index, vector: Vector, where: FilterNode, k: int, cancel: Cancel | None = None
    ) -> tuple[LaneHit, ...]:
        """Nearest neighbours by cosine: exact over float32; over other forms as near as these come.

        Raises:
            Cancelled: it was set.
            EngineError: the vector is zero, not finite or of another dimension than the index.
            UsageError: ``k`` is over 4,096.
            NotFoundError: the index is retired.
        """
        (whole,) = unit_vectors([vector], [tr("the query")], index.embedder.dimension)
        if k > MAX_NEIGHBOURS:
            raise UsageError(
                tr("Too many neighbours"),
                tr("{k} were asked for, and one query finds {most} at most.", k=k, most=MAX_NEIGHBOURS),
                tr("Ask for fewer candidates."),
            )
        if k <= 0:
            return ()
        unit = shortened(np.frombuffer(whole, "<f4").reshape(1, -1), index.form.dimension)
        with self._connections.snapshot(cancel) as c:
            if index.form.rescore == "none":
                return _named(c, self._nearest(c, index, unit, where, k), _cosine_of(index))
            sample = min(k * OVERSAMPLING, MAX_NEIGHBOURS)
            keys = [key for key, _ in self._nearest(c, index, unit, where, sample)]
            return _named(c, rescored(c, index, keys, unit)[:k], lambda cosine: cosine)

    def _nearest(
        self, connection: Connection, index: Index, unit: Matrix, where: FilterNode, k: int
    ) -> list[tuple[int, float]]:
        """(key, distance) in the index's own measure, nearest first."""
        component = index.form.component
        (packed,) = pack(unit, component, read_centre(connection, index.id) if component == "bit" else None)
        wanted = packed.tobytes()
        kept = self._keeper.current(connection, index)
        if kept:
            return kept.nearest(connection, wanted, k, _mask(connection, kept, index, where))
        keys = _restriction(connection, index, where)
        # sqlite-vec takes IN (SELECT …) into the search itself; other conditions would thin out its k rows.
        restriction = f"AND rowid IN ({keys.text})" if keys else ""
        return connection.execute(
            f"""
            WITH hit AS MATERIALIZED (
                SELECT rowid AS key, distance FROM {vectors_table(index.id)}
                WHERE embedding MATCH {BOUND[component]} AND k = ? {restriction}
            )
            SELECT hit.key, hit.distance FROM hit JOIN chunk c ON c.key = hit.key ORDER BY hit.distance, hit.key
            """,
            (wanted, k, *(keys.values if keys else ())),
        ).fetchall()

    def matching(self, index: Index, where: FilterNode) -> tuple[int, int]:
        """Chunks of the index that pass, and all of them (retired documents excluded from the first only)."""
        with self._connections.snapshot() as c:
            kept = self._keeper.current(c, index)
            if kept:
                mask = _mask(c, kept, index, where)
                return len(kept.keys) if mask is None else int(mask.sum()), len(kept.keys)
            total = int(c.execute("SELECT count(*) FROM chunk WHERE index_id = ?", (index.id,)).fetchone()[0])
            keys = _restriction(c, index, where)
            if keys is None:
                return total, total
            return int(c.execute(f"SELECT count(*) FROM ({keys.text})", keys.values).fetchone()[0]), total

    def passing(self, index: Index, chunk_ids: Sequence[str], where: FilterNode) -> frozenset[str]:
        """Those of the chunks that pass; none of a retired document, unless the filter names status."""
        found = passing(index.id, where)
        statement = (
            "SELECT id FROM chunk WHERE id IN (SELECT value FROM json_each(?)) AND index_id = ? "
            f"AND key IN ({found.text})"
        )
        with self._connections.read() as c:
            rows = c.execute(statement, (json.dumps(list(chunk_ids)), index.id, *found.values))
            return frozenset(chunk_id for (chunk_id,) in rows)

    def fields(self, collection: str) -> Mapping[str, tuple[str, ...]]:
        """Fields a filter can name: the built-in ones, and the data's own with all their types, the commonest first."""
        with self._connections.read() as c:
            stored = field_kinds(c, collection)
        return stored | {name: (column.kind,) for name, column in BUILT_IN.items()}

    def has_language(self, index: Index, language: str) -> bool:
        """Whether some chunk of the index is in that language."""
        statement = "SELECT EXISTS (SELECT 1 FROM chunk WHERE index_id = ? AND language = ?)"
        with self._connections.snapshot() as c:
            kept = self._keeper.current(c, index)
            if kept:
                return storable(language) in kept.languages
            return bool(c.execute(statement, (index.id, storable(language))).fetchone()[0])

    def languages(self, index: Index) -> Mapping[str, int]:
        """How many chunks of the index are in each language, the commonest first; unknown ones left out."""
        statement = (
            "SELECT language, count(*) FROM chunk WHERE index_id = ? AND language <> '' GROUP BY language "
            "ORDER BY count(*) DESC, language"
        )
        with self._connections.read() as c:
            return {str(language): int(chunks) for language, chunks in c.execute(statement, (index.id,))}

    def known_words(self, index: Index, wanted: Sequence[str]) -> Mapping[str, int]:
        """How many chunks hold each of the folded words as written; those that none holds are left out."""
        with self._connections.read() as c:
            return known_words(c, index.id, wanted)

    def words_like(self, index: Index, beginning: str, shortest: int, longest: int) -> Mapping[str, int]:
        """The folded words of the index that begin so, of that many characters, with their chunks."""
        with self._connections.read() as c:
            return words_like(c, index.id, beginning, shortest, longest)

    def document_frequency(self, index: Index, terms: Sequence[str]) -> Mapping[str, int]:
        """How many chunks of the index hold each term, given as stems of ``Analysis.stems``."""
        table = words_table(index.id)
        statement = f"SELECT count(*) FROM {table} WHERE {table} MATCH ?"
        with self._connections.read() as c:
            return {
                term: int(c.execute(statement, (f"stems : {_quoted(term)}",)).fetchone()[0]) if words(term) else 0
                for term in dict.fromkeys(terms)
            }

    def token_vectors(self, index: Index, chunk_ids: Sequence[str]) -> StoredTokens:
        """Of those chunks that have any; of none where the index's recipe keeps none."""
        if not keeps_tokens(index.recipe):
            return StoredTokens({})
        with self._connections.read() as c:
            return read_tokens(c, index.id, chunk_ids)

    def vectors(self, index_id: int, chunk_ids: Sequence[str]) -> Mapping[str, Vector]:
        """The stored unit vectors by chunk id; chunks without one, and all of a retired index, are left out."""
        with self._connections.read() as c:
            index = next(iter(read_indexes(c, "i.id = ? AND i.status <> 'retired'", index_id)), None)
            return read_vectors(c, index, chunk_ids) if index else {}


def match_expression(analysis: Analysis) -> str:
    """The analysis as an FTS5 query of quoted words only, "" when there is nothing to look for.

    Any word may match, in any of its forms. Phrases are required: the words beside them only add to the score.
    """
    wanted = [f"({columns} : ({' OR '.join(quoted)}))" for columns, quoted in _by_columns(analysis) if quoted]
    phrases = [expression for expression in map(_phrase, analysis.phrases) if expression]
    if not phrases:
        return " OR ".join(wanted)
    required = " AND ".join(phrases)
    return f"({required}) AND ({' OR '.join([*wanted, phrases[0]])})"


def wanted_words(analysis: Analysis) -> list[str]:
    """The words that ``match_expression`` joins by OR, each as a query of its own, in the same order."""
    return [f"{columns} : {quoted}" for columns, every in _by_columns(analysis) for quoted in every]


def _by_columns(analysis: Analysis) -> list[tuple[str, list[str]]]:
    forms = tuple(filter(None, map(exact_form, analysis.exact)))
    asked = (("{heading text}", analysis.terms), ("stems", analysis.stems), ("exact", forms))
    return [(columns, [_quoted(t) for t in dict.fromkeys(terms) if words(t)]) for columns, terms in asked]


def _phrase(phrase: str) -> str:
    """Text in a script without spaces is one word to SQLite; there the pairs in the stem column tell the phrase."""
    found = words(phrase)
    if not found:
        return ""
    if all(map(cjk_pairs, found)):
        return f"(stems : {_quoted(' '.join(cjk_pairs(phrase)))})"
    return f"({{heading text}} : {_quoted(phrase)})"


def _quoted(text: str) -> str:
    """Words only, inside quotes: nothing in it can be read as FTS5 syntax."""
    return '"' + " ".join(words(storable(text))) + '"'


def _mask(connection: Connection, kept: KeptIndex, index: Index, where: FilterNode) -> Mask | None:
    """Which kept rows pass, None when all of them do."""
    return kept.mask(where, lambda: passing_keys(connection, index, where))


def passing_keys(connection: Connection, index: Index, where: FilterNode) -> list[int] | None:
    """Keys of the index's chunks that pass, None when all of them do."""
    keys = _restriction(connection, index, where)
    return None if keys is None else [key for (key,) in connection.execute(keys.text, keys.values)]


def _lowest(keys: Keys, total: npt.NDArray[np.float64], mask: Mask | None, k: int) -> list[tuple[int, float]]:
    """The ``k`` lowest of the totals below zero, equal ones by key, as (key, total)."""
    if mask is not None:
        total = np.where(mask, total, 0.0)
    if k < len(total):
        places = np.flatnonzero(total <= min(np.partition(total, k - 1)[k - 1], -np.finfo(float).tiny))
    else:
        places = np.flatnonzero(total < 0)
    best = places[np.lexsort((places, total[places]))][:k]
    return [(int(keys[place]), float(total[place])) for place in best]


def _named(
    connection: Connection, found: Sequence[tuple[int, float]], score: Callable[[float], float]
) -> tuple[LaneHit, ...]:
    """(key, measure), best first, as hits; ``score`` makes a BM25 score or a cosine of the measure."""
    rows = connection.execute(
        "SELECT key, id FROM chunk WHERE key IN (SELECT value FROM json_each(?))", (json.dumps([k for k, _ in found]),)
    )
    names = dict(rows.fetchall())
    return _ranked([(names[key], score(value)) for key, value in found])


def _cosine_of(index: Index) -> Callable[[float], float]:
    """The cosine that a distance in the index's vector table speaks of."""
    match index.form.component:
        case "float32":
            return lambda distance: 1.0 - distance * distance / 2.0
        case "int8":
            return lambda distance: 1.0 - distance
        case "bit":
            return lambda distance: cosine_of_hamming(distance, index.dimension)


def rescored(connection: Connection, index: Index, keys: Sequence[int], unit: Matrix) -> list[tuple[int, float]]:
    """(key, cosine) by the vectors kept beside the signs, the most similar first."""
    table, key, vector, component = best_vectors(index)
    rows = connection.execute(
        f"SELECT {key}, {vector} FROM {table} WHERE {key} IN (SELECT value FROM json_each(?)) ORDER BY {key}",
        (json.dumps(list(keys)),),
    ).fetchall()
    if not rows:
        return []
    cosines = unpacked(connection, index, [blob for _, blob in rows], component) @ unit[0]
    order = np.argsort(-cosines, kind="stable")
    return [(rows[place][0], float(cosines[place])) for place in order]


def _restriction(connection: Connection, index: Index, where: FilterNode) -> Sql | None:
    """The keys that pass, None when all of them do."""
    if where == AllOf(()):
        retired = connection.execute(
            "SELECT 1 FROM document d JOIN corpus_index i ON i.collection_id = d.collection_id "
            "WHERE i.id = ? AND d.status = 'retired' LIMIT 1",
            (index.id,),
        ).fetchone()
        if retired is None:
            return None
    return passing(index.id, where)


def _ranked(rows: Sequence[tuple[str, float]]) -> tuple[LaneHit, ...]:
    return tuple(LaneHit(chunk_id, rank, score) for rank, (chunk_id, score) in enumerate(rows, 1))
