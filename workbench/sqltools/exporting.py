"""A result as text for other programs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Literal, TypeAlias

from workbench.errors import FileError, reason_of
from workbench.i18n import tr
from workbench.records.sql import QueryResult, SqlCell

Form: TypeAlias = Literal["csv", "json"]


def as_text(result: QueryResult, form: Form) -> str:
    """CSV with a head, NULL empty and a blob as X'hex'; or JSON: a list of objects, a name that repeats numbered."""
    if form == "json":
        names = _apart(result.columns)
        rows = [dict(zip(names, map(_json, row), strict=True)) for row in result.rows]
        return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows([["" if cell is None else _json(cell) for cell in row] for row in result.rows])
    return out.getvalue()


def write_new(path: Path, text: str) -> None:
    """A file that wasn't there. Raises FileError."""
    try:
        with path.open("x", encoding="utf-8", newline="") as out:
            out.write(text)
    except OSError as error:
        raise FileError(
            tr("Not written"),
            tr("{path} can't be written: {reason}", path=path, reason=reason_of(error)),
            tr("Give another file with -o."),
        ) from error


def _json(cell: SqlCell) -> str | int | float | None:
    if isinstance(cell, bytes):
        return f"X'{cell.hex()}'"
    return str(cell) if isinstance(cell, float) and cell in (float("inf"), float("-inf")) else cell


def _apart(names: tuple[str, ...]) -> list[str]:
    told: list[str] = []
    for name in names:
        number, tried = 2, name
        while tried in told:
            tried, number = f"{name}_{number}", number + 1
        told.append(tried)
    return told
