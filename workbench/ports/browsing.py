"""Lists of chunks as the file gives them: the numbers of all in order, and the lines of a few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from workbench.ports.runtimes import Cancel
from workbench.records.browsing import ChunkQuery, ChunkRow
from workbench.records.corpus import Index
from workbench.records.retrieval import FilterNode

ChunkKeys: TypeAlias = npt.NDArray[np.int64]
"""The file's numbers of chunks, in a list's order: eight bytes a chunk, so that any line is found at once."""


class BrowseRepository(Protocol):
    """Reads for lists of any length."""

    def count(self, index: Index, query: ChunkQuery) -> int:
        """How many chunks a straight query lists; counted in the table's own indexes."""
        ...

    def keys(
        self, index: Index, query: ChunkQuery, where: FilterNode, limit: int = -1, cancel: Cancel | None = None
    ) -> ChunkKeys:
        """The numbers of what the query lists, in its order; the first ``limit`` of them.

        Raises:
            Cancelled: it was set.
        """
        ...

    def rows(self, keys: Sequence[int]) -> tuple[ChunkRow, ...]:
        """Their lines, in the order asked; chunks that are gone are left out."""
        ...

    def key_of(self, index: Index, chunk_id: str) -> int | None:
        """The number of the index's chunk of that id."""
        ...

    def neighbour(self, index: Index, chunk_id: str, step: int) -> str:
        """The id of the chunk before (-1) or after (1) it in its document, "" at the end."""
        ...
