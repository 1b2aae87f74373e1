"""Where in a document a span stands: under which headings, on which page."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from workbench.records.corpus import Block, Page, ParsedDocument


class Places:
    """The blocks, headings and pages of one document. All positions are offsets into its source ``text``."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self.text = parsed.text
        self._blocks = parsed.blocks
        self._pages = parsed.pages
        self._starts: list[int] = []
        self._paths: list[tuple[str, ...]] = []
        self._is_heading: list[bool] = []
        open_headings: list[tuple[int, str]] = []
        for block in parsed.blocks:
            if block.kind == "heading":
                open_headings = [h for h in open_headings if h[0] < block.level]
                open_headings.append((block.level, block.label or parsed.text[block.start : block.end].strip("# \n")))
            self._starts.append(block.start)
            self._paths.append(tuple(label for _, label in open_headings))
            self._is_heading.append(block.kind == "heading")

    def blocks(self, start: int, end: int) -> Sequence[Block]:
        """The blocks that ``text[start:end]`` reaches into, in order."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        reached = self._blocks[first : bisect_left(self._starts, end)]
        return [block for block in reached if block.end > start]

    def heading(self, start: int, end: int) -> tuple[str, ...]:
        """The headings that all of ``text[start:end]`` stands under, outermost first; its own leading ones count."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_right(self._starts, end - 1)
        within = [self._paths[i] for i in range(first, last) if not self._is_heading[i]]
        return _common_start(within) if within else self._paths[last - 1] if last else ()

    def page(self, position: int) -> Page | None:
        """The last page that starts at or before ``position``; None for a source without pages."""
        i = bisect_right(self._pages, position, key=lambda page: page.start)
        return self._pages[max(i - 1, 0)] if self._pages else None


def _common_start(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The longest path that all of ``paths`` start with; the extremes of their order tell."""
    low, high = min(paths), max(paths)
    depth = next((i for i, pair in enumerate(zip(low, high, strict=False)) if pair[0] != pair[1]), len(low))
    return low[:depth]
