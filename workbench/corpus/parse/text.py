"""Plain text: paragraphs between blank lines, and lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from workbench.corpus.parse.blocks import cover, paragraphs, stem
from workbench.corpus.parse.decoding import decode
from workbench.records.corpus import Block, ParsedDocument

_ITEM: Final = re.compile(r"^([^\S\n]*)(?:[-*+•·–‣▪]|\(?(?:\d{1,3}|[A-Za-z])[.)])[^\S\n]+\S", re.MULTILINE)


def parse(data: bytes, name: str) -> ParsedDocument:
    """Plain text, and any source of a format that isn't known.

    Raises:
        DocumentError: empty, binary, or badly encoded.
    """
    text, warnings = decode(data)
    blocks = cover(text, prose(text, 0, len(text)))
    return ParsedDocument(text, stem(name), "text/plain", blocks, warnings=warnings)


def prose(text: str, start: int, end: int) -> Iterator[Block]:
    """The paragraphs of ``text[start:end]``, and its lists: one block for each outermost item."""
    for first, last in paragraphs(text, start, end):
        items = _items(text, first, last)
        if not items or items[0] > first:
            yield Block(first, items[0] if items else last, "paragraph")
        for item, following in pairwise([*items, last]):
            yield Block(item, following, "list", level=1)


def _items(text: str, start: int, end: int) -> list[int]:
    """Where the outermost list items of a paragraph begin.

    A single marker in the middle of a paragraph is a wrapped line that happens to begin with a dash or a number.
    """
    line_start = text.rfind("\n", 0, start) + 1  # the first line's indent lies before the trimmed paragraph
    found = list(_ITEM.finditer(text, line_start, end))
    if not found:
        return []
    outermost = min(len(match[1]) for match in found)
    items = [max(start, match.start()) for match in found if len(match[1]) == outermost]
    return items if items[0] == start or len(items) > 1 else []
