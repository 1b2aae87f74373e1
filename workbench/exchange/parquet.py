"""A table as Parquet: vectors as lists of fixed size, JSON as text. Written and read a batch at a time.

Needs the optional libraries of the extra ``parquet``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from workbench.errors import UsageError
from workbench.evals.formats.json_text import parse
from workbench.exchange.rows import bad_row, changed_file, unreadable_file
from workbench.exchange.tables import checked_row
from workbench.i18n import tr
from workbench.records.exchange import Cell, ExportColumn, ExportedFile, ExportRow

if TYPE_CHECKING:
    from arro3.core import Array, DataType, RecordBatch

_BATCH: Final = 1_000
"""Rows that are in memory at a time, and in a row group."""
_NUMBERS: Final = {"float32": "<f4", "int8": "i1", "uint8": "u1"}


def require() -> None:
    """Raises UsageError, with the remedy, where the libraries aren't installed."""
    try:
        import arro3.io  # noqa: F401 -- whether it is there
    except ImportError as error:
        raise UsageError(
            tr("No Parquet here"),
            tr("The libraries that write and read Parquet aren't installed."),
            tr("Install them: pip install 'rag-workbench[parquet]', or take JSON Lines."),
        ) from error


def write(path: Path, columns: Sequence[ExportColumn], rows: Iterable[ExportRow]) -> int:
    """Returns how many there were. Raises OSError, and whatever ``rows`` raises."""
    require()
    from arro3.core import Field, RecordBatch, RecordBatchReader, Schema
    from arro3.io import write_parquet

    schema = Schema([Field(column.name, _type(column), nullable=True) for column in columns])
    raised: list[BaseException] = []
    count = 0

    def batches() -> Iterator[RecordBatch]:
        nonlocal count
        source = iter(rows)
        try:
            while batch := list(islice(source, _BATCH)):
                count += len(batch)
                arrays = [_array([row[column.name] for row in batch], column) for column in columns]
                yield RecordBatch.from_arrays(arrays, schema=schema)
        except BaseException as error:
            raised.append(error)  # the library would bury it in one of its own
            raise

    try:
        write_parquet(
            RecordBatchReader.from_batches(schema, batches()), path, compression="zstd(3)", max_row_group_size=_BATCH
        )
    except Exception as error:
        raise (raised[0] if raised else OSError(str(error))) from error
    return count


def read(path: Path, columns: Sequence[ExportColumn], expected: ExportedFile) -> Iterator[tuple[int, ExportRow]]:
    """Row numbers, counted from 1, and rows. Raises DocumentError; before the first row when it isn't as written."""
    require()
    from arro3.io import read_parquet

    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != expected.sha256:
            raise changed_file(path)
    number = 0
    try:
        for batch in read_parquet(path):
            for values in _values(batch, columns):
                number += 1
                try:
                    row = checked_row(_parsed(values, columns), columns)
                except ValueError as error:
                    raise bad_row(path, number, str(error)) from None
                yield number, row
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how the library, written in Rust, gives up on a damaged file
            raise
        raise unreadable_file(path) from None


def _type(column: ExportColumn) -> DataType:
    from arro3.core import DataType, Field

    match column.kind:
        case "integer":
            return DataType.int64()
        case "boolean":
            return DataType.bool()
        case "bytes":
            return DataType.binary()
        case "float32" | "int8" | "uint8":
            part = {"float32": DataType.float32, "int8": DataType.int8, "uint8": DataType.uint8}[column.kind]()
            return DataType.list(Field("item", part), column.width)
        case _:
            return DataType.string()


def _array(cells: Sequence[Cell], column: ExportColumn) -> Array:
    from arro3.core import Array, DataType, fixed_size_list_array

    if column.kind == "boolean":
        return Array([bool(cell) for cell in cells], DataType.bool())
    if column.kind not in _NUMBERS:
        return Array(cells, _type(column))
    kind = np.dtype(_NUMBERS[column.kind])
    empty = bytes(column.width * kind.itemsize)
    whole = b"".join(cell if isinstance(cell, bytes) else empty for cell in cells)
    absent = Array([cell is None for cell in cells], DataType.bool())
    numbers = Array(np.frombuffer(whole, kind))
    return fixed_size_list_array(numbers, column.width, type=_type(column), mask=absent)


def _values(batch: RecordBatch, columns: Sequence[ExportColumn]) -> Iterator[dict[str, Any]]:
    """Rows as plain values. A column that isn't there is missing in every row."""
    there = set(batch.schema.names)
    found = {c.name: batch.column(c.name).to_pylist() for c in columns if c.name in there}
    for place in range(batch.num_rows):
        yield {name: values[place] for name, values in found.items()}


def _parsed(values: dict[str, Any], columns: Sequence[ExportColumn]) -> dict[str, Any]:
    """With what is JSON as its value. Raises ValueError, in words."""
    texts = {c.name for c in columns if c.kind == "json" and isinstance(values.get(c.name), str)}
    return {name: parse(value) if name in texts else value for name, value in values.items()}
