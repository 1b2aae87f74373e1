"""Lists of chunks of any length. The orders have indexes of the file, so that first rows come without sorting all."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Final

import numpy as np

from storage.connections import Connections
from storage.driver import storable
from storage.filters import Parameter, Sql, passing
from storage.indexes import words_table
from workbench.ports import Cancel, ChunkKeys
from workbench.records.browsing import ChunkOrder, ChunkQuery, ChunkRow
from workbench.records.corpus import Index
from workbench.records.retrieval import FilterNode
from workbench.text.words import cjk_pairs, words

_ORDERS: Final[dict[ChunkOrder, tuple[str, ...]]] = {
    "document": ("c.document_key", "c.ordinal"),
    "tokens": ("c.tokens", "c.document_key", "c.key"),
    "length": ("c.end - c.start", "c.document_key", "c.key"),
    "language": ("c.language", "c.document_key", "c.key"),
    "date": ("dated.value", "c.document_key", "c.ordinal"),
    "hits": ("c.document_key", "c.ordinal"),
}
_DATE: Final = """
    (SELECT min(f.value) FROM field f WHERE f.document_key = d.key AND f.chunk_key IS NULL AND +f.name = 'date')
"""
"""The unary plus keeps SQLite from walking through the dates of all documents to find those of one."""
_DATED: Final = f"""
    JOIN (SELECT d.key, {_DATE} AS value FROM document d ORDER BY d.key LIMIT -1) dated ON dated.key = c.document_key
"""
"""With its LIMIT it is made once, not looked up for every chunk."""
_BY_DATE: Final = f"""
    SELECT group_concat((SELECT group_concat(key) FROM (
        SELECT c.key AS key FROM chunk c WHERE {{condition}} AND c.document_key = dated.key ORDER BY c.ordinal {{way}}
    )))
    FROM (SELECT d.key, {_DATE} AS value FROM document d
        WHERE (SELECT c.key FROM chunk c WHERE {{condition}} AND c.document_key = d.key LIMIT 1) NOTNULL
        ORDER BY value {{way}}, d.key {{way}} LIMIT ?) dated
"""
"""Of a straight query: documents are sorted, and each gives its chunks in order. The limit is of documents.

Not EXISTS: SQLite makes a join of it, and together with a limit visits every chunk.
"""
_HITS: Final = """
    SELECT c.key, sum(hits) FROM (
        SELECT chunk_key, count(*) AS hits FROM trace_hit GROUP BY chunk_key
        UNION ALL SELECT chunk_key, count(*) FROM result_hit GROUP BY chunk_key
    ) CROSS JOIN ranked_chunk r ON r.key = chunk_key CROSS JOIN chunk c ON c.id = r.id AND c.index_id = ? GROUP BY c.key
"""
_ROWS: Final = f"""
    SELECT c.key, c.id, d.id, d.source_id, d.status, c.ordinal, c.section,
        CAST(coalesce(nullif(c.page_label, ''), c.page, '') AS TEXT), c.kind, c.tokens, c.tiktoken_tokens,
        c.end - c.start, c.language, c.truncated,
        CAST(coalesce({_DATE}, '') AS TEXT),
        substr(c.text, CASE c.header WHEN '' THEN 1 ELSE length(c.header) + 2 END, 160),
        (SELECT count(*) FROM ranked_chunk r JOIN trace_hit h ON h.chunk_key = r.key WHERE r.id = c.id)
            + (SELECT count(*) FROM ranked_chunk r JOIN result_hit h ON h.chunk_key = r.key WHERE r.id = c.id)
    FROM json_each(?) w CROSS JOIN chunk c ON c.key = w.value JOIN document d ON d.key = c.document_key
    ORDER BY w.key
"""
_FIELDS: Final = tuple(field.name for field in fields(ChunkRow))
_PARSED: Final = 1 << 18
"""Characters of numbers made into an array at a time, between which another thread has its turn."""


class FileBrowsing:
    """Implements ``workbench.ports.BrowseRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def count(self, index: Index, query: ChunkQuery) -> int:
        """How many chunks a straight query lists; counted in the table's own indexes."""
        condition = _condition(index, query)
        with self._connections.read() as c:
            row = c.execute(f"SELECT count(*) FROM chunk c WHERE {condition.text}", condition.values).fetchone()
            return int(row[0])

    def keys(
        self, index: Index, query: ChunkQuery, where: FilterNode, limit: int = -1, cancel: Cancel | None = None
    ) -> ChunkKeys:
        """The numbers of what the query lists, in its order; the first ``limit`` of them.

        SQLite joins them to one text, as a million of Python's own rows would keep the interface waiting.

        Raises:
            Cancelled: it was set.
        """
        condition = _condition(index, query)
        way = " DESC" if query.descending else ""
        if query.order == "date" and query.straight:
            statement, values = _BY_DATE.format(condition=condition.text, way=way), [*condition.values] * 2
        else:
            statement, values = _listing(index, query, where, condition)
        with self._connections.snapshot(cancel) as c:
            (joined,) = c.execute(statement, (*values, -1 if query.order == "hits" else limit)).fetchone()
            keys = _numbers(joined or "")
            if query.order == "hits":
                keys = _most_found(keys, c.execute(_HITS, (index.id,)).fetchall(), descending=query.descending)
        return keys if limit < 0 else keys[:limit]

    def rows(self, keys: Sequence[int]) -> tuple[ChunkRow, ...]:
        """Their lines, in the order asked; chunks that are gone are left out."""
        with self._connections.read() as c:
            found = c.execute(_ROWS, (json.dumps([int(key) for key in keys]),)).fetchall()
        lines = (dict(zip(_FIELDS, row, strict=True)) for row in found)
        return tuple(ChunkRow(**line | {"truncated": bool(line["truncated"])}) for line in lines)

    def key_of(self, index: Index, chunk_id: str) -> int | None:
        """The number of the index's chunk of that id."""
        with self._connections.read() as c:
            row = c.execute("SELECT key FROM chunk WHERE id = ? AND index_id = ?", (chunk_id, index.id)).fetchone()
        return int(row[0]) if row else None

    def neighbour(self, index: Index, chunk_id: str, step: int) -> str:
        """The id of the chunk before (-1) or after (1) it in its document, "" at the end."""
        beyond, way = (">", "") if step > 0 else ("<", "DESC")
        statement = f"""
            SELECT n.id FROM chunk c JOIN chunk n ON n.index_id = c.index_id AND n.document_key = c.document_key
            AND n.ordinal {beyond} c.ordinal WHERE c.id = ? AND c.index_id = ? ORDER BY n.ordinal {way} LIMIT 1
        """
        with self._connections.read() as c:
            row = c.execute(statement, (chunk_id, index.id)).fetchone()
        return str(row[0]) if row else ""


def words_expression(asked: str) -> str:
    """An FTS5 query for text or heading that holds every word's beginning and every phrase of ``asked``.

    Nothing of it is read as FTS5 syntax. Text in a script without spaces is found by its pairs of characters, as in
    searches; what has no word at all is found nowhere.
    """
    parts: list[str] = []
    for phrase, rest in re.findall(r'"([^"]*)"?|([^"]+)', storable(asked)):
        if words(phrase):
            parts.append(f'{{heading text}} : "{" ".join(words(phrase))}"')
        for word in words(rest):
            pairs = " ".join(cjk_pairs(word))
            parts.append(f'stems : "{pairs}"' if pairs else f'{{heading text}} : "{word}" *')
    return " AND ".join(f"({part})" for part in parts) or '""'


def _condition(index: Index, query: ChunkQuery) -> Sql:
    if not query.document_id:
        return Sql("c.index_id = ?", (index.id,))
    return Sql(
        "c.index_id = ? AND c.document_key = (SELECT key FROM document WHERE id = ?)", (index.id, query.document_id)
    )


def _listing(index: Index, query: ChunkQuery, where: FilterNode, condition: Sql) -> tuple[str, list[Parameter]]:
    """The numbers of what the query lists, joined, and its values but for the limit."""
    texts, values = [condition.text], [*condition.values]
    if query.filter.strip():
        passed = passing(index.id, where)
        texts.append(f"c.key IN ({passed.text})")
        values += passed.values
    if query.words.strip():
        table = words_table(index.id)
        texts.append(f"c.key IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)")
        values.append(words_expression(query.words))
    way = " DESC" if query.descending and query.order != "hits" else ""
    order = ", ".join(term + way for term in _ORDERS[query.order])
    return (
        f"""
        SELECT group_concat(key) FROM (
            SELECT c.key AS key FROM chunk c {_DATED if query.order == "date" else ""}
            WHERE {" AND ".join(texts)} ORDER BY {order} LIMIT ?
        )
        """,
        values,
    )


def _most_found(keys: ChunkKeys, hits: Sequence[tuple[int, int]], *, descending: bool) -> ChunkKeys:
    """The chunks by their hits, those with as many as they stood."""
    found = np.array(sorted(hits), np.int64).reshape(-1, 2)
    places = np.searchsorted(found[:, 0], keys)
    times = np.zeros(len(keys), np.int64)
    known = places < len(found)
    known[known] = found[places[known], 0] == keys[known]
    times[known] = found[places[known], 1]
    return keys[np.argsort(-times if descending else times, kind="stable")]


def _numbers(joined: str) -> ChunkKeys:
    """Numbers between commas, made in pieces."""
    pieces: list[ChunkKeys] = []
    start = 0
    while start < len(joined):
        end = joined.find(",", start + _PARSED)
        end = len(joined) if end < 0 else end
        pieces.append(np.fromstring(joined[start:end], dtype=np.int64, sep=","))
        start = end + 1
    return np.concatenate(pieces) if pieces else np.empty(0, np.int64)
