"""One write connection on a thread of its own, and a pool of read connections that no two threads ever share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from storage.driver import Access, Connection, Error, as_file_error, connect
from workbench.errors import Cancelled, FileError, NotFoundError
from workbench.i18n import tr
from workbench.ports import Cancel

T = TypeVar("T")

_STEPS = 20_000
"""Of SQLite's virtual machine between two looks whether to stop: under a millisecond."""


class Connections:
    """The open file. Every method may be called from any thread.

    Args:
        access: how readers connect; "write" also starts the writer.
        timeout: seconds to wait for another process's lock, and at close for readers of this one.
    """

    def __init__(self, path: Path, access: Access, timeout: float) -> None:
        self.path = path
        self._access: Access = "read" if access == "write" else access
        self._timeout = timeout
        self._state = threading.Condition()
        self._idle: list[Connection] = []
        self._busy = 0
        self._closed = False
        self._executor: ThreadPoolExecutor | None = None
        self._foreign = 0
        self._asked: Future[int] | None = None
        if access == "write":
            with self._in_words():
                self._writer = connect(path, "write", timeout)
                self._version = self._data_version()
            self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="workbench-writer")

    @contextmanager
    def read(self, cancel: Cancel | None = None) -> Iterator[Connection]:
        """A connection for one thread's use; each statement sees the last committed state.

        Raises:
            Cancelled: ``cancel`` was set while a statement ran.
            FileError: the file is closed, locked or damaged.
        """
        connection = self._take()
        try:
            with self._in_words():
                if cancel:
                    connection.set_progress_handler(cancel.is_set, _STEPS)
                yield connection
        finally:
            if cancel:
                connection.set_progress_handler(None, 0)
            self._give_back(connection)

    @contextmanager
    def snapshot(self, cancel: Cancel | None = None) -> Iterator[Connection]:
        """As ``read``; all statements see the same state."""
        with self.read(cancel) as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def write(self, work: Callable[[Connection], T]) -> T:
        """Runs ``work`` on the write thread in one transaction: all of it is committed, or nothing.

        Raises:
            FileError: the file is closed, read-only, locked, full or damaged.
            Exception: whatever ``work`` raised, after the rollback.
        """
        return self._on_writer(lambda: self._transaction(work))

    def alone(self, work: Callable[[Connection], T]) -> T:
        """Runs ``work`` on the write thread outside a transaction, which checkpoints and VACUUM ask for.

        Raises:
            FileError: as ``write``.
        """
        return self._on_writer(lambda: self._outside(work))

    @contextmanager
    def apart(self, cancel: Cancel | None = None) -> Iterator[Connection]:
        """A connection of its own that may write elsewhere, for VACUUM INTO; it keeps no writer of this file waiting.

        Raises:
            Cancelled, FileError: as ``read``.
        """
        with self._in_words(), closing(connect(self.path, self._access, self._timeout)) as connection:
            connection.execute("PRAGMA query_only = OFF")
            if cancel:
                connection.set_progress_handler(cancel.is_set, _STEPS)
            yield connection

    def foreign_changes(self) -> int:
        """Grows when another process changes the file; 0 where it is open for reading only.

        It never waits: while the write thread is busy, it is what it was.
        """
        with self._state:
            if self._executor is None or self._closed:
                return self._foreign
            if self._asked is not None and self._asked.done() and self._asked.exception() is None:
                self._foreign = self._asked.result() - self._version
            if self._asked is None or self._asked.done():
                self._asked = self._executor.submit(self._data_version)
            return self._foreign

    def _data_version(self) -> int:
        """Of the write connection: it makes all changes of this process, so the others' are what it sees change."""
        return int(self._writer.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Waits for readers and for writes that were handed in, checkpoints, and closes every connection."""
        with self._state:
            if self._closed:
                return
            self._closed = True
            self._state.wait_for(lambda: self._busy == 0, self._timeout)
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        if self._executor is not None:
            self._executor.shutdown()  # after the writes that wait; from here on the write connection is ours
            self._checkpoint()

    def _on_writer(self, work: Callable[[], T]) -> T:
        if self._executor is None:
            raise FileError(
                tr("The file is open for reading only"),
                tr("“{path}” can't be changed in this session.", path=self.path),
                tr("Open it for writing."),
            )
        try:
            future = self._executor.submit(work)
        except RuntimeError:
            raise self._closed_error() from None
        return future.result()

    def _outside(self, work: Callable[[Connection], T]) -> T:
        with self._in_words():
            return work(self._writer)

    def _transaction(self, work: Callable[[Connection], T]) -> T:
        connection = self._writer
        with self._in_words():
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk rolls back by itself
                    connection.execute("ROLLBACK")
                raise
        return result

    def _checkpoint(self) -> None:
        """The last connection to close also removes the log, unless another program still has the file open."""
        try:
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except Error:
            pass  # another program is using the log, and will checkpoint it itself
        finally:
            self._writer.close()

    def _take(self) -> Connection:
        with self._state:
            if self._closed:
                raise self._closed_error()
            self._busy += 1
            if self._idle:
                return self._idle.pop()
        try:
            with self._in_words():
                return connect(self.path, self._access, self._timeout)
        except BaseException:
            self._release()
            raise

    def _give_back(self, connection: Connection) -> None:
        with self._state:
            keep = not self._closed
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()
        self._release()

    def _release(self) -> None:
        with self._state:
            self._busy -= 1
            self._state.notify_all()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except Error as error:
            if str(error) == "interrupted":
                raise Cancelled from error
            if "no such table: index_" in str(error):
                raise NotFoundError(
                    tr("The index is gone"),
                    tr("Another index has replaced it."),
                    tr("Ask again; the new index will answer."),
                ) from error
            raise as_file_error(error, self.path) or error from error

    def _closed_error(self) -> FileError:
        return FileError(
            tr("The file is closed"), tr("“{path}” was closed.", path=self.path), tr("Open the file again.")
        )
