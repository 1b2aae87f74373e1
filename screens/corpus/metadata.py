"""The last tab: every field of the chunk and of its document."""

from __future__ import annotations

from textual.app import ComposeResult

from screens.corpus.tab import ChunkTab
from screens.style import Line, Tone, count, place
from screens.widgets.facts import Fact, Facts
from workbench.i18n import tr
from workbench.records.corpus import Chunk, Document


class MetadataTab(ChunkTab):
    """Names and values."""

    def compose(self) -> ComposeResult:
        """A list of facts."""
        yield Facts()

    def show(self, chunk: Chunk | None) -> None:
        """Reads its document."""
        if chunk is None:
            self.query_one(Facts).show([])
            return
        self.jobs.read(self, lambda: self.desk.document(chunk.document_id), lambda found: self._draw(chunk, found))

    def _draw(self, chunk: Chunk, document: Document) -> None:
        if chunk is self.chunk:
            self.query_one(Facts).show(chunk_facts(chunk, document))


def chunk_facts(chunk: Chunk, document: Document) -> list[Fact]:
    """What is known of a chunk besides its text."""
    cut: Line = ("   ✂ " + tr("the embedder does not see its end"), Tone.BAD) if chunk.truncated else ""
    page = place((), chunk.page_label, chunk.page)
    meta = {**document.metadata, **chunk.metadata}
    return [
        (tr("span"), f"{count(chunk.start)}–{count(chunk.end)}" + (f"   {page}" if page else "")),
        (tr("tokens"), (f"{chunk.tokens}   tiktoken {chunk.tiktoken_tokens or '–'}", cut)),
        (tr("kind"), f"{chunk.kind}   {chunk.language or '–'}   sha {chunk.hash[:8]}   id {chunk.id[:12]}"),
        (tr("status"), tr("current") if document.status == "current" else tr("retired")),
        (tr("metadata"), "   ".join(f"{key}={_value(value)}" for key, value in meta.items())),
        *((tr("warning"), ("~ " + warning, Tone.WARN)) for warning in document.warnings),
    ]


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
