"""Whether a path can be opened as a workbench file, told before anything on disk is changed."""

from __future__ import annotations

import os
import stat
import struct
import time
from pathlib import Path
from typing import Final

from storage.driver import (
    APPLICATION_ID,
    PAGE_SIZE,
    Access,
    Connection,
    Error,
    as_file_error,
    connect,
    damaged_file,
    unwritable_file,
)
from storage.migrations import MIGRATIONS, migrate, newer_file, version
from workbench.errors import FileError, reason_of
from workbench.i18n import tr

_MAGIC: Final = b"SQLite format 3\x00"
_HEADER_BYTES: Final = 100
_SCHEMA_FORMATS: Final = range(1, 5)
_ENCODINGS: Final = range(1, 4)
_QUICK_CHECK_BYTES: Final = 64 << 20
"""Files up to this size are checked page by page when they are opened (about 0.1 s); larger ones by their header."""


def prepare(path: Path, *, read_only: bool, create: bool, timeout: float) -> Access:
    """Checks ``path``, creates or migrates the file, and says how to connect to it from now on.

    Raises:
        FileError: it can't be opened; the file is as it was.
    """
    fresh = _inspect(path)
    if fresh and (read_only or not create):
        raise FileError(
            tr("There is no file to read"),
            tr("“{path}” doesn't exist or is empty.", path=path),
            tr("Check the path; workbench ingest PATH makes a new file."),
        )
    access: Access = "write"
    if read_only:
        access = "read" if can_write(path) else "immutable"
        if access == "immutable" and _has_log(path):
            raise _not_up_to_date(path)
    elif fresh:
        access = "create"
    elif not can_write(path):  # SQLite itself would read it, and leave its log's files behind
        raise unwritable_file(path)
    try:
        connection = connect(path, access, timeout)
        try:
            _make_ready(connection, path, fresh=fresh, read_only=read_only, timeout=timeout)
        finally:
            connection.close()
    except Error as error:
        raise as_file_error(error, path) or error from error
    return "write" if access == "create" else access


def _make_ready(connection: Connection, path: Path, *, fresh: bool, read_only: bool, timeout: float) -> None:
    if not fresh and path.stat().st_size <= _QUICK_CHECK_BYTES:
        _check_pages(connection, path)
    if read_only:
        if version(connection) < len(MIGRATIONS):
            raise _not_up_to_date(path)
        return
    migrate(connection, path)
    _use_wal(connection, path, timeout)


def _check_pages(connection: Connection, path: Path) -> None:
    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise damaged_file(path)


def _use_wal(connection: Connection, path: Path, timeout: float) -> None:
    """Switches to WAL. SQLite doesn't wait for its lock here, so two programs that create one file take turns."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            break
        except Error:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)
    if mode != "wal":
        raise FileError(
            tr("The file can't be shared safely here"),
            tr("The file system of “{path}” doesn't support SQLite's write-ahead log.", path=path),
            tr("Put the file on a local disk."),
        )


def _inspect(path: Path) -> bool:
    """Reads the header only. True when a new file is to be made there.

    Raises:
        FileError: a folder, no regular file, not a workbench file, a newer one, a truncated one.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        if not path.absolute().parent.is_dir():
            raise FileError(
                tr("The folder doesn't exist"),
                tr("“{path}” can't be created, since its folder isn't there.", path=path),
                tr("Create the folder first, or choose another path."),
            ) from None
        return True
    except OSError as error:
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(found.st_mode):
        raise FileError(
            tr("That is no file"),
            tr("“{path}” is a folder or a device.", path=path),
            tr("Name a file, such as {example}.", example=path / "workbench.db"),
        )
    if found.st_size == 0:
        return True
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from error
    _check_header(path, header, found.st_size)
    return False


def _check_header(path: Path, header: bytes, size: int) -> None:
    """Offsets: 16 page size, 28 pages, 44 schema format, 56 encoding, 60 user_version, 68 application_id."""
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC) or _integer(header, 68) != APPLICATION_ID:
        raise FileError(
            tr("That is no workbench file"),
            tr("“{path}” was made by another program.", path=path),
            tr("Open another file with --db, or move this one away to start a new one."),
        )
    if _integer(header, 60) > len(MIGRATIONS):
        raise newer_file(path)
    if _integer(header, 44) not in _SCHEMA_FORMATS or _integer(header, 56) not in _ENCODINGS:
        raise damaged_file(path)
    if size < _integer(header, 28) * PAGE_SIZE and not _has_log(path):
        raise damaged_file(path)


def _integer(header: bytes, offset: int) -> int:
    return int(struct.unpack_from(">I", header, offset)[0])


def _has_log(path: Path) -> bool:
    """Whether a program that is running or died has left changes beside the file."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def can_write(path: Path) -> bool:
    """Whether this user may change the file that is there, and make SQLite's companions beside it."""
    return all(os.access(p, os.W_OK, effective_ids=os.access in os.supports_effective_ids) for p in (path, path.parent))


def _not_up_to_date(path: Path) -> FileError:
    return FileError(
        tr("The file isn't up to date"),
        tr("“{path}” has to be brought up to date before it can be read.", path=path),
        tr("Open it once for writing."),
    )


def _unreadable(path: Path, error: OSError) -> FileError:
    return FileError(
        tr("The file can't be read"),
        tr("“{path}” can't be opened: {reason}.", path=path, reason=reason_of(error)),
        tr("Check the path and your permissions on it."),
    )
