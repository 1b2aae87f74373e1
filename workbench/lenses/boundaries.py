"""What the cuts between a document's chunks take apart.

The rules, so that a flag means a loss:

- A cut is the end of a chunk that has another one behind it. What goes over it counts as taken apart only when the next
  chunk hasn't got it from its beginning: an overlap mends a cut, and so does a parent section that is delivered.
- Sentences are looked for inside the block that is cut (a paragraph, list item, quote, table cell or the like): between
  two blocks no sentence goes on.
- A list is a run of list items, a table a run of rows with the same header. Cut between two items or rows, what is
  longer than a chunk is a note and no warning, as no cut could keep it whole; a table's header must be repeated.
- Lines without a stop at their end (a diagram's source, a form) are no sentence: between two lines nothing is lost.
- White space, and stretches without a letter or digit, aren't missed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from workbench.corpus.chunking.material import shows_header
from workbench.records.corpus import Block, BlockKind, Chunk, ParsedDocument, Recipe
from workbench.records.lenses import Flag, FlagKind, Weight
from workbench.text.sentences import sentences

_PROSE: Final[frozenset[BlockKind]] = frozenset({"paragraph", "list", "quote", "record"})
_CODE: Final[frozenset[BlockKind]] = frozenset({"code", "definition"})
_RUNS: Final[frozenset[BlockKind]] = frozenset({"list", "row", "table"})
_LONGEST_SENTENCE: Final = 2_000
"""Characters: what goes on for longer without a stop is no sentence but a listing, and any cut is as good."""
_STOP: Final = re.compile(r"[.!?…。！？｡]\W*\Z")


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where a chunk ends and the next one begins; an overlap begins before the end."""

    before: Chunk
    behind: Chunk

    @property
    def at(self) -> int:
        return self.before.end

    def takes_apart(self, start: int, end: int) -> bool:
        """Whether a span lies on both sides, and neither the next chunk nor what is delivered has it whole."""
        if not (start < self.at < end and start < self.behind.start):
            return False
        parents = ((c.parent_start, c.parent_end) for c in (self.before, self.behind))
        return not any(a is not None and b is not None and a <= start and end <= b for a, b in parents)


def overlaps(chunks: Sequence[Chunk]) -> tuple[int, ...]:
    """For each chunk, how many characters at its beginning the chunk before it has too."""
    shared = (min(max(0, a.end - b.start), len(b.text)) for a, b in pairwise(chunks))
    return (0, *shared) if chunks else ()


def find_flags(parsed: ParsedDocument, chunks: Sequence[Chunk], recipe: Recipe) -> tuple[Flag, ...]:
    """Everything that is taken apart between ``chunks``, which are all of the document's, in order."""
    found = _Finder(parsed, recipe)
    return tuple(flag for before, behind in pairwise(chunks) for flag in found.flags(_Cut(before, behind)))


class _Finder:
    """Looks at the cuts of one document."""

    def __init__(self, parsed: ParsedDocument, recipe: Recipe) -> None:
        self._text, self._blocks, self._recipe = parsed.text, parsed.blocks, recipe
        self._starts = [block.start for block in parsed.blocks]
        self._ends = [block.end for block in parsed.blocks]
        self._runs: dict[int, tuple[int, int]] = {}

    def flags(self, cut: _Cut) -> Iterator[Flag]:
        place = bisect_left(self._starts, cut.at) - 1
        if place < 0:
            return
        block = self._blocks[place]
        if block.end > cut.at:
            yield from self._inside(cut, block)
        elif block.kind == "heading":
            yield from self._lone_heading(cut, block)
        if block.kind in _RUNS:
            yield from self._run(cut, place)

    def _inside(self, cut: _Cut, block: Block) -> Iterator[Flag]:
        """The cut goes through ``block`` itself."""
        if block.kind in _CODE:
            if cut.takes_apart(block.start, block.end):
                yield self._flag(cut, "code", block.start, block.end)
        elif block.kind in _PROSE:
            yield from self._sentence(cut, block)

    def _sentence(self, cut: _Cut, block: Block) -> Iterator[Flag]:
        start, end = max(block.start, cut.at - _LONGEST_SENTENCE), min(block.end, cut.at + _LONGEST_SENTENCE)
        for first, last in sentences(self._text, start, end):
            if first >= cut.at:
                return
            clipped = (first == start > block.start) or (last == end < block.end)
            listing = self._at_line(cut) and not _STOP.search(self._text, max(first, last - 8), last)
            if clipped or listing or not cut.takes_apart(first, last):
                continue
            if self._says(first, cut.at) and self._says(cut.at, last):
                yield self._flag(cut, "sentence", first, last)

    def _says(self, start: int, end: int) -> bool:
        return any(map(str.isalnum, self._text[start:end]))

    def _lone_heading(self, cut: _Cut, heading: Block) -> Iterator[Flag]:
        """A heading ends the chunk, and what it is over is behind the cut; of several, the one that is highest up."""
        if heading.start < cut.before.start or not cut.takes_apart(heading.start, self._next_end(cut.at)):
            return
        first = bisect_right(self._ends, cut.before.start)
        last = bisect_left(self._starts, cut.at)
        run = last
        while run > first and self._blocks[run - 1].kind == "heading":
            run -= 1
        yield self._flag(cut, "heading", self._blocks[run].start, heading.end)

    def _next_end(self, at: int) -> int:
        place = bisect_left(self._starts, at)
        return self._ends[place] if place < len(self._ends) else at

    def _run(self, cut: _Cut, place: int) -> Iterator[Flag]:
        """A list or a table goes on behind the cut."""
        first, last = self._run_around(place)
        start, end = self._starts[first], self._ends[last]
        if not cut.takes_apart(start, end):
            return
        block = self._blocks[place]
        if block.kind == "list":
            yield self._flag(cut, "list", start, end, self._weight(cut, start, end, cut_well=block.end <= cut.at))
            return
        header = self._header_of(first, last)
        repeated = header != "" and (cut.behind.header == header or shows_header(cut.behind.text, header))
        if header and not repeated and self._rows_behind(cut, last):
            yield self._flag(cut, "header", start, end)
            return
        whole_row = block.end <= cut.at or self._at_line(cut)
        yield self._flag(cut, "table", start, end, self._weight(cut, start, end, cut_well=whole_row))

    def _run_around(self, place: int) -> tuple[int, int]:
        """Places of the first and the last block of the list or table that the block at ``place`` is of."""
        if place not in self._runs:  # looked for once, however many cuts a long table has
            first = last = place
            while first and self._joined(first - 1):
                first -= 1
            while last + 1 < len(self._blocks) and self._joined(last):
                last += 1
            self._runs |= dict.fromkeys(range(first, last + 1), (first, last))
        return self._runs[place]

    def _joined(self, place: int) -> bool:
        """Whether the block at ``place`` and the next one are of one list, or of one table."""
        a, b = self._blocks[place], self._blocks[place + 1]
        if a.kind == b.kind == "list":
            return self._text[a.end : b.start].count("\n") < 2
        if b.kind != "row":
            return False
        return (a.kind == "row" and a.header == b.header) or (a.kind == "table" and self._of(a) == b.header)

    def _header_of(self, first: int, last: int) -> str:
        """The rows' header; of a table that is one block, its first line where a line of dashes below makes it one."""
        block = self._blocks[last]
        if block.header or block.kind != "table" or first < last:
            return block.header
        top, _, rest = self._of(block).partition("\n")
        rule = rest.partition("\n")[0]
        return f"{top}\n{rule}" if rule.strip() and not any(map(str.isalnum, rule)) else ""

    def _of(self, block: Block) -> str:
        return self._text[block.start : block.end]

    def _rows_behind(self, cut: _Cut, last: int) -> bool:
        return self._says(max(cut.at, cut.behind.start), min(self._ends[last], cut.behind.end))

    def _at_line(self, cut: _Cut) -> bool:
        """Whether the chunk ends where a line does."""
        rest = self._text[cut.at : cut.at + 80]
        return rest[: len(rest) - len(rest.lstrip())].find("\n") >= 0

    def _weight(self, cut: _Cut, start: int, end: int, *, cut_well: bool) -> Weight:
        """A note when the run is longer than a chunk may be and was cut between its parts."""
        density = (cut.before.tokens + cut.behind.tokens) / max(1, len(cut.before.text) + len(cut.behind.text))
        return "note" if cut_well and (end - start) * density > self._recipe.size else "warning"

    def _flag(self, cut: _Cut, kind: FlagKind, start: int, end: int, weight: Weight = "warning") -> Flag:
        before = cut.before
        return Flag(
            kind, before.id, cut.behind.id, before.document_id, before.source_id, before.ordinal, start, end, weight
        )
