"""Refusals of files and rows that can't come in."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import DocumentError
from workbench.i18n import tr


def bad_row(path: Path, line: int, reason: str) -> DocumentError:
    """For a row that isn't what an export would hold."""
    return DocumentError(
        tr("A row can't come in"),
        tr("{file}, line {line}: {reason}.", file=path.name, line=line, reason=reason),
        tr("Nothing was imported. Export the collection again."),
    )


def changed_file(path: Path) -> DocumentError:
    """For a table whose bytes aren't those that were written."""
    return DocumentError(
        tr("The export isn't as it was written"),
        tr("{file} was changed or cut since it was exported.", file=path.name),
        tr("Nothing was imported. Export the collection again."),
    )


def unreadable_file(path: Path, reason: str = "") -> DocumentError:
    """For a file of an export that is missing, or isn't of its format."""
    return DocumentError(
        tr("That is no export"),
        tr("{file} can't be read: {reason}.", file=path, reason=reason or tr("it is damaged")),
        tr("Name the folder that workbench export made."),
    )
