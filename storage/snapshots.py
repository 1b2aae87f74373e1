"""Copies of the whole file, and back: ``VACUUM INTO``, and SQLite's backup into the open file.

The backup is one transaction of the log, so that whoever has the file open, in this process or another, sees the old
content or the new, and nothing is renamed under them.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from storage.connections import Connections
from storage.driver import (
    BUSY_SECONDS,
    LOCKED,
    Connection,
    Error,
    OperationalError,
    as_file_error,
    connect,
    damaged_file,
)
from storage.opening import prepare
from workbench.errors import FileError, reason_of
from workbench.i18n import tr
from workbench.ports import Cancel


def write_snapshot(connections: Connections, to: Path, cancel: Cancel | None) -> None:
    """Writes the present state, without free pages, beside its place and then into it. Raises FileError, Cancelled."""
    part = to.with_name(f".{to.name}.part")
    try:
        part.unlink(missing_ok=True)
        with connections.apart(cancel) as connection:
            connection.execute("VACUUM INTO ?", (str(part),))
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(to)
    except OSError as error:
        raise FileError(
            tr("The snapshot can't be written"),
            tr("Writing “{path}” failed: {reason}.", path=to, reason=reason_of(error)),
            tr("Check the disk and your permissions, or choose another folder."),
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def restore(connections: Connections, snapshot: Path) -> None:
    """Checks a copy of ``snapshot``, brings it up to date, and puts it in place of the open file's content.

    Raises:
        FileError: it is damaged or no workbench file, or the open one is locked or read-only. Nothing has changed.
    """
    with TemporaryDirectory(prefix=".restore-", dir=connections.path.parent) as folder:
        copy = Path(folder, snapshot.name)
        try:
            shutil.copyfile(snapshot, copy)
            prepare(copy, read_only=False, create=False, timeout=BUSY_SECONDS)
            with closing(connect(copy, "write")) as source:
                if source.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                    raise damaged_file(copy)
                connections.alone(lambda target: _replace(source, target))
        except FileError as error:
            raise FileError(error.title, error.message.replace(str(copy), str(snapshot)), error.remedy) from error
        except Error as error:
            raise as_file_error(error, snapshot) or error from error
        except OSError as error:
            raise FileError(
                tr("The file can't be read"),
                tr("“{path}” can't be opened: {reason}.", path=snapshot, reason=reason_of(error)),
                tr("Check the path and your permissions on it."),
            ) from error


def _replace(source: Connection, target: Connection) -> None:
    """What was is newer than what is: whoever keeps something by revision must read it anew."""
    versions, rewritten = (
        target.execute(f"SELECT coalesce(max({column}), 0) + 1 FROM {table}").fetchone()[0]
        for column, table in (("version", "collection"), ("rewritten", "corpus_index"))
    )
    source.execute("UPDATE collection SET version = version + ?", (versions,))
    source.execute("UPDATE corpus_index SET rewritten = rewritten + ?", (rewritten,))
    source.backup(target, progress=_refuse_to_wait)
    target.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # the other kinds would wait for readers


def _refuse_to_wait(status: int, _remaining: int, _total: int) -> None:
    """The driver would go on trying for ever; the connection's own timeout has passed by then."""
    if status in LOCKED:
        raise OperationalError("database is locked")
