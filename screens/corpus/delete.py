"""Deleting documents: what goes, whether the traces that quote them are cleaned too, and the proof afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static, Switch

from screens.dialogs import HELP
from screens.style import Line, Tone, content, count
from screens.work import Jobs
from workbench.exchange.exchange import keepers
from workbench.i18n import tr
from workbench.records.corpus import Document
from workbench.records.exchange import Snapshot

if TYPE_CHECKING:
    from workbench.desk import Desk
    from workbench.ports import DeleteCheck


class DeleteDialog(ModalScreen[str]):
    """Asks; dismisses with "delete", "traces" (their quotes in stored traces go too), or "" when kept."""

    CSS_PATH = ["../dialogs.tcss", "corpus.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer('')", "Keep", id="delete.keep"),
        Binding("y,s", "delete", "Delete", id="delete.yes"),
        Binding("t", "traces", "Traces too", id="delete.traces", tooltip="Takes their words out of stored traces"),
        Binding("left,right", "app.focus_next", "Other answer", show=False, id="delete.other"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, documents: Sequence[Document]) -> None:
        super().__init__()
        self._desk, self._jobs, self._documents = desk, jobs, documents

    def compose(self) -> ComposeResult:
        """What goes, the switch, the answers; the harmless one has the focus."""
        with Vertical(classes="dialog small") as box:
            many = len(self._documents) > 1
            title = tr("Delete {count} documents?", count=len(self._documents)) if many else tr("Delete the document?")
            box.border_title = content(title)
            box.border_subtitle = content(tr("y yes · n no · t traces · enter takes the lit answer"))
            yield Static(content(self._what()))
            with Horizontal(id="traces-line"):
                yield Switch(False, animate=False, id="traces")
                yield Static(content(tr("Take their words out of stored traces and evaluation results too")))
            told = tr("Otherwise they keep the passages they showed. Files exported before stay as they are.")
            yield Static(content((told, Tone.DIM)))
            yield Static("", id="keepers")
            with Horizontal(classes="buttons"):
                yield Button(content(tr("Keep")), id="no")
                yield Button(content(tr("Delete")), id="yes")

    def on_mount(self) -> None:
        """The harmless answer; which snapshots keep what goes follows."""
        self.query_one("#no").focus()
        self._jobs.read(self, self._desk.exchange.snapshots, self._tell_keepers)

    def _tell_keepers(self, snapshots: Sequence[Snapshot]) -> None:
        self.query_one("#keepers", Static).update(content((keepers(snapshots), Tone.DIM)))

    def _what(self) -> str:
        chunks = count(sum(d.chunks for d in self._documents))
        parts = tr("text, full-text rows and vectors")
        if len(self._documents) == 1:
            name = self._documents[0].source_id
            return tr("{name} goes for good ({chunks} chunks): {parts}.", name=name, chunks=chunks, parts=parts)
        many = count(len(self._documents))
        return tr("{count} documents go for good ({chunks} chunks): {parts}.", count=many, chunks=chunks, parts=parts)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """The answer."""
        if event.button.id == "yes":
            self.action_delete()
        else:
            self.dismiss("")

    def action_delete(self) -> None:
        """Yes, with traces where the switch is on."""
        self.dismiss("traces" if self.query_one(Switch).value else "delete")

    def action_traces(self) -> None:
        """The switch by key."""
        self.query_one(Switch).toggle()

    def action_answer(self, answer: str) -> None:
        """No."""
        self.dismiss(answer)


def proof(checks: Sequence[DeleteCheck], snapshots: Sequence[Snapshot]) -> Content:
    """What was looked for after the deletion, what of it was found, and which snapshots of the file are there."""
    if len(checks) == 1:
        names = tr("Looked for {name} in the file after it was deleted:", name=checks[0].source_id)
    else:
        names = tr("Looked for {count} documents in the file after they were deleted:", count=len(checks))
    return content(names, "\n", *(line for part in _PLACES for line in _place(part, checks)), *_kept(checks, snapshots))


_PLACES: Final[dict[str, tuple[str, ...]]] = {
    "lexical": ("full text",),
    "dense": ("vectors", "token vectors"),
    "index": ("chunks",),
    "export": ("document", "text", "metadata"),
}
"""What a person asks → the places whose rows would answer."""


def _place(part: str, checks: Sequence[DeleteCheck]) -> Iterable[Line]:
    places = [name for check in checks for name in check.remaining]
    wanted = [name for name in dict.fromkeys(places) if name in _PLACES[part]]
    if part == "export":  # what isn't known to belong elsewhere would leave with an export
        known = {name for names in _PLACES.values() for name in names}
        wanted += [name for name in dict.fromkeys(places) if name not in known]
    left = {name: sum(check.remaining.get(name, 0) for check in checks) for name in wanted}
    gone = not any(left.values())
    told = {
        "lexical": tr("the lexical lane cannot find it") if gone else tr("the lexical lane can still find it"),
        "dense": tr("the dense lane cannot find it") if gone else tr("the dense lane can still find it"),
        "index": tr("no index holds its chunks") if gone else tr("an index still holds chunks of it"),
        "export": tr("no export can give it out") if gone else tr("an export would still give it out"),
    }
    yield ("\n✓ ", Tone.GOOD) if gone else ("\n✗ ", Tone.BAD)
    yield told[part]
    rows = "   ".join(f"{tr(name)} {count(number)}" for name, number in left.items())
    if rows:
        yield "\n  ", (rows, Tone.DIM)


def _kept(checks: Sequence[DeleteCheck], snapshots: Sequence[Snapshot]) -> Iterable[Line]:
    redacted, quoted = sum(c.redacted for c in checks), sum(c.quoted for c in checks)
    if redacted:
        yield ("\n✓ ", Tone.GOOD)
        yield tr("its words were taken out of {count} traces and results", count=redacted)
    if quoted:
        yield ("\n◦ ", Tone.DIM)
        yield tr("{count} traces and results keep the words they quoted", count=quoted)
    if snapshots:
        yield ("\n◦ ", Tone.DIM)
        yield f"{keepers(snapshots)} {tr('X lists them')}"
