"""The dialog that goes to a chunk by the beginning of its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from screens.dialogs import HELP
from screens.style import Tone, content
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.corpus import Chunk

if TYPE_CHECKING:
    from workbench.desk import Desk

_LISTED = 20


class GoToDialog(ModalScreen[str]):
    """Lists the chunks whose id begins with what is typed; dismisses with the chosen one's id, "" when left."""

    CSS_PATH = "../dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="goto.close"),
        Binding("down", "list", "To the list", show=False, id="goto.list"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, collection: str) -> None:
        super().__init__()
        self._listed = ""

        def read(typed: str) -> tuple[Chunk, ...]:
            return desk.browser.find(collection, typed, _LISTED)

        self._latest = Latest(jobs, self, read, self._show, self._failed)

    def compose(self) -> ComposeResult:
        """The line over what it finds."""
        with Vertical(classes="dialog choice") as box:
            box.border_title = content(tr("Go to a chunk"))
            box.border_subtitle = content(tr("enter goes to the first · ↓ chooses · esc closes"))
            yield Input(placeholder=tr("The beginning of its id"), classes="pane")
            yield Static("")
            yield Grid([Column("id", 12), Column(tr("document"), 0, tail=True), Column("#", 5, "right")])

    def on_input_changed(self, event: Input.Changed) -> None:
        """Looks as it is typed."""
        self._latest.submit(event.value.strip())

    def _show(self, typed: str, found: tuple[Chunk, ...]) -> None:
        self._listed = typed
        rows = [Row(c.id, (c.id[:12], (c.source_id, Tone.DIM), str(c.ordinal + 1))) for c in found]
        self.query_one(Grid).show(rows)
        none = tr("No chunk of this collection has an id that begins so.") if typed and not found else ""
        self.query_one(Static).update(content((none, Tone.WARN)))

    def _failed(self, error: WorkbenchError) -> None:
        self.query_one(Grid).show([])
        self.query_one(Static).update(content(("✗ " + error.message, Tone.BAD)))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The first of them; what is typed where none was found, or the list isn't of that yet."""
        typed = event.value.strip()
        self.dismiss((self.query_one(Grid).key if self._listed == typed else "") or typed)

    def on_grid_opened(self, event: Grid.Opened) -> None:
        """The chosen one."""
        self.dismiss(event.key)

    def action_list(self) -> None:
        """Into the list."""
        self.query_one(Grid).focus()

    def action_leave(self) -> None:
        """No chunk."""
        self.dismiss("")
