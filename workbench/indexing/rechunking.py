"""The re-chunk lab's preview: a document cut by another recipe, beside the chunks that the current index holds.

Nothing is stored. The cutting is done by ingest's own child process, so what is shown is what a build would make.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Final

from workbench.corpus.ingest import TIME_LIMIT_S
from workbench.corpus.tasks import Cut, CutStored, Refused, Setup
from workbench.corpus.workshop import Workshop
from workbench.i18n import language
from workbench.lenses.boundaries import find_flags
from workbench.ports import Cancel, Embedder, Store
from workbench.records.corpus import Chunk, Index, ParsedDocument, Recipe
from workbench.records.indexes import CutPreview, CutShape, SpanChange, SpanFate

_SHOWN: Final = 160  # characters of a span's beginning


class Recutter:
    """Cuts stored documents by other recipes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def preview(
        self,
        index: Index,
        embedder: Embedder,
        recipe: Recipe,
        document_ids: Sequence[str],
        cancel: Cancel | None = None,
    ) -> Iterator[CutPreview]:
        """What ``recipe`` makes of each document, as soon as it is cut.

        Raises:
            NotFoundError: no such document.
            EngineError: the cutting process or the embedder failed.
            Cancelled: ``cancel`` was set.
        """
        cancel = cancel or threading.Event()
        corpus = self._store.corpus
        tasks = [CutStored(corpus.document(name), corpus.parsed_document(name)) for name in document_ids]
        setup = Setup(index.collection, recipe, embedder.info, embedder.tokenizer, {}, language(), TIME_LIMIT_S)
        started = time.perf_counter()
        with closing(Workshop(setup, lambda texts: embedder.embed_passages(texts, cancel))) as workshop:
            for batch in workshop.results(tasks, cancel):
                for task, result in batch:
                    elapsed = (time.perf_counter() - started) * 1000
                    if isinstance(task, CutStored) and isinstance(result, Cut | Refused):
                        yield self._told(index, task, recipe, result, elapsed)

    def _told(
        self, index: Index, task: CutStored, recipe: Recipe, result: Cut | Refused, milliseconds: float
    ) -> CutPreview:
        old = self._store.corpus.chunks(task.document.id, index.id)
        new, problem = (result.chunks, "") if isinstance(result, Cut) else ((), result.reason)
        before, after = _flagged(task.parsed, old, index.recipe), _flagged(task.parsed, new, recipe)
        return CutPreview(
            task.document.id,
            task.document.source_id,
            recipe,
            _shape(old, before),
            _shape(new, after),
            span_changes(old, new, before, after),
            milliseconds,
            problem,
        )


def span_changes(
    old: Sequence[Chunk],
    new: Sequence[Chunk],
    before: dict[str, tuple[str, ...]] | None = None,
    after: dict[str, tuple[str, ...]] | None = None,
) -> tuple[SpanChange, ...]:
    """Both cuts in order of the text: what is the same, what moved, what is new and what went.

    A new span has moved when more than half of it, and of the old span under it, is the same text; each old span is
    taken by one new span at most.
    """
    left = {(chunk.start, chunk.end): chunk for chunk in old}
    changes: list[SpanChange] = []
    fresh: list[Chunk] = []
    for chunk in new:
        if left.pop((chunk.start, chunk.end), None) is not None:
            changes.append(_change("same", chunk, after))
        else:
            fresh.append(chunk)
    for chunk in fresh:
        under = next((other for other in left.values() if _mostly(chunk, other)), None)
        if under is not None:
            del left[under.start, under.end]
        changes.append(_change("added" if under is None else "moved", chunk, after))
    changes += [_change("removed", chunk, before) for chunk in left.values()]
    return tuple(sorted(changes, key=lambda change: (change.start, change.fate == "removed", change.end)))


def _mostly(one: Chunk, other: Chunk) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    return 2 * shared > max(one.end - one.start, other.end - other.start)


def _change(fate: SpanFate, chunk: Chunk, flags: dict[str, tuple[str, ...]] | None) -> SpanChange:
    text = " ".join(chunk.text[:_SHOWN].split())
    return SpanChange(fate, chunk.start, chunk.end, chunk.tokens, text, (flags or {}).get(chunk.id, ()))


def _flagged(parsed: ParsedDocument, chunks: Sequence[Chunk], recipe: Recipe) -> dict[str, tuple[str, ...]]:
    """Kinds of what each chunk's end takes apart, by chunk id."""
    found: dict[str, tuple[str, ...]] = {}
    for flag in find_flags(parsed, chunks, recipe):
        if flag.weight == "warning":
            found[flag.chunk_id] = (*found.get(flag.chunk_id, ()), flag.kind)
    return found


def _shape(chunks: Sequence[Chunk], flags: dict[str, tuple[str, ...]]) -> CutShape:
    kinds = Counter(kind for kinds in flags.values() for kind in kinds)
    truncated = sum(chunk.truncated for chunk in chunks)
    return CutShape(len(chunks), tuple(chunk.tokens for chunk in chunks), truncated, dict(kinds))
