"""CSV and TSV: the source text is kept; every record is a row that carries the header."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final

from workbench.corpus.parse.blocks import cover, line_starts, stem
from workbench.corpus.parse.decoding import decode
from workbench.i18n import tr
from workbench.records.corpus import Block, ParsedDocument

_DELIMITERS: Final = ",;\t|"
_SAMPLE: Final = 50  # records that the delimiter is told from
_NAMED: Final = 5  # line numbers that a warning names

csv.field_size_limit(2**31 - 1)  # its own, 128 KiB, isn't one of the format: whole documents are kept in cells


@dataclass(frozen=True, slots=True)
class _Record:
    """Lines ``first`` to ``last`` (exclusive, from 0) and the cells they hold."""

    first: int
    last: int
    cells: list[str]


def parse(data: bytes, name: str) -> ParsedDocument:
    """A table of records parted by commas, semicolons, tabs or bars, whichever fits best.

    The first record is the header unless all its cells are numbers.

    Raises:
        DocumentError: empty, binary, or badly encoded.
    """
    text, warnings = decode(data)
    starts = line_starts(text)
    lines = [text[a:b] for a, b in pairwise(starts)]
    is_tsv = name.lower().endswith(".tsv")
    problems: list[str] = []
    records = list(_records(lines, _delimiter(lines, "\t" if is_tsv else ","), problems))
    header = text[starts[records[0].first] : starts[records[0].last]].strip() if _is_header(records[0]) else ""
    blocks = cover(text, _blocks(records, starts, header), filler="row")
    media_type = "text/tab-separated-values" if is_tsv else "text/csv"
    return ParsedDocument(text, stem(name), media_type, blocks, warnings=(*warnings, *problems, *_ragged(records)))


def _blocks(records: list[_Record], starts: list[int], header: str) -> Iterator[Block]:
    for i, record in enumerate(records):
        span = starts[record.first], starts[record.last]
        yield Block(*span, "table") if header and i == 0 else Block(*span, "row", header=header)


def _records(lines: list[str], delimiter: str, problems: list[str]) -> Iterator[_Record]:
    """The records that aren't blank. From a quote that never closes on, every line is one, and ``problems`` tells."""
    reader = csv.reader(iter(lines), delimiter=delimiter)
    first = 0
    for cells in reader:
        last = reader.line_num
        if last - first > 1 and last == len(lines) and _is_open(lines[first:], delimiter):
            break
        if cells:
            yield _Record(first, last, cells)
        first = last
    if first < len(lines):
        problems.append(tr("A quote on line {line} is never closed: from there every line is a row.", line=first + 1))
    for number in range(first, len(lines)):
        if lines[number].strip():
            yield _Record(number, number + 1, lines[number].strip().split(delimiter))


def _is_open(lines: list[str], delimiter: str) -> bool:
    """Whether the record that these lines are ends inside a quote."""
    try:
        list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "end of data" in str(error)
    return False


def _delimiter(lines: list[str], usual: str) -> str:
    """The delimiter that gives the most records of the same width, more than one cell wide; the usual one when tied."""

    def fit(delimiter: str) -> tuple[int, int, bool]:
        widths = Counter(len(record.cells) for record in islice(_records(lines[:_SAMPLE], delimiter, []), _SAMPLE))
        width, count = max(widths.items(), key=lambda item: (item[0] > 1, item[1]), default=(1, 0))
        return (count if width > 1 else 0), width, delimiter == usual

    return max(_DELIMITERS, key=fit)


def _is_header(record: _Record) -> bool:
    return not all(_is_number(cell) for cell in record.cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _ragged(records: list[_Record]) -> Iterator[str]:
    """A warning for records whose width isn't the first one's."""
    width = len(records[0].cells)
    lines = [str(record.first + 1) for record in records if len(record.cells) != width]
    if lines:
        named = ", ".join(lines[:_NAMED]) + (", …" if len(lines) > _NAMED else "")
        yield tr(
            "Rows without the {width} columns of the first one: {count} (line {lines}).",
            count=len(lines),
            width=width,
            lines=named,
        )
