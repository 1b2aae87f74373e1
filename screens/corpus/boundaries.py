"""The tab of boundaries: the chunk among its neighbours, what they share dimmed, what the cuts take apart flagged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from screens.corpus.tab import ChunkTab
from screens.dialogs import ChoiceDialog
from screens.style import Line, Tone, content, count
from screens.widgets.grid import Row
from screens.work import Job
from workbench.i18n import tr
from workbench.lenses.told import flag_words, kind_words
from workbench.records.corpus import Chunk
from workbench.records.lenses import FLAG_KINDS, DocumentFlags, Flag, Neighbourhood

if TYPE_CHECKING:
    from screens.corpus.screen import CorpusScreen

_REACH: Final = 2


class BoundariesTab(ChunkTab):
    """A few chunks in one scroll, the one under the cursor in view."""

    def compose(self) -> ComposeResult:
        """A text for each."""
        for _ in range(2 * _REACH + 1):
            yield Static()

    def show(self, chunk: Chunk | None) -> None:
        """Reads its neighbours."""
        if chunk is None:
            self._blank(0)
            return
        self.jobs.read(self, lambda: self.desk.lenses.around(chunk, _REACH), lambda found: self._draw(chunk, found))

    def _draw(self, chunk: Chunk, found: Neighbourhood) -> None:
        if chunk is not self.chunk:
            return
        texts = list(self.query(Static))
        for place, text in zip(range(len(found.chunks)), texts, strict=False):
            text.update(content(*_lines(found, place)))
            text.display = True
        self._blank(len(found.chunks))
        self.call_after_refresh(self._to_the_point, found)

    def _to_the_point(self, found: Neighbourhood) -> None:
        """The chunk at the top; where its cut takes something apart, that cut in the middle."""
        if not self.is_attached:
            return
        texts = list(self.query(Static))
        flagged = any(f.chunk_id == found.chunks[found.at].id and f.weight == "warning" for f in found.flags)
        here = texts[found.at].virtual_region
        middle = max(here.y, here.bottom - self.size.height // 2)
        self.scroll_to(y=middle if flagged else here.y, animate=False)

    def _blank(self, first: int) -> None:
        for text in list(self.query(Static))[first:]:
            text.update(Content(""))
            text.display = False


def _lines(found: Neighbourhood, place: int) -> Iterator[Line]:
    """One of the chunks: its line, its text, and what the cut behind it takes apart."""
    chunk, shared = found.chunks[place], found.overlaps[place]
    here = place == found.at
    yield (f"{'▸' if here else ' '} #{chunk.ordinal + 1}", Tone.ACCENT if here else Tone.DIM)
    yield (f"  {chunk.id}", Tone.DIM)
    if shared:
        yield ("  " + tr("{count} characters shared with the one before", count=count(shared)), Tone.DIM)
    yield "\n"
    yield from _text(chunk, shared, [f for f in found.flags if f.kind in ("sentence", "heading")])
    yield "\n"
    for flag in found.flags:
        if flag.chunk_id == chunk.id:
            yield ("⚑ " + flag_words(flag) + "\n", Tone.WARN if flag.weight == "warning" else Tone.DIM)


def _text(chunk: Chunk, shared: int, flags: list[Flag]) -> Iterator[Line]:
    """The text, its overlap dim; what is taken apart in the tone of its flag."""
    lit = [(max(0, f.start - chunk.start), min(len(chunk.text), f.end - chunk.start)) for f in flags]
    edges = sorted({0, shared, len(chunk.text), *(edge for a, b in lit if a < b for edge in (a, b))})
    for start, end in pairwise(edges):
        apart = any(a <= start and end <= b for a, b in lit)
        yield (chunk.text[start:end], Tone.DIM if end <= shared else Tone.WARN if apart else Tone.PLAIN)


def next_flag(screen: CorpusScreen, collection: str, chunk: Chunk | None) -> None:
    """Goes to the next chunk whose cut takes something apart, and shows it among its neighbours."""

    def arrived(flag: Flag | None) -> None:
        if flag is None:
            screen.notify(tr("No cut of this collection takes anything apart."), timeout=4)
        else:
            screen.see(flag.chunk_id, "boundaries")

    screen.jobs.read(screen, lambda: screen.desk.lenses.next_flag(collection, chunk), arrived)


def count_flags(screen: CorpusScreen, collection: str, documents: int) -> None:
    """Counts what all cuts of the collection take apart, and offers the documents that have any."""
    found: list[DocumentFlags] = []

    def described(job: Job, one: DocumentFlags) -> None:
        found.append(one)
        job.fraction = len(found) / max(1, documents)
        job.detail = f"{count(len(found))}/{count(documents)}"

    def counted(_: DocumentFlags | None) -> None:
        flagged = sorted((one for one in found if one.warnings), key=lambda one: -len(one.warnings))
        total = sum(len(one.warnings) for one in flagged)
        if not flagged:
            screen.notify(tr("No cut of this collection takes anything apart."), timeout=4)
            return
        title = tr("Flags: {flags} · documents: {documents}", flags=count(total), documents=count(len(flagged)))
        rows = [Row(one.warnings[0].chunk_id, (one.source_id, (_kinds(one), Tone.WARN))) for one in flagged]
        screen.app.push_screen(
            ChoiceDialog(title, rows), lambda chunk_id: screen.see(chunk_id, "boundaries") if chunk_id else None
        )

    screen.jobs.run(
        screen,
        tr("looking at cuts"),
        lambda cancel: screen.desk.lenses.flags(collection, cancel),
        describe=described,
        then=counted,
    )


def _kinds(one: DocumentFlags) -> str:
    """ "3 sentence, 1 table"."""
    numbers = {kind: sum(flag.kind == kind for flag in one.warnings) for kind in FLAG_KINDS}
    return ", ".join(f"{number} {kind_words(kind)}" for kind, number in numbers.items() if number)
