"""A cross-encoder through fastembed. Runs in the rerank child only."""

from __future__ import annotations

import os
from typing import cast

from fastembed.common.model_description import ModelSource
from fastembed.rerank.cross_encoder import TextCrossEncoder
from fastembed.rerank.cross_encoder.custom_text_cross_encoder import CustomTextCrossEncoder

from workbench.records.rerankers import PairScore


class OnnxPairs:
    """The ONNX file ``model_file`` in ``folder``, with the tokenizer beside it.

    Raises:
        ValueError: it gives a pair anything but one number; and what fastembed and onnxruntime raise of a bad folder.
    """

    def __init__(self, folder: str, model_file: str) -> None:
        TextCrossEncoder.add_custom_model(
            model=folder,
            sources=ModelSource(url="file:"),  # required, and never used with specific_model_path
            model_file=model_file,
        )
        threads = max(1, (os.cpu_count() or 1) - 1)
        encoder = TextCrossEncoder(folder, specific_model_path=folder, threads=threads)
        self._encoder = cast(CustomTextCrossEncoder, encoder.model)
        shape = self._encoder.model.get_outputs()[0].shape if self._encoder.model else []
        if len(shape) != 2 or (isinstance(shape[1], int) and shape[1] != 1):
            raise ValueError(f"its output has the shape {shape}: a reranker gives one number for each pair")

    def score(self, query: str, passage: str) -> PairScore:
        """See ``workbench.engine.pair_server.Pairs``."""
        [encoding] = self._encoder.tokenize([(query, passage)])
        [score] = self._encoder.rerank(query, [passage], batch_size=1)
        return PairScore(float(score), bool(encoding.overflowing))
