"""The columns that a list of chunks can have, and the dialog that chooses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from screens.dialogs import HELP
from screens.style import Line, Tone, content, count
from screens.widgets.grid import Column, Grid, Row
from workbench.i18n import tr
from workbench.records.browsing import ChunkRow


@dataclass(frozen=True, slots=True)
class ChunkColumn:
    """A column of the list: what stands in it, and whether it is there when nothing else was chosen."""

    make: Callable[[], Column]
    cell: Callable[[ChunkRow], Line]
    usual: bool = False


COLUMNS: Final[dict[str, ChunkColumn]] = {
    "document": ChunkColumn(lambda: Column(tr("document"), 18, tail=True), lambda r: r.source_id, usual=True),
    "number": ChunkColumn(lambda: Column("#", 4, "right"), lambda r: str(r.ordinal + 1), usual=True),
    "section": ChunkColumn(
        lambda: Column("§", 18, keep=60, fold=True, tail=True), lambda r: r.section.rpartition(" > ")[2], usual=True
    ),
    "page": ChunkColumn(lambda: Column("p", 4, "right", fold=True), lambda r: r.page, usual=True),
    "tokens": ChunkColumn(lambda: Column("tok", 5, "right"), lambda r: count(r.tokens), usual=True),
    "tiktoken": ChunkColumn(lambda: Column("tiktoken", 8, "right"), lambda r: count(r.tiktoken_tokens)),
    "characters": ChunkColumn(lambda: Column(tr("chars"), 6, "right"), lambda r: count(r.characters)),
    "language": ChunkColumn(lambda: Column(tr("lang"), 4), lambda r: (r.language, Tone.DIM)),
    "kind": ChunkColumn(lambda: Column(tr("kind"), 9), lambda r: (r.kind, Tone.DIM)),
    "date": ChunkColumn(lambda: Column(tr("date"), 10, fold=True), lambda r: r.date),
    "hits": ChunkColumn(lambda: Column(tr("found"), 6, "right"), lambda r: count(r.hits) if r.hits else ""),
    "id": ChunkColumn(lambda: Column("id", 10), lambda r: (r.id[:10], Tone.DIM)),
    "text": ChunkColumn(lambda: Column(tr("text"), 0), lambda r: (" ".join(r.beginning.split()), Tone.DIM), usual=True),
}
"""By name, in the order in which they stand."""

USUAL: Final = tuple(name for name, column in COLUMNS.items() if column.usual)


def chosen(remembered: str) -> tuple[str, ...]:
    """The columns of a remembered choice, those of before anything was chosen for none that is known."""
    wanted = remembered.split(",")
    return tuple(name for name in COLUMNS if name in wanted) or USUAL


def shown(names: Sequence[str], *, all: bool) -> list[str]:
    """Those of them that tell something: the document, where the list holds several documents' chunks."""
    return [name for name in names if all or name != "document"]


def made(names: Sequence[str]) -> list[Column]:
    """A column for the row's sign, then the named ones."""
    return [Column("", 1), *(COLUMNS[name].make() for name in names)]


def chunk_row(row: ChunkRow, names: Sequence[str]) -> Row:
    """A line: ✂ for a chunk that its embedder cuts, ◦ for one of a retired document."""
    sign: Line = ("✂", Tone.BAD) if row.truncated else ("◦", Tone.DIM) if row.status == "retired" else ""
    return Row(row.id, (sign, *(COLUMNS[name].cell(row) for name in names)))


class ColumnsDialog(ModalScreen[str]):
    """Marks the columns that are there; dismisses with their names, "" when left."""

    CSS_PATH = "../dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close", id="columns.close"), *HELP]

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = names

    def compose(self) -> ComposeResult:
        """A table of the names."""
        with Vertical(classes="dialog choice") as box:
            box.border_title = content(tr("Columns"))
            box.border_subtitle = content(tr("space takes or leaves one · enter shows them · esc closes"))
            yield Grid([Column("", 1), Column("", 0)], marks=True)

    def on_mount(self) -> None:
        """Those that are there are marked."""
        grid = self.query_one(Grid)
        words = {
            "document": tr("document (where several documents' chunks are listed)"),
            "number": tr("number in its document"),
            "section": tr("heading"),
            "page": tr("page"),
            "tokens": tr("tokens by the embedder"),
            "tiktoken": tr("tokens by tiktoken (o200k)"),
            "characters": tr("characters"),
            "language": tr("language"),
            "kind": tr("kind of text"),
            "date": tr("date of the document"),
            "hits": tr("times found, by questions and cases of runs"),
            "id": tr("id"),
            "text": tr("beginning of the text"),
        }
        grid.show([Row(name, ("", words[name])) for name in COLUMNS])
        grid.marked = set(self._names)

    def on_grid_opened(self) -> None:
        """Takes the choice."""
        marked = self.query_one(Grid).marked
        self.dismiss(",".join(name for name in COLUMNS if name in marked))

    def action_leave(self) -> None:
        """No choice."""
        self.dismiss("")
