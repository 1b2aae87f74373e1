"""The browser: listings whose rows are read as they come into view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from workbench.errors import Cancelled, EngineError
from workbench.ports import Cancel, ChunkKeys, Generator, Store
from workbench.records.browsing import ChunkFacts, ChunkQuery, ChunkRow, Placement
from workbench.records.corpus import Chunk, Index
from workbench.records.retrieval import FilterNode
from workbench.retrieval.filters import parse_filter

HEAD: Final = 256
"""Rows that a straight listing has at once, before the rest of its order is known."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a query lists: how many chunks, and their numbers in order, the first of them at least.

    Attributes:
        keys: of the first rows; of all ``total`` once it is whole.
    """

    query: ChunkQuery
    total: int
    keys: ChunkKeys

    @property
    def whole(self) -> bool:
        """All numbers are known."""
        return len(self.keys) == self.total

    def place(self, key: int) -> int | None:
        """The row of the chunk of that number, None when it isn't listed (or not known to be yet)."""
        found = np.flatnonzero(self.keys == key)
        return int(found[0]) if len(found) else None


class Browser:
    """Lists one file's chunks. Every method may be called from any thread."""

    def __init__(self, store: Store, generator: Callable[[], Generator | None]) -> None:
        self._store = store
        self._generator = generator

    def open(self, query: ChunkQuery, cancel: Cancel | None = None, *, known: int = 0) -> Iterator[Listing]:
        """The listing: its beginning where that comes at once, then the whole of it.

        Args:
            known: how many chunks a straight query lists, as far as the caller knows; they are counted where it is 0.

        Raises:
            NotFoundError: no such collection.
            FilterError: the filter doesn't parse.
            Cancelled: ``cancel`` was set.
        """
        index = self._index(query.collection)
        if index is None:
            yield Listing(query, 0, np.empty(0, np.int64))
            return
        if cancel is not None and cancel.is_set():
            raise Cancelled
        where = self._filter(query)
        if query.straight:
            total = known or self._store.browsing.count(index, query)
            head = self._store.browsing.keys(index, query, where, HEAD, cancel)
            yield Listing(query, max(total, len(head)), head)
            if total <= HEAD:
                return
        keys = self._store.browsing.keys(index, query, where, cancel=cancel)
        yield Listing(query, len(keys), keys)

    def rows(self, listing: Listing, start: int, stop: int) -> tuple[ChunkRow, ...]:
        """Lines of the listing; those of chunks that are gone by now are left out."""
        return self._store.browsing.rows([int(key) for key in listing.keys[start:stop]])

    def chunk(self, chunk_id: str) -> Chunk | None:
        """The chunk of that very id, None when it is gone."""
        return next(iter(self._store.corpus.chunks_by_id([chunk_id])), None)

    def find(self, collection: str, beginning: str, limit: int = 20) -> tuple[Chunk, ...]:
        """Chunks of the collection's current index whose id begins so, by id."""
        index = self._index(collection) if beginning else None
        return self._store.corpus.find_chunks(beginning, limit, index_id=index.id) if index else ()

    def key(self, collection: str, chunk_id: str) -> int | None:
        """The number of a chunk of the collection's current index."""
        index = self._index(collection)
        return self._store.browsing.key_of(index, chunk_id) if index else None

    def neighbour(self, collection: str, chunk_id: str, step: int) -> Chunk | None:
        """The chunk before (-1) or after (1) it in its document, None at the end."""
        index = self._index(collection)
        name = self._store.browsing.neighbour(index, chunk_id, step) if index else ""
        return self.chunk(name) if name else None

    def facts(self, chunk: Chunk) -> ChunkFacts:
        """Its document, the indexes that it is in, and how the loaded model counts it. Raises NotFoundError."""
        document = self._store.corpus.document(chunk.document_id)
        indexes = self._store.corpus.indexes(document.collection)
        placements = tuple(self._placement(index, chunk) for index in indexes if index.status != "retired")
        model, tokens = self._counted(chunk.indexed_text)
        return ChunkFacts(document, placements, model, tokens)

    def _placement(self, index: Index, chunk: Chunk) -> Placement:
        there = self._store.browsing.key_of(index, chunk.id) is not None
        vector = self._store.search.vectors(index.id, [chunk.id]).get(chunk.id) if there else None
        return Placement(index, there, None if vector is None else float(np.linalg.norm(vector)))

    def _counted(self, text: str) -> tuple[str, int]:
        generator = self._generator()
        if generator is None:
            return "", 0
        try:
            return generator.model.file.name, generator.count_tokens(text)
        except EngineError:
            return "", 0  # it ended meanwhile, which the top line tells

    def _index(self, collection: str) -> Index | None:
        index = self._store.corpus.current_index(collection)
        if index is None:
            self._store.corpus.collection(collection)  # says so where there is none; its counts take too long for more
        return index

    def _filter(self, query: ChunkQuery) -> FilterNode:
        fields = self._store.search.fields(query.collection) if query.filter.strip() else None
        return parse_filter(query.filter, fields)
