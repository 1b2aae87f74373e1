"""Reading SQL on the workbench's own file and on others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from workbench.ports.runtimes import Cancel
from workbench.records.sql import Compiled, QueryLimits, QueryResult, Schema


class SqlReader(Protocol):
    """SQLite files read with SQL that can neither write, attach, nor load anything. ``None`` is the own file."""

    def schema(self, file: Path | None) -> Schema:
        """Tables with columns, keys and rows. Raises NotFoundError, FileError."""
        ...

    def values(self, file: Path | None, schema: Schema) -> Mapping[str, tuple[str, ...]]:
        """Short texts that a column repeats, by "table.column", of columns that hold only a few different ones.

        Raises NotFoundError, FileError.
        """
        ...

    def compile(self, file: Path | None, sql: str) -> Compiled:
        """The query prepared, not run. Raises QueryError, NotFoundError, FileError."""
        ...

    def run(self, file: Path | None, sql: str, limits: QueryLimits, cancel: Cancel | None = None) -> QueryResult:
        """Its rows, on a connection of its own. Raises QueryError, Cancelled, NotFoundError, FileError."""
        ...
