"""Forms of stored vectors: packed and unpacked, how similar packed ones are, and the bytes they take. Numpy only.

int8: each vector scaled by 127 / max|x|, so that its direction is kept. bit: the sign of each component after the mean
vector was taken off; without that, what all vectors of an embedder share decides most signs.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.money.vectors import vector_bytes
from workbench.ports import Vector
from workbench.records.corpus import EmbedderInfo, VectorForm
from workbench.retrieval.late import pack_int8, pack_signs

Matrix: TypeAlias = npt.NDArray[np.float32]
Packed: TypeAlias = npt.NDArray[Any]  # float32 (n, d), int8 (n, d) or uint8 (n, d / 8)

OVERSAMPLING: Final = 10
"""Candidates by their signs for each one that is wanted after rescoring."""
_BLOCK: Final = 4096

FORMS: Final = {
    "float32": VectorForm(),
    "int8": VectorForm("int8"),
    "bit": VectorForm("bit"),
    "bit+int8": VectorForm("bit", rescore="int8"),
    "bit+float32": VectorForm("bit", rescore="float32"),
}
"""By the names that a person gives them; ``@256`` behind a name keeps 256 components."""


def form_name(form: VectorForm) -> str:
    """As ``parse_form`` reads it: "int8", "bit+float32", "float32@256"."""
    whole = VectorForm(form.component, 0, form.rescore)
    name = next(name for name, known in FORMS.items() if known == whole)
    return f"{name}@{form.dimension}" if form.dimension else name


def parse_form(text: str) -> VectorForm:
    """Raises UsageError, naming the forms there are."""
    name, _, dimension = text.strip().partition("@")
    if name not in FORMS or (dimension and not dimension.isdigit()):
        raise UsageError(
            tr("No such form"),
            tr("“{form}” is no form of stored vectors.", form=text),
            tr("There are: {forms}; {example} keeps 256 components.", forms=", ".join(FORMS), example="float32@256"),
        )
    form = FORMS[name]
    return VectorForm(form.component, int(dimension or 0), form.rescore)


def check_form(form: VectorForm, embedder: EmbedderInfo) -> None:
    """Raises UsageError when vectors of ``embedder`` can't be stored so."""
    kept = form.dimension or embedder.dimension
    problem = ""
    if not 0 <= form.dimension <= embedder.dimension:
        problem = tr("{name} has {dimension} components.", name=embedder.name, dimension=embedder.dimension)
    elif form.component == "bit" and kept % 8:
        problem = tr("Signs are stored eight to a byte, and {dimension} is no multiple of 8.", dimension=kept)
    elif form.rescore != "none" and form.component != "bit":
        problem = tr("Only signs are rescored.")
    if problem:
        raise UsageError(tr("The form doesn't fit"), problem, tr("Choose another form or dimension."))


def stored_bytes(form: VectorForm, dimension: int, vectors: int = 1) -> float:
    """M = N · d · b of what is stored, both parts where signs are rescored.

    Args:
        dimension: components kept.
    """
    searched = vector_bytes(vectors, dimension, form.component)
    return searched if form.rescore == "none" else searched + vector_bytes(vectors, dimension, form.rescore)


def shortened(vectors: Matrix, dimension: int) -> Matrix:
    """The first ``dimension`` components of each row, L2-normalised again; all of them for 0."""
    if not dimension or dimension == vectors.shape[1]:
        return vectors
    kept = vectors[:, :dimension]
    unit: Matrix = kept / np.maximum(np.linalg.norm(kept, axis=1, keepdims=True), np.float32(1e-12))
    return unit


def pack(unit: Matrix, component: str, centre: Vector | None = None) -> Packed:
    """Unit vectors (n, d) as they are stored; ``centre`` (d,) is taken off before signs."""
    if component == "int8":
        return pack_int8(unit)  # type: ignore[arg-type]  # typed for float16 token vectors; any float will do
    if component == "bit":
        return pack_signs(unit, _centre(centre, unit.shape[1]))  # type: ignore[arg-type]  # as above
    return np.ascontiguousarray(unit, "<f4")


def unpack(packed: Packed, component: str, dimension: int, centre: Vector | None = None) -> Matrix:
    """Unit vectors in the direction of what is stored; of signs, the direction of their corner plus the mean."""
    if component == "bit":
        signs = np.unpackbits(packed, axis=1, count=dimension).astype(np.float32) * 2 - 1
        packed = signs / np.sqrt(np.float32(dimension)) + _centre(centre, dimension)
    values = packed.astype(np.float32)
    unit: Matrix = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), np.float32(1e-12))
    return unit


def rows_of(blobs: bytes, component: str) -> Packed:
    """Stored bytes of any number of vectors as one flat array of that form's components."""
    return np.frombuffer(blobs, {"float32": "<f4", "int8": "i1", "bit": "u1"}[component])


def similarity(packed: Packed, wanted: Packed, component: str) -> Matrix:
    """How near each row is to ``wanted`` (d,) in the same form: cosine, or minus the Hamming distance of signs."""
    if component == "bit":
        return _agreement(packed, wanted)
    if component == "float32":
        near: Matrix = packed @ wanted
        return near
    query = wanted.astype(np.float32)
    query /= np.linalg.norm(query)
    found = np.empty(len(packed), np.float32)
    for first in range(0, len(packed), _BLOCK):  # in blocks: a float copy of all would take four times the memory
        block = packed[first : first + _BLOCK].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
        found[first : first + _BLOCK] = block @ query / np.maximum(lengths, np.float32(1e-12))
    return found


def cosine_of_hamming(differing: float, dimension: int) -> float:
    """The cosine that so many differing signs speak of: cos(π · h / d).

    Source: Goemans and Williamson (1995), the angle between two vectors is π times the share of random hyperplanes
    that part them; Charikar (2002) for signs as a hash.
    """
    return float(np.cos(np.pi * differing / dimension))


def _agreement(packed: Packed, wanted: Packed) -> Matrix:
    if packed.shape[1] % 8 == 0 and packed.flags.c_contiguous:
        packed, wanted = packed.view(np.uint64), np.ascontiguousarray(wanted).view(np.uint64)
    differing: Matrix = -np.bitwise_count(packed ^ wanted).sum(axis=1, dtype=np.float32)
    return differing


def _centre(centre: Vector | None, dimension: int) -> Vector:
    return np.zeros(dimension, np.float32) if centre is None else centre
