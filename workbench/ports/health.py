"""What the doctor needs of the file: light rows of every chunk, what is missing beside them, where the bytes are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from workbench.ports.runtimes import Cancel, PackedTokens, Vector
from workbench.records.corpus import DocumentStatus, Index
from workbench.records.health import SpaceMap


@dataclass(frozen=True, slots=True)
class ChunkFact:
    """What is known of a chunk without reading its text. ``characters`` are those of header and text."""

    id: str
    document_id: str
    source_id: str
    ordinal: int
    start: int
    end: int
    characters: int
    tokens: int
    truncated: bool
    hash: str
    language: str
    status: DocumentStatus = "current"


class HealthRepository(Protocol):
    """Reads that visit everything, for a worker thread; and the repairs that are the file's own."""

    def chunk_facts(self, index_id: int) -> Iterator[ChunkFact]:
        """Every chunk of the index, by document and place."""
        ...

    def chunk_texts(self, index_id: int) -> Iterator[tuple[str, str]]:
        """(chunk id, header and text), of current documents."""
        ...

    def without_vector(self, index_id: int) -> tuple[str, ...]:
        """Ids of chunks that the dense lane can't find."""
        ...

    def without_words(self, index_id: int) -> tuple[str, ...]:
        """Ids of chunks that the lexical lane can't find."""
        ...

    def strays(self, index_id: int) -> int:
        """Full-text rows and vectors that belong to no chunk any more."""
        ...

    def remove_strays(self, index_id: int) -> int:
        """Deletes them; returns how many there were."""
        ...

    def mark_uncut(self, index_id: int, document_ids: Sequence[str]) -> None:
        """The index doesn't count as holding these documents whole; their chunks stay until they are cut again."""
        ...

    def vector_batches(self, index_id: int) -> Iterator[tuple[Sequence[str], npt.NDArray[np.float32]]]:
        """Chunk ids with their stored vectors, as they are (a row each)."""
        ...

    def rebuild_words(self, index_id: int) -> None:
        """Makes the full-text table anew from the chunks."""
        ...

    def put_vectors(
        self, index: Index, vectors: Mapping[str, Vector], tokens: Mapping[str, PackedTokens] | None = None
    ) -> None:
        """Stores vectors of chunks by id, and token vectors, in place of those they have.

        Raises:
            EngineError: a vector is bad; nothing is stored.
        """
        ...

    def space(self, cancel: Cancel | None = None) -> SpaceMap:
        """Where the bytes are; visits every page. Raises Cancelled."""
        ...

    def rebuild_vectors(self, index: Index, tell: Callable[[int, int], None]) -> int:
        """Makes the vector table anew without the gaps that deleted vectors leave; returns how many it holds."""
        ...

    def vacuum(self) -> int:
        """Rewrites the file without free pages; returns the bytes given back. Raises FileError (disk full, locked)."""
        ...
