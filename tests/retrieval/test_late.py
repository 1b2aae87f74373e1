"""MaxSim by hand, and what packing keeps of a vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from workbench.ports import TokenVectors
from workbench.retrieval.late import maxsim, pack_int8, pack_signs, similarities

NO_MEAN = np.zeros(16, np.float32)


def tokens(*rows: list[float]) -> TokenVectors:
    return np.array(rows, np.float16)


def unit_rows(count: int, dimension: int, seed: int = 0) -> TokenVectors:
    rows = np.random.default_rng(seed).normal(size=(count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)


def test_maxsim_is_the_mean_of_each_query_tokens_best_cosine() -> None:
    query = tokens([1, 0], [0, 1])
    first = tokens([0.6, 0.8], [1, 0])  # best of its two: 1 for the one query token, 0.8 for the other
    second = tokens([0, 1])  # 0 and 1
    cosines = similarities(query, np.concatenate([pack_int8(first), pack_int8(second)]), None)
    assert cosines == pytest.approx(np.array([[0.6, 1, 0], [0.8, 0, 1]]), abs=0.005)
    assert maxsim(cosines, [2, 1]) == pytest.approx([(1 + 0.8) / 2, (0 + 1) / 2], abs=0.005)


def test_one_token_against_one_token() -> None:
    assert maxsim(similarities(tokens([0.6, 0.8]), pack_int8(tokens([1, 0])), None), [1]) == pytest.approx(
        [0.6], abs=0.005
    )


def test_signs_are_of_what_lies_above_the_mean() -> None:
    mean = np.array([0.5, 0, 0, 0, 0, 0, 0, 0, 0.1, 0], np.float32)
    packed = pack_signs(tokens([0.4, 0.1, -0.1, 0, 0, 0, 0, 0.2, 0.2, 0], [0.6] + [0] * 9), mean)
    assert packed.tolist() == [[0b01000001, 0b10000000], [0b10000000, 0]]


@given(arrays.arrays(np.float16, (3, 24), elements=st.floats(-1, 1, width=16)))
def test_signs_come_back_from_their_bits(rows: TokenVectors) -> None:
    packed = pack_signs(rows, np.zeros(24, np.float32))
    assert packed.shape == (3, 3)
    assert np.array_equal(np.unpackbits(packed, axis=1).astype(bool), rows > 0)


@given(arrays.arrays(np.float16, (3, 8), elements=st.floats(-1, 1, width=16)))
def test_int8_keeps_each_direction_within_a_127th_of_its_largest_component(rows: TokenVectors) -> None:
    largest = np.abs(rows).max(axis=1, keepdims=True).astype(np.float32)
    assert np.abs(pack_int8(rows) * largest / 127 - rows).max() <= (largest / 127).max() * 0.51 + 1e-6


def test_signs_estimate_the_cosine_of_centred_vectors() -> None:
    mean = np.full(384, 0.04, np.float32)  # every vector leans the same way, as those of embedders do
    query, passage = (unit_rows(40, 384, seed) / 2 + mean.astype(np.float16) for seed in (1, 2))
    passage[0] = query[0]
    exact = similarities(query - mean.astype(np.float16), pack_int8(passage - mean.astype(np.float16)), None)
    estimated = similarities(query, pack_signs(passage, mean), mean)
    assert estimated[0, 0] > 0.95
    assert np.abs(estimated - exact).mean() < 0.04
    assert np.abs(estimated).max() <= 1


def test_zero_vectors_are_like_nothing() -> None:
    nothing = np.zeros((1, 16), np.float16)
    assert similarities(nothing, pack_int8(unit_rows(2, 16)), None).tolist() == [[0, 0]]
    assert similarities(unit_rows(1, 16), pack_int8(nothing), None).tolist() == [[0]]
    assert np.isfinite(similarities(nothing, pack_signs(nothing, NO_MEAN), NO_MEAN)).all()


@pytest.mark.parametrize("dimension", [1, 7, 8, 9, 384])
def test_any_dimension_and_no_tokens_at_all(dimension: int) -> None:
    mean = np.zeros(dimension, np.float32)
    rows = unit_rows(2, dimension)
    assert similarities(rows, pack_signs(rows, mean), mean).shape == (2, 2)
    for empty in (pack_signs(rows[:0], mean), pack_int8(rows[:0])):
        assert len(empty) == 0
