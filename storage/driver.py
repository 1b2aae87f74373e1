"""The only place that picks a SQLite driver, loads the vector extension and sets pragmas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import sqlite_vec

if TYPE_CHECKING:  # the stubs of the standard module describe all three drivers
    import sqlite3
else:  # pysqlite3, then sqlean, then the standard module: the first one that is installed
    from sqlite_utils.utils import sqlite3

from workbench.errors import FileError
from workbench.i18n import tr

Connection = sqlite3.Connection
Error = sqlite3.Error
OperationalError = sqlite3.OperationalError

LOCKED: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

APPLICATION_ID: Final = 0x52414757
"""ASCII "RAGW", at byte 68 of every workbench file."""

PAGE_SIZE: Final = 16_384
MMAP_BYTES: Final = 1 << 30
CACHE_KIB: Final = 16_384
BUSY_SECONDS: Final = 10.0

Access = Literal["create", "write", "read", "immutable"]
_URI_MODE: Final[dict[Access, str]] = {
    "create": "mode=rwc",
    "write": "mode=rw",
    # A read-only SQLite connection can't tidy up the WAL it makes, so reading opens for writing and forbids it.
    "read": "mode=rw",
    "immutable": "mode=ro&immutable=1",
}


def connect(path: Path, access: Access, timeout: float = BUSY_SECONDS) -> Connection:
    """A connection in autocommit mode with the vector extension and this project's pragmas.

    It may be closed from another thread, and must never be used by two at once.

    Args:
        timeout: seconds to wait for another process's lock.

    Raises:
        sqlite3.Error: the driver's own; ``as_file_error`` puts it into words.
    """
    uri = f"{path.absolute().as_uri()}?{_URI_MODE[access]}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=timeout, check_same_thread=False)
    try:
        connection.enable_load_extension(True)
        sqlite_vec.load(connection)
        connection.enable_load_extension(False)
        connection.create_function("casefold", 1, _casefold, deterministic=True)
        # The page size counts only before the first page is written. What is deleted is overwritten with zeros.
        for pragma in (
            f"page_size = {PAGE_SIZE}",
            "foreign_keys = ON",
            "secure_delete = ON",
            "synchronous = NORMAL",
            f"mmap_size = {MMAP_BYTES}",
            f"cache_size = -{CACHE_KIB}",
            f"query_only = {'ON' if access in ('read', 'immutable') else 'OFF'}",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _casefold(value: str | float | None) -> str | float | None:
    """SQLite's own lower() knows ASCII only."""
    return value.casefold() if isinstance(value, str) else value


def storable(text: str) -> str:
    """``text`` with lone surrogates, which UTF-8 can't hold, replaced by "?"; the length stays the same."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def as_file_error(error: Error, path: Path) -> FileError | None:
    """What a driver's error says about the file, in words; None when it is about a statement, so a fault of ours."""
    code = getattr(error, "sqlite_errorcode", None)
    base = code & 0xFF if isinstance(code, int) else None
    text = str(error)
    if base in LOCKED or "is locked" in text:
        return FileError(
            tr("The file is locked"),
            tr("Another program is writing to “{path}” and did not finish in time.", path=path),
            tr("Close the other program, or try again in a moment."),
        )
    if base in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM) or "readonly" in text:
        return unwritable_file(path)
    if base in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "malformed" in text or "not a database" in text:
        return damaged_file(path)
    if base == sqlite3.SQLITE_FULL or "disk is full" in text:
        return FileError(
            tr("The disk is full"),
            tr("There was no room to write “{path}”; the last change was not stored.", path=path),
            tr("Free some space and repeat the last step."),
        )
    if base == sqlite3.SQLITE_IOERR or "disk I/O" in text:
        return FileError(
            tr("The disk failed"),
            tr("Reading or writing “{path}” failed: {reason}.", path=path, reason=text),
            tr("Check the disk or the network drive, then open the file again."),
        )
    return None


def unwritable_file(path: Path) -> FileError:
    """For a file that this user may not change."""
    return FileError(
        tr("The file can't be written"),
        tr("“{path}” or its folder is read-only, so the workbench can't keep its notes there.", path=path),
        tr("Give yourself write permission on the file and its folder, or copy the file to another folder."),
    )


def damaged_file(path: Path) -> FileError:
    """For a file whose pages are missing or overwritten."""
    return FileError(
        tr("The file is damaged"),
        tr("Parts of “{path}” are missing or overwritten.", path=path),
        tr("Restore it from a copy, or start a new file and ingest the documents again."),
    )
