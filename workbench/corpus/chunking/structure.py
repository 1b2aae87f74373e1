"""The default recipe: blocks packed to a token budget along the document's own structure.

The rule, in order:

1. A block goes into the open chunk while it fits; a block larger than a chunk is cut (see ``oversize``).
2. A section (a heading with everything below it) that fits a chunk stays whole.
3. Any other heading opens a new chunk, unless the open chunk and the heading's section are both small (a quarter of
   the budget at most) and the heading isn't above the section in which the chunk began: small siblings share a chunk
   under their common parent.
4. A heading never ends a chunk when what follows it can be put, or cut to fit, behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.corpus.chunking.material import Material, shows_header
from workbench.corpus.chunking.oversize import split as split_oversize
from workbench.records.corpus import Block, BlockKind, Span


def split(material: Material) -> list[Span]:
    """The whole document."""
    return pack(material, material.blocks)


def pack(material: Material, blocks: Sequence[Block]) -> list[Span]:
    """Chunks of consecutive ``blocks``, by the rule above."""
    packer = _Packer(material)
    for block, section_end in zip(blocks, _section_ends(blocks), strict=True):
        if block.kind == "heading":
            packer.enter_section(block, section_end)
        packer.add(block)
    packer.close()
    return packer.spans


def _section_ends(blocks: Sequence[Block]) -> list[int]:
    """For each heading, where its section ends: at the next heading of its level or above. 0 for other blocks."""
    ends = [0] * len(blocks)
    open_headings: list[int] = []
    for i, block in enumerate(blocks):
        if block.kind == "heading":
            while open_headings and blocks[open_headings[-1]].level >= block.level:
                ends[open_headings.pop()] = blocks[i - 1].end
            open_headings.append(i)
    for i in open_headings:
        ends[i] = blocks[-1].end
    return ends


class _Packer:
    """The open chunk ``text[start:end]`` and those already closed."""

    def __init__(self, material: Material) -> None:
        self.spans: list[Span] = []
        self._material = material
        self._start = self._end = 0
        self._header = ""
        self._kind: BlockKind = "heading"
        self._level = 0  # of the section in which the open chunk began
        self._section_level = 0  # of the section that the last block stands in
        self._whole_until = 0  # the end of the section that the open chunk keeps whole

    @property
    def _is_open(self) -> bool:
        return self._end > self._start

    @property
    def _only_headings(self) -> bool:
        return self._is_open and self._kind == "heading"

    def enter_section(self, heading: Block, section_end: int) -> None:
        """Closes the open chunk when the section that ``heading`` opens shouldn't share it."""
        self._section_level = heading.level
        if not (self._only_headings or self._shares(heading, section_end)):
            self.close()
        if not self._is_open:
            self._level = heading.level
        start = self._start if self._is_open else heading.start
        if self._fits(start, section_end):
            self._whole_until = max(self._whole_until, section_end)

    def _shares(self, heading: Block, section_end: int) -> bool:
        if section_end <= self._whole_until:
            return True
        small = self._material.budget() // 4
        count = self._material.tokens.count
        return (
            heading.level >= self._level
            and count(self._start, self._end) <= small
            and count(heading.start, section_end) <= small
        )

    def add(self, block: Block) -> None:
        """Puts the block into the open chunk, or closes that and opens the next."""
        header = self._material.header_for(block)
        if self._is_open and self._takes_header(header) and self._fits(self._start, block.end, header):
            self._extend(block.start, block.end, block.kind, header)
            return
        if self._only_headings:
            start, self._end = self._start, self._start
        else:
            self.close()
            start = block.start
        *full, last = split_oversize(self._material, block.kind, start, block.end, self._material.budget(header))
        for a, b in full:
            self._extend(a, b, "heading" if b <= block.start else block.kind, header)
            self.close()
        self._extend(*last, block.kind, header)

    def _takes_header(self, header: str) -> bool:
        if header in ("", self._header):
            return True
        return self._only_headings or shows_header(self._material.text[self._start : self._end], header)

    def _fits(self, start: int, end: int, header: str = "") -> bool:
        return self._material.tokens.count(start, end) <= self._material.budget(self._header or header)

    def _extend(self, start: int, end: int, kind: BlockKind, header: str) -> None:
        if not self._is_open:
            self._start, self._kind = start, kind
            self._level = self._section_level
        elif self._kind == "heading":
            self._kind = kind
        self._header = self._header or header
        self._end = end

    def close(self) -> None:
        """Ends the open chunk, if there is one."""
        if self._is_open:
            self.spans.append(Span(self._start, self._end, self._header, self._kind))
        self._start = self._end
        self._header, self._kind = "", "heading"
