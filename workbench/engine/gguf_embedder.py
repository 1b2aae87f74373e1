"""GGUF embedding models through llama.cpp: pooling as the file's header says. Runs in child processes only."""

from __future__ import annotations

import ctypes
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Final

import llama_cpp.llama_cpp as ll
import numpy as np

from workbench.engine.llama_model import EngineLog, NativeError, default_threads
from workbench.engine.protocol import LoadEmbedder
from workbench.ports import Embedding, Vector

POOLINGS: Final = {"mean": 1, "cls": 2, "last": 3}
"""llama.cpp's numbers (``llama_pooling_type``)."""
_WORD: Final = re.compile(r"\S+")


class Vocabulary:
    """The tokenizer of a loaded GGUF file; any thread may use it."""

    def __init__(self, model: ll.llama_model_p, log: EngineLog) -> None:
        self._model, self._log = model, log
        self._vocabulary = ll.llama_model_get_vocab(model)

    @classmethod
    def open(cls, path: Path) -> Vocabulary:
        """Loads the vocabulary alone. Raises NativeError."""
        log = EngineLog()
        params = ll.llama_model_default_params()
        params.vocab_only = True
        model = ll.llama_model_load_from_file(os.fsencode(path), params)
        if not model:
            raise NativeError("load", log.first_error())
        return cls(model, log)

    def tokens(self, text: str, *, special: bool = False) -> list[int]:
        """Tokens of ``text``; ``special`` adds those that the model puts around it."""
        data = text.encode("utf-8", "replace")
        size = len(data) + 8
        found = (ll.llama_token * size)()
        count = ll.llama_tokenize(self._vocabulary, data, len(data), found, size, special, False)
        return list(found[: max(count, 0)])

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The span of each token, from words: a word's tokens share its span evenly.

        What a token stands for can't be told from its text where a tokenizer folds case or accents; how many tokens a
        word takes can.
        """
        spans: list[tuple[int, int]] = []
        for word in _WORD.finditer(text):
            start, end = word.span()
            count = len(self.tokens(word.group()))
            marks = [start + (end - start) * place // max(count, 1) for place in range(count + 1)]
            spans += pairwise(marks)
        return spans


class GgufModel:
    """See ``workbench.engine.embedding_models.EmbeddingModel``."""

    def __init__(self, request: LoadEmbedder) -> None:
        log = EngineLog()
        ll.llama_backend_init()
        path = Path(request.folder) / request.model_file
        self._model = ll.llama_model_load_from_file(os.fsencode(path), ll.llama_model_default_params())
        if not self._model:
            raise NativeError("load", log.first_error())
        self._vocabulary = Vocabulary(self._model, log)
        self._most = min(request.max_tokens, ll.llama_model_n_ctx_train(self._model))
        self._width: int = ll.llama_model_n_embd(self._model)
        self._context = self._open(request.pooling)

    def embed(self, text: str, prefix: int | None) -> Embedding:
        """Pooled by llama.cpp, which then has no vectors of tokens to give."""
        tokens = self._vocabulary.tokens(text, special=True)[: self._most] or [0]
        memory = ll.llama_get_memory(self._context)
        if memory:
            ll.llama_memory_clear(memory, True)
        array = (ll.llama_token * len(tokens))(*tokens)  # named, because the batch holds only its address
        status = ll.llama_decode(self._context, ll.llama_batch_get_one(array, len(tokens)))
        found = None if status else ll.llama_get_embeddings_seq(self._context, 0)
        if not found:
            raise NativeError("decode", f"llama_decode: {status}")
        vector = np.ctypeslib.as_array(ctypes.cast(found, ctypes.POINTER(ctypes.c_float)), (self._width,)).copy()
        unit: Vector = (vector / (float(np.linalg.norm(vector)) or 1.0)).astype(np.float32)
        return Embedding(unit, np.zeros((0, self._width), np.float16))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """See ``Vocabulary.spans``."""
        return self._vocabulary.spans(text)

    def _open(self, pooling: str) -> ll.llama_context_p:
        params = ll.llama_context_default_params()
        # A text is one micro-batch: an encoder looks both ways, and pooling wants all of it.
        params.n_ctx = params.n_batch = params.n_ubatch = self._most
        params.n_threads = params.n_threads_batch = default_threads()
        params.embeddings = True
        params.pooling_type = POOLINGS[pooling]
        context: ll.llama_context_p = ll.llama_init_from_model(self._model, params)
        if not context:
            raise NativeError("context", "llama_init_from_model")
        return context
