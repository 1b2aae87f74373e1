"""A long text with one span lit, wrapped to the width and drawn line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from workbench.text.clean import printable


def wrap(words: str, width: int) -> Iterator[tuple[int, int]]:
    """Character spans of ``words``, one per screen line of at most ``width`` cells, broken at spaces where possible."""
    start = 0
    for line in words.split("\n"):
        end = start + len(line)
        yield from _wrap_line(words, start, end, max(1, width))
        start = end + 1


def _wrap_line(words: str, start: int, end: int, width: int) -> Iterator[tuple[int, int]]:
    while True:
        stop = _fitting(words, start, end, width)
        if stop < end and (space := words.rfind(" ", start + 1, stop + 1)) > start:
            stop = space + 1
        yield start, stop
        start = stop
        if start >= end:
            return


def _fitting(words: str, start: int, end: int, width: int) -> int:
    """The furthest stop whose printed form fits ``width`` cells; at least one character further than ``start``."""
    stop = min(end, start + width)
    while stop > start + 1 and cell_len(printable(words[start:stop], newlines=False)) > width:
        stop -= 1
    return stop


class Passage(ScrollView, can_focus=True):
    """``words`` with ``words[start:end]`` lit and scrolled into view. Offsets count characters."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Line up", show=False, id="passage.up"),
        Binding("down,j", "scroll_down", "Line down", show=False, id="passage.down"),
        Binding("pageup", "page_up", "Page up", show=False, id="passage.pageup"),
        Binding("pagedown,space", "page_down", "Page down", show=False, id="passage.pagedown"),
        Binding("home", "scroll_home", "To the start", show=False, id="passage.home"),
        Binding("end", "scroll_end", "To the end", show=False, id="passage.end"),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"passage--lit"}
    DEFAULT_CSS = """
    Passage { height: 1fr; background: $background; overflow-x: hidden; scrollbar-gutter: stable; }
    Passage > .passage--lit { background: $lit; color: $on-lit; }
    Passage:nocolor > .passage--lit { text-style: reverse; }
    """

    def __init__(self, words: str = "", start: int = 0, end: int = 0) -> None:
        super().__init__()
        self._words, self._start, self._end = words, start, end
        self._lines: list[tuple[int, int]] = []
        self._width = 0

    def show(self, words: str, start: int = 0, end: int = 0) -> None:
        """Replaces the text and the lit span."""
        self._words, self._start, self._end = words, start, end
        self._width = 0
        self._layout()

    def on_resize(self, event: events.Resize) -> None:
        """Wraps anew when the width changed."""
        self._layout()

    def _layout(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0 or width == self._width:
            return
        self._width = width
        self._lines = list(wrap(self._words, width))
        self.virtual_size = Size(0, len(self._lines))
        lit = next((i for i, (_, stop) in enumerate(self._lines) if stop > self._start), 0) if self._end else 0
        self.scroll_to(y=max(0, lit - 3), animate=False, force=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One wrapped line: before the span, in it, after it."""
        index = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if index >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        start, stop = self._lines[index]
        first = min(max(self._start, start), stop)
        last = min(max(self._end, first), stop)
        lit = self.get_component_rich_style("passage--lit")
        parts = ((start, first, self.rich_style), (first, last, lit), (last, stop, self.rich_style))
        segments = [Segment(printable(self._words[a:b], newlines=False), style) for a, b, style in parts if a < b]
        return Strip(segments).adjust_cell_length(width, self.rich_style)
