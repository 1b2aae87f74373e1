"""Forms of stored vectors: what packing keeps, what they take, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embedders import INFO
from workbench.errors import UsageError
from workbench.indexing.forms import (
    FORMS,
    check_form,
    cosine_of_hamming,
    form_name,
    pack,
    parse_form,
    shortened,
    similarity,
    stored_bytes,
    unpack,
)
from workbench.records.corpus import VectorForm


def unit_rows(seed: int, rows: int = 40, dimension: int = 64) -> np.ndarray:
    found = np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("form", "expected"),
    [("float32", 6_144_000_000), ("int8", 1_536_000_000), ("bit", 192_000_000), ("bit+int8", 1_728_000_000)],
)
def test_a_million_vectors_of_1536_components(form: str, expected: int) -> None:
    assert stored_bytes(FORMS[form], 1536, 1_000_000) == expected


@given(st.integers(0, 10_000))
def test_int8_keeps_the_direction(seed: int) -> None:
    rows = unit_rows(seed)
    packed = pack(rows, "int8")
    assert packed.dtype == np.int8
    assert (np.abs(packed).max(axis=1) == 127).all()
    assert (np.einsum("ij,ij->i", unpack(packed, "int8", 64), rows) > 0.999).all()
    assert np.allclose(
        similarity(packed, packed[3], "int8"), unpack(packed, "int8", 64) @ unpack(packed, "int8", 64)[3], atol=1e-5
    )


@given(st.integers(0, 10_000), st.sampled_from([8, 16, 64, 72, 128]))
def test_signs_differ_as_often_as_they_are_counted(seed: int, dimension: int) -> None:
    rows = unit_rows(seed, 20, dimension)
    centre = rows.mean(axis=0)
    packed = pack(rows, "bit", centre)
    signs = rows > centre
    assert np.array_equal(similarity(packed, packed[0], "bit"), -(signs != signs[0]).sum(axis=1))


def test_the_cosine_of_signs_is_the_angle_they_speak_of() -> None:
    assert [round(cosine_of_hamming(h, 256), 3) for h in (0, 64, 128, 256)] == [1.0, 0.707, 0.0, -1.0]


def test_a_cut_vector_is_a_unit_vector_of_its_beginning() -> None:
    rows = unit_rows(1)
    cut = shortened(rows, 16)
    assert cut.shape == (40, 16)
    assert np.allclose(np.linalg.norm(cut, axis=1), 1)
    assert np.allclose(cut[0] / cut[0, 0], rows[0, :16] / rows[0, 0], rtol=1e-4)


@pytest.mark.parametrize("name", [*FORMS, "float32@256", "bit+int8@128"])
def test_names_are_read_as_they_are_written(name: str) -> None:
    assert form_name(parse_form(name)) == name


@pytest.mark.parametrize("name", ["", "float16", "int8@", "int8@x", "int8@-1", "bit+bit", "BIT"])
def test_other_names_are_refused_with_those_there_are(name: str) -> None:
    if name == "int8@":  # nothing behind it is nothing cut
        assert parse_form(name) == VectorForm("int8")
        return
    with pytest.raises(UsageError, match=r"bit\+float32"):
        parse_form(name)


@pytest.mark.parametrize(
    "form", [VectorForm("float32", 17), VectorForm("bit", 12), VectorForm("int8", 0, "float32"), VectorForm("int8", -8)]
)
def test_a_form_that_does_not_fit_is_refused(form: VectorForm) -> None:
    with pytest.raises(UsageError):
        check_form(form, INFO)
