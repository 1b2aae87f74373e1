"""What a cut document loses: text that the embedder doesn't see, rows' headers, letters that are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workbench.corpus.chunking.material import shows_header
from workbench.corpus.places import Places
from workbench.i18n import tr
from workbench.records.corpus import Chunk, EmbedderInfo, ParsedDocument
from workbench.text.damage import damaged_lines

_SHOWN: Final = 60
"""Characters of a damaged line that the report shows."""


def truncation(chunks: Sequence[Chunk], info: EmbedderInfo) -> str:
    """A sentence for the ingest report on chunks that the embedder doesn't read whole, "" when it reads them all."""
    truncated = sum(chunk.truncated for chunk in chunks)
    if not truncated:
        return ""
    return tr(
        "Chunks longer than the {limit} tokens that the embedder reads: {count} of {all}; it misses their ends.",
        limit=info.max_tokens,
        count=truncated,
        all=len(chunks),
    )


def damage(text: str) -> str:
    """A sentence for the ingest report on lines whose letters came out wrong, "" when there are none."""
    lines = damaged_lines(text)
    if not lines:
        return ""
    return tr(
        "Lines with letters that came out wrong, so that no search finds their words: {count}, such as “{line}”.",
        count=len(lines),
        line=lines[0].strip()[:_SHOWN],
    )


def lost_headers(parsed: ParsedDocument, chunks: Sequence[Chunk]) -> str:
    """A sentence on rows without the header of their table, "" when there are none."""
    bare = _without_header(parsed, chunks)
    if not bare:
        return ""
    return tr(
        "Chunks without the header of their table, which is too long to be repeated: {count} of {all}.",
        count=bare,
        all=len(chunks),
    )


def _without_header(parsed: ParsedDocument, chunks: Sequence[Chunk]) -> int:
    if not any(block.header for block in parsed.blocks):
        return 0
    places = Places(parsed)
    return sum(
        any(
            not shows_header(chunk.text, header)
            for header in {block.header for block in places.blocks(chunk.start, chunk.end)} - {"", chunk.header}
        )
        for chunk in chunks
    )
