"""Editing documents' metadata: what would change is seen while it is typed; and the edits that were made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widgets import Input, Static

from screens.dialogs import HELP
from screens.style import Tone, content, count
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs, Latest
from workbench.corpus.metadata import parse_assignments
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.corpus import Document, MetaValue
from workbench.records.curation import EditPlan, MetadataEdit

if TYPE_CHECKING:
    from workbench.desk import Desk


def written(value: MetaValue | None) -> str:
    """A value as a person writes it, "–" for none."""
    if value is None:
        return "–"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def known_fields(documents: Sequence[Document]) -> list[str]:
    """Assignments to offer: every field of the documents with its first value, the well-known ones too."""
    found = {"title": "", "date": "", "version": "", "valid_from": "", "valid_to": "", "owner": "", "tags": ""}
    for document in documents:
        found |= {name: written(value) for name, value in document.metadata.items() if not found.get(name)}
    return [f"{name}={value}" for name, value in sorted(found.items())]


def _parts(typed: str) -> list[str]:
    """The assignments of a line."""
    return [part for part in map(str.strip, typed.split(";")) if part]


class AssignmentSuggester(Suggester):
    """Completes the assignment that is being typed, the last one of the line."""

    def __init__(self, known: Sequence[str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._known = known

    async def get_suggestion(self, value: str) -> str | None:
        """The line with the first known assignment that begins so."""
        before, semicolon, last = value.rpartition(";")
        lead = before + semicolon + last[: len(last) - len(last.lstrip())]
        begun = last.strip()
        found = next((known for known in self._known if begun and known.startswith(begun) and known != begun), None)
        return lead + found if found else None


class EditDialog(ModalScreen[EditPlan | None]):
    """Takes assignments for some documents; dismisses with the plan to apply, None when left."""

    CSS_PATH = ["../dialogs.tcss", "corpus.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="edit.close"),
        Binding("down", "preview", "To the preview", show=False, id="edit.preview"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, documents: Sequence[Document]) -> None:
        super().__init__()
        self._documents = documents
        ids = [document.id for document in documents]
        self._plan: EditPlan | None = None

        def read_plan(typed: str) -> EditPlan:
            return desk.curator.preview(ids, parse_assignments(_parts(typed)))

        self._latest = Latest(jobs, self, read_plan, self._show, self._problem)

    def compose(self) -> ComposeResult:
        """The line over what it would change."""
        many, first = len(self._documents), self._documents[0]
        with Vertical(classes="dialog full") as box:
            name = tr("{count} documents", count=count(many)) if many > 1 else first.source_id
            box.border_title = content(tr("Edit the metadata of {name}", name=name))
            box.border_subtitle = content(tr("→ completes · enter applies · esc closes"))
            suggester = AssignmentSuggester(known_fields(self._documents))
            placeholder = tr("year=2026; owner=registry; tags=a, b; note=   (takes the note back)")
            yield Input(placeholder=placeholder, classes="pane", suggester=suggester)
            yield Static("", classes="problem")
            yield Static(self._now(), id="edit-now")
            yield Grid(
                [
                    Column(tr("document"), 0, tail=True),
                    Column(tr("field"), 14),
                    Column(tr("before"), 0),
                    Column(tr("after"), 0),
                ]
            )

    def _now(self) -> str:
        names = sorted({name for document in self._documents for name in document.metadata})
        return tr("Fields now: {names}", names=", ".join(names) or "–")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Previews as it is typed; an assignment is whole from its = on, and one without it is begun or wrong."""
        parts = _parts(event.value)
        self._plan = None
        self._tell("")
        if parts and "=" in parts[-1]:
            self._latest.submit("; ".join(parts))
            return
        self._latest.drop()
        self.query_one(Grid).show([])
        if parts:
            self._tell(tr("“{given}” still lacks its =.", given=parts[-1]))

    def _show(self, typed: str, plan: EditPlan) -> None:
        self._plan = plan
        rows = [
            Row(
                f"{c.document_id} {c.field}",
                (c.source_id, c.field, (written(c.before), Tone.DIM), (written(c.after), Tone.ACCENT)),
            )
            for c in plan.changes
        ]
        self.query_one(Grid).show(rows)
        stay = len(self._documents) - plan.documents
        already = tr("{count} of them have these values already.", count=stay) if stay else ""
        self._tell(" ".join(filter(None, (already, *plan.warnings))))

    def _problem(self, error: WorkbenchError) -> None:
        self.query_one(Grid).show([])
        self._tell(error.message)  # remedies speak of the command line

    def _tell(self, words: str) -> None:
        problem = self.query_one(".problem", Static)
        problem.update(content(words))
        problem.set_class(bool(words), "-open")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Applies what is previewed; says what can't be read."""
        if self._plan and self._plan.states:
            self.dismiss(self._plan)
        elif unread := next((part for part in _parts(event.value) if "=" not in part), None):
            self._tell(tr("“{given}” is not of the form key=value.", given=unread))

    def on_grid_opened(self) -> None:
        """As enter in the line."""
        if self._plan and self._plan.states:
            self.dismiss(self._plan)

    def action_preview(self) -> None:
        """Into the table."""
        self.query_one(Grid).focus()

    def action_leave(self) -> None:
        """Nothing is changed."""
        self.dismiss(None)


class EditsDialog(ModalScreen[int]):
    """The edits that were made; dismisses with the id of the one to take back, 0 for none."""

    CSS_PATH = "../dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close", id="edits.close"), *HELP]

    def __init__(self, edits: Sequence[MetadataEdit]) -> None:
        super().__init__()
        self._edits = edits

    def compose(self) -> ComposeResult:
        """A table, the newest first."""
        with Vertical(classes="dialog full") as box:
            box.border_title = content(tr("Edits of metadata"))
            box.border_subtitle = content(tr("enter takes one back · esc closes"))
            yield Grid(
                [
                    Column(tr("when"), 12),
                    Column(tr("documents"), 9, "right"),
                    Column("", 10),
                    Column(tr("what"), 0),
                ]
            )

    def on_mount(self) -> None:
        """Fills it."""
        self.query_one(Grid).show([_edit_row(edit) for edit in self._edits])

    def on_grid_opened(self, event: Grid.Opened) -> None:
        """That one."""
        self.dismiss(int(event.key))

    def action_leave(self) -> None:
        """None."""
        self.dismiss(0)


def _edit_row(edit: MetadataEdit) -> Row:
    asked = "; ".join(f"{field}={written(value)}" for field, value in edit.asked.items())
    undone = (tr("taken back"), Tone.DIM) if edit.undone else ""
    when = f"{edit.created.astimezone():%d %b %H:%M}"
    return Row(str(edit.id), (when, count(edit.documents), undone, asked))
