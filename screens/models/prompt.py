"""The prompt as it is sent: as text with its special tokens lit, or token by token with their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from screens.style import Line, Tone, content, count
from workbench.i18n import tr
from workbench.records.playground import Token

MOST: Final = 1_500
"""Tokens shown; of a longer prompt its beginning and its end."""


def prompt_content(tokens: Sequence[Token], *, ids: bool) -> Content:
    """The tokens as running text, or one by one with their ids."""
    half = MOST // 2
    if len(tokens) <= MOST:
        return content(*_lines(tokens, ids))
    left_out = tr("… {count} tokens are not shown …", count=count(len(tokens) - MOST))
    gap: Line = (f"\n{left_out}\n", Tone.DIM)
    return content(*_lines(tokens[:half], ids), gap, *_lines(tokens[-half:], ids))


def _lines(tokens: Sequence[Token], ids: bool) -> list[Line]:
    if not ids:
        return [(token.text, Tone.ACCENT) if token.special else token.text for token in tokens]
    lines: list[Line] = []
    for token in tokens:
        shown = token.text.replace("\n", "⏎").replace(" ", "·")
        lines += [(str(token.id), Tone.DIM), " ", (shown, Tone.ACCENT if token.special else Tone.PLAIN), "  "]
    return lines
