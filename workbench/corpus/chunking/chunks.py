"""From spans to chunk records: exact offsets, section, page, language, token counts, deterministic ids."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from typing import Final

from workbench.corpus.chunking.cut import cut
from workbench.corpus.chunking.material import Similarity, shows_header
from workbench.corpus.identity import chunk_id, sha256
from workbench.corpus.places import Places
from workbench.ports import Tokenizer
from workbench.records.corpus import Chunk, Document, EmbedderInfo, Metadata, Page, ParsedDocument, Recipe, Span
from workbench.text.counting import tiktoken_count
from workbench.text.language import detect
from workbench.text.sentences import trimmed

_SPECIAL_TOKENS: Final = 2  # one before and one after every text, as BERT-like embedders have them


def overhead_of(info: EmbedderInfo, tokenizer: Tokenizer) -> int:
    """Tokens that the embedder adds to every passage: its prefix and two special tokens."""
    return tokenizer.count(info.passage_prefix) + _SPECIAL_TOKENS


def chunks_of(
    document: Document,
    parsed: ParsedDocument,
    recipe: Recipe,
    tokenizer: Tokenizer,
    info: EmbedderInfo,
    *,
    similarity: Similarity | None = None,
) -> tuple[Chunk, ...]:
    """The document's chunks by ``recipe`` for the embedder described by ``info``, whose tokenizer is ``tokenizer``.

    ``tokens`` of a chunk are counted over its indexed text, plus ``overhead_of`` the embedder. A span of white space
    alone becomes no chunk.

    Raises:
        UsageError: the recipe can't work.
    """
    maker = _Maker(document, parsed, tokenizer, info)
    spans = cut(parsed, recipe, tokenizer, similarity=similarity, overhead=maker.overhead)
    return tuple(
        maker.make(span, start, end) for span in spans for start, end in trimmed(parsed.text, span.start, span.end)
    )


class _Maker:
    """Makes the chunks of one document, in order."""

    def __init__(self, document: Document, parsed: ParsedDocument, tokenizer: Tokenizer, info: EmbedderInfo) -> None:
        self.overhead = overhead_of(info, tokenizer)
        self._document, self._parsed, self._tokenizer, self._info = document, parsed, tokenizer, info
        self._places = Places(parsed)
        self._occurrences: Counter[tuple[str, ...]] = Counter()
        self._definitions = [b for b in parsed.blocks if b.kind == "definition" and b.label]
        self._made = 0

    def make(self, span: Span, start: int, end: int) -> Chunk:
        """The next chunk: ``span`` trimmed to ``text[start:end]``."""
        document, text = self._document, self._parsed.text[start:end]
        header = "" if shows_header(text, span.header) else span.header
        indexed = f"{header}\n{text}" if header else text
        heading = self._places.heading(start, end)
        digest = sha256(header, text)
        identity = (*heading, digest)
        self._occurrences[identity] += 1
        self._made += 1
        tokens = self._tokenizer.count(indexed) + self.overhead
        page, last = self._places.page(start), self._places.page(end - 1)
        return Chunk(
            id=chunk_id(document.id, heading, digest, self._occurrences[identity]),
            document_id=document.id,
            source_id=document.source_id,
            ordinal=self._made - 1,
            start=start,
            end=end,
            text=text,
            header=header,
            heading=heading,
            kind=span.kind,
            page=page.number if page else None,
            page_label=_label(page, last),
            page_end=last.number if last else None,
            language=detect(text) or document.language,
            tokens=tokens,
            tiktoken_tokens=tiktoken_count(indexed),
            truncated=tokens > self._info.max_tokens,
            hash=digest,
            parent_start=span.parent_start,
            parent_end=span.parent_end,
            metadata=self._own_metadata(start, end),
        )

    def _own_metadata(self, start: int, end: int) -> Metadata:
        """What only this chunk has: the names of the definitions in it. The document's metadata stays with it."""
        first = bisect_right(self._definitions, start, key=lambda block: block.end)
        last = bisect_left(self._definitions, end, key=lambda block: block.start)
        names = tuple(block.label for block in self._definitions[first:last])
        return {"definitions": names} if names else {}


def _label(first: Page | None, last: Page | None) -> str:
    if first is None or last is None:
        return ""
    return first.label if first.label == last.label else f"{first.label}–{last.label}"
