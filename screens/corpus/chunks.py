"""The list of chunks: of one document or of the whole collection, in any order, filtered, searched as one types."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static

from screens.corpus.columns import chosen, chunk_row, made, shown
from screens.style import Line, Tone, content, count
from screens.widgets.grid import Row
from screens.widgets.paged import PAGE, PagedGrid
from screens.work import Jobs, Latest
from workbench.errors import FilterError, NotFoundError, WorkbenchError
from workbench.i18n import tr
from workbench.records.browsing import ChunkOrder, ChunkQuery, ChunkRow

if TYPE_CHECKING:
    from workbench.browsing import Listing
    from workbench.desk import Desk
    from workbench.ports import Cancel

COLUMNS_SETTING: Final = "corpus.columns"
ORDER_SETTING: Final = "corpus.order"


class ChunkPane(Vertical):
    """A bordered table of chunks under a line that searches and a line that filters."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "All rows", show=False, id="chunks.leave"),
    ]

    class Shown(Message):
        """Fires when another list is there: ``total`` chunks, 0 when nothing passes."""

        def __init__(self, total: int) -> None:
            super().__init__()
            self.total = total

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(id="chunks", classes="pane")
        self._desk, self._jobs = desk, jobs
        self.listing: Listing | None = None
        self.asked = ChunkQuery("")
        """What the list is of."""
        self.names: tuple[str, ...] = chosen("")
        self.marked: dict[str, ChunkRow] = {}
        """The marked chunks by id."""
        self._known: dict[str, ChunkRow] = {}
        self._cancel: Cancel = threading.Event()
        self._at = ""
        self.grid = PagedGrid(made(self._columns), id="chunks-grid", marks=True)
        self._pages = Latest(jobs, self, self._read_page, self._show_page, self._failed)

    def compose(self) -> ComposeResult:
        """The lines above the table."""
        yield Input(id="find", classes="line", placeholder=tr("Chunks with these words, or “these together”"))
        yield Input(id="chunk-filter", classes="line", placeholder=tr("Filter: tokens > 300 and language = es"))
        yield Static("", id="chunk-problem", classes="problem")
        yield self.grid

    @property
    def _columns(self) -> list[str]:
        return shown(self.names, all=not self.asked.document_id)

    # -- what it lists ---------------------------------------------------------------------------------------------

    def show(self, query: ChunkQuery, *, at: str = "", stay: bool = False, known: int = 0) -> None:
        """Lists what ``query`` asks for.

        Args:
            at: the id of the chunk under the cursor, if it is listed.
            known: how many chunks there are if none is left out, 0 where that isn't known.
            stay: that is the one which was, or was to be, under it before.
        """
        self._cancel.set()
        cancel: Cancel = threading.Event()
        self._cancel, self.asked = cancel, query
        self._at = (self._at or self.grid.key) if stay else at
        wanted = self._at

        def read() -> tuple[Iterator[Listing], Listing, tuple[ChunkRow, ...], int]:
            key = self._desk.browser.key(query.collection, wanted) if wanted else None
            listings = self._desk.browser.open(query, cancel, known=known)
            listing = next(listings)
            place = listing.place(key) if key else 0
            while key and place is None and not listing.whole:
                listing = next(listings)
                place = listing.place(key)
            start = (place or 0) // PAGE * PAGE
            return listings, listing, self._desk.browser.rows(listing, start, start + PAGE), place or 0

        def take(found: tuple[Iterator[Listing], Listing, tuple[ChunkRow, ...], int]) -> None:
            if query is self.asked:
                self._show(*found)

        self._jobs.read(self, read, take, self._failed)

    def _show(self, rest: Iterator[Listing], listing: Listing, rows: Sequence[ChunkRow], place: int) -> None:
        self.listing, self._at = listing, ""
        self._problem(_nothing(listing))
        start = place // PAGE * PAGE
        columns = made(self._columns)
        first = self._rows(listing, start, rows)
        self.grid.open(listing.total, first if not start else (), columns=columns, cursor=place)
        if start:
            self.grid.put(start, first)
        self.title()
        self.post_message(self.Shown(listing.total))
        if not listing.whole:
            query = listing.query

            def take(whole: Listing | None) -> None:
                if whole and query is self.asked:
                    self._complete(whole)

            # After the first rows are painted: a million numbers take longer than they do.
            self.call_after_refresh(lambda: self._jobs.read(self, lambda: next(rest, None), take, self._failed))

    def _complete(self, listing: Listing) -> None:
        """All of its numbers are known: any row can be read now."""
        grew = self.listing is None or listing.total != self.listing.total
        self.listing = listing
        if grew:
            self.grid.open(listing.total, columns=made(self._columns), cursor=self.grid.cursor)
            self.title()
        self.grid.ask()

    def show_nothing(self) -> None:
        """There is no document to list chunks of."""
        self._cancel.set()
        self.listing, self.asked, self._at = None, replace(self.asked, collection="", document_id=""), ""
        self.grid.open(0)
        self.title()

    @on(PagedGrid.Wanted)
    def page_wanted(self, event: PagedGrid.Wanted) -> None:
        """Reads it, unless another is being read: then the newest wanted is the next."""
        event.stop()
        listing = self.listing
        if listing and event.rows.start < len(listing.keys):
            self._pages.submit((listing, event.rows))

    def _read_page(self, wanted: tuple[Listing, range]) -> tuple[ChunkRow, ...]:
        listing, rows = wanted
        return self._desk.browser.rows(listing, rows.start, rows.stop)

    def _show_page(self, wanted: tuple[Listing, range], found: tuple[ChunkRow, ...]) -> None:
        listing, rows = wanted
        if self.listing and listing.query is self.listing.query:
            self.grid.put(rows.start, self._rows(listing, rows.start, found, rows.stop))

    def _rows(self, listing: Listing, start: int, found: Sequence[ChunkRow], stop: int = 0) -> list[Row]:
        """In their places; a chunk that is gone meanwhile leaves its row empty."""
        names = self._columns
        by_key = {row.key: row for row in found}
        there = {row.key for row in self.grid.there}
        self._known = {name: row for name, row in self._known.items() if name in there} | {r.id: r for r in found}
        keys = listing.keys[start : stop or start + PAGE].tolist()
        gone = Row("", ("",) * (len(names) + 1))
        return [chunk_row(by_key[key], names) if key in by_key else gone for key in keys]

    @property
    def known(self) -> ChunkRow | None:
        """The row under the cursor, None while it isn't read."""
        return self._known.get(self.grid.key)

    def go_to(self, key: int) -> bool:
        """Puts the cursor on the chunk of that number; False when the list hasn't it."""
        place = self.listing.place(key) if self.listing else None
        if place is not None:
            self.grid.cursor = place
        return place is not None

    def _failed(self, error: WorkbenchError) -> None:
        if isinstance(error, FilterError):
            self._problem(f"{error.message.partition(chr(10))[0]} {error.remedy}")
        elif isinstance(error, NotFoundError):
            self.show_nothing()
            self.post_message(self.Shown(0))
        else:
            self._problem(f"{error.title}: {error.message} {error.remedy}")

    # -- its lines -------------------------------------------------------------------------------------------------

    def title(self) -> None:
        """What is listed, and how."""
        names = {
            "document": "",
            "tokens": tr("by tokens"),
            "length": tr("by length"),
            "language": tr("by language"),
            "date": tr("by date"),
            "hits": tr("by times found"),
        }
        total = self.listing.total if self.listing else 0
        words = [tr("Chunks") if self.asked.document_id else tr("All chunks"), "──", count(total)]
        order = names[self.asked.order] or (tr("backwards") if self.asked.descending else "")
        if order:
            words += [
                "·",
                order if self.asked.order == "document" else f"{order} {'▼' if self.asked.descending else '▲'}",
            ]
        if self.asked.filter:
            words += ["·", self.asked.filter]
        if self.asked.words:
            words += ["·", f"“{self.asked.words}”"]
        if self.marked:
            words += ["──", f"▪ {count(len(self.marked))}"]
        self.border_title = content(" ".join(words))

    def order_by(self, order: ChunkOrder, *, descending: bool = False) -> None:
        """Lists the same in another order."""
        self.show(replace(self.asked, order=order, descending=descending))

    def choose_columns(self, names: str) -> None:
        """Shows these columns."""
        self.names = chosen(names)
        self.show(replace(self.asked), stay=True)

    def open_line(self, name: str) -> None:
        """Opens the line that searches ("find") or filters ("chunk-filter")."""
        line = self.query_one(f"#{name}", Input)
        line.add_class("-open")
        line.focus()

    def show_lines(self, *, find: str, where: str) -> None:
        """Puts words into the lines, and shuts those that have none; lists nothing."""
        for name, words in (("find", find), ("chunk-filter", where)):
            line = self.query_one(f"#{name}", Input)
            with line.prevent(Input.Changed):
                line.value = words
            line.set_class(bool(words), "-open")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Searches and filters as it is typed."""
        event.stop()
        self._lined()

    def _lined(self) -> None:
        find, where = (self.query_one(f"#{name}", Input).value.strip() for name in ("find", "chunk-filter"))
        if (find, where) != (self.asked.words, self.asked.filter):
            self.show(replace(self.asked, words=find, filter=where))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Back to the rows."""
        event.stop()
        self.grid.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leaving a line is possible while one is open."""
        return action != "leave" or bool(self.query("Input.-open"))

    def action_leave(self) -> None:
        """Closes the line in focus, else all lines, and lists what they left out."""
        lines = [line for line in self.query(Input) if line.has_focus] or list(self.query("Input.-open").results(Input))
        for line in lines:
            with line.prevent(Input.Changed):
                line.value = ""
            line.remove_class("-open")
        self._problem("")
        self._lined()
        self.grid.focus()

    def _problem(self, told: Line) -> None:
        problem = self.query_one("#chunk-problem", Static)
        problem.update(content(told))
        problem.set_class(bool(told), "-open")

    def on_grid_marked(self) -> None:
        """Keeps the rows of what is marked, wherever the table goes."""
        known = {**self._known, **self.marked}
        self.marked = {name: known[name] for name in self.grid.marked if name in known}
        self.title()


def _nothing(listing: Listing) -> Line:
    """Why the list is empty, where words or a filter left nothing in it."""
    query = listing.query
    if listing.total or not (query.filter or query.words):
        return ""
    if query.document_id:
        return tr("No chunk of this document matches; a looks in all of them."), Tone.DIM
    return tr("No chunk of this collection matches."), Tone.DIM
