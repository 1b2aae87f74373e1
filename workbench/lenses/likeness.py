"""The nearest chunks by the stored vectors, with what of them is nearly the same text."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.health.near import NearGroup, near_duplicates
from workbench.i18n import tr
from workbench.ports import Store
from workbench.records.corpus import Chunk, Index
from workbench.records.lenses import Likeness, Near
from workbench.records.retrieval import AllOf


def likeness(store: Store, index: Index, chunk: Chunk, k: int) -> Likeness:
    """The ``k`` chunks of ``index`` nearest to ``chunk``, retired documents left out. Needs no embedder.

    Near-duplicates are grouped by the overlap of their word triples (``workbench.health.near``), as vectors alone don't
    tell a copy from another passage on the same matter.
    """
    vector = store.search.vectors(index.id, [chunk.id]).get(chunk.id)
    if vector is None:
        return Likeness(chunk, (), reason=tr("It has no vector in the index, so nothing can be near it."))
    hits = [hit for hit in store.search.dense(index, vector, AllOf(()), k + 1) if hit.chunk_id != chunk.id][:k]
    chunks = store.corpus.chunks_by_id([hit.chunk_id for hit in hits])
    groups = _groups(chunk, chunks)
    cosines = {hit.chunk_id: hit.score for hit in hits}
    near = tuple(Near(c, cosines[c.id], groups.get(c.id, 0), copy=c.hash == chunk.hash) for c in chunks)
    return Likeness(chunk, near, groups.get(chunk.id, 0))


def _groups(chunk: Chunk, near: Sequence[Chunk]) -> dict[str, int]:
    """The number of each chunk's group; those alone have none."""
    texts = [(c.id, c.indexed_text) for c in (chunk, *near)]
    found: tuple[NearGroup, ...] = near_duplicates(texts, lambda _a, _b: False)
    return {name: number for number, group in enumerate(found, 1) for name in group.ids}
