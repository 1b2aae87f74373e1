"""What a splitter works on: the text with its blocks, where its tokens lie, and the budget of a chunk."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from workbench.ports import Tokenizer, Vector
from workbench.records.corpus import Block, ParsedDocument, Recipe
from workbench.text.sentences import trimmed

Similarity: TypeAlias = Callable[[Sequence[str]], Sequence[Vector]]


class TokenIndex:
    """Where each token of a text starts: one pass of the tokenizer, then any span is counted by binary search."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._text = text
        self.offsets = tokenizer.offsets(text)
        self._starts = [start for start, _ in self.offsets]
        self.header_cost = lru_cache(maxsize=64)(tokenizer.count)

    def count(self, start: int, end: int) -> int:
        """Tokens of ``text[start:end]`` when it stands alone: a span that begins inside a word may cost one more."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start) + self._inside_word(start)

    def fit(self, start: int, budget: int) -> int:
        """The largest end for which ``count(start, end) <= budget``, at least one character on."""
        last = bisect_left(self._starts, start) + max(budget - self._inside_word(start), 0)
        end = self._starts[last] if last < len(self._starts) else len(self._text)
        return max(end, start + 1)

    def _inside_word(self, start: int) -> int:
        return int(start > 0 and not self._text[start - 1].isspace())


@dataclass(frozen=True, slots=True)
class Material:
    """A document ready to be cut.

    Attributes:
        blocks: in order; together they hold every character that isn't white space.
        overhead: tokens the embedder adds to every text (prefix and special tokens).
    """

    text: str
    blocks: tuple[Block, ...]
    recipe: Recipe
    tokens: TokenIndex
    overhead: int = 0
    similarity: Similarity | None = None

    def header_for(self, block: Block) -> str:
        """The block's header; "" when repeating it would take more than half of a chunk."""
        return block.header if 2 * self.tokens.header_cost(block.header) <= self.recipe.size - self.overhead else ""

    def budget(self, header: str = "") -> int:
        """Tokens left for text in a chunk with that header, so that the embedder sees all of it."""
        spent = self.overhead + (self.tokens.header_cost(header) if header else 0)
        return max(self.recipe.size - spent, 1)

    def between(self, start: int, end: int) -> tuple[Block, ...]:
        """The blocks of ``text[start:end]``, those at its edges clipped to it."""
        first = bisect_right(self.blocks, start, key=lambda block: block.end)
        last = bisect_left(self.blocks, end, key=lambda block: block.start)
        return tuple(
            replace(block, start=max(block.start, start), end=min(block.end, end)) for block in self.blocks[first:last]
        )


def shows_header(text: str, header: str) -> bool:
    """Whether the header's lines stand in ``text`` already, as whole lines."""
    return f"\n{header}\n" in f"\n{text}\n"


def material_of(
    parsed: ParsedDocument, recipe: Recipe, tokenizer: Tokenizer, overhead: int, similarity: Similarity | None
) -> Material:
    """Reads the document's tokens once."""
    return Material(parsed.text, _all_blocks(parsed), recipe, TokenIndex(parsed.text, tokenizer), overhead, similarity)


def _all_blocks(parsed: ParsedDocument) -> tuple[Block, ...]:
    """The parser's blocks without outer white space, and a paragraph for any text that none of them holds."""
    found: list[Block] = []
    position = 0
    for block in parsed.blocks:
        found += [Block(a, b, "paragraph") for a, b in trimmed(parsed.text, position, block.start)]
        found += [
            replace(block, start=a, end=b) for a, b in trimmed(parsed.text, max(position, block.start), block.end)
        ]
        position = max(position, block.end)
    found += [Block(a, b, "paragraph") for a, b in trimmed(parsed.text, position, len(parsed.text))]
    return tuple(found)
