"""The tab of uses: which questions and cases found the chunk, at which rank, and which should have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from screens.corpus.tab import ChunkTab
from screens.dialogs import ChoiceDialog
from screens.style import Line, Tone, content, count
from screens.widgets.grid import Row
from workbench.i18n import tr
from workbench.records.corpus import Chunk
from workbench.records.lenses import CaseUse, Exposure, GoldUse, TraceUse, Usage

if TYPE_CHECKING:
    from screens.corpus.screen import CorpusScreen

_SHOWN: Final = 30
_LISTED: Final = 50


class UsedTab(ChunkTab):
    """Three short lists: gold, stored questions, cases."""

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static()

    def show(self, chunk: Chunk | None) -> None:
        """Reads them."""
        if chunk is None:
            self.query_one(Static).update(Content(""))
            return
        self.jobs.read(self, lambda: self.desk.lenses.usage(chunk), lambda found: self._draw(chunk, found))

    def _draw(self, chunk: Chunk, found: Usage) -> None:
        if chunk is self.chunk:
            self.query_one(Static).update(content(*_lines(found)))


def _lines(found: Usage) -> Iterator[Line]:
    if not (found.traces or found.cases or found.gold):
        told = tr("No stored question and no evaluation case has it among its first {depth}.", depth=found.depth)
        yield (told, Tone.DIM)
        return
    yield from _section(tr("Gold of {count} cases", count=count(len(found.gold))), [_gold(g) for g in found.gold])
    title = tr("Found by {count} stored questions", count=count(len(found.traces)))
    yield from _section(title, [_trace(t) for t in found.traces])
    title = tr("Found by {count} cases of evaluation runs", count=count(len(found.cases)))
    yield from _section(title, [_case(c) for c in found.cases])


def _section(title: str, lines: list[Line]) -> Iterator[Line]:
    yield (title + "\n", Tone.STRONG)
    for line in lines[:_SHOWN]:
        yield line
        yield "\n"
    if len(lines) > _SHOWN:
        yield (tr("… and {count} more", count=count(len(lines) - _SHOWN)) + "\n", Tone.DIM)
    yield "\n"


def _gold(use: GoldUse) -> Line:
    where = f"{use.dataset} {use.case_id}"
    if use.run_id is None:
        rank: Line = (f"{'–':>4}", Tone.DIM)
    elif use.rank is None:
        rank = (f"{'✗':>4}", Tone.BAD)
    else:
        rank = (f"{use.rank:>4}", Tone.GOOD)
    return (rank, f"  {use.question}  ", (tr("grade {grade}", grade=use.grade) + f" · {where}", Tone.DIM))


def _trace(use: TraceUse) -> Line:
    return (f"{use.rank:>4}  {use.question}  ", (f"{use.created:%Y-%m-%d %H:%M} · {use.trace_id[:12]}", Tone.DIM))


def _case(use: CaseUse) -> Line:
    return (f"{use.rank:>4}  {use.case_id}  ", (f"{use.dataset} · {tr('run {id}', id=use.run_id)}", Tone.DIM))


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

    screen.jobs.read(screen, lambda: screen.desk.lenses.exposure(collection), arrived)


def _offered(chunk: Chunk, told: str) -> Row:
    name = f"{chunk.source_id[-20:]} #{chunk.ordinal + 1}"
    start = " ".join(chunk.text[:80].split())
    return Row(chunk.id, (name, (f"{told:<16}", (start, Tone.DIM))))
