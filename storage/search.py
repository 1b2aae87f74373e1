"""The two lanes: BM25 over full text, and exact nearest neighbours. Filters apply before ranking in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from storage.connections import Connections
from storage.driver import Connection, storable
from storage.filters import BUILT_IN, Sql, field_kinds, passing
from storage.indexes import read_vectors, unit_vectors, vectors_table, words_table
from storage.token_vectors import keeps_tokens, read_tokens
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.ports import StoredTokens, Vector
from workbench.records.corpus import Index
from workbench.records.retrieval import AllOf, Analysis, FilterNode, LaneHit
from workbench.text.words import cjk_pairs, exact_form, words

MAX_NEIGHBOURS: Final = 4096
"""The most that sqlite-vec returns for one query."""

BM25_WEIGHTS: Final = (2.0, 2.0, 2.0, 0.1)
"""Of the columns heading, text, stems, exact; the best of those tried on XQuAD in English and Spanish (bench/bm25.py).
FTS5 saturates the weighted count (k1 = 1.2), so 2 says that one occurrence nearly settles it, and 0.1 breaks ties."""


class FileSearch:
    """Implements ``workbench.ports.SearchRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def lexical(self, index: Index, analysis: Analysis, where: FilterNode, k: int) -> tuple[LaneHit, ...]:
        """BM25 over heading, text, stems and exact accents; terms are OR-ed, phrases required. No terms, no hits.

        Raises:
            NotFoundError: the index is retired.
        """
        query = match_expression(analysis)
        if not query or k <= 0:
            return ()
        table = words_table(index.id)
        with self._connections.read() as c:
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
                (query, f"bm25({', '.join(map(str, BM25_WEIGHTS))})", *(keys.values if keys else ()), k),
            ).fetchall()
        return _ranked(rows)

    def dense(self, index: Index, vector: Vector, where: FilterNode, k: int) -> tuple[LaneHit, ...]:
        """Exact nearest neighbours by cosine.

        Raises:
            EngineError: the vector is zero, not finite or of another dimension than the index.
            UsageError: ``k`` is over 4,096.
            NotFoundError: the index is retired.
        """
        (wanted,) = unit_vectors([vector], [tr("the query")], index.embedder.dimension)
        if k > MAX_NEIGHBOURS:
            raise UsageError(
                tr("Too many neighbours"),
                tr("{k} were asked for, and one query finds {most} at most.", k=k, most=MAX_NEIGHBOURS),
                tr("Ask for fewer candidates."),
            )
        if k <= 0:
            return ()
        with self._connections.read() as c:
            keys = _restriction(c, index, where)
            # sqlite-vec takes IN (SELECT …) into the search itself; other conditions would thin out its k rows.
            restriction = f"AND rowid IN ({keys.text})" if keys else ""
            rows = c.execute(
                f"""
                WITH hit AS MATERIALIZED (
                    SELECT rowid AS key, distance FROM {vectors_table(index.id)}
                    WHERE embedding MATCH ? AND k = ? {restriction}
                )
                SELECT c.id, 1.0 - hit.distance * hit.distance / 2.0 FROM hit JOIN chunk c ON c.key = hit.key
                ORDER BY hit.distance, c.key
                """,
                (wanted, k, *(keys.values if keys else ())),
            ).fetchall()
        return _ranked(rows)

    def matching(self, index: Index, where: FilterNode) -> tuple[int, int]:
        """Chunks of the index that pass, and all of them (retired documents excluded from the first only)."""
        with self._connections.read() as c:
            total = int(c.execute("SELECT count(*) FROM chunk WHERE index_id = ?", (index.id,)).fetchone()[0])
            keys = _restriction(c, index, where)
            if keys is None:
                return total, total
            return int(c.execute(f"SELECT count(*) FROM ({keys.text})", keys.values).fetchone()[0]), total

    def fields(self, collection: str) -> Mapping[str, tuple[str, ...]]:
        """Fields a filter can name: the built-in ones, and the data's own with all their types, the commonest first."""
        with self._connections.read() as c:
            stored = field_kinds(c, collection)
        return stored | {name: (column.kind,) for name, column in BUILT_IN.items()}

    def has_language(self, index: Index, language: str) -> bool:
        """Whether some chunk of the index is in that language."""
        statement = "SELECT EXISTS (SELECT 1 FROM chunk WHERE index_id = ? AND language = ?)"
        with self._connections.read() as c:
            return bool(c.execute(statement, (index.id, storable(language))).fetchone()[0])

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
            return read_vectors(c, index_id, chunk_ids)


def match_expression(analysis: Analysis) -> str:
    """The analysis as an FTS5 query of quoted words only, "" when there is nothing to look for.

    Any word may match, in any of its forms. Phrases are required: the words beside them only add to the score.
    """
    forms = filter(None, map(exact_form, analysis.exact))
    wanted = [
        expression
        for expression in (
            _any_of("{heading text}", analysis.terms),
            _any_of("stems", analysis.stems),
            _any_of("exact", tuple(forms)),
        )
        if expression
    ]
    phrases = [expression for expression in map(_phrase, analysis.phrases) if expression]
    if not phrases:
        return " OR ".join(wanted)
    required = " AND ".join(phrases)
    return f"({required}) AND ({' OR '.join([*wanted, phrases[0]])})"


def _any_of(columns: str, terms: Sequence[str]) -> str:
    quoted = [_quoted(term) for term in dict.fromkeys(terms) if words(term)]
    return f"({columns} : ({' OR '.join(quoted)}))" if quoted else ""


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
