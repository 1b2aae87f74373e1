"""The tab of what is like the chunk: its nearest neighbours by the stored vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from screens.corpus.tab import ChunkTab
from screens.style import Line, Tone, content
from screens.widgets.grid import Column, Grid, Row
from workbench.i18n import tr
from workbench.lenses.told import group_mark
from workbench.records.corpus import Chunk
from workbench.records.lenses import Likeness, Near

if TYPE_CHECKING:
    from typing import Self

    from screens.corpus.screen import CorpusScreen


class LikeTab(ChunkTab, can_focus=False):
    """A list; enter goes to the chunk under its cursor."""

    DEFAULT_CSS = """
    LikeTab Static { display: none; }
    LikeTab.-none Static { display: block; }
    LikeTab.-none Grid { display: none; }
    """

    def compose(self) -> ComposeResult:
        """The list, or why there is none."""
        yield Static()
        yield Grid(
            [
                Column(tr("cosine"), 6, "right"),
                Column("", 5, fold=True),
                Column(tr("document"), 22, tail=True, keep=60),
                Column("#", 5, "right", keep=50),
                Column(tr("text"), 0),
            ],
            id="like-grid",
        )

    def focus(self, scroll_visible: bool = True) -> Self:
        """The list has it."""
        self.query_one(Grid).focus(scroll_visible)
        return self

    def show(self, chunk: Chunk | None) -> None:
        """Reads them."""
        if chunk is None:
            self.query_one(Grid).show([])
            return
        self.jobs.read(self, lambda: self._read(chunk), lambda found: self._draw(chunk, *found))

    def _read(self, chunk: Chunk) -> tuple[str, list[Row]]:
        found = self.desk.lenses.like(chunk)
        return found.reason, [_row(near, found) for near in found.near]

    def _draw(self, chunk: Chunk, reason: str, rows: list[Row]) -> None:
        if chunk is not self.chunk:
            return
        told = reason or ("" if rows else tr("There is no other chunk."))
        self.set_class(bool(told), "-none")
        self.query_one(Static).update(content((told, Tone.DIM)))
        self.query_one(Grid).show(rows)

    @on(Grid.Opened, "#like-grid")
    def go(self, event: Grid.Opened) -> None:
        """To the chunk itself."""
        event.stop()
        cast("CorpusScreen", self.screen).see(event.key, "text")


def _row(near: Near, found: Likeness) -> Row:
    mark: Line = (group_mark(near, found), Tone.WARN)
    start = " ".join(near.chunk.text[:200].split())
    return Row(
        near.chunk.id,
        (f"{near.cosine:.3f}", mark, near.chunk.source_id, str(near.chunk.ordinal + 1), (start, Tone.DIM)),
    )
