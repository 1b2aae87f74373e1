"""Words, numbers and marks as the screens write them, and pieces of styled text that are never parsed as markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from rich.style import Style
from rich.text import Text
from textual.content import Content

from workbench.records.answers import SupportLevel
from workbench.text.clean import printable


class Tone(StrEnum):
    """What a piece of text says, not which colour it has; the value names the style in a table's tcss."""

    PLAIN = ""
    DIM = "dim"
    ACCENT = "accent"
    STRONG = "strong"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


Piece: TypeAlias = str | tuple[str, Tone]
Line: TypeAlias = "Piece | tuple[Line, ...]"
"""Text with tones: never parsed as markup, made printable where it is drawn."""

TONES: Final[dict[Tone, str]] = {
    Tone.PLAIN: "",
    Tone.DIM: "$quiet",
    Tone.ACCENT: "$accent",
    Tone.STRONG: "bold",
    Tone.GOOD: "$success",
    Tone.WARN: "$warning",
    Tone.BAD: "$error",
}
"""Tone → Textual style."""

SUPPORT: Final[dict[SupportLevel, tuple[str, Tone]]] = {
    "supported": ("✓", Tone.GOOD),
    "weak": ("~", Tone.WARN),
    "unsupported": ("✗", Tone.BAD),
    "uncited": ("✗", Tone.BAD),
}
"""How well a claim is supported → its mark and tone."""

OUTCOMES: Final[dict[str, tuple[str, Tone]]] = {
    **dict.fromkeys(("answered", "sql_rows"), ("✓", Tone.GOOD)),
    **dict.fromkeys(("unsupported", "does_not_fit", "engine_gone", "sql_none"), ("✗", Tone.BAD)),
}
"""How a question ended → its mark and tone; ``NO_ANSWER`` for the others."""

NO_ANSWER: Final = ("~", Tone.WARN)
"""The mark of a question that was not answered, for a reason of its own."""

OFF_TOPIC: Final = ("○", Tone.WARN)
"""The mark of a claim that doesn't concern the question."""

CONFLICT: Final = ("≠", Tone.WARN)
"""The mark of sources that disagree."""

_EIGHTHS: Final = "▁▂▃▄▅▆▇█"


def pieces(line: Line) -> Iterator[tuple[str, Tone]]:
    """The texts of a line in order, each with its tone."""
    if isinstance(line, str):
        yield line, Tone.PLAIN
    elif len(line) == 2 and isinstance(line[0], str) and isinstance(line[1], Tone):
        yield line[0], line[1]
    else:
        for part in line:
            yield from pieces(part)


def content(*lines: Line) -> Content:
    """Lines joined, for a Static: every text made printable, none read as markup."""
    parts = [(printable(words), TONES[tone]) for words, tone in pieces(lines)]
    return Content.assemble(*parts, strip_control_codes=False)


def text(line: Line, styles: Mapping[Tone, Style]) -> Text:
    """A line as one row of a table draws it, with the theme's ``styles``."""
    made = Text(no_wrap=True, end="")
    for words, tone in pieces(line):
        made.append(printable(words, newlines=False), styles.get(tone))
    return made


def plain(line: Line) -> str:
    """The characters of a line without their tones."""
    return "".join(words for words, _ in pieces(line))


def count(number: int) -> str:
    """1412 → "1,412"."""
    return f"{number:,}"


def size(octets: int) -> str:
    """Bytes in binary units: "94 MiB", "1.2 MiB", "1.05 GiB"."""
    if octets >= 1 << 30:
        return f"{octets / (1 << 30):.2f} GiB"
    if octets >= 10 << 20:
        return f"{octets / (1 << 20):.0f} MiB"
    if octets >= 1 << 20:
        return f"{octets / (1 << 20):.1f} MiB"
    return f"{octets / 1024:.0f} KiB"


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


def shorten_name(name: str, width: int) -> str:
    """``name`` in at most ``width`` characters, cut in the middle: models of one family differ at the end."""
    if len(name) <= width:
        return name
    end = max(0, width - 1) * 2 // 3
    return name[: max(0, width - 1 - end)] + "…" + (name[-end:] if end else "")


def place(heading: Sequence[str], page_label: str = "", page: int | None = None) -> str:
    """Where a chunk stands: its innermost heading and its page, "" when neither is known."""
    leaf = heading[-1] if heading else ""
    shown = page_label or (str(page) if page is not None else "")
    return " ".join(p for p in (leaf, f"p.{shown}" if shown else "") if p)
