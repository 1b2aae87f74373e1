"""Snapshots of the whole file: taken, restored, deleted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from screens.dialogs import HELP, ConfirmDialog
from screens.style import Tone, content, size
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.exchange import Snapshot

if TYPE_CHECKING:
    from workbench.desk import Desk


class SnapshotsDialog(ModalScreen[bool]):
    """A list over the name of the next one; dismisses with whether the file's content is another now."""

    CSS_PATH = ["../dialogs.tcss", "corpus.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    AUTO_FOCUS = "Grid"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "name", "Take", id="snapshots.take", tooltip="Type a name; enter takes it"),
        Binding("r", "restore", "Restore", id="snapshots.restore", tooltip="Puts the file back to what it was"),
        Binding("D,shift+d", "delete", "Delete", id="snapshots.delete", tooltip="This snapshot, for good"),
        Binding("escape", "leave", "Close", id="snapshots.close"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__()
        self._desk, self._jobs = desk, jobs
        self._restored = False

    def compose(self) -> ComposeResult:
        """Table, name, and what snapshots keep."""
        with Vertical(classes="dialog choice") as box:
            box.border_title = content(tr("Snapshots of {file}", file=self._desk.path.name))
            box.border_subtitle = content(tr("t takes one · r restores · D deletes · esc closes"))
            told = tr("A snapshot is the whole file as it was: it keeps what was deleted after it was taken.")
            yield Static(content((told, Tone.DIM)))
            yield Grid([Column(tr("name"), 0), Column(tr("when"), 16), Column(tr("size"), 10, "right")])
            yield Input(placeholder=tr("Name; empty: the time"), classes="pane", id="snapshot-name")
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """Reads them."""
        self.query_one("#snapshot-name").border_title = content(tr("Take a snapshot"))
        self._read(self._desk.exchange.snapshots)

    def _read(self, call: Callable[[], Sequence[Snapshot]]) -> None:
        self._jobs.read(self, call, self._show, self._problem)

    def _show(self, found: Sequence[Snapshot]) -> None:
        self._tell("")
        self.query_one(Grid).show([_row(one) for one in found])

    def _problem(self, error: WorkbenchError) -> None:
        self._tell(f"✗ {error.message} {error.remedy}")

    def _tell(self, words: str) -> None:
        told = self.query_one(".problem", Static)
        told.update(content(words))
        told.set_class(bool(words), "-open")

    def _after(self, act: Callable[[], object]) -> None:
        """Acts, then lists what is there now."""

        def read_again() -> Sequence[Snapshot]:
            act()
            return self._desk.exchange.snapshots()

        self._read(read_again)

    def action_name(self) -> None:
        """To the line for its name."""
        self.query_one("#snapshot-name", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Takes it."""
        name = event.value.strip()
        event.input.value = ""
        self._after(lambda: self._desk.exchange.take_snapshot(name))
        self.query_one(Grid).focus()

    def action_restore(self) -> None:
        """Asks first."""
        if name := self.query_one(Grid).key:
            question = tr(
                "The whole file goes back to “{name}”. What it is now is kept as a snapshot first.", name=name
            )
            dialog = ConfirmDialog(tr("Restore the snapshot?"), question, tr("Restore"), tr("Keep"))
            self.app.push_screen(dialog, lambda yes: self._restore(name) if yes else None)

    def _restore(self, name: str) -> None:
        self._restored = True
        self._after(lambda: self._desk.exchange.restore_snapshot(name))

    def action_delete(self) -> None:
        """Asks first."""
        if name := self.query_one(Grid).key:
            told = tr("“{name}” goes for good; the file stays as it is.", name=name)
            dialog = ConfirmDialog(tr("Delete the snapshot?"), told, tr("Delete"), tr("Keep"))
            delete = self._desk.exchange.delete_snapshot
            self.app.push_screen(dialog, lambda yes: self._after(lambda: delete(name)) if yes else None)

    def action_leave(self) -> None:
        """From the name back to the list; from there out."""
        if self.query_one("#snapshot-name").has_focus:
            self.query_one(Grid).focus()
        else:
            self.dismiss(self._restored)


def _row(one: Snapshot) -> Row:
    return Row(one.name, (one.name, (f"{one.created.astimezone():%Y-%m-%d %H:%M}", Tone.DIM), size(one.bytes)))
