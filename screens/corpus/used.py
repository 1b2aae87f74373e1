"""The tab of uses: which questions and cases found the chunk, at which rank, and which should have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, cast

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from screens.corpus.tab import ChunkTab
from screens.dialogs import ChoiceDialog
from screens.style import Line, Tone, content, count
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs
from workbench.i18n import tr
from workbench.records.corpus import Chunk
from workbench.records.lenses import CaseUse, Exposure, GoldUse, TraceUse, Usage

if TYPE_CHECKING:
    from typing import Self

    from screens.corpus.screen import CorpusScreen
    from workbench.desk import Desk

_Use: TypeAlias = TraceUse | CaseUse | GoldUse

_SHOWN: Final = 200
"""Of each kind; all are counted."""
_LISTED: Final = 50


class UsedTab(ChunkTab, can_focus=False):
    """Gold, stored questions and cases in one list; enter opens the question in Ask, the case in Evals."""

    DEFAULT_CSS = """
    UsedTab Static { height: auto; }
    UsedTab.-none Grid { display: none; }
    """

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._uses: tuple[_Use, ...] = ()

    def compose(self) -> ComposeResult:
        """How many there are, over the list."""
        yield Static()
        yield Grid(
            [
                Column(tr("rank"), 4, "right"),
                Column("", 10),
                Column(tr("question"), 0),
                Column(tr("where"), 0, keep=70, fit=True),
            ],
            id="used-grid",
        )

    def focus(self, scroll_visible: bool = True) -> Self:
        """The list has it."""
        self.query_one(Grid).focus(scroll_visible)
        return self

    def show(self, chunk: Chunk | None) -> None:
        """Reads them."""
        if chunk is None:
            self.query_one(Static).update(Content(""))
            self.query_one(Grid).show([])
            return
        self.jobs.read(self, lambda: self._read(chunk), lambda found: self._draw(chunk, *found))

    def _read(self, chunk: Chunk) -> tuple[Usage, tuple[_Use, ...], list[Row]]:
        found = self.desk.lenses.usage(chunk)
        uses: tuple[_Use, ...] = (*found.gold[:_SHOWN], *found.traces[:_SHOWN], *found.cases[:_SHOWN])
        return found, uses, [Row(str(number), _cells(use)) for number, use in enumerate(uses)]

    def _draw(self, chunk: Chunk, found: Usage, uses: tuple[_Use, ...], rows: list[Row]) -> None:
        if chunk is self.chunk:
            self._uses = uses
            self.set_class(not rows, "-none")
            self.query_one(Static).update(content((_told(found), Tone.DIM)))
            self.query_one(Grid).show(rows)

    @on(Grid.Opened, "#used-grid")
    async def go(self, event: Grid.Opened) -> None:
        """To the question with its ranking, or to the case in the run."""
        event.stop()
        use, bench = self._uses[int(event.key)], cast("CorpusScreen", self.screen).bench
        match use:
            case TraceUse():
                await bench.show_trace(use.trace_id, use.question)
            case CaseUse() | GoldUse():
                await bench.show_run(use.dataset, use.run_id or 0, use.case_id)


def _told(found: Usage) -> str:
    if not (found.traces or found.cases or found.gold):
        return tr("No stored question and no evaluation case has it among its first {depth}.", depth=found.depth)
    told = (
        tr("Cases that it is gold of: {count}", count=count(len(found.gold))) if found.gold else "",
        tr("Stored questions that found it: {count}", count=count(len(found.traces))) if found.traces else "",
        tr("Cases of evaluation runs that found it: {count}", count=count(len(found.cases))) if found.cases else "",
    )
    return " · ".join(filter(None, told))


def _cells(use: _Use) -> tuple[Line, ...]:
    match use:
        case TraceUse():
            when = f"{use.created:%Y-%m-%d %H:%M} · {use.trace_id[:12]}"
            return str(use.rank), (tr("question"), Tone.DIM), use.question, (when, Tone.DIM)
        case CaseUse():
            where = f"{use.dataset} · {tr('run {id}', id=use.run_id)}"
            return str(use.rank), (tr("case"), Tone.DIM), use.case_id, (where, Tone.DIM)
        case GoldUse():
            where = f"{tr('grade {grade}', grade=use.grade)} · {use.dataset} {use.case_id}"
            return _gold_rank(use), (tr("gold"), Tone.ACCENT), use.question, (where, Tone.DIM)


def _gold_rank(use: GoldUse) -> Line:
    if use.run_id is None:
        return "–", Tone.DIM
    return ("✗", Tone.BAD) if use.rank is None else (str(use.rank), Tone.GOOD)


def show_exposure(screen: CorpusScreen, collection: str) -> None:
    """Offers the chunks that most questions find, then those that none has found, and goes to the chosen one."""

    def arrived(found: Exposure) -> None:
        title = tr(
            "{questions} questions · {never} of {chunks} chunks never found · skewness {skewness}",
            questions=count(found.questions),
            never=count(found.never),
            chunks=count(found.chunks),
            skewness="–" if found.skewness is None else f"{found.skewness:.1f}",
        )
        hubs = [(o.chunk, tr("found by {count}", count=count(o.questions))) for o in found.hubs[:_LISTED]]
        unfound = [(chunk, tr("never found")) for chunk in found.unfound[:_LISTED]]
        rows = [_offered(chunk, told) for chunk, told in (*hubs, *unfound)]
        screen.app.push_screen(
            ChoiceDialog(title, rows), lambda chunk_id: screen.see(chunk_id, "used") if chunk_id else None
        )

    screen.jobs.open(screen, lambda: screen.desk.lenses.exposure(collection), arrived)


def _offered(chunk: Chunk, told: str) -> Row:
    name = f"{chunk.source_id[-20:]} #{chunk.ordinal + 1}"
    start = " ".join(chunk.text[:80].split())
    return Row(chunk.id, (name, (f"{told:<16}", (start, Tone.DIM))))
