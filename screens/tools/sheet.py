"""The dialog in which a decision sheet is written: a title, then criteria and options a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from screens.dialogs import HELP
from screens.fields import field, tell_problem, written
from screens.style import Tone, content
from workbench.decisions.writing import write_sheet
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.decisions import Sheet

if TYPE_CHECKING:
    from screens.app import WorkbenchApp
    from workbench.desk import Desk

EXAMPLE: Final = "quality 2 more >= 0.5\nprice 1 less\n\nA: quality=0.60 price=1\nB: quality=0.75 price=2\n"


class SheetDialog(ModalScreen[Sheet]):
    """Dismisses with the sheet once it is stored, None when left."""

    CSS_PATH = ["../dialogs.tcss", "tools.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="sheet.close"),
        Binding("ctrl+s", "save", "Save", id="sheet.save", priority=True),
        *HELP,
    ]

    def __init__(self, desk: Desk, sheet: Sheet | None = None) -> None:
        super().__init__()
        self._desk, self._sheet = desk, sheet

    def compose(self) -> ComposeResult:
        """Title and lines."""
        with Vertical(classes="dialog") as box:
            box.border_title = content(tr("A sheet"))
            box.border_subtitle = content(tr("ctrl+s stores · esc closes"))
            hint = tr(
                "A criterion: name, weight, more or less, >= or <= a bound. "
                "An option: name: criterion=value…, a link as run:12:recall@5 too."
            )
            yield Static(content((hint, Tone.DIM)))
            yield field(
                "title", tr("Title"), self._sheet.title if self._sheet else "", tr("what is decided, in a few words")
            )
            area = TextArea(
                write_sheet(self._sheet) if self._sheet else EXAMPLE,
                id="sheet-lines",
                classes="pane",
                tab_behavior="focus",
            )
            area.border_title = content(tr("Criteria and options, one a line"))
            yield area
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """A new sheet begins with its title."""
        self.query_one("#sheet-lines" if self._sheet else "#title").focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes on."""
        self.query_one(TextArea).focus()

    def action_save(self) -> None:
        """Stores it in a worker; what is wrong is told here."""
        title, text = written(self, "title"), self.query_one(TextArea).text
        cast("WorkbenchApp", self.app).jobs.read(
            self, lambda: self._desk.decisions.write(title, text), self._saved, self._failed
        )

    def _saved(self, sheet: Sheet) -> None:
        self.dismiss(sheet)

    def _failed(self, error: WorkbenchError) -> None:
        tell_problem(self, error)

    def action_leave(self) -> None:
        """Nothing."""
        self.dismiss(None)
