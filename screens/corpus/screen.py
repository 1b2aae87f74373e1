"""Corpus: what exactly is in the index? Collections, their documents, their chunks, and each chunk's text and facts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from screens.corpus.arranging import Arranging, ordered
from screens.corpus.boundaries import count_flags, next_flag
from screens.corpus.chunks import COLUMNS_SETTING, ORDER_SETTING, ChunkPane
from screens.corpus.columns import chosen
from screens.corpus.detail import Detail
from screens.corpus.goto import GoToDialog
from screens.corpus.health import HealthScreen
from screens.corpus.healthlines import HealthLines
from screens.corpus.indexes import IndexesScreen
from screens.corpus.lab import RechunkLab
from screens.corpus.remedies import Decision
from screens.corpus.snapshots import SnapshotsDialog
from screens.corpus.tokens import TokensTab
from screens.corpus.transfer import ask_export, ask_import, ask_move
from screens.corpus.used import show_exposure
from screens.source import SourceView, read_chunk, read_span, show_source
from screens.style import Line, Tone, content, count
from screens.widgets.facts import Fact
from screens.widgets.grid import Column, Grid, ListPane, Row
from screens.widgets.keys import with_alt
from screens.work import Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.corpus import Chunk, Collection, Document
from workbench.records.health import Finding, Health

if TYPE_CHECKING:
    from workbench.desk import Desk

Found = tuple[Collection | None, tuple[Document, ...], list[Row], Health | None, tuple[str, str]]


class Columns(Vertical):
    """The right side: chunks over the one under the cursor."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(id="right")
        self._desk, self._jobs = desk, jobs

    def compose(self) -> ComposeResult:
        """Table and detail."""
        yield ChunkPane(self._desk, self._jobs)
        yield Detail(self._desk, self._jobs)


class CorpusScreen(Arranging):
    """The collection's documents on the left, their chunks on the right; on a narrow terminal one of the two."""

    CSS_PATH = "corpus.tcss"
    AUTO_FOCUS = "#documents-grid"
    mode = "corpus"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "app.ingest", "Ingest", id="corpus.ingest", tooltip="Read files into a collection"),
        Binding("o", "open", "Source", id="corpus.open", tooltip="The source at this place, the chunk lit"),
        Binding("a", "all", "All chunks", id="corpus.all", tooltip="The whole collection's chunks, or one document's"),
        Binding("h", "health", "Health", id="corpus.health", tooltip="What is wrong with it, and where its bytes are"),
        Binding("e", "edit", "Edit", id="corpus.edit", tooltip="Change the documents' metadata"),
        Binding("ctrl+z", "undo", "Undo", show=False, id="corpus.undo", tooltip="Takes the last edit of metadata back"),
        Binding("E,shift+e", "edits", "Edits", show=False, id="corpus.edits", tooltip="What was changed, to take back"),
        Binding("R,shift+r", "retire", "Retire", id="corpus.retire", tooltip="Retire the documents, or restore them"),
        Binding("D,shift+d", "delete", "Delete", id="corpus.delete", tooltip="Delete the documents, and prove it"),
        *with_alt("f", "filter", "Filter", id="corpus.filter", tooltip="Only chunks whose metadata matches"),
        Binding("s", "sort", "Sort", id="corpus.sort", tooltip="The chunks by size, language or date"),
        Binding("S,shift+s", "reverse", "Backwards", show=False, id="corpus.reverse", tooltip="The other way round"),
        Binding("number_sign", "go_to", "Go to id", key_display="#", id="corpus.goto", tooltip="The chunk of that id"),
        Binding("n", "walk(1)", "Next chunk", show=False, id="corpus.next", tooltip="The one after it in its document"),
        Binding("p", "walk(-1)", "Chunk before", show=False, id="corpus.previous", tooltip="In its document"),
        Binding("g", "app.choose_collection", "Collection", id="corpus.collection", tooltip="Choose another one"),
        Binding("C,shift+c", "columns", "Columns", show=False, id="corpus.columns", tooltip="What the list tells"),
        Binding("I,shift+i", "indexes", "Indexes", id="corpus.indexes", tooltip="Side by side: build, compare, switch"),
        Binding("x", "export", "Export", show=False, id="corpus.export", tooltip="The collection, or what is marked"),
        Binding("X,shift+x", "snapshots", "Snapshots", show=False, id="corpus.snapshots", tooltip="Of the whole file"),
        Binding("r", "rechunk", "Re-chunk", id="corpus.rechunk", tooltip="What another recipe would cut"),
        Binding("b", "next_flag", "Next flag", id="corpus.flag", tooltip="The next chunk that is cut badly"),
        Binding("B,shift+b", "count_flags", "All flags", show=False, id="corpus.flags", tooltip="Counted by document"),
        Binding("u", "show_exposure", "Hubs", show=False, id="corpus.hubs", tooltip="Found by many, and by none"),
        Binding("t", "see_tokens", "Tokens", show=False, id="corpus.tokens", tooltip="Its words, and a question's"),
        Binding("slash", "find", "Find", show=False, key_display="/", id="corpus.find", tooltip="Chunks with words"),
        Binding("left_square_bracket", "turn(-1)", "Tab before", key_display="[", show=False, id="corpus.tab.before"),
        Binding(
            "right_square_bracket",
            "turn(1)",
            "Next tab",
            key_display="]",
            id="corpus.tab.next",
            tooltip="Another way to see the chunk",
        ),
        Binding("escape", "back", "One level out", show=False, id="corpus.back"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._collection: Collection | None = None
        self._all = False
        self._changed_file = False
        self._wanted: Chunk | None = None
        self._walked_to = ""
        self._steps = 0
        self._latest = Latest(jobs, self, self._read_chunk, self._show_chunk, self._not_read)

    def body(self) -> Iterable[Widget]:
        """Documents beside chunks; a hint where there are none."""
        with Horizontal(id="corpus"):
            with Vertical(id="left"):
                yield ListPane(self._documents_title, _document_columns(), id="documents", marks=True)
                yield HealthLines()
            yield Columns(self.desk, self.jobs)

    def legend(self) -> list[Fact]:
        """Signs of the two lists."""
        return [
            ("✓  ◦  ~", tr("a document: current, retired, with warnings")),
            ("✂", tr("a chunk that its embedder does not see whole")),
            ("▪", tr("marked")),
            ("⚑", tr("a cut that takes something apart")),
            ("≈", tr("nearly the same text")),
        ]

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

    def _read(self) -> Found:
        name = self.desk.collection
        collection = next((c for c in self.desk.collections() if c.name == name), None)
        documents = self.desk.documents(name) if collection else ()
        examined = self.desk.doctor.last(name) if collection else None
        remembered = (self.desk.setting(COLUMNS_SETTING), self.desk.setting(ORDER_SETTING))
        return collection, documents, [_document_row(d) for d in documents], examined, remembered

    def _show_documents(self, found: Found) -> None:
        collection, documents, rows, examined, (columns, order) = found
        chunks = self.query_one(ChunkPane)
        moved = (collection and collection.name) != (self._collection and self._collection.name)
        if moved:
            self.query_one("#documents", ListPane).show_all()
            self._all = False
        if self._collection is None:
            chunks.names = chosen(columns)
            chunks.asked = ordered(chunks.asked, order)
        self._collection = collection
        self.documents = {d.id: d for d in documents}
        self.query_one(HealthLines).show(examined, collection)
        self._changed_file = True
        self.query_one("#documents", ListPane).show(rows)  # its cursor's message lists the chunks

    @on(Grid.Highlighted, "#documents-grid")
    def document_chosen(self, event: Grid.Highlighted) -> None:
        """Its chunks, unless all are listed; what is listed already is listed anew where the file changed."""
        if event.key != self.query_one("#documents-grid", Grid).key:
            return  # the cursor has gone on since
        asked, changed = self.query_one(ChunkPane).asked, self._changed_file
        self._changed_file = False
        same = asked.document_id == event.key or self._all
        if changed or not same:
            self._list(stay=same)

    def _list(self, *, stay: bool = False) -> None:
        """What the two lists stand on: all chunks, or those of the document under the cursor."""
        chunks, document = self.query_one(ChunkPane), self.document
        if document is None or self._collection is None:
            chunks.show_nothing()
            self.query_one(Detail).show(None, self._nothing())
            return
        name = "" if self._all else document.id
        known = self._collection.chunks if self._all else document.chunks
        query = replace(chunks.asked, collection=self._collection.name, document_id=name)
        chunks.show(query, stay=stay, known=known)

    @on(ChunkPane.Shown)
    def listed(self, event: ChunkPane.Shown) -> None:
        """Where nothing is listed, the detail says why."""
        if not event.total:
            self._wanted = None
            self.query_one(Detail).show(None, self._nothing())

    @on(Grid.Highlighted, "#chunks-grid")
    def chunk_chosen(self, event: Grid.Highlighted) -> None:
        """Its text and facts; of a row that isn't read yet, as soon as it is."""
        self._walked_to = ""
        if event.key:
            self._latest.submit(event.key)

    def _read_chunk(self, chunk_id: str) -> Chunk | None:
        return self.desk.browser.chunk(chunk_id)

    def _not_read(self, error: WorkbenchError) -> None:
        self.bench.show_error(error)

    def _show_chunk(self, _: str, chunk: Chunk | None) -> None:
        self._wanted = chunk
        self.query_one(Detail).show(chunk, content((tr("This chunk is gone."), Tone.DIM)))

    def _nothing(self) -> Content:
        document = self.document
        asked = self.query_one(ChunkPane).asked
        if document and (asked.words or asked.filter):
            return content((tr("No chunk passes: esc in the list shows all again."), Tone.DIM))
        if document is None and self.documents:
            return content((tr("No row holds what is searched for: esc in the list shows all."), Tone.DIM))
        return _nothing(document)

    def _documents_title(self, shown: int, there: int) -> str:
        name = self._collection.name if self._collection else tr("Documents")
        documents = count(there) if shown == there else f"{count(shown)}/{count(there)}"
        return f"{name} ── {documents}"

    # -- keys ------------------------------------------------------------------------------------------------------

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A narrow terminal shows the side that has the focus."""
        self.set_class(any(node.id == "right" for node in event.widget.ancestors), "-inside")

    @on(Grid.Opened, "#documents-grid")
    def to_chunks(self) -> None:
        """Enter goes one level in."""
        if self._all:
            self._all = False
            self._list()
        self.inside()

    @on(Grid.Opened, "#chunks-grid")
    def action_open(self) -> None:
        """The source text, the chunk lit (its start when the document has no chunks)."""
        name, document = self._walked_to or self.query_one("#chunks-grid", Grid).key, self.document
        if document is None:
            self.notify(tr("There is no document here to open."), timeout=3)
            return
        key = document.id

        def read() -> SourceView:
            return read_chunk(self.desk, name) if name else read_span(self.desk, key, 0, 0)

        self.jobs.open(self, read, lambda view: show_source(self, view), self.failed(document))

    def action_turn(self, tabs: int) -> None:
        """Another way to see the chunk."""
        if self.has_class("-narrow") and not self.has_class("-inside"):
            self.inside()
        self.query_one(Detail).turn(tabs)

    def action_back(self) -> None:
        """One level out: from the chunk to the list of chunks, from there to the documents."""
        if self.query_one(Detail).has_focus_within:
            self.query_one("#chunks-grid", Grid).focus()
        else:
            self._outside()

    def _outside(self) -> None:
        self.remove_class("-inside")
        self.query_one("#documents-grid", Grid).focus()

    def action_all(self) -> None:
        """All chunks of the collection, or those of the document of the one under the cursor; the chunk stays."""
        if not self.document:
            return
        self._all = not self._all
        if not self._all and self._wanted:
            self.query_one("#documents-grid", Grid).go_to(self._wanted.document_id)
        self._list(stay=True)
        self.inside()

    def action_go_to(self) -> None:
        """Asks for an id."""
        if self._collection:
            dialog = GoToDialog(self.desk, self.jobs, self._collection.name)
            self.app.push_screen(dialog, lambda wanted: self.go_to_chunk(wanted) if wanted else None)

    def go_to_chunk(self, chunk_id: str) -> None:
        """Shows the chunk whose id begins so, in its document; says so when there is none, or several."""
        self.jobs.read(self, lambda: self.desk.chunk(chunk_id), self._go_to)

    def _go_to(self, chunk: Chunk) -> None:
        if chunk.document_id not in self.documents:
            self.notify(tr("That chunk is in another collection."), severity="warning", timeout=4)
            return
        chunks, documents = self.query_one(ChunkPane), self.query_one("#documents", ListPane)
        documents.show_all()
        documents.grid.go_to(chunk.document_id)
        name = "" if self._all else chunk.document_id
        chunks.show_lines(find="", where="")
        chunks.show(replace(chunks.asked, document_id=name, filter="", words=""), at=chunk.id)
        self.inside()

    def see(self, chunk_id: str, tab: str) -> None:
        """Shows the chunk of that id, that tab of it in front."""
        self.query_one(Detail).open(tab)
        self.go_to_chunk(chunk_id)

    def action_next_flag(self) -> None:
        """Whatever list the chunk is in."""
        if self._collection:
            next_flag(self, self._collection.name, self._wanted)

    def action_indexes(self) -> None:
        """Afterwards other chunks may be listed."""
        if self._collection:
            dialog = IndexesScreen(self.desk, self.jobs, self._collection.name)
            self.app.push_screen(dialog, lambda _: self.bench.changed())

    def action_export(self) -> None:
        """The marked documents, or all of it."""
        if self._collection:
            marked = self.query_one("#documents-grid", Grid).marked
            ask_export(self, self._collection.name, [name for name in self.documents if name in marked])

    def action_import(self) -> None:
        """What an export holds."""
        ask_import(self)

    def action_move(self) -> None:
        """The collection, whole."""
        if self._collection:
            ask_move(self, self._collection.name)

    def action_snapshots(self) -> None:
        """Afterwards the whole file may be another."""
        dialog = SnapshotsDialog(self.desk, self.jobs)
        self.app.push_screen(dialog, lambda restored: self.bench.changed() if restored else None)

    def action_rechunk(self) -> None:
        """On the documents at hand."""
        self._lab(self.acted_on())

    def _lab(self, documents: list[Document]) -> None:
        if self._collection and documents:
            lab = RechunkLab(self.desk, self.jobs, self._collection.name, self._collection.recipe, documents)
            self.app.push_screen(lab)

    def action_count_flags(self) -> None:
        """In the background."""
        if self._collection:
            count_flags(self, self._collection.name, len(self.documents))

    def action_show_exposure(self) -> None:
        """Hubs, and what was never found."""
        if self._collection:
            show_exposure(self, self._collection.name)

    def action_see_tokens(self) -> None:
        """The tab of tokens; where it is in front already, its line for a question."""
        detail = self.query_one(Detail)
        if isinstance(detail.tab, TokensTab):
            self.inside(detail.tab.query_one(Input))
        else:
            detail.open("tokens")

    def action_walk(self, step: int) -> None:
        """The next chunk of its document, or the one before; the list follows where it has it."""
        self._steps += step
        if self._steps == step:  # else a step is under way, and this one follows it
            self._walk()

    def _walk(self) -> None:
        chunk, name = self._wanted, self._collection.name if self._collection else ""
        if chunk is None or not self._steps:
            self._steps = 0
            return
        step = 1 if self._steps > 0 else -1

        def read() -> tuple[Chunk | None, int | None]:
            found = self.desk.browser.neighbour(name, chunk.id, step)
            return found, self.desk.browser.key(name, found.id) if found else None

        self.jobs.read(self, read, lambda found: self._walked(step, *found), self._not_walked)

    def _not_walked(self, error: WorkbenchError) -> None:
        self._steps = 0
        self._not_read(error)

    def _walked(self, step: int, chunk: Chunk | None, key: int | None) -> None:
        self._steps -= step
        if chunk is None or key is None:
            self._steps = 0
            self.notify(tr("The document ends here.") if step > 0 else tr("The document begins here."), timeout=2)
            return
        self._wanted = chunk
        if not self.query_one(ChunkPane).go_to(key):
            self._walked_to = chunk.id
            self._show_chunk("", chunk)
        self._walk()

    # -- health ----------------------------------------------------------------------------------------------------

    @on(HealthLines.Opened)
    def action_health(self) -> None:
        """The page of checks and of the file's space."""
        if self._collection:
            self.app.push_screen(HealthScreen(self.desk, self.jobs, self._collection.name), self._from_health)

    def _from_health(self, chosen: Finding | Decision | None) -> None:
        """Goes to what was found, or opens what decides on it."""
        self.reload()
        match chosen:
            case Finding(kind="chunk"):
                self.go_to_chunk(chosen.id)
            case Finding(kind="document"):
                self.query_one("#documents", ListPane).show_all()
                self.query_one("#documents-grid", Grid).go_to(chosen.id)
                self._outside()
            case Decision():
                self._decide(chosen, [d for name in chosen.documents if (d := self.documents.get(name))])

    def _decide(self, decision: Decision, documents: list[Document]) -> None:
        match decision.act:
            case "rechunk":
                self._lab(documents)
            case "edit":
                self.ask_edit(documents)
            case "delete":
                self.ask_delete(documents)
            case "indexes":
                self.action_indexes()
            case "filter" if documents:
                self.query_one("#documents", ListPane).show_all()
                self.query_one("#documents-grid", Grid).go_to(documents[0].id)
                self._all, where = False, f"language != {documents[0].language}"
                chunks = self.query_one(ChunkPane)
                chunks.show_lines(find="", where=where)
                chunks.show(replace(chunks.asked, document_id=documents[0].id, words="", filter=where))
                self.inside()


def _document_columns() -> list[Column]:
    return [
        Column("", 1),
        Column(tr("document"), 0, tail=True),
        Column(tr("lang"), 4, keep=34),
        Column(tr("chunks"), 6, "right"),
    ]


def _document_row(document: Document) -> Row:
    mark: Line = ("~", Tone.WARN) if document.warnings else ("✓", Tone.GOOD)
    name: Line = document.source_id
    if document.status != "current":
        mark, name = ("◦", Tone.DIM), (document.source_id, Tone.DIM)
    return Row(document.id, (mark, name, (document.language, Tone.DIM), count(document.chunks)))


def _nothing(document: Document | None) -> Content:
    if document is not None:
        return content((tr("This document has no chunks in the current index."), Tone.DIM))
    return content(
        (tr("No documents yet."), Tone.STRONG),
        "\n\n",
        ("i", Tone.ACCENT),
        " " + tr("ingests a file or a folder: text, Markdown, HTML, PDF, Word, tables, JSON, source code."),
    )
