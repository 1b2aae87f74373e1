"""A page of plain text in columns, made for a width: what the stages, the comparison and the autopsy are drawn with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import ClassVar, Final, TypeAlias

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.strip import Strip
from textual.widgets import Input, Static

from screens.style import Tone, content
from screens.widgets.passage import Passage, wrap
from workbench.i18n import tr
from workbench.text.clean import printable

HEAD: Final = "▸ "
"""Begins a line that heads a part of the page."""


NARROWEST: Final = 14
"""Cells below which a cut column says too little, so that the last one goes."""
FEWEST: Final = 3
"""Columns that a table always has."""
BESIDE: Final = 90
"""Cells from which on two texts stand beside each other."""


class Page:
    """Lines for ``width`` cells. Text of documents is made printable; words are never markup."""

    def __init__(self, width: int) -> None:
        self.width = max(24, width)
        self._lines: list[str] = []

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self._lines).strip("\n")

    def head(self, title: str) -> Page:
        """A blank line and the heading of the part that follows."""
        self._lines += ["", HEAD + title]
        return self

    def say(self, words: str, indent: int = 2) -> Page:
        """A paragraph, wrapped."""
        shown = printable(words)
        room = max(16, self.width - indent)
        self._lines += [" " * indent + shown[start:stop].rstrip() for start, stop in wrap(shown, room)]
        return self

    def sides(self, before: str, after: str) -> Page:
        """Two texts beside each other; on a page narrower than ``BESIDE``, the second one under the first."""
        if self.width < BESIDE:
            return self.say(f"− {before}").say(f"+ {after}")
        room = (self.width - 5) // 2
        both = ([text[a:b].rstrip() for a, b in wrap(text, room)] for text in map(printable, (before, after)))
        self._lines += [f"  {set_cell_size(one, room)} │ {other}" for one, other in zip_longest(*both, fillvalue="")]
        return self

    def facts(self, facts: Iterable[tuple[str, object]]) -> Page:
        """Names and values; those that are "" or None are left out."""
        told = [(name, printable(str(value))) for name, value in facts if value not in ("", None)]
        label = max((cell_len(name) for name, _ in told), default=0) + 2
        for name, value in told:
            room = max(16, self.width - 2 - label)
            for number, (start, stop) in enumerate(wrap(value, room)):
                lead = set_cell_size(name if number == 0 else "", label)
                self._lines.append(f"  {lead}{value[start:stop].rstrip()}")
        return self

    def table(
        self,
        titles: Sequence[str],
        rows: Iterable[Sequence[str]],
        right: Sequence[int] = (),
        spare: Sequence[int] = (),
    ) -> Page:
        """Columns as wide as their widest cell. Where they don't fit, the widest are cut; then some are left out.

        Args:
            right: places of the columns of numbers; ``spare``: of those that are left out first, before the last one.
        """
        cells = [[printable(" ".join(cell.split()), newlines=False) for cell in row] for row in (titles, *rows)]
        if len(cells) == 1:
            return self
        widths = _fitted([max(map(cell_len, column)) for column in zip(*cells, strict=True)], self.width - 2, spare)
        self._lines += [_row(row, widths, right) for row in cells]
        return self


def _fitted(widths: Sequence[int], room: int, spare: Sequence[int]) -> dict[int, int]:
    """By place of those shown, every width at most the largest one with which all fit, two cells between them."""
    places = list(range(len(widths)))
    for gone in (*spare, *(place for place in reversed(places) if place not in spare)):
        most = _most([widths[place] for place in places], room)
        if len(places) <= FEWEST or most >= min(NARROWEST, max(widths[place] for place in places)):
            break
        places.remove(gone)
    most = _most([widths[place] for place in places], room)
    return {place: min(widths[place], most) for place in places}


def _most(widths: Sequence[int], room: int) -> int:
    left = room - 2 * (len(widths) - 1)
    most = max(1, *widths)
    while most > 1 and sum(min(width, most) for width in widths) > left:
        most -= 1
    return most


def _row(cells: Sequence[str], widths: Mapping[int, int], right: Sequence[int]) -> str:
    parts = []
    for place, width in widths.items():
        cell = cells[place]
        shown = cell if cell_len(cell) <= width else set_cell_size(cell, width - 1).rstrip() + "…"
        parts.append(" " * (width - cell_len(shown)) + shown if place in right else set_cell_size(shown, width))
    return ("  " + "  ".join(parts)).rstrip()


Write: TypeAlias = Callable[[int], Page]
"""Makes a page for a width."""


class PageText(Passage):
    """A page, its headings in the accent; what is searched for is lit."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"pagetext--head"}
    DEFAULT_CSS = "PageText > .pagetext--head { color: $accent; }"

    def render_line(self, y: int) -> Strip:
        """A heading in the accent; else as a passage's."""
        strip = super().render_line(y)
        if not strip.text.startswith(HEAD):
            return strip
        head = self.get_component_rich_style("pagetext--head", partial=True)
        return Strip([Segment(part.text, (part.style or self.rich_style) + head) for part in strip])


class Reader(Vertical):
    """A page with a search line that ``/`` opens; ``n`` and ``shift+n`` go to the next and the last find."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Find", key_display="/", id="reader.search", tooltip="Lights what you type"),
        Binding("n", "find(1)", "Next find", show=False, id="reader.next"),
        Binding("N,shift+n", "find(-1)", "Find before", show=False, id="reader.before"),
        Binding("escape", "leave", "End the search", show=False, id="reader.leave"),
    ]
    DEFAULT_CSS = """
    Reader { height: 1fr; width: 1fr; }
    Reader .find-line { height: auto; }
    Reader .find-line Input.line { width: 1fr; }
    Reader .finds { width: auto; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._make: Write = Page
        self._words = ""
        self._wanted = ""
        self._at = -1
        self.page = PageText()
        self._line = Input(classes="line", placeholder=tr("Find in this text…"))

    def compose(self) -> ComposeResult:
        """The search line above the page."""
        with Horizontal(classes="find-line"):
            yield self._line
            yield Static("", classes="finds")
        yield self.page

    def show(self, make: Write) -> None:
        """Another page, made for the width it has; a search goes on in it."""
        self._make = make
        self._remake()

    def on_resize(self) -> None:
        """The page is made for a width."""
        self.call_after_refresh(self._remake)

    def _remake(self) -> None:
        width = self.page.scrollable_content_region.width
        if not width:
            return
        self._words, self._at = self._make(width).text, -1
        self.page.show(self._words)
        if self._wanted:
            self.action_find(1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Escape closes the search line while it is open."""
        return action != "leave" or self._line.has_class("-open")

    def action_search(self) -> None:
        """Opens the search line."""
        self._line.add_class("-open")
        self._line.focus()

    def action_leave(self) -> None:
        """Closes the search line; nothing is lit."""
        self._line.value = self._wanted = ""
        self._line.remove_class("-open")
        self._remake()
        self.page.focus()

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        """The first find is lit as it is typed."""
        event.stop()
        self._wanted, self._at = event.value.casefold(), -1
        self.action_find(1)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Back to the page, the find lit."""
        event.stop()
        self.page.focus()

    def action_find(self, step: int) -> None:
        """The next find, round and round."""
        places = list(_finds(self._words, self._wanted))
        if not places:
            self.page.show(self._words)
            self._tell(tr("not in this text") if self._wanted else "")
            return
        later = [n for n, place in enumerate(places) if place > self._at]
        earlier = [n for n, place in enumerate(places) if place < self._at]
        number = (later[0] if later else 0) if step > 0 else (earlier[-1] if earlier else len(places) - 1)
        self._at = places[number]
        self.page.show(self._words, self._at, self._at + len(self._wanted))
        self._tell(tr("find {number} of {all}", number=number + 1, all=len(places)))

    def _tell(self, words: str) -> None:
        self.query_one(".finds", Static).update(content((words, Tone.DIM)))


def _finds(words: str, wanted: str) -> Iterator[int]:
    """Where ``wanted`` begins; lower-casing keeps the offsets of all but a few letters, which are then not found."""
    folded = words.lower()
    if not wanted or len(folded) != len(words):
        folded = words
    start = folded.find(wanted) if wanted else -1
    while start >= 0:
        yield start
        start = folded.find(wanted, start + 1)
