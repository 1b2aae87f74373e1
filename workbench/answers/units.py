"""Units: what can be quoted of a piece of evidence by itself, told from the structure of its stored document."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from workbench.corpus.places import Places
from workbench.records.answers import Evidence
from workbench.records.corpus import Block
from workbench.text.sentences import sentences, trimmed

LONG: Final = 400
"""Characters; a record, list item or piece of code over it is cut where its own lines or sentences end."""

_BEFORE: Final = 2  # sentences before: "It", "the company" stand for what they name
_TOO_SHORT: Final = 12  # characters of a sentence
_DELIMITERS: Final = "|,;\t"
_BULLET: Final = re.compile(r"\s*[-*+•·–—‣▪]\s+")
_RULE: Final = re.compile(r"[\s|:=+-]*")  # the line under a Markdown table's header


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a table row, a list item, a record or a short piece of code.

    Attributes:
        start, end: span in the source text.
        text: exactly ``source_text[start:end]``.
        shown: as a person reads it: a row with its header's names, else ``text``.
        heading: of the section it stands in, "" for none.
        context: text that says what it is about: title, headings, the sentences before it.
    """

    start: int
    end: int
    text: str
    shown: str
    heading: str
    context: str


def units(evidence: Evidence, places: Places) -> tuple[Unit, ...]:
    """The units of ``evidence`` in order, exact spans of it; its sentences where its document has no structure there.

    A heading or a table's header is no unit: its words are context of the units below it.
    """
    found = tuple(_structured(evidence, places))
    if found:
        return found
    spans = sentences(evidence.body)
    return tuple(
        _unit(evidence, evidence.start + start, evidence.start + end, "", "", (evidence.title,)) for start, end in spans
    )


def named_cells(row: str, header: str) -> str:
    """A table row with its header's names: "item: Late book · price: 0.20 EUR"; ``row`` where they don't match."""
    lines = [line for line in header.splitlines() if not _RULE.fullmatch(line)]
    if len(lines) != 1:
        return row
    for delimiter in _DELIMITERS:
        names, values = _cells(lines[0], delimiter), _cells(row, delimiter)
        if len(names) == len(values) > 1:
            pairs = zip(names, values, strict=True)
            named = " · ".join(f"{name}: {value}" if name else value for name, value in pairs if value)
            return named if len(named) <= LONG else row
    return row


def _structured(evidence: Evidence, places: Places) -> Iterator[Unit]:
    before: list[str] = []
    under: tuple[str, ...] | None = None
    for block in places.blocks(evidence.start, evidence.end):
        if block.kind in ("heading", "table"):
            continue
        start, end = max(block.start, evidence.start), min(block.end, evidence.end)
        path = places.heading(block.start, block.end)
        if path != under:
            under, before = path, []
        for span in _spans(places.text, block, start, end):
            unit = _unit(
                evidence, *span, block.header, path[-1] if path else "", (evidence.title, *path, *before[-_BEFORE:])
            )
            yield unit
            if block.kind in ("paragraph", "quote"):
                before.append(unit.text)


def _unit(evidence: Evidence, start: int, end: int, header: str, heading: str, context: tuple[str, ...]) -> Unit:
    text = evidence.body[start - evidence.start : end - evidence.start]
    return Unit(start, end, text, named_cells(text, header) if header else text, heading, "\n".join(context))


def _spans(text: str, block: Block, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the units of ``block`` within ``text[start:end]`` stand."""
    if block.kind in ("paragraph", "quote"):
        yield from _whole_sentences(text, start, end)
    elif block.kind == "list":
        bullet = _BULLET.match(text, start, end) if start == block.start else None
        start = bullet.end() if bullet else start
        yield from trimmed(text, start, end) if end - start <= LONG else sentences(text, start, end)
    elif block.kind == "record":
        yield from _packed_lines(text, *_without_brackets(text, start, end))
    elif block.kind == "row":
        yield from trimmed(text, start, end)
    else:
        yield from _packed_lines(text, start, end)


def _whole_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences; one that says nothing alone ("Yes.") goes with the next."""
    waiting: int | None = None
    for first, last in sentences(text, start, end):
        begin = first if waiting is None else waiting
        waiting = begin if last - begin < _TOO_SHORT and last < end else None
        if waiting is None:
            yield begin, last


def _packed_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span, cut between lines into pieces of at most ``LONG`` characters where it is longer."""
    if end - start > LONG:
        breaks = [start, *(match.end() for match in re.finditer("\n", text[start:end])), end]
        breaks[1:-1] = [start + at for at in breaks[1:-1]]
        for line_start, line_end in pairwise(breaks):
            if line_end - start > LONG and line_start > start:
                yield from trimmed(text, start, line_start)
                start = line_start
    yield from trimmed(text, start, end)


def _without_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """The record's span without what parts it from others: commas, and brackets that it opens or closes alone."""
    span = text[start:end]
    first, last = 0, len(span)
    while first < last:
        balance = sum(span.count(c, first, last) for c in "[{") - sum(span.count(c, first, last) for c in "]}")
        if span[first] in ", \n\t" or (balance > 0 and span[first] in "[{"):
            first += 1
        elif span[last - 1] in ", \n\t" or (balance < 0 and span[last - 1] in "]}"):
            last -= 1
        else:
            break
    return start + first, start + last


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == "|":
        return [cell.strip() for cell in line.strip().strip("|").split("|")]
    records = list(csv.reader(line.splitlines(keepends=True), delimiter=delimiter))
    return [cell.strip() for cell in records[0]] if len(records) == 1 else []
