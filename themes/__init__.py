"""Colours, and the style that every screen shares: Theme objects and ``shared.tcss``.

No logic, no widget and no word that a person reads lives here, and nothing of ours is imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from textual.theme import Theme

SHARED_CSS: Final = Path(__file__).parent / "shared.tcss"


def _theme(
    name: str,
    *,
    ground: str,
    raised: str,
    ink: str,
    accent: str,
    marks: tuple[str, str, str],
    quiet: str,
    lines: str,
    on_accent: str,
    dark: bool,
) -> Theme:
    """A theme of one accent: ``marks`` are good, doubtful and bad; ``quiet`` is what
    may be read last, ``lines`` are borders without the focus."""
    good, doubtful, bad = marks
    return Theme(
        name=name,
        primary=accent,
        secondary=accent,
        accent=accent,
        foreground=ink,
        background=ground,
        surface=ground,
        panel=raised,
        success=good,
        warning=doubtful,
        error=bad,
        dark=dark,
        variables={
            "quiet": quiet,
            "line": lines,
            "lit": accent,
            "on-lit": on_accent,
            "border": accent,
            "border-blurred": lines,
            "block-cursor-background": accent,
            "block-cursor-foreground": on_accent,
            "block-cursor-text-style": "none",
            "block-cursor-blurred-background": raised,
            "block-cursor-blurred-foreground": ink,
            "input-selection-background": f"{accent} 35%",
            "scrollbar": lines,
            "scrollbar-hover": accent,
            "scrollbar-active": accent,
            "scrollbar-background": ground,
            "scrollbar-background-hover": ground,
            "scrollbar-background-active": ground,
            "scrollbar-corner-color": ground,
        },
    )


NIGHT: Final = _theme(
    "night",
    ground="#14171c",
    raised="#20252d",
    ink="#d5dae1",
    accent="#6cb6c9",
    marks=("#8fbf7f", "#d9b566", "#e07a72"),
    quiet="#8b96a5",
    lines="#3a424d",
    on_accent="#0e1115",
    dark=True,
)
EMBER: Final = _theme(
    "ember",
    ground="#1b1715",
    raised="#2a2420",
    ink="#e2d8cc",
    accent="#e0a458",
    marks=("#a3bf78", "#d9c766", "#e0766a"),
    quiet="#a39586",
    lines="#4a4039",
    on_accent="#17120e",
    dark=True,
)
PAPER: Final = _theme(
    "paper",
    ground="#faf8f3",
    raised="#ebe7dd",
    ink="#2b2f36",
    accent="#1f6f8b",
    marks=("#3b7a2a", "#8a6100", "#b3362c"),
    quiet="#6b6f76",
    lines="#c9c3b5",
    on_accent="#ffffff",
    dark=False,
)
CONTRAST: Final = _theme(
    "contrast",
    ground="#000000",
    raised="#262626",
    ink="#ffffff",
    accent="#ffdf00",
    marks=("#5cff5c", "#ffb000", "#ff6b6b"),
    quiet="#d8d8d8",
    lines="#b0b0b0",
    on_accent="#000000",
    dark=True,
)

THEMES: Final = (NIGHT, EMBER, PAPER, CONTRAST)
DEFAULT: Final = NIGHT.name
