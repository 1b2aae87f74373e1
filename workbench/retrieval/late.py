"""Late interaction: token vectors as an index keeps them, and MaxSim over them. Numpy only.

MaxSim (Khattab and Zaharia, ColBERT, 2020) here is the mean over the query's tokens of the best cosine among a
passage's. Token vectors of embedders share a large mean, so their signs tell little until it is taken off: kept as
centred sign bits, they rank nearly as well as the vectors themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from workbench.ports import PackedTokens, TokenVectors, Vector

Similarities: TypeAlias = npt.NDArray[np.float32]


def pack_signs(tokens: TokenVectors, mean: Vector) -> npt.NDArray[np.uint8]:
    """(tokens, dimension) as (tokens, ⌈dimension / 8⌉): a bit is 1 where the component is above the mean's."""
    return np.packbits(tokens > mean, axis=1)


def pack_int8(tokens: TokenVectors) -> npt.NDArray[np.int8]:
    """Each row scaled to fill −127…127: its direction is kept, its length isn't."""
    largest = np.abs(tokens).max(axis=1, keepdims=True, initial=0).astype(np.float32)
    scale = np.divide(127, largest, out=np.zeros_like(largest), where=largest > 0)
    packed: npt.NDArray[np.int8] = np.rint(tokens * scale).astype(np.int8)
    return packed


def similarities(query: TokenVectors, packed: PackedTokens, mean: Vector | None) -> Similarities:
    """Cosine of each query token with each of a passage's: (query tokens, passage tokens).

    With signs, of the centred vectors and estimated: for a unit vector q and signs s of a vector p whose components
    are about normal, E[q · s] = √(2d/π) · cos(q, p). The query keeps its components, which halves the error.
    """
    exact = query.astype(np.float32)
    cosines: Similarities
    if mean is None:
        cosines = _unit(exact) @ _unit(packed.astype(np.float32)).T
        return cosines
    centred = _unit(exact - mean)
    dimension = centred.shape[1]
    bits = np.unpackbits(packed.view(np.uint8), axis=1, count=dimension).astype(np.float32)
    # q · s with s = 2 · bit − 1
    products = 2 * (centred @ bits.T) - centred.sum(axis=1, keepdims=True)
    cosines = np.clip(products * np.float32(np.sqrt(np.pi / (2 * dimension))), -1, 1)
    return cosines


def maxsim(cosines: Similarities, counts: Sequence[int]) -> npt.NDArray[np.float32]:
    """The score of each passage: the mean over query tokens of the best cosine among the passage's.

    Args:
        cosines: (query tokens, tokens of all passages side by side), at least one query token.
        counts: tokens of each passage, all positive; they sum to the columns.
    """
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp)
    scores: npt.NDArray[np.float32] = np.maximum.reduceat(cosines, starts, axis=1).mean(axis=0)
    return scores


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    unit: npt.NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
    return unit
