"""What changes documents: retire and restore, edit and undo, delete and prove it."""

from __future__ import annotations

from textual.widgets import Input

from screens.base import ModeScreen
from screens.corpus.chunks import ChunkPane
from screens.corpus.delete import DeleteDialog, proof
from screens.corpus.edit import EditDialog, EditsDialog
from screens.dialogs import NoteDialog
from screens.style import count
from screens.widgets.grid import Grid
from screens.work import Failed, Jobs
from workbench.desk import Desk
from workbench.errors import NotFoundError, WorkbenchError
from workbench.i18n import tr
from workbench.ports import DeleteCheck
from workbench.records.corpus import Document, DocumentStatus
from workbench.records.curation import EditPlan, MetadataEdit
from workbench.records.exchange import Snapshot


class Changing(ModeScreen):
    """The part of the Corpus screen that changes something; each is done to the documents that are acted on."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self.documents: dict[str, Document] = {}
        """The collection's, by id."""

    @property
    def document(self) -> Document | None:
        """The one under the cursor."""
        return self.documents.get(self.query_one("#documents-grid", Grid).key)

    def acted_on(self) -> list[Document]:
        """Of the list in focus, the marked documents or those of the marked chunks; else what its cursor is on."""
        chunks = self.query_one(ChunkPane)
        if chunks.has_focus_within:
            rows = list(chunks.marked.values()) or [row for row in [chunks.known] if row]
            wanted = {row.document_id for row in rows}
        else:
            grid = self.query_one("#documents-grid", Grid)
            wanted = grid.marked or {grid.key}
        return [document for document in self.documents.values() if document.id in wanted]

    def failed(self, *documents: Document) -> Failed:
        """Shows what is there now: when a document is gone, another workbench was faster."""
        names = ", ".join(document.source_id for document in documents)

        def failed(error: WorkbenchError) -> None:
            self.bench.changed()
            if isinstance(error, NotFoundError):
                gone = tr("Not in the file any more, or not all of it: {names}.", names=names)
                error = NotFoundError(tr("No such document"), gone, tr("The list has been read anew."))
            self.bench.show_error(error)

        return failed

    def _changed(self, told: str) -> None:
        self.notify(told, timeout=4, markup=False)
        self.bench.changed()

    def action_retire(self) -> None:
        """Retires the documents, or restores them when all are retired."""
        documents = self.acted_on()
        if not documents:
            return
        keys, retire = [d.id for d in documents], any(d.status == "current" for d in documents)
        told = tr("Retired: it is kept, and not found.") if retire else tr("Restored: it is found again.")
        if len(keys) > 1:
            told = tr("{count} retired.", count=len(keys)) if retire else tr("{count} restored.", count=len(keys))
        status: DocumentStatus = "retired" if retire else "current"
        failed = self.failed(*documents)
        self.jobs.read(self, lambda: self.desk.set_status(keys, status), lambda _: self._changed(told), failed)

    def action_delete(self) -> None:
        """Asks, then deletes."""
        self.ask_delete(self.acted_on())

    def ask_delete(self, documents: list[Document]) -> None:
        """Asks whether these are to go."""
        if documents:
            dialog = DeleteDialog(self.desk, self.jobs, documents)
            self.app.push_screen(dialog, lambda answer: self._delete(documents, answer) if answer else None)

    def _delete(self, documents: list[Document], answer: str) -> None:
        keys, traces = [d.id for d in documents], answer == "traces"
        failed = self.failed(*documents)

        def work() -> tuple[tuple[DeleteCheck, ...], tuple[Snapshot, ...]]:
            return self.desk.delete_documents(keys, traces=traces), self.desk.exchange.snapshots()

        self.jobs.read(self, work, lambda found: self._deleted(*found), failed)

    def _deleted(self, checks: tuple[DeleteCheck, ...], snapshots: tuple[Snapshot, ...]) -> None:
        title = tr("Deleted and checked") if all(c.gone for c in checks) else tr("Something is left")
        self.bench.changed()
        self.app.push_screen(NoteDialog(title, proof(checks, snapshots)))

    def action_edit(self) -> None:
        """Asks what to change, then changes it."""
        self.ask_edit(self.acted_on())

    def ask_edit(self, documents: list[Document]) -> None:
        """Asks what to change of these."""
        if not documents:
            return
        failed = self.failed(*documents)

        def apply(plan: EditPlan | None) -> None:
            if plan:
                self.jobs.read(self, lambda: self.desk.curator.apply(plan), self._edited, failed)

        self.app.push_screen(EditDialog(self.desk, self.jobs, documents), apply)

    def _edited(self, edit: MetadataEdit) -> None:
        self._changed(tr("{count} documents changed; ctrl+z takes it back.", count=count(edit.documents)))

    def action_undo(self, edit_id: int = 0) -> None:
        """Takes an edit back, the last one when 0 is given."""
        if not isinstance(self.focused, Input):
            self.jobs.read(self, lambda: self.desk.curator.undo(edit_id), self._undone)

    def _undone(self, edit: MetadataEdit) -> None:
        names = ", ".join(edit.asked)
        self._changed(tr("Taken back: {names}. Documents: {count}.", names=names, count=count(edit.documents)))

    def action_edits(self) -> None:
        """Lists them; one can be taken back."""

        def choose(edit_id: int | None) -> None:
            if edit_id:
                self.action_undo(edit_id)

        def show(edits: list[MetadataEdit]) -> None:
            if edits:
                self.app.push_screen(EditsDialog(edits), choose)
            else:
                self.notify(tr("No metadata was edited yet. e edits them."), timeout=4)

        self.jobs.open(self, lambda: list(self.desk.curator.edits()), show)
