"""A table of any length: it draws only the rows in view, so 100,000 of them show as fast as ten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input

from screens.style import TONES, Line, Tone, content, plain, text
from workbench.i18n import tr

_CONSOLE = Console(width=4096)  # Rich needs one to split text into segments; nothing is printed on it
_MOST_DRAWN = 400
"""Lines whose drawing is kept."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: ``width`` cells, or 0 for its ``share`` of what is left; hidden in a table narrower than ``keep``.

    What is too long for it loses its end, or its start when ``tail`` is set (a path says most at its end).

    Attributes:
        middle: what is too long loses its middle instead: names of one family differ there least.
        fold: hidden while every row leaves it empty.
        fit: no wider than its longest cell, and up to three fifths of what is left; for tables of a few rows.
        whole: as wide as its longest cell, before others share what is left: a figure that is cut is another figure.
    """

    title: str
    width: int = 0
    align: Literal["left", "right"] = "left"
    keep: int = 0
    share: int = 1
    tail: bool = False
    fold: bool = False
    fit: bool = False
    whole: bool = False
    middle: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row: a key that stays its own, and one line per column. Make them where they are read, off the UI thread."""

    key: str
    cells: tuple[Line, ...]
    words: str = ""
    """What it is found by besides its cells."""
    folded: str = field(init=False, repr=False, compare=False)
    """All its words, for searching."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "folded", " ".join([*map(plain, self.cells), self.words]).casefold())


@dataclass(frozen=True, slots=True)
class _Pen:
    """What decides how a line looks besides its cells: asked once for a painting, not for each of its lines."""

    width: int
    widths: tuple[int, ...]
    plain: Style
    header: Style
    cursor: Style
    tones: dict[Tone, Style]
    on_cursor: dict[Tone, Style]


class Grid(ScrollView, can_focus=True):
    """Rows under fixed headings, one of them under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Row up", show=False, id="grid.up"),
        Binding("down,j", "move(1)", "Row down", show=False, id="grid.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="grid.pageup"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="grid.pagedown"),
        Binding("home", "move(-1000000000)", "First row", show=False, id="grid.home"),
        Binding("end", "move(1000000000)", "Last row", show=False, id="grid.end"),
        Binding("enter", "open", "Open", show=False, id="grid.open"),
        Binding("space", "mark", "Mark", id="grid.mark", tooltip="What is done next is done to all marked rows"),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "grid--header",
        "grid--cursor",
        *(f"grid--{tone}" for tone in TONES if tone),
    }
    DEFAULT_CSS = """
    Grid {
        height: 1fr; background: $background; overflow-x: hidden;
        & > .grid--header { color: $quiet; }
        & > .grid--cursor { background: $block-cursor-blurred-background; }
        &:focus > .grid--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        &:nocolor > .grid--cursor { text-style: underline; }
        &:nocolor:focus > .grid--cursor { text-style: reverse; }
        & > .grid--dim { color: $quiet; }
        & > .grid--accent { color: $accent; }
        & > .grid--strong { text-style: bold; }
        & > .grid--good { color: $success; }
        & > .grid--warn { color: $warning; }
        & > .grid--bad { color: $error; }
    }
    """

    virtual_size = Reactive(Size(0, 0), layout=False, repaint=False)  # more rows or fewer move nothing around the table
    cursor: reactive[int] = reactive(0, repaint=False)

    class Highlighted(Message):
        """Fires when another row comes under the cursor; ``key`` is "" for an empty table."""

        def __init__(self, grid: Grid, key: str) -> None:
            super().__init__()
            self.grid = grid
            self.key = key

        @property
        def control(self) -> Grid:
            """The table."""
            return self.grid

    class Opened(Message):
        """Fires on enter or a second click on the row with ``key``."""

        def __init__(self, grid: Grid, key: str) -> None:
            super().__init__()
            self.grid = grid
            self.key = key

        @property
        def control(self) -> Grid:
            """The table."""
            return self.grid

    class Marked(Message):
        """Fires when a row is marked or no longer is."""

    def __init__(self, columns: Sequence[Column], *, id: str | None = None, marks: bool = False) -> None:
        """With ``marks``, rows can be marked, which shows behind their first column."""
        super().__init__(id=id)
        self.marked: set[str] = set()
        self._moved = False
        self._marks = marks
        self._columns = tuple(columns)
        self._all: Sequence[Row] = ()
        self._rows: Sequence[Row] = ()
        self._wanted = ""
        self._folded: set[int] = set()
        self._longest: dict[int, int] = {}
        self._pen: _Pen | None = None
        self._drawn: dict[tuple[tuple[Line, ...], bool, bool], Strip] = {}

    # -- what it shows ---------------------------------------------------------------------------------------------

    @property
    def key(self) -> str:
        """The key of the row under the cursor, "" for an empty table."""
        return self._rows[self.cursor].key if self._rows else ""

    @property
    def rows(self) -> Sequence[Row]:
        """The rows that pass the search."""
        return self._rows

    @property
    def total(self) -> int:
        """How many rows there are, searched or not."""
        return len(self._all)

    def show(self, rows: Sequence[Row], *, ranked: bool = False) -> None:
        """Replaces the rows; the cursor stays on the row with the same key, or in its place when that one is gone.

        Of rows that are all new, it is on the first; so it is of those that are ``ranked``, until a person moves it.
        """
        self._moved = self._moved and bool(rows)
        look, before, place = self._look(), self._all, self.cursor
        key = self.key if self._moved or not ranked else ""
        self._all = rows
        there = {row.key for row in rows} if self.marked or key else set()
        self.marked &= there
        self._refill(key, place if key not in there and any(row.key in there for row in before) else 0, look)

    def search(self, wanted: str) -> None:
        """Shows only rows that hold ``wanted``; all of them when it is blank."""
        self._wanted = wanted.strip().casefold()
        self._refill(self.key, 0, self._look())

    def go_to(self, key: str) -> None:
        """Puts the cursor on the row with ``key`` when it is shown."""
        self.cursor = next((i for i, row in enumerate(self._rows) if row.key == key), self.cursor)

    def _refill(self, key: str, otherwise: int, look: tuple[object, ...]) -> None:
        """``look``: what the table looked like before anything of it changed."""
        wanted, rows, cursor = self._wanted, self._rows, self.cursor
        self._rows = [r for r in self._all if wanted in r.folded] if wanted else self._all
        otherwise = max(0, min(otherwise, len(self._rows) - 1))
        self._measure()
        place = next((i for i, row in enumerate(self._rows) if row.key == key), otherwise) if key else 0
        self._hold(len(self._rows))
        self.set_reactive(Grid.cursor, place)
        self._reveal()
        self._repaint(rows, cursor, look)
        self._tell()

    def _hold(self, rows: int) -> None:
        """Is as long as so many rows: only a scroll bar that comes or goes moves anything."""
        size = Size(0, rows + 1)
        if size != self.virtual_size:
            self.virtual_size = size
            self._scroll_update(size)

    def _look(self) -> tuple[object, ...]:
        """What the lines in view have in common."""
        return self.scroll_offset, self.size, self._folded, self._longest, len(self._rows) > 1, set(self.marked)

    def _repaint(self, rows: Sequence[Row], cursor: int, look: tuple[object, ...]) -> None:
        """Draws the lines that changed since the table had these rows, this cursor and this look."""
        if look != self._look():
            self.refresh()
            return
        top, moved = self.scroll_offset.y, {cursor, self.cursor} if cursor != self.cursor else set()
        in_view = range(top, top + self.size.height - 1)
        changed = [n for n in in_view if n in moved or _cells_at(rows, n) != _cells_at(self._rows, n)]
        if changed:
            self.refresh(*(Region(0, 1 + n - top, self.size.width, 1) for n in changed))

    def _measure(self) -> None:
        """What the rows ask of the columns' widths."""
        numbered = list(enumerate(self._columns))
        self._folded = {n for n, column in numbered if column.fold and not any(row.cells[n] for row in self._all)}
        fitting = [n for n, column in numbered if column.fit or column.whole]
        self._longest = {
            n: max([cell_len(plain(row.cells[n])) for row in self._all] + [cell_len(self._columns[n].title)])
            for n in fitting
        }

    def _tell(self) -> None:
        # Its own message even when a parent's handler moves the cursor: Textual ends a bubble at the sender.
        self.post_message(self.Highlighted(self, self.key).set_sender(self))

    # -- moving ----------------------------------------------------------------------------------------------------

    def validate_cursor(self, cursor: int) -> int:
        """Keeps the cursor on a row."""
        return max(0, min(cursor, len(self._rows) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Draws the two rows that changed and tells."""
        if old != new:
            look = self._look()
            self._reveal()
            self._repaint(self._rows, old, look)
            self._tell()

    def _reveal(self) -> None:
        self.scroll_to_region(Region(0, self.cursor, 1, 2), animate=False, force=True)

    def action_move(self, rows: int) -> None:
        """Moves the cursor."""
        self._moved = True
        self.cursor += rows

    def action_page(self, pages: int) -> None:
        """Moves the cursor by what is in view."""
        self._moved = True
        self.cursor += pages * max(1, self.size.height - 2)

    def action_open(self) -> None:
        """Tells that the row was opened."""
        if self._rows:
            self.post_message(self.Opened(self, self.key))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Most tables have nothing that is done to several rows."""
        return action != "mark" or self._marks

    def action_mark(self) -> None:
        """Marks the row, or takes its mark off, and goes to the next."""
        if self._rows:
            self.marked ^= {self.key}
            self.post_message(self.Marked())
            self.refresh()
            self.cursor += 1

    def on_click(self, event: events.Click) -> None:
        """The first click moves the cursor, the next one on the same row opens it."""
        row = event.y - 1 + self.scroll_offset.y
        if event.y < 1 or row >= len(self._rows):
            return
        if row == self.cursor:
            self.action_open()
        self._moved = True
        self.cursor = row

    # -- drawing ---------------------------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lines that were drawn before, with the same styles and widths, are not drawn again."""
        pen = self._take_pen()
        if pen != self._pen or len(self._drawn) > _MOST_DRAWN:
            self._pen = pen
            self._drawn.clear()
        return super().render_lines(crop)

    def _take_pen(self) -> _Pen:
        width = self.scrollable_content_region.width
        tones = {tone: self.get_component_rich_style(f"grid--{tone}", partial=True) for tone in TONES if tone}
        header, cursor = self.get_component_rich_style("grid--header"), self.get_component_rich_style("grid--cursor")
        on_cursor = {} if self.has_focus else tones  # one ink on the accent: tones would not be readable on it
        return _Pen(width, tuple(self._widths(width)), self.rich_style, header, cursor, tones, on_cursor)

    def render_line(self, y: int) -> Strip:
        """The headings on the first line, then the rows in view."""
        pen = self._pen or self._take_pen()
        if y == 0:
            return self._strip([c.title for c in self._columns], pen, pen.tones, pen.header)
        index = y - 1 + self.scroll_offset.y
        if index >= len(self._rows):
            return Strip.blank(pen.width, pen.plain)
        cells, marked = self._cells(index), self._rows[index].key in self.marked
        on_cursor = index == self.cursor and (self.has_focus or len(self._rows) > 1)
        seen = cells, on_cursor, marked
        drawn = self._drawn.get(seen)
        if drawn is None:
            tones, base = (pen.on_cursor, pen.cursor) if on_cursor else (pen.tones, pen.plain)
            drawn = self._drawn[seen] = self._strip(cells, pen, tones, base, marked=marked)
        return drawn

    def _cells(self, index: int) -> tuple[Line, ...]:
        return self._rows[index].cells

    def _widths(self, width: int) -> list[int]:
        """Cells per column, -1 for a hidden one; the flexible ones share what the others leave."""
        shown = [n for n, c in enumerate(self._columns) if width >= c.keep and n not in self._folded]
        rooms = {n: self._longest.get(n, 0) if self._columns[n].whole else _room(self._columns[n]) for n in shown}
        left = max(0, width - sum(rooms.values()) - 2 * max(0, len(shown) - 1))
        flexible = [n for n in shown if not rooms[n]]
        for n in flexible:
            if self._columns[n].fit:
                rooms[n] = min(self._longest.get(n, 0), left * 3 // 5 if len(flexible) > 1 else left)
                left -= rooms[n]
        sharing = [n for n in flexible if not self._columns[n].fit]
        shares = sum(self._columns[n].share for n in sharing)
        rooms |= {n: left * self._columns[n].share // shares for n in sharing}
        return [rooms.get(n, -1) for n in range(len(self._columns))]

    def _strip(
        self, cells: Sequence[Line], pen: _Pen, tones: dict[Tone, Style], base: Style, *, marked: bool = False
    ) -> Strip:
        line = Text(no_wrap=True, end="")
        gap: Text | str = text(("▪ ", Tone.ACCENT), tones) if marked else "  "
        for column, cell, room in zip(self._columns, cells, pen.widths, strict=True):
            if room < 0:
                continue
            if line:
                line.append(gap)
                gap = "  "
            line.append_text(_fit(text(cell, tones), room, column))
        segments = line.render(_CONSOLE)
        return Strip(segments).apply_style(base).adjust_cell_length(pen.width, base)


def _cells_at(rows: Sequence[Row], place: int) -> tuple[Line, ...] | None:
    return rows[place].cells if place < len(rows) else None


def _last(cell: Text, width: int) -> Text:
    """The end of a text that is too long, after an ellipsis."""
    start = len(cell) - width + 1
    while cell_len(cell.plain[start:]) > width - 1:
        start += 1
    return Text("…", end="", no_wrap=True).append_text(cell[start:])


def _both_ends(cell: Text, width: int) -> Text:
    """Start and end of a text that is too long, an ellipsis between them."""
    end = (width - 1) // 2
    return cell[: width - 1 - end].append_text(_last(cell, end + 1))


def _room(column: Column) -> int:
    """A fixed column is never narrower than its title; a flexible one has 0."""
    return max(column.width, cell_len(column.title)) if column.width else 0


def _fit(cell: Text, width: int, column: Column) -> Text:
    if width <= 0:
        return Text("", end="", no_wrap=True)
    if column.tail and cell.cell_len > width > 0:
        cell = _last(cell, width)
    if column.middle and cell.cell_len > width > 2:
        cell = _both_ends(cell, width)
    cell.truncate(width, overflow="ellipsis")
    missing = width - cell.cell_len
    if missing > 0:
        cell.pad_left(missing) if column.align == "right" else cell.pad_right(missing)
    return cell


class ListPane(Vertical):
    """A bordered table with a search line that ``/`` opens and ``escape`` closes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search list", key_display="/", id="list.search", tooltip="Show only rows with…"),
        Binding("escape", "leave", "All rows", show=False, id="list.leave"),
    ]

    def __init__(
        self, title: Callable[[int, int], str], columns: Sequence[Column], *, id: str, marks: bool = False
    ) -> None:
        """``title`` makes the border's title from the rows shown and the rows there are."""
        super().__init__(id=id, classes="pane")
        self._title = title
        self.grid = Grid(columns, id=f"{id}-grid", marks=marks)
        self._line = Input(classes="line", placeholder=tr("Rows that hold…"))

    def compose(self) -> ComposeResult:
        """The search line above the table."""
        yield self._line
        yield self.grid

    def show(self, rows: Sequence[Row]) -> None:
        """Replaces the rows."""
        self.grid.show(rows)
        self._retitle()

    def show_all(self) -> None:
        """Forgets the search; the focus stays where it is."""
        self._line.value = ""
        self._line.remove_class("-open")
        self.grid.search("")

    def _retitle(self) -> None:
        marked = f" ── ▪ {len(self.grid.marked)}" if self.grid.marked else ""
        self.border_title = content(self._title(len(self.grid.rows), self.grid.total) + marked)

    def on_grid_marked(self) -> None:
        """The title tells how many are marked."""
        self._retitle()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leaving the search is possible while there is one."""
        return action != "leave" or self._line.has_class("-open")

    def action_search(self) -> None:
        """Opens the search line."""
        self._line.add_class("-open")
        self._line.focus()

    def action_leave(self) -> None:
        """Closes the search line and shows every row."""
        self.show_all()
        self.grid.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Searches as it is typed."""
        event.stop()
        self.grid.search(event.value)
        self._retitle()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Back to the rows, still searched."""
        event.stop()
        self.grid.focus()
