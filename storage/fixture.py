"""Running a model's SQL on a fixture: a file that it can read, and neither change, leave, nor keep busy."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # as in storage.driver, which loads this project's extension and pragmas: a fixture gets neither
    import sqlite3
else:
    from sqlite_utils.utils import sqlite3

from storage.driver import Connection, Error, as_file_error
from workbench.errors import FileError, NotFoundError, QueryError
from workbench.i18n import tr
from workbench.ports import ResultSet

TIME_LIMIT_S: Final = 1.5
ROW_LIMIT: Final = 1_000
_STEPS: Final = 2_000  # virtual machine instructions between two looks at the clock

# What a query may do: read tables and views, call functions, recurse. Everything else is refused when it is prepared.
ALLOWED: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33}  # 33: SQLITE_RECURSIVE
)
# Functions that load code, or make values of any size in one step, which no time limit stops.
REFUSED_FUNCTIONS: Final = frozenset({"load_extension", "fts3_tokenizer", "zeroblob", "randomblob"})


class FixtureRunner:
    """Implements ``workbench.ports.SqlRunner`` with a connection of its own for every query.

    Args:
        time_limit: seconds; row_limit: rows of a result set.
    """

    def __init__(self, time_limit: float = TIME_LIMIT_S, row_limit: int = ROW_LIMIT) -> None:
        self._time_limit = time_limit
        self._row_limit = row_limit

    def run(self, fixture: Path, sql: str) -> ResultSet:
        """The result set of one SELECT. Raises NotFoundError, FileError, QueryError."""
        connection = open_read_only(fixture)
        try:
            connection.set_authorizer(_authorize)
            deadline = time.monotonic() + self._time_limit
            connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
            cursor = connection.execute(sql)
            if cursor.description is None:
                raise QueryError(tr("Not a query"), tr("It returns no rows: only a SELECT does."), kind="syntax")
            rows = cursor.fetchmany(self._row_limit + 1)
        except (Error, sqlite3.Warning, ValueError) as error:  # ValueError: a NUL in the text
            raise as_query_error(error, fixture, self._time_limit) from error
        finally:
            connection.close()
        if len(rows) > self._row_limit:
            raise QueryError(
                tr("Too many rows"), tr("It returns more than {limit} rows.", limit=self._row_limit), kind="large"
            )
        return ResultSet(tuple(name for name, *_ in cursor.description), tuple(map(tuple, rows)))


def open_read_only(fixture: Path) -> Connection:
    """A connection that can't write, and makes no files.

    A file with a write-ahead log that is put away is one that nobody writes, and SQLite is told so: it would make the
    log's files to read it. Any other is read under its locks, so that a change that is half written is waited for.

    Raises:
        NotFoundError: there is none. FileError: it is no SQLite file, locked, or was left in the middle of a change.
    """
    if not fixture.is_file():
        raise NotFoundError(
            tr("No such SQLite file"),
            tr("There is no file “{path}”.", path=fixture),
            tr("Put the file there, or correct its path."),
        )
    quiet = _is_logged(fixture) and not fixture.with_name(fixture.name + "-wal").exists()
    uri = f"{fixture.absolute().as_uri()}?mode=ro" + ("&immutable=1" if quiet else "")
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=1.0)
    try:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except Error as error:
        connection.close()
        raise _not_a_database(error, fixture) from error
    return connection


def _authorize(action: int, first: str | None, second: str | None, _schema: str | None, _source: str | None) -> int:
    if action not in ALLOWED:
        return sqlite3.SQLITE_DENY
    refused = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in REFUSED_FUNCTIONS
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def _is_logged(fixture: Path) -> bool:
    """Its header says that it is read with a write-ahead log (file format, 1.3.3)."""
    with fixture.open("rb") as stream:
        return stream.read(20)[18:20] == b"\x02\x02"


def _not_a_database(error: Error, fixture: Path) -> FileError:
    if "readonly" in str(error):  # a hot journal: only who may write can take the change back
        why = tr("A program that was changing “{path}” ended before it was done.", path=fixture)
        return FileError(tr("The file was left in the middle of a change"), why, tr("Open it once with that program."))
    if "not a database" in str(error):
        why = tr("“{path}” is no SQLite file, or an encrypted one.", path=fixture)
        return FileError(tr("Not a SQLite file"), why, tr("Give a SQLite file."))
    return as_file_error(error, fixture) or FileError(
        tr("The SQLite file can't be read"), f"{fixture}: {error}", tr("Give a SQLite file.")
    )


def as_query_error(error: Exception, fixture: Path, time_limit: float) -> QueryError | FileError:
    """A driver's error in words; ``time_limit`` in seconds is what an interrupted query ran into."""
    text = str(error)
    if "interrupted" in text:
        return QueryError(tr("Too slow"), tr("It ran for more than {limit} s.", limit=f"{time_limit:g}"), kind="slow")
    if "authoriz" in text or "prohibited" in text or "one statement" in text:
        return QueryError(
            tr("Not allowed"), tr("Only one SELECT that reads is allowed ({reason}).", reason=text), kind="forbidden"
        )
    if "syntax error" in text or "incomplete input" in text or "unrecognized token" in text or "null character" in text:
        return QueryError(tr("Not a query"), text, kind="syntax")
    damaged = as_file_error(error, fixture) if isinstance(error, Error) else None
    return damaged or QueryError(tr("The query failed"), text, kind="failed")
