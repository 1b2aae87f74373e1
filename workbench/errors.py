"""The one exception tree: every error a person can meet says what happened, why, and what to do next."""

from __future__ import annotations

import errno
import json
import os
import re
from typing import Final, Literal, TypeAlias

from workbench.i18n import tr


class WorkbenchError(Exception):
    """An error made for a person to read.

    Args:
        title: what happened, in a few words.
        message: the cause, in a sentence.
        remedy: what to do next, in a sentence; may be empty when nothing can be done.
    """

    def __init__(self, title: str, message: str, remedy: str = "") -> None:
        super().__init__(f"{title}: {message}" + (f" {remedy}" if remedy else ""))
        self.title = title
        self.message = message
        self.remedy = remedy


class UsageError(WorkbenchError):
    """The request itself can't be understood: a bad option, filter, recipe or key."""


class FilterError(UsageError):
    """A filter expression that doesn't parse or compares values of different types.

    Args:
        position: character offset of the fault in the expression.
    """

    def __init__(self, title: str, message: str, remedy: str = "", *, position: int = 0) -> None:
        super().__init__(title, message, remedy)
        self.position = position


class FileError(WorkbenchError):
    """The workbench file can't be opened or written: newer version, foreign file, read-only, locked, damaged."""


class DocumentError(WorkbenchError):
    """One source can't be read: binary, locked, image-only, bad encoding. The others go on."""


class NotFoundError(WorkbenchError):
    """A collection, document, chunk, trace, dataset or model that isn't in the file."""


class MissingModelError(WorkbenchError):
    """A model's files aren't where they should be; the remedy names the command that brings them."""


class QueryError(WorkbenchError):
    """A SQL query on a fixture that gave no result set.

    Args:
        kind: "syntax" (no query at all), "forbidden" (it would change or reach something, or is several), "failed" (no
            such table, …), "slow", "large" (too many rows).
    """

    def __init__(
        self, title: str, message: str, *, kind: Literal["syntax", "forbidden", "failed", "slow", "large"] = "failed"
    ) -> None:
        super().__init__(title, message)
        self.kind = kind


TELLING: Final = re.compile(
    r"(?i)error\b|fail|assert|invalid|unable|unknown (?!type)|unsupported|not support|can't|cannot|could not|exception"
    r"|out of memory|bad_alloc|corrupt|missing|mismatch|wrong|terminate"
)
"""What a line of an engine's log has in it when it names a cause."""
DESCRIBING: Final = re.compile(r"^\w*(print_info|model_loader: - )")
"""A line that says what is in the model: names in it mean nothing."""
EngineCause: TypeAlias = Literal["", "memory", "context", "cache", "mapping", "crash", "adapter", "file"]


class EngineError(WorkbenchError):
    """A child process of the engine failed or died.

    Args:
        log: the child's last log lines, oldest first.
        cause: what other settings may help against: too little "memory", a "context" that can't be made, a KV "cache"
            of a type that this model can't have, a file that changed while it was mapped ("mapping"), a "crash" of
            the engine, an "adapter" or a "file" that can't be used; "" when no setting helps.
    """

    def __init__(
        self, title: str, message: str, remedy: str = "", *, log: tuple[str, ...] = (), cause: EngineCause = ""
    ) -> None:
        super().__init__(title, message, remedy)
        self.log = log
        self.cause: EngineCause = cause

    @property
    def last_words(self) -> tuple[str, ...]:
        """Of the log, the lines that name a cause, each once, at most 6; where none does, the last 3."""
        lines = dict.fromkeys(line for line in self.log if line.strip())
        telling = [line for line in lines if TELLING.search(line) and not DESCRIBING.match(line)]
        return tuple(telling[-6:] or [*lines][-3:])


class ServerError(EngineError):
    """A model server can't be reached, or doesn't do what it was asked.

    Args:
        layer: where the call failed, a ``workbench.records.servers.Layer``.
        status: the HTTP status, 0 when there was no reply.
    """

    def __init__(self, title: str, message: str, remedy: str = "", *, layer: str, status: int = 0) -> None:
        super().__init__(title, message, remedy)
        self.layer = layer
        self.status = status


class BudgetError(WorkbenchError):
    """Instructions, question, evidence and reserved output don't fit the context window."""


class Cancelled(WorkbenchError):  # noqa: N818 -- a stop that was asked for is no error
    """The person stopped the work; what was committed stays."""

    def __init__(self, message: str = "The work was stopped.") -> None:
        super().__init__("Stopped", message, "Run it again to go on from there.")


_REASONS: Final = {
    errno.ENOENT: "there is no such file or folder",
    errno.EACCES: "you have no permission for it",
    errno.EPERM: "you have no permission for it",
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "a part of its path is no folder",
    errno.EROFS: "its disk is read-only",
    errno.ENOSPC: "the disk is full",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ELOOP: "its links lead in a circle",
    errno.EIO: "the disk failed",
    errno.EBADF: "it is closed",
    errno.EPIPE: "its reader has gone",
    errno.EMFILE: "too many files are open",
    errno.EEXIST: "it is there already",
}


def reason_of(error: Exception) -> str:
    """What an error of Python or the operating system says, in the interface's language where it is a usual one."""
    if isinstance(error, OSError):
        code = error.errno or 0
        return tr(_REASONS[code]) if code in _REASONS else error.strerror or str(error) or os.strerror(code)
    if isinstance(error, json.JSONDecodeError):
        problem = tr(error.msg)
        return tr("line {line}, column {column}: {problem}", line=error.lineno, column=error.colno, problem=problem)
    return tr("it is no UTF-8 text") if isinstance(error, UnicodeError) else str(error)
