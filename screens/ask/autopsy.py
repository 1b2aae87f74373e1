"""Autopsy: the chunk that should have been found, its rank at each stage, what lost it, what would have kept it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from screens.ask.page import Page, Reader
from screens.dialogs import HELP
from screens.style import Tone, content, place
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.answers import Trace
from workbench.records.corpus import Chunk
from workbench.records.traces import Autopsy, Fix
from workbench.traces.telling import stage_name

if TYPE_CHECKING:
    from workbench.desk import Desk

_SUGGESTED: Final = 40


class AutopsyScreen(ModalScreen[str]):
    """Asks which chunk, and tells. Dismisses with a change for what-if, "" when left."""

    CSS_PATH: ClassVar = ["../dialogs.tcss", "ask.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "list", "To the chunks", show=False, id="autopsy.list"),
        Binding("w", "what_if", "What if", id="autopsy.whatif", tooltip="Tries the smallest change"),
        Binding("escape", "leave", "Back", id="autopsy.close", tooltip="To another chunk, then out"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, trace: Trace) -> None:
        super().__init__()
        self._desk, self._jobs, self._trace = desk, jobs, trace
        self._found: Autopsy | None = None
        self._listed: str | None = None
        self._awaited = False
        self._latest: Latest[str, tuple[Chunk, ...]] = Latest(jobs, self, self._suggest, self._list, self._failed)

    def compose(self) -> ComposeResult:
        """What is sought, the chunks that it may mean, what became of the chosen one."""
        with Vertical(classes="dialog full autopsy") as box:
            box.border_title = content(tr("Autopsy ── {query}", query=self._trace.query))
            box.border_subtitle = content(tr("enter chooses · w tries the smallest change · / find · esc back"))
            yield Input(placeholder=tr("Words of the passage, a document's name, or a chunk's id"), classes="pane")
            yield Grid(
                [
                    Column(tr("source"), 0, tail=True, fit=True),
                    Column("§", 20, keep=90, fold=True),
                    Column("id", 10),
                    Column(tr("text"), 0, share=2),
                ],
                id="suspects",
            )
            yield Reader()

    def on_mount(self) -> None:
        """Before anything is typed, the chunks of the ranking."""
        self.query_one(Input).border_title = content(tr("Which chunk should have been found?"))
        self.query_one("#suspects").display = True
        self.query_one(Reader).display = False
        self.query_one(Input).focus()
        self._latest.submit("")

    # -- choosing --------------------------------------------------------------------------------------------------

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        """Chunks that hold it."""
        self._awaited = False
        self._show_list(True)
        self._latest.submit(event.value)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """The first of them, once those of these words are listed."""
        self._awaited = self._listed != event.value
        if not self._awaited:
            self._examine_first()

    def _examine_first(self) -> None:
        if key := self.query_one("#suspects", Grid).key:
            self._examine(key)

    def _suggest(self, wanted: str) -> tuple[Chunk, ...]:
        return self._desk.inspector.suggest(self._trace, wanted, _SUGGESTED)

    def _list(self, wanted: str, chunks: tuple[Chunk, ...]) -> None:
        self.query_one("#suspects", Grid).show([_row(chunk) for chunk in chunks], ranked=True)
        self._listed = wanted
        if self._awaited:
            self._awaited = False
            self._examine_first()

    def _failed(self, error: WorkbenchError) -> None:
        self._awaited = False
        self._show_list(False)
        self.query_one(Reader).show(lambda width: Page(width).say(f"✗ {error.message}\n{error.remedy}"))

    def _show_list(self, shown: bool) -> None:
        self.query_one("#suspects").display = shown
        self.query_one(Reader).display = not shown

    def action_list(self) -> None:
        """From the words to the chunks."""
        self.query_one("#suspects" if self.query_one("#suspects").display else "PageText").focus()

    # -- telling ---------------------------------------------------------------------------------------------------

    @on(Grid.Opened, "#suspects")
    def chosen(self, event: Grid.Opened) -> None:
        """What became of it."""
        self._examine(event.key)

    def _examine(self, chunk_id: str) -> None:
        self._jobs.read(self, lambda: self._desk.inspector.autopsy(self._trace, chunk_id), self._tell, self._failed)

    def _tell(self, found: Autopsy) -> None:
        self._found = found
        self._show_list(False)
        reader = self.query_one(Reader)
        reader.page.focus()
        reader.show(lambda width: autopsy_page(found, width))

    def action_what_if(self) -> None:
        """Hands the smallest change on."""
        change = next((fix.change for fix in self._found.fixes if fix.change), "") if self._found else ""
        if change:
            self.dismiss(change)
        else:
            self.notify(tr("There is no change to try."), severity="warning", timeout=3)

    def action_leave(self) -> None:
        """From what became of one chunk to another one; from there, without a change."""
        if self.query_one("#suspects").display:
            self.dismiss("")
        else:
            self._show_list(True)
            self.query_one(Input).focus()


def _row(chunk: Chunk) -> Row:
    where = place(chunk.heading, chunk.page_label, chunk.page)
    text = " ".join(chunk.text[:200].split())
    return Row(chunk.id, (chunk.source_id, where, (chunk.id[:10], Tone.DIM), (text, Tone.DIM)))


def autopsy_page(found: Autopsy, width: int) -> Page:
    """Ranks, the stage that lost it, and what would have kept it."""
    page = Page(width)
    page.head(f"{found.source_id}  {found.chunk_id[:12]}").say("“" + " ".join(found.text.split())[:160] + "…”")
    page.head(tr("where it stood"))
    passed = tr("passes") if found.passes_filter else tr("does not pass")
    rows = {
        "filter": (tr("filter"), passed, ""),
        "lexical": (stage_name("lexical"), _rank(found.lexical_rank), _looked(found, "lexical")),
        "dense": (stage_name("dense"), _rank(found.dense_rank), _looked(found, "dense")),
        "fusion": (stage_name("fusion"), _rank(found.fused_rank), ""),
        "rerank": (stage_name("rerank"), _rank(found.reranked_rank), ""),
        "context": (stage_name("context"), found.label or "–", _dropped(found.dropped)),
        "citations": (stage_name("citations"), tr("cited") if found.cited else "–", ""),
    }
    lost = ("lexical", "dense") if found.lost_at == "lanes" else (found.lost_at,)
    table = [
        (name, rank, " · ".join(filter(None, ["✗ " + tr("lost here") if key in lost else "", more])))
        for key, (name, rank, more) in rows.items()
    ]
    page.table((tr("stage"), tr("rank"), ""), table, right=(1,))
    page.head(tr("what became of it"))
    page.say(found.reason or tr("It was found, delivered and cited: nothing was lost."))
    page.head(tr("the smallest change that would have kept it"))
    if not found.fixes:
        page.say(tr("None is needed.") if not found.lost_at else tr("No change of these settings is enough."))
    for number, fix in enumerate(found.fixes, 1):
        page.say(f"{number}. {fix_words(fix)}")
    if any(fix.change for fix in found.fixes):
        page.say(tr("w tries the first of them."))
    return page


def fix_words(fix: Fix) -> str:
    """A change and what it does, or the advice."""
    if not fix.change:
        return fix.advice
    told = tr("place {place} in the evidence, moves {changed}", place=fix.place, changed=fix.changed)
    return f"{fix.change}: {told}"


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _looked(found: Autopsy, lane: str) -> str:
    return tr("looked up in today's whole index") if lane in found.looked_up else ""


def _dropped(reason: str) -> str:
    words = {
        "limit": tr("enough pieces are kept already"),
        "budget": tr("does not fit the tokens that are left"),
        "duplicate": tr("repeats what is kept"),
        "rank": tr("stood too low to be offered"),
    }
    return words.get(reason, "")
