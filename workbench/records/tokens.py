"""Texts as tokenizers cut them, what a window is divided into, and what keeps a prompt out of a cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

CutKind: TypeAlias = Literal["model", "encoding", "embedder"]
"""The loaded model's own tokenizer; a public encoding, an estimate for any local model; the embedder's."""
KINDS: Final[tuple[CutKind, ...]] = get_args(CutKind)


@dataclass(frozen=True, slots=True)
class Piece:
    """A token: what it adds to the text, and its number where the tokenizer tells it.

    ``text`` of bytes that are no whole character reads ``\\xf0``.
    """

    text: str
    id: int | None = None
    special: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """A text under one tokenizer.

    Attributes:
        told: False of a served model whose server doesn't tell its tokens: there are no pieces, and no count.
    """

    tokenizer: str
    kind: CutKind
    pieces: tuple[Piece, ...]
    told: bool = True

    @property
    def count(self) -> int:
        """Tokens."""
        return len(self.pieces)


PARTS: Final = ("instructions", "history", "documents", "tools", "question", "output")
"""What shares a window."""


@dataclass(frozen=True, slots=True)
class WindowBudget:
    """Tokens that each part of a call may take; together with the reserved output at most ``window``.

    Attributes:
        estimated: of a call whose server counts no tokens: the parts are estimates.
        assumed: of a call whose server doesn't tell its context: the window is an assumption.
    """

    window: int
    instructions: int = 0
    history: int = 0
    documents: int = 0
    tools: int = 0
    question: int = 0
    output: int = 0
    estimated: bool = False
    assumed: bool = False

    @property
    def input(self) -> int:
        """All that is sent."""
        return self.instructions + self.history + self.documents + self.tools + self.question

    @property
    def total(self) -> int:
        """T = T_in + T_out."""
        return self.input + self.output

    @property
    def left(self) -> int:
        """What is free; negative when it doesn't fit."""
        return self.window - self.total

    @property
    def fits(self) -> bool:
        """T_in + T_out ≤ W."""
        return self.left >= 0

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """Name and tokens of each part, the window left out."""
        return tuple((name, getattr(self, name)) for name in PARTS)


BreakKind: TypeAlias = Literal["time", "key_order", "moved", "changed"]


@dataclass(frozen=True, slots=True)
class CacheBreak:
    """Why two prompts stop being the same before they have to.

    Attributes:
        kind: a date or time that was written in; an object with the same content under keys in another order; lines
            that moved; other text.
        line: in the second prompt, from 1.
    """

    kind: BreakKind
    line: int
    excerpt: str


@dataclass(frozen=True, slots=True)
class PrefixReport:
    """How much of the second prompt a prefix cache serves when the first one has just been read.

    Attributes:
        tokens: of the second prompt; ``shared``: those of its beginning that are the same.
        line, column: of the first difference in the second prompt, from 1; 0 when there is none.
        before, after: what stands there in the first and in the second prompt.
        again: tokens after the difference in lines that the first prompt has too: read again for nothing.
        breaks: what broke the prefix, in the order of the lines.
    """

    tokenizer: str
    tokens: int
    shared: int
    line: int
    column: int
    before: str
    after: str
    again: int
    breaks: tuple[CacheBreak, ...]

    @property
    def hit(self) -> float:
        """H of the second call: shared tokens / its tokens."""
        return self.shared / self.tokens if self.tokens else 1.0

    @property
    def lost(self) -> int:
        """Tokens from the first difference on: no cache serves them."""
        return self.tokens - self.shared
