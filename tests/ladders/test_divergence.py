"""KL divergence and its company on a small vocabulary, against plain numpy and worked numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workbench.engine.divergence import Logits, divergences, log_softmax

ROWS = arrays(np.float32, (3, 7), elements=st.floats(-30, 30, width=32))


def softmax(logits: Logits) -> np.ndarray:
    powers = np.exp(logits.astype(np.float64) - logits.max())
    return powers / powers.sum()


def test_a_worked_example() -> None:
    """p = (½, ¼, ¼), q = (¼, ½, ¼): D = ½ ln 2 + ¼ ln ½ = ¼ ln 2."""
    p, q = np.log([[0.5, 0.25, 0.25]]).astype(np.float32), np.log([[0.25, 0.5, 0.25]]).astype(np.float32)
    (found,) = divergences(p, q, [0])
    assert found.kl == pytest.approx(0.25 * math.log(2), rel=1e-6)
    assert found.surprise == pytest.approx(math.log(4), rel=1e-6)
    assert found.reference_surprise == pytest.approx(math.log(2), rel=1e-6)
    assert not found.same_top


@given(ROWS, ROWS)
def test_kl_is_that_of_the_definition(reference: Logits, model: Logits) -> None:
    for p, q, found in zip(reference, model, divergences(reference, model, [0, 3, 6]), strict=True):
        one = softmax(p)
        kept = one > 0
        expected = float((one[kept] * (np.log(one[kept]) - log_softmax(q)[kept])).sum())
        assert found.kl == pytest.approx(expected, abs=1e-9)
        assert found.kl >= 0
        # Of the logits: exp makes ties of what differs by less than a rounding.
        assert found.same_top == (p.argmax() == q.argmax())


@given(ROWS, st.floats(-10, 10))
def test_a_model_against_itself_is_no_distance(logits: Logits, shift: float) -> None:
    assert [found.kl for found in divergences(logits, logits, [1, 2, 3])] == [0.0, 0.0, 0.0]
    assert all(found.same_top for found in divergences(logits, logits, [1, 2, 3]))
    shifted = divergences(logits, (logits + np.float32(shift)).astype(np.float32), [1, 2, 3])
    assert all(found.kl < 1e-4 for found in shifted)  # adding a constant to all logits changes no probability


def test_large_logits_do_not_overflow() -> None:
    row = np.array([[3e4, -3e4, 0.0]], np.float32)
    (found,) = divergences(row, row[:, ::-1], [0])
    assert math.isfinite(found.kl)
    assert found.kl == pytest.approx(3e4, rel=1e-6)
