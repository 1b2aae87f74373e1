"""The first tab: where the chunk stands, and its text as it is."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from screens.corpus.tab import ChunkTab
from screens.style import Line, Tone, content, count, place
from workbench.i18n import tr
from workbench.records.corpus import Chunk


class TextTab(ChunkTab):
    """The whole text under one line of its most asked facts."""

    nothing: Content = Content("")
    """What is told where there is no chunk."""

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static()

    def show(self, chunk: Chunk | None) -> None:
        """Shows it."""
        self.query_one(Static).update(
            Content("\n\n").join([summary(chunk), chunk_text(chunk)]) if chunk else self.nothing
        )


def chunk_text(chunk: Chunk) -> Content:
    """Where the chunk stands, then its text as it is; repeated text (a table's header) is dim."""
    where = " › ".join(chunk.heading)
    header: Line = (chunk.header + "\n", Tone.DIM) if chunk.header else ""
    return content((where + "\n" if where else "", Tone.ACCENT), header, chunk.text)


def summary(chunk: Chunk) -> Content:
    """Its place in the source and its size in one line."""
    page = place((), chunk.page_label, chunk.page)
    span = f"{count(chunk.start)}–{count(chunk.end)}"
    known = [span, page, tr("{count} tokens", count=chunk.tokens), chunk.kind, chunk.language, f"id {chunk.id[:12]}"]
    cut: Line = ("\n✂ " + tr("the embedder does not see its end"), Tone.BAD) if chunk.truncated else ""
    return content(("   ".join(filter(None, known)), Tone.DIM), cut)
