"""A dialog of lines: what a person fills in for a price, a server, a load test, a decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from screens import fields
from screens.dialogs import HELP
from screens.fields import field, tell_problem, written
from screens.style import Tone, content
from workbench.errors import WorkbenchError
from workbench.i18n import tr

T = TypeVar("T")
Answers = dict[str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a form: its name, its label, what stands in it, and a hint while it is empty."""

    name: str
    label: str
    value: str = ""
    hint: str = ""


class FormDialog(ModalScreen[T]):
    """Dismisses with what ``made`` makes of the answers, None when left; what it raises is told in the dialog."""

    CSS_PATH = "../dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="form.close"),
        Binding("ctrl+s", "save", "Save", id="form.save", priority=True),
        *HELP,
    ]

    def __init__(self, title: str, lines: Sequence[Line], made: Callable[[Answers], T], note: str = "") -> None:
        super().__init__()
        self._heading, self._lines, self._made, self._note = title, lines, made, note

    def compose(self) -> ComposeResult:
        """A line for each."""
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = content(self._heading)
            box.border_subtitle = content(tr("enter goes on · ctrl+s saves · esc closes"))
            if self._note:
                yield Static(content((self._note, Tone.DIM)))
            for line in self._lines:
                yield field(line.name, line.label, line.value, line.hint)
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """The first line first."""
        self.query(Input).first().focus()

    @on(Input.Submitted)
    def go_on(self, event: Input.Submitted) -> None:
        """Enter goes on; from the last line it saves."""
        if event.input.id == self._lines[-1].name:
            self.action_save()
        else:
            self.focus_next()

    def action_save(self) -> None:
        """Dismisses, or says what is wrong."""
        try:
            made = self._made({line.name: written(self, line.name) for line in self._lines})
        except (WorkbenchError, ValueError) as error:
            tell_problem(self, error)
        else:
            self.dismiss(made)

    def action_leave(self) -> None:
        """Nothing."""
        self.dismiss(None)


def number(answers: Answers, name: str, label: str, otherwise: float | None = None) -> float:
    """A number from 0 on in a line; ``otherwise`` when it is empty. Raises ValueError with a sentence."""
    if not answers[name] and otherwise is not None:
        return otherwise
    return fields.number(answers[name], label)
