"""ONNX embedders through fastembed. Runs in the embed child only."""

from __future__ import annotations

import os
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.text.custom_text_embedding import CustomTextEmbedding
from tokenizers import Tokenizer

from workbench.engine.protocol import LoadEmbedder
from workbench.ports import Embedding, Vector

_POOLINGS = {"last": PoolingType.LAST_TOKEN}
"""Those that fastembed calls otherwise than the table of known models."""


class OnnxModel:
    """See ``workbench.engine.embedding_models.EmbeddingModel``."""

    def __init__(self, request: LoadEmbedder) -> None:
        TextEmbedding.add_custom_model(
            model=request.folder,
            pooling=_POOLINGS.get(request.pooling) or PoolingType(request.pooling.upper()),
            normalization=request.normalised,
            sources=ModelSource(url="file:"),  # required, and never used with specific_model_path
            dim=request.dimension,
            model_file=request.model_file,
        )
        embedding = TextEmbedding(
            request.folder, specific_model_path=request.folder, threads=max(1, (os.cpu_count() or 1) - 1)
        )
        self._model = cast(CustomTextEmbedding, embedding.model)
        self._tokenizer = cast(Tokenizer, self._model.tokenizer)  # there once the model is loaded

    def embed(self, text: str, prefix: int | None) -> Embedding:
        """TextEmbedding.embed in its two steps: only between them are the tokens' vectors to be had."""
        output = self._model.onnx_embed([text])
        [found] = self._model._post_process_onnx_output(output)
        vector: Vector = np.asarray(found, np.float32)
        empty = np.zeros((0, np.size(vector)), np.float16)
        return Embedding(vector, empty if prefix is None else self._token_vectors(text, prefix, output.model_output))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """It truncates for the network, and pads: what it cut off is in the overflowing pieces."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return [
            span
            for piece in (encoding, *encoding.overflowing)
            for span, is_text in zip(piece.offsets, piece.attention_mask, strict=True)
            if is_text
        ]

    def _token_vectors(self, text: str, prefix: int, output: npt.NDArray[Any]) -> npt.NDArray[np.float16]:
        """The rows of ``output`` (1, tokens, dimension) that are text, as unit vectors; none when it comes pooled."""
        if output.ndim != 3:
            return np.zeros((0, output.shape[-1]), np.float16)
        # Special tokens stand at (0, 0), so what ends behind the prefix is text.
        is_text = [end > prefix for _, end in self._tokenizer.encode(text).offsets]
        rows = output[0][is_text]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: npt.NDArray[np.float16] = (rows / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float16)
        return unit
