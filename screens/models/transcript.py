"""A conversation as it grows: only its end is drawn anew, however long it is."""

from __future__ import annotations

from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from screens.style import Line, Tone, content
from workbench.i18n import tr

PART: Final = 2_000
"""Characters that are laid out anew with every step; what is before them stays as it was drawn."""


def cut(text: str, begin: int) -> int:
    """Where a part that starts at ``begin`` ends: after a line, else after a word, else after ``PART`` characters."""
    end = begin + PART
    for mark in ("\n", " "):
        if (found := text.rfind(mark, begin + PART // 2, end)) >= 0:
            return found + 1
    return end


class LongText(Vertical):
    """A text that grows at its end, in parts."""

    DEFAULT_CSS = "LongText { height: auto; } LongText Static { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self._begun = 0
        self._parts = [Static("")]
        self._composed = False

    def compose(self) -> ComposeResult:
        """The parts there are by then."""
        self._composed = True
        yield from self._parts

    def show(self, text: str, mark: Line = "") -> None:
        """``text``, which begins as it did before, and ``mark`` after it."""
        while len(text) - self._begun > PART:
            end = cut(text, self._begun)
            self._parts[-1].update(content(text[self._begun : end].removesuffix("\n")))
            self._begun = end
            self._parts.append(Static(""))
            if self._composed:
                self.mount(self._parts[-1])
        self._parts[-1].update(content(text[self._begun :], mark))


class Turn(Vertical):
    """Who says it, what, and a line about it."""

    DEFAULT_CSS = """
    Turn { height: auto; margin: 0 0 1 0; }
    Turn Static { height: auto; }
    Turn .note { display: none; }
    Turn .note.-open { display: block; }
    """

    def __init__(self, role: str, text: str = "") -> None:
        super().__init__()
        self._role = role
        self._first = text
        self._text = LongText()
        self.said = text
        self._note = Static("", classes="note")

    def compose(self) -> ComposeResult:
        """The name over the text."""
        tone = Tone.ACCENT if self._role == "assistant" else Tone.STRONG
        yield Static(content((role_name(self._role) + " ▸", tone)))
        yield self._text
        yield self._note

    def on_mount(self) -> None:
        """What there is to say already."""
        if self._first:
            self._text.show(self._first)

    def grow(self, text: str, *, growing: bool) -> None:
        """The text so far."""
        self.said = text
        self._text.show(text, ("█", Tone.ACCENT) if growing else "")

    def note(self, line: Line) -> None:
        """A line below the text."""
        self._note.update(content(line))
        self._note.add_class("-open")


class Transcript(VerticalScroll):
    """The turns, oldest first; it stays at its end unless the person has scrolled up."""

    DEFAULT_CSS = "Transcript { height: 1fr; }"

    def add(self, turn: Turn) -> Turn:
        """One more turn."""
        self.mount(turn)
        self.scroll_end(animate=False)
        return turn

    def follow(self) -> None:
        """Keeps the end in sight where it was in sight."""
        if self.max_scroll_y - self.scroll_y <= 3:
            self.scroll_end(animate=False)


def role_name(role: str) -> str:
    """Who speaks, in the interface's language."""
    return {"system": tr("system"), "user": tr("user"), "assistant": tr("assistant")}[role]
