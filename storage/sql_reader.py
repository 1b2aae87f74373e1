"""SQL of a person or a model on the workbench's own file or another one, which it can only read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import sqlite3
else:
    from sqlite_utils.utils import sqlite3

from storage.driver import Connection, Error, connect
from storage.fixture import ALLOWED, REFUSED_FUNCTIONS, as_query_error, open_read_only
from workbench.errors import Cancelled, QueryError
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.sql import Compiled, PlanStep, QueryLimits, QueryResult, Schema, SqlCell, Table, TableColumn

MOST_BYTES: Final = 64 << 20
"""Of text and blobs that one result may hold."""
PRAGMAS: Final = frozenset(
    "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list database_list "
    "function_list compile_options page_count page_size freelist_count user_version application_id encoding "
    "data_version collation_list".split()
)
"""Those that only tell something; with an argument, only those that name a table or an index."""
_NAMING: Final = frozenset(
    "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list".split()
)
_STEPS: Final = 2_000  # virtual machine instructions between two looks at the clock
_BATCH: Final = 500
_COUNTING_S: Final = 0.25  # a table's rows are counted for so long at most
_COMPILING_S: Final = 5.0
_VALUES_S: Final = 0.5  # of all tables together
_SAMPLE: Final = 2_000  # rows of a table that are looked at for its values
_FEW: Final = 8  # different ones of a column that has kinds rather than names
_SHORT: Final = 40  # characters of one

Read = Callable[[str, str, str], None]


class FileSqlReader:
    """Implements ``workbench.ports.SqlReader`` with a connection of its own for every call.

    Args:
        own: the workbench file. Its readers see the last committed state, whoever writes meanwhile.
    """

    def __init__(self, own: Path) -> None:
        self._own = own

    def schema(self, file: Path | None) -> Schema:
        """Tables with columns, keys and rows."""
        with self._open(file) as connection:
            found = [_table(connection, *listed) for listed in _listed(connection)]
            functions = {str(row[0]).lower() for row in connection.execute("SELECT name FROM pragma_function_list")}
        return Schema(str(file or self._own), tuple(found), frozenset(functions))

    def values(self, file: Path | None, schema: Schema) -> Mapping[str, tuple[str, ...]]:
        """Of a sample of each table, for a moment at most."""
        deadline = time.monotonic() + _VALUES_S
        found: dict[str, tuple[str, ...]] = {}
        with self._open(file) as connection, suppress(Error):  # what was found in time is enough
            connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
            for table in schema.tables:
                for column in table.columns if table.kind == "table" else ():
                    if told := _repeated(connection, table.name, column.name):
                        found[f"{table.name}.{column.name}"] = told
        return found

    def compile(self, file: Path | None, sql: str) -> Compiled:
        """The query prepared, not run."""
        reads: set[tuple[str, str, str]] = set()

        def read(table: str, column: str, view: str) -> None:
            reads.add((table.lower(), column.lower(), view.lower()))

        with self._guarded(file, _COMPILING_S, None, read) as connection:
            rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
        depths: dict[int, int] = {0: -1}
        steps = []
        for number, parent, _, text in rows:
            depths[number] = depths.get(parent, -1) + 1
            steps.append(PlanStep(str(text), depths[number], _scanned(str(text))))
        return Compiled(tuple(steps), frozenset(reads))

    def run(self, file: Path | None, sql: str, limits: QueryLimits, cancel: Cancel | None = None) -> QueryResult:
        """Its rows."""
        started = time.perf_counter()
        with self._guarded(file, limits.seconds, cancel) as connection:
            cursor = connection.execute(sql)
            if cursor.description is None:
                raise QueryError(tr("Not a query"), tr("It returns no rows: only a SELECT does."), kind="syntax")
            columns = tuple(str(name) for name, *_ in cursor.description)
            rows, cut = _fetch(cursor, limits.rows)
        return QueryResult(columns, tuple(rows), (time.perf_counter() - started) * 1000, cut)

    @contextmanager
    def _open(self, file: Path | None) -> Iterator[Connection]:
        own = file is None or (file.exists() and file.samefile(self._own))
        connection = connect(self._own, "read") if own else open_read_only(Path(file or self._own))
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _guarded(
        self, file: Path | None, seconds: float, cancel: Cancel | None, read: Read | None = None
    ) -> Iterator[Connection]:
        """A connection that can only read, ends in time, and says in words what went wrong."""
        deadline = time.monotonic() + seconds
        with self._open(file) as connection:
            connection.set_authorizer(_authorizer(read))
            connection.set_progress_handler(
                lambda: time.monotonic() > deadline or (cancel is not None and cancel.is_set()), _STEPS
            )
            try:
                yield connection
            except (Error, sqlite3.Warning, ValueError) as error:
                if cancel is not None and cancel.is_set():
                    raise Cancelled from error
                raise as_query_error(error, file or self._own, seconds) from error


def _authorizer(read: Read | None) -> Callable[[int, str | None, str | None, str | None, str | None], int]:
    def decide(action: int, first: str | None, second: str | None, _schema: str | None, source: str | None) -> int:
        if action == sqlite3.SQLITE_PRAGMA:  # full-text tables ask for data_version by themselves
            name = (first or "").lower()
            allowed = name in PRAGMAS and (second is None or name in _NAMING)
            return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
        if action not in ALLOWED:
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in REFUSED_FUNCTIONS:
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_READ:
            name = (first or "").lower()
            if name.startswith("pragma_") and name.removeprefix("pragma_") not in PRAGMAS:
                return sqlite3.SQLITE_DENY
            if read:
                read(first or "", second or "", source or "")
        return sqlite3.SQLITE_OK

    return decide


def _fetch(cursor: sqlite3.Cursor, most: int) -> tuple[list[tuple[SqlCell, ...]], Literal["", "rows", "bytes"]]:
    rows: list[tuple[SqlCell, ...]] = []
    held = 0
    while batch := cursor.fetchmany(min(_BATCH, most + 1 - len(rows))):
        for row in batch:
            held += sum(len(cell) for cell in row if isinstance(cell, (str, bytes)))
            if len(rows) == most:
                return rows, "rows"
            if held > MOST_BYTES:
                return rows, "bytes"
            rows.append(tuple(row))
    return rows, ""


def _listed(connection: Connection) -> list[tuple[str, Literal["table", "view", "virtual"], str]]:
    """Names, kinds and the statements that made them."""
    kinds: dict[str, Literal["table", "view", "virtual"]] = {"table": "table", "view": "view", "virtual": "virtual"}
    rows = connection.execute(
        "SELECT l.name, l.type, s.sql FROM pragma_table_list AS l JOIN sqlite_schema AS s ON s.name = l.name"
        " WHERE l.schema = 'main' AND s.type IN ('table', 'view') ORDER BY l.type = 'view', l.name"
    ).fetchall()
    return [(str(n), kinds[k], str(sql or "")) for n, k, sql in rows if k in kinds and not n.startswith("sqlite_")]


def _table(connection: Connection, name: str, kind: Literal["table", "view", "virtual"], definition: str) -> Table:
    """A view over something that is gone has no columns, and says so by that."""
    columns: list[TableColumn] = []
    indexes: list[str] = []
    with suppress(Error):
        alone, indexes = _indexes(connection, name)
        pointing = {
            str(column).lower(): f"{other}.{to}" if to else str(other)
            for other, column, to in connection.execute(
                'SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)', (name,)
            )
        }
        told = connection.execute(
            'SELECT name, type, "notnull", pk, hidden > 1 FROM pragma_table_xinfo(?) WHERE hidden <> 1', (name,)
        ).fetchall()
        single = sum(bool(pk) for *_, pk, _ in told) == 1
        columns = [
            TableColumn(
                *(n, k, bool(nn), pk, bool(pk and single) or n.lower() in alone, pointing.get(n.lower(), "")),
                generated=bool(made),
            )
            for n, k, nn, pk, made in told
        ]
    return Table(name, kind, tuple(columns), tuple(indexes), _count(connection, name), definition)


def _indexes(connection: Connection, table: str) -> tuple[set[str], list[str]]:
    """Columns that are unique by themselves, and every index as "name (a, b)"."""
    alone: set[str] = set()
    told: list[str] = []
    for name, unique, partial in connection.execute(
        'SELECT name, "unique", partial FROM pragma_index_list(?)', (table,)
    ).fetchall():
        rows = connection.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (name,)).fetchall()
        parts = [str(part or "…") for (part,) in rows]
        if unique and not partial and len(parts) == 1:
            alone.add(parts[0].lower())
        told.append(f"{name} ({', '.join(parts)})")
    return alone, told


def _repeated(connection: Connection, table: str, column: str) -> tuple[str, ...]:
    """The texts of a column where they are few and short and each comes twice on average: states, not people."""
    name, of = (part.replace('"', '""') for part in (column, table))
    sample = f'SELECT "{name}" FROM "{of}" WHERE typeof("{name}") = \'text\' LIMIT {_SAMPLE}'
    rows = connection.execute(
        f'SELECT "{name}", count(*) FROM ({sample}) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_FEW + 1}'
    ).fetchall()
    few = len(rows) <= _FEW and sum(many for _, many in rows) >= 2 * len(rows)
    return tuple(str(text) for text, _ in rows) if few and all(len(text) <= _SHORT for text, _ in rows) else ()


def _count(connection: Connection, table: str) -> int | None:
    deadline = time.monotonic() + _COUNTING_S
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    try:
        quoted = table.replace('"', '""')
        return int(connection.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0])
    except Error:
        return None
    finally:
        connection.set_progress_handler(None, 0)


def _scanned(text: str) -> str:
    """The table of "SCAN pagos AS p" or "SCAN p"; an index that holds all that is asked for is no full scan."""
    words = text.split()
    if len(words) < 2 or words[0] != "SCAN" or " USING " in text or words[1] in ("CONSTANT", "("):
        return ""
    return words[1]
