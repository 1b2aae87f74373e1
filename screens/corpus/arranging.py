"""How the chunks are listed: which of them, in which order, with which columns."""

from __future__ import annotations

from dataclasses import replace
from typing import cast, get_args

from textual.widget import Widget

from screens.corpus.changing import Changing
from screens.corpus.chunks import COLUMNS_SETTING, ORDER_SETTING, ChunkPane
from screens.corpus.columns import ColumnsDialog
from screens.dialogs import ChoiceDialog
from screens.style import Tone
from screens.widgets.grid import Row
from workbench.i18n import tr
from workbench.records.browsing import ChunkOrder, ChunkQuery


class Arranging(Changing):
    """The part of the Corpus screen that arranges the list; order and columns are remembered in the file."""

    def inside(self, widget: Widget | None = None) -> None:
        """To the right side, which a narrow terminal may have to show first."""
        self.add_class("-inside")
        (widget or self.query_one("#chunks-grid")).focus()

    def action_find(self) -> None:
        """The line that searches the chunks."""
        self.inside()
        self.query_one(ChunkPane).open_line("find")

    def action_filter(self) -> None:
        """The line that filters the chunks."""
        self.inside()
        self.query_one(ChunkPane).open_line("chunk-filter")

    def action_sort(self) -> None:
        """Asks for the order."""
        orders = {
            "document": (tr("as in the documents"), tr("in the order in which they were read")),
            "tokens": (tr("tokens"), tr("by the embedder, fewest first")),
            "length": (tr("length"), tr("in characters, fewest first")),
            "language": (tr("language"), ""),
            "date": (tr("date"), tr("of the document, oldest first")),
            "hits": (tr("times found"), tr("by questions and cases, most first")),
        }
        rows = [Row(order, (name, (told, Tone.DIM))) for order, (name, told) in orders.items()]
        chosen = self.query_one(ChunkPane).asked.order
        dialog = ChoiceDialog(tr("Sort the chunks"), rows, chosen)
        self.app.push_screen(dialog, self._chosen)

    def _chosen(self, order: str | None) -> None:
        if order:
            self._sort(cast(ChunkOrder, order), descending=order == "hits")

    def _sort(self, order: ChunkOrder, *, descending: bool = False) -> None:
        self.query_one(ChunkPane).order_by(order, descending=descending)
        kept = f"{order} down" if descending else order
        self.jobs.read(self, lambda: self.desk.remember(ORDER_SETTING, kept), lambda _: None)

    def action_reverse(self) -> None:
        """The other way round."""
        asked = self.query_one(ChunkPane).asked
        self._sort(asked.order, descending=not asked.descending)

    def action_columns(self) -> None:
        """Asks what the list tells."""

        def take(names: str | None) -> None:
            if names:
                self.query_one(ChunkPane).choose_columns(names)
                self.jobs.read(self, lambda: self.desk.remember(COLUMNS_SETTING, names), lambda _: None)

        self.app.push_screen(ColumnsDialog(self.query_one(ChunkPane).names), take)


def ordered(query: ChunkQuery, remembered: str) -> ChunkQuery:
    """The query in the remembered order."""
    order, _, way = remembered.partition(" ")
    known = next((name for name in get_args(ChunkOrder) if name == order), query.order)
    return replace(query, order=known, descending=bool(way))
