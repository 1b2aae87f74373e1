"""Text made safe to show: characters that act on a terminal, or hide, become characters that are seen."""

from __future__ import annotations

import unicodedata
from typing import Final

_TAB: Final = "    "
_DELETE: Final = 0x7F


class _Visible(dict[int, str]):
    """What ``str.translate`` asks for each character, worked out the first time it is met."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = _visible(code)
        return shown


def _visible(code: int) -> str:
    character = chr(code)
    if code < 0x20:
        return chr(0x2400 + code)  # the Control Pictures block, in the same order: ESC is ␛
    if code == _DELETE:
        return "␡"
    # Cc: C1 controls. Cf: bidirectional marks, zero-width characters. Cs: lone surrogates. Zl, Zp: line separators.
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return f"‹U+{code:04X}›"
    return character


_WITH_NEWLINES: Final = _Visible({ord("\n"): "\n", ord("\t"): _TAB})
_ONE_LINE: Final = _Visible({ord("\t"): _TAB})


def printable(text: str, *, newlines: bool = True) -> str:
    """``text`` with nothing in it that a terminal would act on or that can't be seen.

    C0 controls become their pictures (ESC → ␛), DEL ␡; C1 controls, bidirectional overrides, zero-width characters,
    line separators and lone surrogates become ``‹U+202E›``; a tab becomes four spaces. Lengths change: slice first.

    Args:
        newlines: keep ``\\n``; otherwise it becomes ␊ and the result is one line.
    """
    return text.translate(_WITH_NEWLINES if newlines else _ONE_LINE)
