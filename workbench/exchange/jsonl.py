"""A table as JSON Lines: an object a row, vectors as lists of numbers, other bytes as base64."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from workbench.evals.formats.json_text import parse
from workbench.exchange.rows import bad_row, changed_file
from workbench.exchange.tables import checked_row, vector_text
from workbench.i18n import tr
from workbench.records.exchange import Cell, ExportColumn, ExportedFile, ExportRow

_LONGEST: Final = 512 << 20
"""Bytes of a line; a document is one line."""


def write(path: Path, columns: Sequence[ExportColumn], rows: Iterable[ExportRow]) -> int:
    """Returns how many there were. Raises OSError."""
    count = 0
    # JSON may hold half a surrogate pair, which UTF-8 can't: what stands for it is JSON's own escape.
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        for row in rows:
            count += 1
            cells = (f'"{column.name}":{_json(row[column.name], column)}' for column in columns)
            file.write("{" + ",".join(cells) + "}\n")
    return count


def read(path: Path, columns: Sequence[ExportColumn], expected: ExportedFile) -> Iterator[tuple[int, ExportRow]]:
    """Line numbers and rows. Raises DocumentError, naming the line; at the end where the file isn't as written."""
    digest, number = hashlib.sha256(), 0
    with path.open("rb") as file:
        while line := file.readline(_LONGEST):
            number += 1
            digest.update(line)
            if len(line) == _LONGEST:
                raise bad_row(path, number, tr("it is too long"))
            try:
                row = checked_row(parse(line.decode()), columns)
            except UnicodeDecodeError:
                raise bad_row(path, number, tr("it is no UTF-8 text")) from None
            except ValueError as error:
                raise bad_row(path, number, str(error)) from None
            yield number, row
    if digest.hexdigest() != expected.sha256:
        raise changed_file(path)


def _json(cell: Cell, column: ExportColumn) -> str:
    """A cell as JSON. What is JSON already has no line ends in it."""
    if isinstance(cell, bytes):
        if column.kind == "bytes":
            return f'"{base64.b64encode(cell).decode("ascii")}"'
        return vector_text(cell, column.kind)
    if column.kind == "json" and isinstance(cell, str):
        return cell
    return json.dumps(bool(cell) if column.kind == "boolean" else cell, ensure_ascii=False)
