"""The dialog that asks what to export, and where to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Select, Static

from screens.dialogs import HELP
from screens.style import Tone, content, count
from workbench.i18n import tr
from workbench.records.exchange import ExportForm, ExportRequest


class ExportDialog(ModalScreen[ExportRequest | None]):
    """Asks where to and in which form; of a whole collection also for a filter. None when left."""

    CSS_PATH = ["../dialogs.tcss", "corpus.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="export.close"),
        Binding("ctrl+s", "start", "Export", id="export.start"),
        *HELP,
    ]

    def __init__(self, collection: str, marked: Sequence[str]) -> None:
        super().__init__()
        self._collection, self._marked = collection, tuple(marked)

    def compose(self) -> ComposeResult:
        """Folder, form, filter."""
        many = count(len(self._marked))
        what = tr("{count} marked documents of {name}", count=many, name=self._collection)
        forms = [(content("JSON Lines"), "jsonl"), (content("Parquet"), "parquet")]
        with Vertical(classes="dialog small") as box:
            box.border_title = content(tr("Export {what}", what=what if self._marked else self._collection))
            box.border_subtitle = content(tr("enter goes on · ctrl+s exports · esc closes"))
            told = tr("Documents, chunks with vectors, cases and qrels go into a new folder. Deleted documents don't.")
            yield Static(content((told, Tone.DIM)))
            yield self._field("folder", tr("New folder"), str(Path.cwd() / f"{self._collection}-export"))
            yield Select(forms, value="jsonl", allow_blank=False, id="form", compact=True)
            if not self._marked:
                yield self._field("filter", tr("Filter"), "", tr("all of it"))
            yield Static("", classes="problem")

    def _field(self, name: str, title: str, value: str, placeholder: str = "") -> Input:
        field = Input(value, placeholder=placeholder, classes="pane", id=f"export-{name}")
        field.border_title = content(title)
        return field

    def on_mount(self) -> None:
        """The folder's name can be changed at once."""
        self.query_one("#form").border_title = content(tr("Format"))
        self.query_one("#export-folder", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes on to the next field, and starts from the last."""
        if self._marked or event.input.id == "export-filter":
            self.action_start()
        else:
            self.focus_next()

    def action_start(self) -> None:
        """Dismisses with the request, or says why the folder won't do."""
        folder = Path(self.query_one("#export-folder", Input).value.strip()).expanduser()
        problem = ""
        if folder.exists():
            problem = tr("There is something of that name: choose another one.")
        elif not folder.absolute().parent.is_dir():
            problem = tr("There is no such folder.")
        if problem:
            told = self.query_one(".problem", Static)
            told.update(content("✗ ", problem))
            told.add_class("-open")
            return
        form = cast(ExportForm, self.query_one("#form", Select).value)
        asked = "" if self._marked else self.query_one("#export-filter", Input).value.strip()
        self.dismiss(ExportRequest(self._collection, str(folder), form, asked, self._marked))

    def action_leave(self) -> None:
        """Nothing is exported."""
        self.dismiss(None)
