"""Loops: where a text began to say the same words over and over, as small models do when they are stuck."""

from __future__ import annotations

import re
from math import ceil
from typing import Final

from workbench.text.words import fold

_MARK: Final = re.compile(r"\[F\d+\]")
_WORD: Final = re.compile(r"\w+")
_PASSES: Final = 3
_WORDS: Final = 6  # that the passes have together: "no, no, no" is no loop yet


def without_loop(text: str) -> str:
    """``text`` up to the end of the first pass of the words that it ends in repeating; ``text`` itself when it doesn't.

    Words that differ in case, accents, punctuation or citation marks are the same. A loop is three passes in a row, of
    six words at least, at the end of the text.
    """
    spans = [match.span() for match in _WORD.finditer(_MARK.sub(lambda mark: " " * len(mark[0]), text))]
    said = [fold(text[start:end]) for start, end in spans]
    for length in range(1, len(said) // _PASSES + 1):
        passes = max(_PASSES, ceil(_WORDS / length))
        first = len(said) - passes * length
        if first < 0 or said[first:-length] != said[first + length :]:
            continue
        while first and said[first - 1] == said[first - 1 + length]:
            first -= 1
        return text[: spans[first + length][0]].rstrip()
    return text
