"""The dialog for a person's notes about a model."""

from __future__ import annotations

from datetime import date
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from screens.dialogs import HELP
from screens.fields import field, tell_problem, written
from screens.style import content
from workbench.i18n import tr
from workbench.records.library import ModelNote


class ModelNoteDialog(ModalScreen[ModelNote]):
    """Asks for the parts of a note; dismisses with it, None when left. All empty: the note goes."""

    CSS_PATH = "../dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="modelnote.close"),
        Binding("ctrl+s", "save", "Save", id="modelnote.save"),
        *HELP,
    ]

    def __init__(self, name: str, note: ModelNote) -> None:
        super().__init__()
        self._name, self._note = name, note

    def compose(self) -> ComposeResult:
        """A line for each."""
        note = self._note
        with Vertical(classes="dialog") as box:
            box.border_title = content(tr("Note on {name}", name=self._name))
            box.border_subtitle = content(tr("enter goes on · ctrl+s saves · esc closes"))
            yield field("chosen", tr("Chosen for"), note.chosen_for, tr("what it is good for here"))
            yield field("discarded", tr("Discarded alternatives"), note.alternatives, tr("and why"))
            yield field("limits", tr("Limits"), note.limits, tr("what it gets wrong"))
            review = note.review.isoformat() if note.review else ""
            yield field("review", tr("Next review"), review, tr("e.g. {example}", example="2027-01-31"))
            yield Static("", classes="problem")

    @on(Input.Submitted)
    def next_field(self, event: Input.Submitted) -> None:
        """Enter goes on; from the last line it saves."""
        if event.input.id == "review":
            self.action_save()
        else:
            self.focus_next()

    def action_save(self) -> None:
        """Dismisses with the note, or says what is wrong with it."""
        try:
            review = date.fromisoformat(day) if (day := written(self, "review")) else None
        except ValueError:
            tell_problem(self, ValueError(tr("Write the date as {example}.", example="2027-01-31")))
            return
        self.dismiss(ModelNote(written(self, "chosen"), written(self, "discarded"), written(self, "limits"), review))

    def action_leave(self) -> None:
        """Nothing changes."""
        self.dismiss(None)
