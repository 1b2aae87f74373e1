"""Maximal marginal relevance: twins come apart, the first stays first, and the ends of λ mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.records.retrieval import FusedHit
from workbench.retrieval.mmr import diversified

HITS = [FusedHit(name, rank, 1 / rank) for rank, name in enumerate("abcd", 1)]
TWINS = {
    "a": np.array([1, 0, 0], np.float32),
    "b": np.array([1, 0, 0], np.float32),
    "c": np.array([0, 1, 0], np.float32),
    "d": np.array([0, 0, 1], np.float32),
}


def names(trade: float, vectors: dict[str, np.ndarray] = TWINS) -> str:
    return "".join(hit.chunk_id for hit in diversified(HITS, vectors, trade))


def test_a_twin_goes_behind_what_says_something_else() -> None:
    # After a: b scores .5·2/3 − .5·1 = −.17, c .5·1/3 − 0 = .17, d 0.
    assert names(0.5) == "acdb"


def test_relevance_alone_keeps_the_ranking_and_a_hit_without_a_vector_is_like_no_other() -> None:
    assert names(1.0) == "abcd"
    assert names(0.5, {}) == "abcd"
    assert names(0.5, {name: TWINS[name] for name in "ab"}) == "acdb"


@given(st.floats(0, 1), st.integers(0, 6))
def test_no_hit_is_lost_or_renamed(trade: float, count: int) -> None:
    hits = [FusedHit(str(n), n + 1, 1.0) for n in range(count)]
    rng = np.random.default_rng(count)
    found = diversified(hits, {str(n): rng.normal(size=4).astype(np.float32) for n in range(count)}, trade)
    assert sorted(hit.rank for hit in found) == list(range(1, count + 1))
    assert not found or found[0].chunk_id == "0"


@pytest.mark.parametrize("trade", [-0.1, 1.1, float("nan")])
def test_other_trades_are_refused(trade: float) -> None:
    with pytest.raises(UsageError):
        diversified(HITS, TWINS, trade)
