"""A chunk as the two lanes read it: the words of the full-text index, and the pieces of the embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workbench.corpus.chunking.chunks import overhead_of
from workbench.errors import EngineError, WorkbenchError
from workbench.i18n import tr
from workbench.ports import Embedder, Generator, LensRepository
from workbench.records.corpus import Chunk, Index
from workbench.records.lenses import IndexedWord, PieceLens, TokenCount, WordLens
from workbench.retrieval.analysis import analyse

TIKTOKEN: Final = "tiktoken o200k_base"


def word_lens(
    lenses: LensRepository, index: Index, chunk: Chunk, total: int, words: tuple[IndexedWord, ...], query: str
) -> WordLens:
    """The ``words`` of ``chunk`` in ``index`` of ``total`` chunks, and those of ``query`` as a search asks for them."""
    if not query.strip():
        return WordLens(chunk.id, total, words)
    analysis = analyse(query)
    asked = lenses.asked_words(index, chunk.id, analysis)
    return WordLens(chunk.id, total, words, query, asked, analysis.dropped)


def piece_lens(chunk: Chunk, index: Index, embedder: Embedder | None, model: Generator | None) -> PieceLens:
    """The pieces that the index's embedder makes of ``chunk``, and counts by every tokenizer at hand.

    Where it can't be asked, the counts of the ingest are there and ``reason`` says why.

    Args:
        embedder: the index's own, None when it isn't installed.
        model: the language model that is loaded, if any.
    """
    text, limit = chunk.indexed_text, index.embedder.max_tokens
    counts = [TokenCount(index.embedder.name, chunk.tokens, tr("with what it adds"))]
    if chunk.tiktoken_tokens:
        counts.append(TokenCount(TIKTOKEN, chunk.tiktoken_tokens, tr("an estimate for hosted models")))
    if model is not None and model.death is None:
        counts += _by_model(model, text)
    if embedder is None:
        reason = tr(
            "{name}, which the index was made with, isn't installed here: its pieces can't be shown.",
            name=index.embedder.name,
        )
        return PieceLens(chunk.id, text, (), 0, limit, tuple(counts), reason)
    try:
        pieces = _apart(embedder.tokenizer.offsets(text))
        added = overhead_of(embedder.info, embedder.tokenizer)
    except WorkbenchError as error:
        return PieceLens(chunk.id, text, (), 0, limit, tuple(counts), f"{error.title}: {error.message}")
    return PieceLens(chunk.id, text, pieces, added, limit, tuple(counts))


def _apart(offsets: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans that don't overlap: a piece that only marks a word's beginning points at its first letter, which is the
    next piece's, and becomes empty."""
    ends = [start for start, _ in offsets[1:]]
    return tuple(
        (start, max(start, min(end, behind))) for (start, end), behind in zip(offsets, [*ends, 1 << 62], strict=False)
    )


def _by_model(model: Generator, text: str) -> list[TokenCount]:
    try:
        return [TokenCount(model.model.file.name, model.count_tokens(text), tr("the loaded model"))]
    except EngineError:
        return []  # it ended meanwhile; the status line tells why
