"""CSV and TSV whose header names fields of ``Case``.

Lists are JSON in their cell, or plain: items apart by ``|``, and spans as ``source_id#start-end@grade`` (``a.md``,
``a.md@3``, ``a.md#120-180@2``). A row without an id gets one from its question.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from workbench.evals.formats import json_text
from workbench.evals.formats.rows import FIELDS, LISTS, SPANS, case_from, case_id, fields_of
from workbench.evals.formats.source import Format, Found, Locate, Source, TextOf
from workbench.i18n import tr
from workbench.records.cases import Case, RowProblem

_SPAN: Final = re.compile(
    r"(?P<source_id>.+?)(?:#(?P<start>\d{1,12})-(?P<end>\d{1,12}))?(?:@(?P<grade>\d))?", re.DOTALL
)
_TRUE: Final = frozenset({"true", "yes", "y", "1", "sí", "si", "verdadero"})
_FALSE: Final = frozenset({"false", "no", "n", "0", "falso"})
_DELIMITERS: Final = ("\t", ";", ",")


def rows(source: Source) -> Iterator[tuple[int, dict[str, str]] | RowProblem]:
    """Each row's first line and its cells by the header's names; empty cells and blank rows are left out."""
    reader = csv.reader(io.StringIO(source.text, newline=""), delimiter=delimiter(source.first_line), strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield RowProblem(line, tr("it can't be read as a table ({reason})", reason=error))
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if not header:
            header = [cell.strip() for cell in cells]
        elif len(cells) > len(header):
            yield RowProblem(line, tr("it has {count} cells and the header {names}", count=len(cells),
                                      names=len(header)))  # fmt: skip
        else:
            yield line, {name: cell for name, cell in zip(header, cells, strict=False) if cell.strip()}


def delimiter(header: str) -> str:
    """A tab, semicolon or comma: the first of them that the header holds."""
    return next((sign for sign in _DELIMITERS if sign in header), ",")


def read(source: Source, _locate: Locate | None) -> Iterator[Found]:
    """A case a row. A column that no case has is named once."""
    strangers: set[str] = set()
    for found in rows(source):
        if isinstance(found, RowProblem):
            yield found
            continue
        line, cells = found
        try:
            yield line, case_from(_values(cells))
        except ValueError as error:
            yield RowProblem(line, str(error))
        for name in sorted(cells.keys() - set(FIELDS) - strangers):
            strangers.add(name)
            yield RowProblem(1, tr("there is no field “{field}”: it was left out", field=name), skipped=False)


def writer(separator: str) -> Any:
    """``Format.write`` for cells apart by ``separator``: every field that some case gives a value to is a column."""

    def write(cases: Sequence[Case], path: Path, _text_of: TextOf) -> None:
        given = [fields_of(case) for case in cases]
        header = [name for name in FIELDS if any(name in fields for fields in given)]
        text = io.StringIO(newline="")
        table = csv.writer(text, delimiter=separator, lineterminator="\r\n")
        table.writerow(header)
        table.writerows([_cell(fields.get(name, "")) for name in header] for fields in given)
        path.write_text(text.getvalue(), "utf-8", newline="\n")

    return write


def _values(cells: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {name: _value(name, cell) for name, cell in cells.items() if name in FIELDS}
    if "id" not in values and "question" in values:
        values["id"] = case_id(values["question"])
    return values


def _value(name: str, cell: str) -> Any:
    if name == "answerable":
        return _boolean(cell)
    if name == "expectation" or (name in LISTS and cell.lstrip().startswith("[")):
        return json_text.parse(cell)
    if name in LISTS:
        items = [item.strip() for item in cell.split("|") if item.strip()]
        return [_span(item) for item in items] if name in SPANS else items
    return cell


def _boolean(cell: str) -> bool:
    word = cell.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(tr("“{field}” is neither true nor false", field="answerable"))
    return word in _TRUE


def _span(item: str) -> dict[str, Any]:
    match = _SPAN.fullmatch(item)
    found = match.groupdict() if match else {"source_id": item}
    return {name: value if name == "source_id" else int(value) for name, value in found.items() if value}


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _recognises(separators: tuple[str, ...]) -> Any:
    def recognises(source: Source) -> bool:
        sign = delimiter(source.first_line)
        names = {name.strip().strip('"') for name in source.first_line.split(sign)}
        return sign in separators and "question" in names

    return recognises


CSV: Final = Format("csv", read, _recognises((",", ";")), frozenset(FIELDS), writer(","))
TSV: Final = Format("tsv", read, _recognises(("\t",)), frozenset(FIELDS), writer("\t"))
