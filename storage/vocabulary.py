"""The words that an index holds, as its full-text table counts them: what spelling is corrected by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from storage.driver import Connection
from storage.indexes import words_table

_WRITTEN = "col IN ('text', 'heading')"  # the other columns hold stems and spelled-out accents, which nobody wrote


def known_words(connection: Connection, index_id: int, wanted: Sequence[str]) -> Mapping[str, int]:
    """How many chunks hold each of the folded words in their text or heading, the larger of both; absent ones are out.

    Any number of words: each is a lookup by itself.
    """
    table = _vocabulary(connection, index_id)
    statement = f"SELECT max(doc) FROM {table} WHERE term = ? AND {_WRITTEN}"
    found = {word: connection.execute(statement, (word,)).fetchone()[0] for word in dict.fromkeys(wanted)}
    return {word: int(chunks) for word, chunks in found.items() if chunks}


def words_like(connection: Connection, index_id: int, beginning: str, shortest: int, longest: int) -> Mapping[str, int]:
    """The folded words that begin so and have that many characters, with the number of chunks that hold each."""
    table = _vocabulary(connection, index_id)
    statement = (
        f"SELECT term, max(doc) FROM {table} WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ? "
        f"AND {_WRITTEN} GROUP BY term"
    )
    bounds = (beginning, beginning + "\U0010ffff", shortest, longest)
    return {word: int(chunks) for word, chunks in connection.execute(statement, bounds)}


def columns_holding(connection: Connection, index_id: int, wanted: Sequence[str]) -> Mapping[tuple[str, str], int]:
    """How many chunks hold each of the words as they are indexed, by (column, word); absent ones are out."""
    statement = f"SELECT col, doc FROM {_vocabulary(connection, index_id)} WHERE term = ?"
    return {
        (column, word): int(chunks)
        for word in dict.fromkeys(wanted)
        for column, chunks in connection.execute(statement, (word,))
    }


@contextmanager
def temporary_tables(connection: Connection) -> Iterator[None]:
    """Tables of the connection's own temporary schema may be changed: they aren't in the file, which ``query_only``
    doesn't tell apart."""
    (restricted,) = connection.execute("PRAGMA query_only").fetchone()
    connection.execute("PRAGMA query_only = OFF")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA query_only = {'ON' if restricted else 'OFF'}")


def _vocabulary(connection: Connection, index_id: int) -> str:
    """The view of the full-text table's words, made for this connection when it isn't there."""
    name = f"index_{index_id:d}_vocabulary"
    if connection.execute("SELECT 1 FROM temp.sqlite_master WHERE name = ?", (name,)).fetchone() is None:
        with temporary_tables(connection):
            connection.execute(f"CREATE VIRTUAL TABLE temp.{name} USING fts5vocab(main, {words_table(index_id)}, col)")
    return f"temp.{name}"
