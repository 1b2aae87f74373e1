"""A table of a million rows: they are read by the page as they come into view, and forgotten when long out of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, overload

from textual.message import Message

from screens.widgets.grid import Column, Grid, Row

PAGE: Final = 128
"""Rows read at a time."""
KEPT: Final = 64
"""Pages kept in memory."""


class Pages(Sequence[Row]):
    """The rows that were read of ``total``; an empty row, whose key is "", where one wasn't."""

    def __init__(self, total: int, columns: int) -> None:
        self._total = total
        self._blank = Row("", ("",) * columns)
        self._pages: OrderedDict[int, Sequence[Row]] = OrderedDict()

    def __len__(self) -> int:
        return self._total

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._total))]
        number, place = divmod(index, PAGE)
        page = self._pages.get(number, ())
        return page[place] if place < len(page) else self._blank

    @property
    def there(self) -> list[Row]:
        """All that are in memory."""
        return [row for page in self._pages.values() for row in page]

    def put(self, start: int, rows: Sequence[Row]) -> None:
        """Takes rows from ``start`` on, the beginning of a page."""
        for offset in range(0, len(rows), PAGE):
            self._pages[(start + offset) // PAGE] = rows[offset : offset + PAGE]
            self._pages.move_to_end((start + offset) // PAGE)
        while len(self._pages) > KEPT:
            self._pages.popitem(last=False)

    def missing(self, start: int, stop: int) -> range:
        """What to read so that rows from ``start`` to before ``stop`` are there: whole pages, none when they are."""
        first, last = max(0, start) // PAGE, (min(stop, self._total) - 1) // PAGE
        wanted = [number for number in range(first, last + 1) if number not in self._pages]
        return range(wanted[0] * PAGE, min(self._total, (wanted[-1] + 1) * PAGE)) if wanted else range(0)


class PagedGrid(Grid):
    """Rows under fixed headings, of which it knows those in view and around it; ``Wanted`` asks for the others."""

    class Wanted(Message):
        """Fires when rows that are in view, or soon will be, are not there."""

        def __init__(self, grid: PagedGrid, rows: range) -> None:
            super().__init__()
            self.grid = grid
            self.rows = rows

        @property
        def control(self) -> PagedGrid:
            """The table."""
            return self.grid

        def can_replace(self, message: Message) -> bool:
            """What is in view by now is what matters."""
            return isinstance(message, PagedGrid.Wanted)

    def __init__(self, columns: Sequence[Column], *, id: str | None = None, marks: bool = False) -> None:
        super().__init__(columns, id=id, marks=marks)
        self._pages = Pages(0, len(columns))

    def open(
        self, total: int, rows: Sequence[Row] = (), *, columns: Sequence[Column] | None = None, cursor: int = 0
    ) -> None:
        """Shows ``total`` rows, of which ``rows`` are the first that are known, with the cursor on row ``cursor``."""
        self._columns = tuple(columns or self._columns)
        self._pages = Pages(total, len(self._columns))
        self._pages.put(0, rows)
        self._rows = self._all = self._pages
        self._fold()
        self._hold(total)
        self.set_reactive(Grid.cursor, self.validate_cursor(cursor))
        self._reveal()
        self.refresh()
        self._tell()
        self.ask()

    def put(self, start: int, rows: Sequence[Row]) -> None:
        """Takes what ``Wanted`` asked for."""
        blank = bool(len(self._pages)) and not self.key
        self._pages.put(start, rows)
        self._fold()
        self.refresh()
        if blank and self.key:
            self._tell()
        self.ask()

    @property
    def there(self) -> list[Row]:
        """The rows that are in memory."""
        return self._pages.there

    def _fold(self) -> None:
        """Columns that every row so far leaves empty."""
        there = self._pages.there
        folding = [n for n, column in enumerate(self._columns) if column.fold]
        self._folded = {n for n in folding if not any(row.cells[n] for row in there)}

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Asks for what comes into view."""
        super().watch_scroll_y(old, new)
        self.ask()

    def on_resize(self) -> None:
        """A taller table shows more rows."""
        self.ask()

    def ask(self) -> None:
        """Asks for what is not there: a screen ahead and a screen behind; what is in view first."""
        top, height = round(self.scroll_y), max(1, self.size.height)
        missing = self._pages.missing(top, top + height) or self._pages.missing(top - height, top + 2 * height)
        if missing:
            self.post_message(self.Wanted(self, missing))

    def action_mark(self) -> None:
        """A row that wasn't read yet can't be marked."""
        if self.key:
            super().action_mark()
