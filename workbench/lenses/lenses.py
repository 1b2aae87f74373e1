"""The lenses of one file: the object that the desk hands out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from workbench.errors import Cancelled, NotFoundError
from workbench.i18n import tr
from workbench.lenses.boundaries import find_flags, overlaps
from workbench.lenses.exposure import Gold, exposure, usage
from workbench.lenses.likeness import likeness
from workbench.lenses.words import piece_lens, word_lens
from workbench.ports import Cancel, Embedder, Generator, Store
from workbench.records.corpus import Chunk, Document, Index
from workbench.records.lenses import (
    DocumentFlags,
    Exposure,
    Flag,
    IndexedWord,
    Likeness,
    Neighbourhood,
    PieceLens,
    Usage,
    WordLens,
)

_Key = tuple[int, str, str]


class Lenses:
    """Looks closely at chunks. Every method may be called from any thread; none is for the one that paints.

    Args:
        embedder: the one that an index was made with, None when it isn't installed.
        model: the language model that is loaded, if any.
    """

    def __init__(
        self, store: Store, embedder: Callable[[Index], Embedder | None], model: Callable[[], Generator | None]
    ) -> None:
        self._store, self._embedder, self._model = store, embedder, model
        self._gold = Gold(store)
        self._lock = threading.Lock()
        self._flags: dict[_Key, DocumentFlags] = {}
        self._words: tuple[tuple[int, str, int], tuple[IndexedWord, ...]] = ((0, "", 0), ())

    # -- boundaries ------------------------------------------------------------------------------------------------

    def around(self, chunk: Chunk, reach: int = 2) -> Neighbourhood:
        """The chunk with ``reach`` neighbours on either side, and what the cuts between them take apart."""
        index = self._index_of(chunk)
        first = max(0, chunk.ordinal - reach)
        chunks = self._store.corpus.chunks(chunk.document_id, index.id, 2 * reach + 1, first)
        at = next((i for i, c in enumerate(chunks) if c.id == chunk.id), 0)
        flags = self.document_flags(self._store.corpus.document(chunk.document_id)).flags
        last = chunks[-1].ordinal if chunks else first
        shown = tuple(flag for flag in flags if first - 1 <= flag.ordinal <= last)
        return Neighbourhood(chunks, at, overlaps(chunks), shown)

    def document_flags(self, document: Document) -> DocumentFlags:
        """Everything that the cuts between the document's chunks take apart. Raises NotFoundError."""
        index = self._store.corpus.current_index(document.collection)
        if index is None:
            return DocumentFlags(document.id, document.source_id, 0, ())
        key = (index.id, document.id, document.hash)
        kept = self._flags.get(key)
        if kept is not None:
            return kept
        chunks = self._store.corpus.chunks(document.id, index.id)
        flags = find_flags(self._store.corpus.parsed_document(document.id), chunks, index.recipe)
        found = DocumentFlags(document.id, document.source_id, len(chunks), flags)
        with self._lock:
            self._flags[key] = found
        return found

    def flags(self, collection: str, cancel: Cancel | None = None) -> Iterator[DocumentFlags]:
        """Of each document of the collection, by source_id; what was looked at before comes at once.

        Raises:
            NotFoundError: no such collection.
            Cancelled: ``cancel`` was set.
        """
        for document in self._store.corpus.documents(self._store.corpus.collection(collection).name):
            if cancel is not None and cancel.is_set():
                raise Cancelled
            yield self.document_flags(document)

    def next_flag(self, collection: str, after: Chunk | None, cancel: Cancel | None = None) -> Flag | None:
        """The next warning behind the chunk ``after`` in the order of sources and text, going on from the start.

        None when the collection has none. Raises Cancelled.
        """
        documents = self._store.corpus.documents(collection)
        here = next((i for i, d in enumerate(documents) if after and d.id == after.document_id), None)
        first = 0 if here is None else here
        for step in range(len(documents) + (here is not None)):
            if cancel is not None and cancel.is_set():
                raise Cancelled
            warnings = self.document_flags(documents[(first + step) % len(documents)]).warnings
            if here is not None and after is not None and step in (0, len(documents)):
                warnings = tuple(f for f in warnings if (f.ordinal > after.ordinal) == (step == 0))
            if warnings:
                return warnings[0]
        return None

    # -- words and pieces ------------------------------------------------------------------------------------------

    def words(self, chunk: Chunk, query: str = "") -> WordLens:
        """The chunk's words as the full-text index holds them, and what a query asks of it.

        The chunk's own are read once while a query is typed: in a million chunks they take 0.4 s.
        """
        index = self._index_of(chunk)
        collection = self._store.corpus.collection(index.collection)
        state = index.id, chunk.id, collection.version
        kept = self._words
        if kept[0] != state:
            kept = self._words = state, self._store.lenses.indexed_words(index, chunk.id)
        return word_lens(self._store.lenses, index, chunk, collection.chunks, kept[1], query)

    def pieces(self, chunk: Chunk) -> PieceLens:
        """The chunk as its embedder reads it; says why where that can't be told."""
        index = self._index_of(chunk)
        return piece_lens(chunk, index, self._embedder(index), self._model())

    # -- used by, like this ----------------------------------------------------------------------------------------

    def usage(self, chunk: Chunk) -> Usage:
        """Which stored questions and evaluation cases found the chunk, at which rank; and which should find it."""
        return usage(self._store, self._gold, chunk, self._store.corpus.document(chunk.document_id).collection)

    def exposure(self, collection: str, k: int = 10) -> Exposure:
        """How the questions spread over the collection's chunks: hubs, and what no question finds. NotFoundError."""
        index = self._store.corpus.current_index(self._store.corpus.collection(collection).name)
        if index is None:
            raise NotFoundError(
                tr("No index"),
                tr("“{name}” has no chunks yet.", name=collection),
                tr("Ingest some documents first."),
            )
        return exposure(self._store, index, k)

    def like(self, chunk: Chunk, k: int = 20) -> Likeness:
        """The nearest chunks by the stored vectors, near-duplicates grouped; needs no embedder."""
        return likeness(self._store, self._index_of(chunk), chunk, k)

    def _index_of(self, chunk: Chunk) -> Index:
        """The current index that holds the chunk. Raises NotFoundError."""
        index = self._store.lenses.home(chunk.id)
        if index is None:
            raise NotFoundError(
                tr("The chunk is gone"),
                tr("The current index has no chunk “{id}” any more.", id=chunk.id),
                tr("Read the documents anew."),
            )
        return index
