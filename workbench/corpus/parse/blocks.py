"""What all parsers share: lines with offsets, paragraphs, and the two ways to make blocks that keep the contract.

The contract of ``ParsedDocument.blocks``: in order, not overlapping, never empty, and only white space between them. A
parser that keeps the source text marks what it knows and lets ``cover`` do the rest; one that extracts text from
another format builds it with ``Writer``, which is right by construction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from workbench.records.corpus import Block, BlockKind

_SPACE: Final = re.compile(r"\s*")
_BLANK_LINES: Final = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_INDENTED_KINDS: Final = frozenset({"code", "definition", "list"})
_CLOSE_KINDS: Final = frozenset({"table", "row", "list"})


def stem(name: str) -> str:
    """The last part of a file's name without its extension: the title of a document that doesn't tell its own."""
    return PurePosixPath(name).stem or name


def line_starts(text: str) -> list[int]:
    """Offset of each line's first character, and ``len(text)`` at the end: line i is ``text[s[i]:s[i + 1]]``."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    return starts if starts[-1] == len(text) and len(starts) > 1 else [*starts, len(text)]


def paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of ``text[start:end]`` between blank lines, white space at their ends left out."""
    at = start
    for gap in _BLANK_LINES.finditer(text, start, end):
        yield from _trimmed(text, at, gap.start())
        at = gap.end()
    yield from _trimmed(text, at, end)


def cover(text: str, blocks: Iterable[Block], filler: BlockKind = "paragraph") -> tuple[Block, ...]:
    """``blocks`` made to keep the contract: sorted, trimmed, clipped where they overlap, and the gaps filled.

    Text that no block holds becomes blocks of kind ``filler``, one for each paragraph.
    """
    covered: list[Block] = []
    at = 0
    for block in sorted(blocks, key=lambda b: (b.start, -b.end)):
        for start, end in _trimmed(text, max(block.start, at), block.end, keep_indent=block.kind in _INDENTED_KINDS):
            covered.extend(Block(*span, kind=filler) for span in paragraphs(text, at, start))
            covered.append(replace(block, start=start, end=end))
            at = end
    covered.extend(Block(*span, kind=filler) for span in paragraphs(text, at, len(text)))
    return tuple(covered)


def _trimmed(text: str, start: int, end: int, *, keep_indent: bool = False) -> Iterator[tuple[int, int]]:
    """The span without white space at its ends (a first line keeps its indent if asked); nothing when it is blank."""
    space = _SPACE.match(text, start, max(start, end))
    first = space.end() if space else start
    if first >= end:
        return
    stop = first + len(text[first:end].rstrip())
    yield (max(start, text.rfind("\n", start, first) + 1) if keep_indent else first), stop


class Writer:
    """Builds the stored text of a format whose source is no plain text, block by block."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0

    def add(self, text: str, kind: BlockKind, *, level: int = 0, label: str = "", header: str = "") -> None:
        """Appends a block; blank text is left out. Rows and list items stand on neighbouring lines."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = text.rstrip().lstrip("\n") if kind in _INDENTED_KINDS else text.strip()
        if not text.strip():
            return
        if self._blocks:
            close = kind in _CLOSE_KINDS and self._blocks[-1].kind in _CLOSE_KINDS
            self._append("\n" if close else "\n\n")
        start = self._length
        self._append(text)
        self._blocks.append(Block(start, self._length, kind, level=level, label=label, header=header))

    def add_table(self, rows: Iterable[Iterable[str]], *, headed: bool) -> None:
        """Appends a table, one line for each row, cells parted by " | "; its first row is the header if ``headed``."""
        lines = (" | ".join(" ".join(cell.split()) for cell in row) for row in rows)
        header = ""
        for line in (line for line in lines if line.strip(" |")):
            if headed and not header:
                header = line.strip()
                self.add(line, "table")
            else:
                self.add(line, "row", header=header)

    def finish(self) -> tuple[str, tuple[Block, ...]]:
        """The text and its blocks."""
        return "".join(self._parts), tuple(self._blocks)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
