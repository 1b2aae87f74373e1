"""How far one model's next-token distributions are from another's, position by position.

Sources: Kullback & Leibler (1951); the statistics are those of llama.cpp's ``llama-perplexity --kl-divergence``. numpy
only; each row is worked out by itself, so memory stays at a few rows of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32]


class Position(NamedTuple):
    """One position: see ``workbench.records.ladders.WindowScores``."""

    kl: float
    surprise: float
    reference_surprise: float
    same_top: bool


def divergences(reference: Logits, model: Logits, following: Sequence[int]) -> Iterator[Position]:
    """D(p ‖ q) = Σ p · (ln p − ln q), never below 0, and what is said of the token that came.

    Args:
        reference, model: logits, (positions, vocabulary).
        following: the token after each position.
    """
    for logits, others, token in zip(reference, model, following, strict=True):
        log_p, log_q = log_softmax(logits), log_softmax(others)
        kl = float(np.exp(log_p) @ (log_p - log_q))
        same = int(np.argmax(logits)) == int(np.argmax(others))
        yield Position(max(0.0, kl), -float(log_q[token]), -float(log_p[token]), same)


def log_softmax(logits: Logits) -> NDArray[np.float64]:
    """ln of the softmax of one row, in double precision: differences of 0.001 nat must not drown in rounding."""
    shifted = logits.astype(np.float64)
    shifted -= shifted.max()
    shifted -= np.log(np.exp(shifted).sum())
    return shifted
