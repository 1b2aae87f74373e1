"""Corpus: what exactly is in the index? Collections, their documents, their chunks, and each chunk's text and facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget

from screens.base import ModeScreen
from screens.corpus.detail import Detail
from screens.dialogs import ConfirmDialog, NoteDialog
from screens.source import SourceView, read_chunk, read_span, show_source
from screens.style import Line, Tone, content, count, place
from screens.widgets.grid import Column, Grid, ListPane, Row
from screens.work import Failed, Jobs
from workbench.errors import NotFoundError, WorkbenchError
from workbench.i18n import tr
from workbench.records.corpus import Chunk, Collection, Document, DocumentStatus

if TYPE_CHECKING:
    from workbench.desk import Desk
    from workbench.ports import DeleteCheck


class Columns(Vertical):
    """The right side: chunks over the one under the cursor."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(id="right")
        self._desk, self._jobs = desk, jobs

    def compose(self) -> ComposeResult:
        """Table and detail."""
        yield ListPane(_chunks_title, _chunk_columns(), id="chunks")
        yield Detail(self._desk, self._jobs)


class CorpusScreen(ModeScreen):
    """Documents of the chosen collection on the left, their chunks on the right."""

    CSS_PATH = "corpus.tcss"
    AUTO_FOCUS = "#documents-grid"
    mode = "corpus"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "app.ingest", "Ingest", id="corpus.ingest", tooltip="Read files into a collection"),
        Binding("o", "open", "Source", id="corpus.open", tooltip="The source at this place, the chunk lit"),
        Binding("R,shift+r", "retire", "Retire", id="corpus.retire", tooltip="Retire the documents, or restore them"),
        Binding("D,shift+d", "delete", "Delete", id="corpus.delete", tooltip="Delete the documents, and prove it"),
        Binding("g", "app.choose_collection", "Collection", id="corpus.collection", tooltip="Choose another one"),
        Binding("left_square_bracket", "turn(-1)", "Tab before", key_display="[", show=False, id="corpus.tab.before"),
        Binding(
            "right_square_bracket",
            "turn(1)",
            "Next tab",
            key_display="]",
            id="corpus.tab.next",
            tooltip="Another way to see the chunk",
        ),
        Binding("escape", "back", "To the documents", show=False, id="corpus.back"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._collection: Collection | None = None
        self._documents: dict[str, Document] = {}
        self._chunks: dict[str, Chunk] = {}

    def body(self) -> Iterable[Widget]:
        """Documents beside chunks; a hint where there are none."""
        with Horizontal(id="corpus"):
            yield ListPane(self._documents_title, _document_columns(), id="documents", marks=True)
            yield Columns(self.desk, self.jobs)

    # -- reading ---------------------------------------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        """Another workbench may have changed the file meanwhile."""
        before = self._seen
        super().on_screen_resume()
        if self._seen == before:
            self.reload()

    def reload(self) -> None:
        """The collection's documents."""
        self.jobs.read(self, self._read, self._show_documents)

    def _read(self) -> tuple[Collection | None, tuple[Document, ...], list[Row]]:
        name = self.desk.collection
        collection = next((c for c in self.desk.collections() if c.name == name), None)
        documents = self.desk.documents(name) if collection else ()
        return collection, documents, [_document_row(d) for d in documents]

    def _show_documents(self, found: tuple[Collection | None, tuple[Document, ...], list[Row]]) -> None:
        collection, documents, rows = found
        if (collection and collection.name) != (self._collection and self._collection.name):
            self.query_one("#documents", ListPane).show_all()
        self._collection = collection
        self._documents = {d.id: d for d in documents}
        self.query_one("#documents", ListPane).show(rows)
        if not documents:
            self._show_chunks("", ((), []))

    @on(Grid.Highlighted, "#documents-grid")
    def document_chosen(self, event: Grid.Highlighted) -> None:
        """Its chunks, read in a worker; those of a document left meanwhile are not shown."""
        document_id = event.key
        if document_id:
            self.jobs.read(self, lambda: self._read_chunks(document_id), lambda c: self._show_chunks(document_id, c))
        else:
            self._show_chunks("", ((), []))

    def _read_chunks(self, document_id: str) -> tuple[tuple[Chunk, ...], list[Row]]:
        chunks = self.desk.chunks(document_id)
        return chunks, [_chunk_row(c) for c in chunks]

    def _show_chunks(self, document_id: str, found: tuple[tuple[Chunk, ...], list[Row]]) -> None:
        if document_id != self.query_one("#documents-grid", Grid).key:
            return
        chunks, rows = found
        self._chunks = {c.id: c for c in chunks}
        self.query_one("#chunks", ListPane).show(rows)
        self._draw_chunk(self.query_one("#chunks-grid", Grid).key)

    @on(Grid.Highlighted, "#chunks-grid")
    def chunk_chosen(self, event: Grid.Highlighted) -> None:
        """Its text and facts."""
        self._draw_chunk(event.key)

    def _draw_chunk(self, chunk_id: str) -> None:
        document = self._documents.get(self.query_one("#documents-grid", Grid).key)
        searched = self._chunks if document else self._documents
        nothing = _not_found() if searched else _nothing(document)
        self.query_one(Detail).show(self._chunks.get(chunk_id), nothing)

    def _documents_title(self, shown: int, there: int) -> str:
        name = self._collection.name if self._collection else tr("Documents")
        documents = count(there) if shown == there else f"{count(shown)}/{count(there)}"
        return f"{name} ── {documents}"

    # -- keys ------------------------------------------------------------------------------------------------------

    @property
    def _document(self) -> Document | None:
        return self._documents.get(self.query_one("#documents-grid", Grid).key)

    @on(Grid.Opened, "#documents-grid")
    def to_chunks(self) -> None:
        """Enter goes one level in."""
        self.query_one("#chunks-grid", Grid).focus()

    @on(Grid.Opened, "#chunks-grid")
    def action_open(self) -> None:
        """The source text, the chunk lit (its start when the document has no chunks)."""
        chunk, document = self.query_one("#chunks-grid", Grid).key, self._document
        if document is None:
            self.notify(tr("There is no document here to open."), timeout=3)
            return
        key = document.id

        def read() -> SourceView:
            return read_chunk(self.desk, chunk) if chunk else read_span(self.desk, key, 0, 0)

        self.jobs.read(self, read, lambda view: show_source(self, view), self._failed(document))

    def action_turn(self, tabs: int) -> None:
        """Another way to see the chunk."""
        self.query_one(Detail).turn(tabs)

    def action_back(self) -> None:
        """One level out."""
        self.query_one("#documents-grid", Grid).focus()

    def _acted_on(self) -> list[Document]:
        """The marked documents; the one under the cursor when none is."""
        marked = self.query_one("#documents-grid", Grid).marked
        document = self._document
        return [d for d in self._documents.values() if d.id in marked] or ([document] if document else [])

    def action_retire(self) -> None:
        """Retires the documents, or restores them when all are retired."""
        documents = self._acted_on()
        if not documents:
            return
        keys, retire = [d.id for d in documents], any(d.status == "current" for d in documents)
        told = tr("Retired: it is kept, and not found.") if retire else tr("Restored: it is found again.")
        if len(keys) > 1:
            told = tr("{count} retired.", count=len(keys)) if retire else tr("{count} restored.", count=len(keys))
        status: DocumentStatus = "retired" if retire else "current"
        failed = self._failed(*documents)
        self.jobs.read(self, lambda: self.desk.set_status(keys, status), lambda _: self._changed(told), failed)

    def _changed(self, told: str) -> None:
        self.notify(told, timeout=4, markup=False)
        self.bench.changed()

    def action_delete(self) -> None:
        """Asks, then deletes."""
        documents = self._acted_on()
        if not documents:
            return
        chunks = count(sum(d.chunks for d in documents))
        parts = tr("text, full-text rows and vectors")
        what = tr(
            "{name} goes for good ({chunks} chunks): {parts}.", name=documents[0].source_id, chunks=chunks, parts=parts
        )
        title = tr("Delete the document?")
        if len(documents) > 1:
            many = count(len(documents))
            what = tr(
                "{count} documents go for good ({chunks} chunks): {parts}.", count=many, chunks=chunks, parts=parts
            )
            title = tr("Delete {count} documents?", count=many)
        kept = tr("Traces of earlier questions keep the passages they showed; nothing in the workbench removes those.")
        dialog = ConfirmDialog(title, f"{what}\n\n{kept}", tr("Delete"), tr("Keep"))
        self.app.push_screen(dialog, lambda yes: self._delete(documents) if yes else None)

    def _delete(self, documents: list[Document]) -> None:
        keys = [d.id for d in documents]
        self.jobs.read(self, lambda: self.desk.delete_documents(keys), self._deleted, self._failed(*documents))

    def _failed(self, *documents: Document) -> Failed:
        """Shows what is there now: when a document is gone, another workbench was faster."""
        names = ", ".join(document.source_id for document in documents)

        def failed(error: WorkbenchError) -> None:
            self.bench.changed()
            if isinstance(error, NotFoundError):
                gone = tr("Not in the file any more, or not all of it: {names}.", names=names)
                error = NotFoundError(tr("No such document"), gone, tr("The list has been read anew."))
            self.bench.show_error(error)

        return failed

    def _deleted(self, checks: tuple[DeleteCheck, ...]) -> None:
        title = tr("Deleted and checked") if all(c.gone for c in checks) else tr("Something is left")
        lines = [line for check in checks for line in _proof(check)]
        self.bench.changed()
        self.app.push_screen(NoteDialog(title, content(*lines)))


def _proof(check: DeleteCheck) -> Iterable[Line]:
    """One line per place that could still mention the document."""
    yield tr("Rows that still mention {name}:", name=check.source_id) + "\n"
    for where, left in check.remaining.items():
        yield ("\n✗ ", Tone.BAD) if left else ("\n✓ ", Tone.GOOD)
        yield f"{where:<24}{count(left):>6}"


def _document_columns() -> list[Column]:
    return [
        Column("", 1),
        Column(tr("document"), 0, tail=True),
        Column(tr("lang"), 4, keep=34),
        Column(tr("chunks"), 6, "right"),
    ]


def _document_row(document: Document) -> Row:
    mark: Line = ("✓", Tone.GOOD) if document.status == "current" else ("◦", Tone.DIM)
    if document.warnings:
        mark = ("~", Tone.WARN)
    name: Line = document.source_id if document.status == "current" else (document.source_id, Tone.DIM)
    return Row(document.id, (mark, name, (document.language, Tone.DIM), count(document.chunks)))


def _chunks_title(shown: int, there: int) -> str:
    return f"{tr('Chunks')} ── {count(there) if shown == there else f'{count(shown)}/{count(there)}'}"


def _chunk_columns() -> list[Column]:
    return [
        Column("#", 4, "right"),
        Column("§", 18, keep=60, fold=True),
        Column("p", 4, "right", fold=True),
        Column("tok", 5, "right"),
        Column("", 2, fold=True),
        Column(tr("text"), 0),
    ]


def _chunk_row(chunk: Chunk) -> Row:
    flag: Line = ("✂", Tone.BAD) if chunk.truncated else ""
    page = chunk.page_label or (str(chunk.page) if chunk.page is not None else "")
    start = " ".join(chunk.text[:120].split())
    return Row(
        chunk.id, (str(chunk.ordinal + 1), place(chunk.heading), page, count(chunk.tokens), flag, (start, Tone.DIM))
    )


def _not_found() -> Content:
    return content((tr("No row holds what is searched for: esc in the list shows all."), Tone.DIM))


def _nothing(document: Document | None) -> Content:
    if document is not None:
        return content((tr("This document has no chunks in the current index."), Tone.DIM))
    return content(
        (tr("No documents yet."), Tone.STRONG),
        "\n\n",
        ("i", Tone.ACCENT),
        " " + tr("ingests a file or a folder: text, Markdown, HTML, PDF, Word, tables, JSON, source code."),
    )
