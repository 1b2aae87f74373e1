"""Maximal marginal relevance: hits that are relevant and don't repeat one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.ports import Vector
from workbench.records.retrieval import FusedHit


def diversified(hits: Sequence[FusedHit], vectors: Mapping[str, Vector], trade: float) -> tuple[FusedHit, ...]:
    """``hits``, best first, chosen one by one by λ · relevance − (1 − λ) · likeness to the nearest one chosen so far.

    Of Carbonell and Goldstein (1998). Relevance falls evenly from 1 for the first hit to 0 for the last, as scores of
    fusions and rerankers have no common scale; likeness is the cosine of the chunks' vectors, scaled to 0–1 over these
    hits, as an embedder's cosines lie in a narrow band. A hit without a vector is like no other. Ranks aren't changed.

    Args:
        trade: λ.

    Raises:
        UsageError: λ is not in 0–1.
    """
    if not 0 <= trade <= 1:
        raise UsageError(tr("MMR not possible"), tr("λ must be between 0 and 1."), tr("The usual λ is 0.7."))
    count = len(hits)
    if count < 3:
        return tuple(hits)
    relevance = np.linspace(1.0, 0.0, count)
    likeness = _likeness([vectors.get(hit.chunk_id) for hit in hits])
    chosen, left = [0], list(range(1, count))
    while left:
        gains = trade * relevance[left] - (1 - trade) * likeness[np.ix_(left, chosen)].max(axis=1)
        chosen.append(left.pop(int(gains.argmax())))
    return tuple(hits[place] for place in chosen)


def _likeness(vectors: Sequence[Vector | None]) -> Vector:
    """Of each pair: (hits, hits), 0 for the least like and 1 for the most like of two."""
    count = len(vectors)
    scaled = np.zeros((count, count), np.float32)
    known = [place for place, vector in enumerate(vectors) if vector is not None]
    if len(known) < 2:
        return scaled
    matrix = np.stack([vector for vector in vectors if vector is not None])
    cosines = matrix @ matrix.T
    pairs = cosines[np.triu_indices(len(known), 1)]
    low, width = pairs.min(), pairs.max() - pairs.min()
    scaled[np.ix_(known, known)] = (cosines - low) / width if width else 1.0
    return scaled
