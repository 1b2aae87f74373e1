"""The last tab: every field of the chunk and of its document, and every index that it is in."""

from __future__ import annotations

from textual.app import ComposeResult

from screens.corpus.tab import ChunkTab
from screens.style import Line, Tone, count, place
from screens.widgets.facts import Fact, Facts
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.records.browsing import ChunkFacts, Placement
from workbench.records.corpus import Chunk, Metadata


class MetadataTab(ChunkTab):
    """Names and values."""

    def compose(self) -> ComposeResult:
        """A list of facts."""
        yield Facts()

    def show(self, chunk: Chunk | None) -> None:
        """Reads what is known of it."""
        if chunk is None:
            self.query_one(Facts).show([])
            return
        self.jobs.read(self, lambda: self.desk.browser.facts(chunk), lambda known: self._draw(chunk, known))

    def _draw(self, chunk: Chunk, known: ChunkFacts) -> None:
        if chunk is self.chunk:
            self.query_one(Facts).show(chunk_facts(chunk, known))


def chunk_facts(chunk: Chunk, known: ChunkFacts) -> list[Fact]:
    """What is known of a chunk besides its text."""
    document = known.document
    page = place((), chunk.page_label, chunk.page)
    parent = f"{count(chunk.parent_start)}–{count(chunk.parent_end or 0)}" if chunk.parent_start is not None else ""
    return [
        (tr("document"), document.source_id),
        (tr("heading"), " › ".join(chunk.heading)),
        (tr("span"), f"{count(chunk.start)}–{count(chunk.end)}" + (f"   {page}" if page else "")),
        (tr("delivered"), parent),
        (tr("tokens"), _tokens(chunk, known)),
        (tr("kind"), f"{chunk.kind}   {chunk.language or '–'}"),
        (tr("id"), chunk.id),
        (tr("hash"), chunk.hash),
        *((tr("index"), _placed(placement)) for placement in known.placements),
        (tr("status"), tr("current") if document.status == "current" else tr("retired")),
        (tr("read"), f"{document.ingested.astimezone():%Y-%m-%d %H:%M}   {document.uri}"),
        *_fields(document.metadata),
        *_fields(chunk.metadata),
        *((tr("warning"), ("~ " + retold(warning), Tone.WARN)) for warning in document.warnings),
    ]


def _tokens(chunk: Chunk, known: ChunkFacts) -> Line:
    model = f"   {known.model} {count(known.model_tokens)}" if known.model else ""
    counts = tr("embedder {count}", count=count(chunk.tokens)) + f"   tiktoken {chunk.tiktoken_tokens or '–'}{model}"
    cut: Line = ("   ✂ " + tr("the embedder does not see its end"), Tone.BAD) if chunk.truncated else ""
    return (counts, cut)


def _placed(placement: Placement) -> Line:
    """``✓ multilingual-e5-small · 384 · structure 400 · vector norm 1.000``."""
    index = placement.index
    name = f"{index.embedder.name} · {index.embedder.dimension} · {index.recipe.name} {index.recipe.size}"
    state = "" if index.status == "current" else f" · {tr(index.status)}"
    if not placement.there:
        return (("◦ ", Tone.DIM), name, state, (" · " + tr("not in it"), Tone.DIM))
    if placement.norm is None:
        return (("✗ ", Tone.BAD), name, state, (" · " + tr("no vector"), Tone.BAD))
    return (("✓ ", Tone.GOOD), name, state, " · " + tr("vector norm {norm}", norm=f"{placement.norm:.3f}"))


def _fields(metadata: Metadata) -> list[Fact]:
    return [(name, ", ".join(map(str, v)) if isinstance(v, tuple) else str(v)) for name, v in metadata.items()]
