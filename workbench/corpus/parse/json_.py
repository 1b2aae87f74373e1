"""JSON and JSON Lines: the source text is kept; array elements, object members and lines are records.

One thing is changed: letters written as ``\\u00e1`` are stored as letters, or no search would find their words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from workbench.corpus.parse.blocks import cover, line_starts, stem
from workbench.corpus.parse.decoding import decode
from workbench.errors import DocumentError, reason_of
from workbench.i18n import tr
from workbench.records.corpus import Block, ParsedDocument

# An element longer than this (characters) that has parts becomes several records: no chunk holds it whole.
_LARGE: Final = 2_000
_DEEPEST: Final = 8  # levels that are parted: each one reads its text again
_ESCAPES: Final = re.compile(r"((?:\\u[0-9a-fA-F]{4})+)|\\.")
_SPACE: Final = re.compile(r"\s*")
_NAMED: Final = 5  # line numbers that a warning names
# Numbers stay text: nothing here needs their value, and Python refuses to read very long ones.
_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str)


def parse(data: bytes, name: str) -> ParsedDocument:
    """One JSON value; a file of one value per line is read as JSON Lines whatever its name says.

    Raises:
        DocumentError: not JSON, nested too deeply, empty, binary, or badly encoded.
    """
    source, warnings = decode(data)
    text = _unescaped(source)
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, ValueError) and _is_lines(text):
            return parse_lines(data, name)
        raise _not_json(error) from error
    start = _skip_space(text, 0)
    blocks = cover(text, _absorb_separators(text, list(_records(text, start, ""))), filler="record")
    title = value.get("title") if isinstance(value, dict) else None
    title = title if isinstance(title, str) and title.strip() else stem(name)
    return ParsedDocument(text, title, "application/json", blocks, warnings=warnings)


def parse_lines(data: bytes, name: str) -> ParsedDocument:
    """JSON Lines: one record a line. Lines that aren't JSON are named in a warning and kept as text.

    Raises:
        DocumentError: no line is JSON, empty, binary, or badly encoded.
    """
    source, warnings = decode(data)
    text = _unescaped(source)
    starts = line_starts(text)
    blocks: list[Block] = []
    bad: list[str] = []
    for number, (start, end) in enumerate(pairwise(starts), 1):
        line = text[start:end].strip()
        if line and _is_json(line):
            blocks.append(Block(start, end, "record"))
        elif line:
            bad.append(str(number))
    if not blocks:
        raise _not_json(None)
    if bad:
        named = ", ".join(bad[:_NAMED]) + (", …" if len(bad) > _NAMED else "")
        warnings = (*warnings, tr("Lines that are not JSON: {count} (line {lines}).", count=len(bad), lines=named))
    return ParsedDocument(text, stem(name), "application/x-ndjson", cover(text, blocks), warnings=warnings)


def _unescaped(source: str) -> str:
    """The same JSON with ``\\u`` escapes resolved, but for quotes, backslashes, controls and lone surrogates."""

    def written(found: re.Match[str]) -> str:
        if not found[1]:
            return found[0]
        characters = json.loads(f'"{found[1]}"')
        return "".join(c if c.isprintable() and c not in '"\\' else json.dumps(c)[1:-1] for c in characters)

    return _ESCAPES.sub(written, source)


def _not_json(error: Exception | None) -> DocumentError:
    if isinstance(error, json.JSONDecodeError):
        reason = reason_of(error)
    else:
        reason = tr("it is nested too deeply") if isinstance(error, RecursionError) else tr("no line is JSON")
    return DocumentError(
        tr("Not valid JSON"),
        tr("It can't be read as JSON: {reason}.", reason=reason),
        tr("Correct the file; to index it as it is, give it the extension .txt."),
    )


def _is_json(text: str) -> bool:
    try:
        _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_lines(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and all(map(_is_json, lines))


def _records(text: str, start: int, label: str, depth: int = 0) -> Iterator[Block]:
    """The value at ``start`` (its text is valid) as records: itself, or its parts when it is the whole or large."""
    _, end = _DECODER.raw_decode(text, start)
    is_parted = depth == 0 or (end - start > _LARGE and depth < _DEEPEST)
    if text[start] not in "[{" or not is_parted or text[_skip_space(text, start + 1)] in "]}":
        yield Block(start, end, "record", label=label)
        return
    for part_start, value_start, name in _parts(text, start):
        first, *rest = _records(text, value_start, label + name if depth else name.lstrip("."), depth + 1)
        yield replace(first, start=part_start)
        yield from rest


def _parts(text: str, start: int) -> Iterator[tuple[int, int, str]]:
    """Elements or members of the container at ``start``: its start, its value's, and ``[0]`` or ``.key``."""
    is_object = text[start] == "{"
    at = _skip_space(text, start + 1)
    index = 0
    while text[at] not in "]}":
        part_start, name = at, f"[{index}]"
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip_space(text, _skip_space(text, at) + 1)  # over the colon
            name = f".{key}"
        yield part_start, at, name
        _, at = _DECODER.raw_decode(text, at)
        at = _skip_space(text, at)
        if text[at] == ",":
            at = _skip_space(text, at + 1)
        index += 1


def _absorb_separators(text: str, records: list[Block]) -> Iterator[Block]:
    """Brackets and commas between records belong to the record before them, those that open the whole to the first."""
    for i, record in enumerate(records):
        end = records[i + 1].start if i + 1 < len(records) else len(text)
        yield replace(record, start=0 if i == 0 else record.start, end=end)


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
