"""Sliding windows of ``w`` tokens that overlap by ``o``, blind to the text's structure."""

from __future__ import annotations

from math import ceil

from workbench.corpus.chunking.material import Material
from workbench.records.corpus import Span


def window_count(length: int, size: int, overlap: int) -> int:
    """Windows that cover ``length`` tokens: n = 1 + ⌈max(0, L − w) / (w − o)⌉; 2,400 / 350 / 60 gives 9."""
    return 1 + ceil(max(0, length - size) / (size - overlap))


def split(material: Material) -> list[Span]:
    """Window i holds the tokens from i·(w − o) to i·(w − o) + w, where w is exactly the recipe's size.

    Unlike the other recipes' budget, w counts the text's tokens alone, so that the formula holds: the header of a table
    whose rows a window begins with comes on top.
    """
    offsets = material.tokens.offsets
    size, overlap = material.recipe.size, material.recipe.overlap
    spans: list[Span] = []
    for i in range(window_count(len(offsets), size, overlap)):
        first, last = i * (size - overlap), i * (size - overlap) + size
        start = offsets[first][0] if first else 0
        end = max(offsets[last][0], offsets[last - 1][1]) if last < len(offsets) else len(material.text)
        reached = material.between(start, end)
        spans.append(Span(start, end, material.header_for(reached[0]) if reached else ""))
    return spans
