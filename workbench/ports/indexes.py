"""Indexes side by side in the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from workbench.ports.runtimes import Vector
from workbench.records.corpus import EmbedderInfo, Index, Recipe, VectorForm
from workbench.records.retrieval import FilterNode


class IndexRepository(Protocol):
    """What stands beside the current index. ``CorpusRepository`` lists indexes, fills them, and switches."""

    def index(self, index_id: int) -> Index:
        """Raises NotFoundError for one that isn't there or was dropped."""
        ...

    def embedder(self, collection: str) -> EmbedderInfo | None:
        """That the collection's current index was made with, None where there is none; quick enough for every key."""
        ...

    def open(
        self, collection: str, embedder: EmbedderInfo, recipe: Recipe, form: VectorForm, centre: Vector | None = None
    ) -> Index:
        """The index of that collection, embedder, recipe and form, made when there is none yet.

        Args:
            centre: what is taken off vectors before their signs (kept dimension); fixed with a new index.

        Raises:
            NotFoundError: no such collection.
        """
        ...

    def previous(self, collection: str) -> Index | None:
        """The kept index of the collection that was current last."""
        ...

    def newest(self, index_id: int) -> int:
        """Key of the vector that came last, 0 for none: as many vectors with the same newest are the same vectors."""
        ...

    def drop(self, index_id: int) -> None:
        """Removes it with its chunks and vectors. Raises NotFoundError, and UsageError for the current one."""
        ...

    def matrix(self, index: Index, where: FilterNode) -> tuple[Sequence[str], npt.NDArray[np.float32]]:
        """Chunk ids and their most exact unit vectors (n, kept dimension), of the chunks that pass."""
        ...
