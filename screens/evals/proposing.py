"""The dialogs of the review queue: what to make and how many, and a candidate's own words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from screens.dialogs import HELP
from screens.fields import chosen, field, pick, tell_problem, whole, written
from screens.style import Line, Tone, content
from workbench.i18n import tr
from workbench.records.cases import Case
from workbench.records.models import LoadedModel

CHUNKS, WITHOUT = "chunks", "without"


@dataclass(frozen=True, slots=True)
class Order:
    """What to make: ``count`` questions about chunks, or of the dataset's own ``without`` the documents that answer."""

    count: int
    without: bool


class OrderDialog(ModalScreen[Order]):
    """Asks what to make and how many; says which model would ask, or that none is loaded."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="order.close"),
        Binding("ctrl+s", "make", "Make", id="order.make"),
        *HELP,
    ]

    def __init__(self, model: LoadedModel | None) -> None:
        super().__init__()
        self._model = model

    def compose(self) -> ComposeResult:
        """What over how many."""
        kinds = [
            (CHUNKS, tr("questions about chunks, by the loaded model")),
            (WITHOUT, tr("its own questions, without what answers them")),
        ]
        model: Line = (("✗ ", Tone.WARN), tr("No model is loaded: load one in Models, on 1."))
        if self._model:
            model = (("● ", Tone.ACCENT), tr("{model} asks.", model=self._model.file.name))
        with Vertical(classes="dialog small") as box:
            box.border_title = content(tr("New candidates"))
            box.border_subtitle = content(tr("enter makes them · esc closes"))
            yield pick("kind", tr("Make"), kinds, CHUNKS if self._model else WITHOUT)
            yield field("count", tr("How many"), "10")
            yield Static(content(model, "\n", (tr("Nothing counts before you accepted it."), Tone.DIM)))
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """How many is what matters most."""
        self.query_one("#count", Input).focus()

    @on(Input.Submitted)
    def action_make(self) -> None:
        """Dismisses with the order, or says what is wrong with it."""
        try:
            order = Order(whole(self, "count", tr("How many"), 1), chosen(self, "kind") == WITHOUT)
        except ValueError as error:
            tell_problem(self, error)
            return
        if not (order.without or self._model):
            tell_problem(self, ValueError(tr("Questions are made by a language model.")))
            return
        self.dismiss(order)

    def action_leave(self) -> None:
        """Nothing is made."""
        self.dismiss(None)


class EditDialog(ModalScreen[Case]):
    """Asks for a candidate's question and expected answers; dismisses with the case as it is to be accepted."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="edit.close"),
        Binding("ctrl+s", "accept", "Accept", id="edit.accept", priority=True),
        *HELP,
    ]

    def __init__(self, case: Case) -> None:
        super().__init__()
        self._case = case

    def compose(self) -> ComposeResult:
        """The question over its answers."""
        with Vertical(classes="dialog lined") as box:
            box.border_title = content(tr("Edit {case}", case=self._case.id))
            box.border_subtitle = content(tr("ctrl+s accepts it so · esc closes"))
            yield field("question", tr("Question"), self._case.question)
            area = TextArea("\n".join(self._case.answers), id="answers", classes="lines", tab_behavior="focus")
            area.border_title = content(tr("Expected answers, one a line"))
            yield area
            yield field("notes", tr("Notes"), self._case.notes)
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """The question comes first."""
        self.query_one("#question", Input).focus()

    def on_input_submitted(self) -> None:
        """Enter goes on."""
        self.focus_next()

    def action_accept(self) -> None:
        """Dismisses with the edited case; a question without words is none."""
        question = written(self, "question")
        if not question:
            tell_problem(self, ValueError(tr("A case has a question.")))
            return
        lines = self.query_one("#answers", TextArea).text.splitlines()
        answers = tuple(line.strip() for line in lines if line.strip())
        self.dismiss(replace(self._case, question=question, answers=answers, notes=written(self, "notes")))

    def action_leave(self) -> None:
        """It stays as it was."""
        self.dismiss(None)
