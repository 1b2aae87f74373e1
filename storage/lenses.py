"""A chunk's words as they are indexed, and the rankings that hold it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from storage.connections import Connections
from storage.driver import Connection, storable
from storage.indexes import COLUMNS, TOKENIZE, count_vectors, words_table
from storage.rows import INDEX, index_record
from storage.search import wanted_words
from storage.vocabulary import columns_holding, temporary_tables
from storage.word_scores import RANK, inverse_frequency
from workbench.records.corpus import Index
from workbench.records.lenses import AskedWord, CaseUse, IndexedWord, TraceUse
from workbench.records.retrieval import Analysis

_PEOPLE: Final = """
    FROM trace t {hits} WHERE t.collection = :collection {rank}
    AND NOT EXISTS (SELECT 1 FROM eval_result r WHERE r.trace_id = t.id AND r.trace_id <> '')
"""
"""Questions that somebody asked; the traces of cases are told by the cases."""

_OCCURRENCES: Final = f"""
    WITH asked (chunk_key, question) AS (
        SELECT h.chunk_key, t.query
        {_PEOPLE.format(hits="JOIN trace_hit h ON h.row_key = t.key", rank="AND h.rank <= :k")}
        UNION
        SELECT h.chunk_key, e.dataset || char(31) || r.case_id
        FROM result_hit h JOIN eval_result r ON r.key = h.row_key JOIN eval_run e ON e.id = r.run_id
        WHERE h.rank <= :k AND e.manifest ->> 'collection' = :collection
    )
    SELECT c.id, count(*) FROM asked JOIN ranked_chunk c ON c.key = asked.chunk_key GROUP BY c.key
"""
"""How many questions have a chunk among their first ``k``, each once."""

_QUESTIONS: Final = f"""
    SELECT (SELECT count(DISTINCT t.query) {_PEOPLE.format(hits="", rank="")}) + (SELECT count(*) FROM (
        SELECT DISTINCT e.dataset, r.case_id FROM eval_run e JOIN eval_result r ON r.run_id = e.id
        WHERE e.manifest ->> 'collection' = :collection))
"""

_RETIRED: Final = """
    SELECT c.id FROM document d CROSS JOIN chunk c ON c.index_id = ? AND c.document_key = d.key
    WHERE d.status = 'retired'
"""
"""Chunks that no search returns; the cross join keeps SQLite from reading every chunk's row for them."""


class FileLenses:
    """Implements ``workbench.ports.LensRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def home(self, chunk_id: str) -> Index | None:
        """The current index that holds the chunk, None when only others do or none."""
        statement = f"{INDEX} WHERE i.status = 'current' AND i.id IN (SELECT index_id FROM chunk WHERE id = ?)"
        with self._connections.read() as c:
            row = c.execute(statement, (chunk_id,)).fetchone()
            return index_record(row, count_vectors(c, row[0])) if row else None

    def indexed_words(self, index: Index, chunk_id: str) -> tuple[IndexedWord, ...]:
        """Every word of the chunk, cut by the index's own tokenizer, by column and in order of the text."""
        columns = f"SELECT {', '.join(COLUMNS)} FROM chunk WHERE id = ? AND index_id = ?"
        with self._connections.read() as c:
            row = c.execute(columns, (chunk_id, index.id)).fetchone()
            found = _cut(c, row) if row else []
            holding = columns_holding(c, index.id, [word for _, word, _ in found])
            total = _rows(c, index.id)
        return tuple(
            IndexedWord(column, word, count, n := holding.get((column, word), 0), inverse_frequency(total, n))
            for column, word, count in found
        )

    def asked_words(self, index: Index, chunk_id: str, analysis: Analysis) -> tuple[AskedWord, ...]:
        """Every word that the analysis asks for, in its order; phrases aside."""
        table = words_table(index.id)
        count = f"SELECT count(*) FROM {table} WHERE {table} MATCH ?"
        score = f"SELECT -rank FROM {table} WHERE {table} MATCH ? AND rank MATCH ? AND rowid = ?"
        asked: list[AskedWord] = []
        with self._connections.read() as c:
            key = c.execute("SELECT key FROM chunk WHERE id = ? AND index_id = ?", (chunk_id, index.id)).fetchone()
            total = _rows(c, index.id)
            for query in wanted_words(analysis) if key else ():
                columns, _, word = query.partition(" : ")
                (holding,) = c.execute(count, (query,)).fetchone()
                found = c.execute(score, (query, RANK, key[0])).fetchone()
                idf = inverse_frequency(total, holding)
                asked.append(AskedWord(columns.strip("{}"), word.strip('"'), holding, idf, found[0] if found else 0.0))
        return tuple(asked)

    def trace_uses(self, chunk_id: str) -> tuple[TraceUse, ...]:
        """Stored questions whose ranking holds the chunk, newest first."""
        statement = """
            SELECT t.id, t.query, h.rank, t.created FROM ranked_chunk c JOIN trace_hit h ON h.chunk_key = c.key
            JOIN trace t ON t.key = h.row_key WHERE c.id = ? ORDER BY t.created DESC, t.key DESC
        """
        with self._connections.read() as c:
            return tuple(
                TraceUse(trace_id, query, rank, datetime.fromisoformat(created))
                for trace_id, query, rank, created in c.execute(statement, (chunk_id,))
            )

    def case_uses(self, chunk_id: str) -> tuple[CaseUse, ...]:
        """Results of runs whose ranking holds the chunk, newest run first."""
        statement = """
            SELECT r.run_id, e.dataset, r.case_id, h.rank FROM ranked_chunk c JOIN result_hit h ON h.chunk_key = c.key
            JOIN eval_result r ON r.key = h.row_key JOIN eval_run e ON e.id = r.run_id
            WHERE c.id = ? ORDER BY r.run_id DESC, h.rank, r.position
        """
        with self._connections.read() as c:
            return tuple(CaseUse(*row) for row in c.execute(statement, (chunk_id,)))

    def newest_runs(self, collection: str, dataset: str, case_ids: Sequence[str]) -> Mapping[str, int]:
        """The newest run on the collection that asked each of the dataset's cases, by the case's id."""
        statement = """
            SELECT w.value, max(r.run_id) FROM json_each(?) w CROSS JOIN eval_run e CROSS JOIN eval_result r
            ON r.run_id = e.id AND r.case_id = w.value
            WHERE e.dataset = ? AND e.manifest ->> 'collection' = ? GROUP BY w.value
        """
        values = json.dumps(list(case_ids)), storable(dataset), storable(collection)
        with self._connections.read() as c:
            return {case_id: int(run_id) for case_id, run_id in c.execute(statement, values)}

    def occurrences(self, index: Index, k: int) -> tuple[Mapping[str, int], int]:
        """How many different questions have each chunk among their first ``k``, and how many questions were asked.

        A question that was asked several times counts once, as does a case in several runs. Every chunk of the index's
        current documents is there, in the order in which they came in.
        """
        values = {"k": k, "collection": storable(index.collection)}
        with self._connections.snapshot() as c:
            found = dict(c.execute(_OCCURRENCES, values).fetchall())
            (questions,) = c.execute(_QUESTIONS, values).fetchone()
            # The unary plus has SQLite read ids from their own index, and not each chunk's row.
            ids = c.execute(
                "SELECT id FROM (SELECT id, key FROM chunk INDEXED BY sqlite_autoindex_chunk_1 WHERE +index_id = ?) "
                "ORDER BY key",
                (index.id,),
            ).fetchall()
            retired = {chunk_id for (chunk_id,) in c.execute(_RETIRED, (index.id,))}
        return {name: found.get(name, 0) for (name,) in ids if name not in retired}, int(questions)


def _rows(connection: Connection, index_id: int) -> int:
    return int(connection.execute("SELECT count(*) FROM chunk WHERE index_id = ?", (index_id,)).fetchone()[0])


def _cut(connection: Connection, row: Sequence[str]) -> list[tuple[str, str, int]]:
    """(column, word, times) of a chunk's columns, as FTS5 itself cuts them: in a table of this connection's own."""
    columns = ", ".join(COLUMNS)
    with temporary_tables(connection):
        if connection.execute("SELECT 1 FROM temp.sqlite_master WHERE name = 'lens'").fetchone() is None:
            connection.execute(f"CREATE VIRTUAL TABLE temp.lens USING fts5({columns}, content='', {TOKENIZE})")
            connection.execute("CREATE VIRTUAL TABLE temp.lens_words USING fts5vocab(temp, lens, instance)")
        connection.execute("INSERT INTO temp.lens (lens) VALUES ('delete-all')")
        places = ", ".join("?" * len(COLUMNS))
        connection.execute(f"INSERT INTO temp.lens (rowid, {columns}) VALUES (1, {places})", row)
        found = connection.execute(
            'SELECT col, term, count(*) FROM temp.lens_words GROUP BY col, term ORDER BY min("offset")'
        ).fetchall()
    order = {name: place for place, name in enumerate(COLUMNS)}
    return sorted(found, key=lambda word: order[word[0]])
