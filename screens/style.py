"""Words, numbers and marks as the screens write them, and pieces of styled text that are never parsed as markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from rich.style import Style
from rich.text import Text
from textual.content import Content

from workbench.records.answers import SupportLevel
from workbench.text.clean import printable

Tone: TypeAlias = str
"""One of the keys of ``TONES``: what a piece of text says, not which colour it has."""
Piece: TypeAlias = str | tuple[str, Tone]
Line: TypeAlias = Piece | tuple[Piece, ...]

TONES: Final[dict[Tone, str]] = {
    "": "",
    "dim": "$quiet",
    "accent": "$accent",
    "strong": "bold",
    "good": "$success",
    "warn": "$warning",
    "bad": "$error",
    "lit": "$on-lit on $lit",
}
"""Tone → Textual style."""

SUPPORT: Final[dict[SupportLevel, tuple[str, Tone]]] = {
    "supported": ("✓", "good"),
    "weak": ("~", "warn"),
    "unsupported": ("✗", "bad"),
    "uncited": ("✗", "bad"),
}
"""How well a claim is supported → its mark and tone."""

_EIGHTHS: Final = "▁▂▃▄▅▆▇█"


def pieces(line: Line) -> tuple[Piece, ...]:
    """A line as a tuple of pieces; a lone piece (a string, or text with a tone) is a line of one."""
    if isinstance(line, str):
        return (line,)
    if len(line) == 2 and isinstance(line[1], str) and line[1] in TONES and isinstance(line[0], str):
        return ((line[0], line[1]),)
    return tuple(line)  # type: ignore[arg-type]  # what is left of the union is a tuple of pieces


def content(*parts: Line) -> Content:
    """Lines joined, for a Static: every text made printable, none read as markup."""
    flat = [p for part in parts for p in pieces(part)]
    return Content.assemble(
        *(printable(p) if isinstance(p, str) else (printable(p[0]), TONES[p[1]]) for p in flat),
        strip_control_codes=False,
    )


def text(line: Line, styles: dict[Tone, Style]) -> Text:
    """A line as one row of a table draws it, with the theme's ``styles``."""
    made = Text(no_wrap=True, end="")
    for piece in pieces(line):
        words, tone = (piece, "") if isinstance(piece, str) else piece
        made.append(printable(words, newlines=False), styles.get(tone))
    return made


def plain(line: Line) -> str:
    """The characters of a line without their tones."""
    return "".join(p if isinstance(p, str) else p[0] for p in pieces(line))


def count(number: int) -> str:
    """1412 → "1,412"."""
    return f"{number:,}"


def size(octets: int) -> str:
    """Bytes in binary units: "94 MiB", "1.05 GiB"."""
    if octets >= 1 << 30:
        return f"{octets / (1 << 30):.2f} GiB"
    if octets >= 1 << 20:
        return f"{octets / (1 << 20):.0f} MiB"
    return f"{octets / 1024:.0f} KiB"


def parameters(number: int) -> str:
    """134515008 → "134.5 M"."""
    if number >= 1_000_000_000:
        return f"{number / 1e9:.2f} G"
    return f"{number / 1e6:.1f} M" if number else "–"


def duration(seconds: float) -> str:
    """Seconds as "0:07", "2:10" or "1:02:10"."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def milliseconds(value: float) -> str:
    """Enough digits to tell, no more: "0.3", "14", "1,204"."""
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def bar(fraction: float, width: int) -> str:
    """A horizontal bar of ``width`` cells."""
    filled = round(max(0.0, min(1.0, fraction)) * width)
    return "▓" * filled + "░" * (width - filled)


def gauge(fraction: float) -> str:
    """One cell that fills from below."""
    return _EIGHTHS[min(7, max(0, int(fraction * 8)))]


def shorten(words: str, width: int) -> str:
    """``words`` in at most ``width`` characters, the end cut with an ellipsis."""
    return words if len(words) <= width else words[: max(0, width - 1)] + "…"


def place(heading: Sequence[str], page_label: str = "", page: int | None = None) -> str:
    """Where a chunk stands: its innermost heading and its page, "" when neither is known."""
    leaf = heading[-1] if heading else ""
    shown = page_label or (str(page) if page is not None else "")
    return " ".join(p for p in (leaf, f"p.{shown}" if shown else "") if p)
