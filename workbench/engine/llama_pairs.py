"""A reranker through llama.cpp, whose rank pooling puts the model's head on a pair. Runs in the rerank child only."""

from __future__ import annotations

import os
import re
from typing import Final

import llama_cpp.llama_cpp as ll

from workbench.engine.llama_model import EngineLog, NativeError, default_threads
from workbench.records.rerankers import PairScore

LONGEST: Final = 2048
"""Tokens of a pair at most: a chunk and a question are far shorter, and memory grows with it."""
PLACES: Final = re.compile(r"(\{query\}|\{document\})")


class LlamaPairs:
    """The GGUF file at ``path`` with a context for one pair.

    Raises:
        NativeError: the file can't be loaded, or gives a pair more than one number.
    """

    def __init__(self, path: str) -> None:
        self._log = EngineLog()
        ll.llama_backend_init()
        model = ll.llama_model_load_from_file(os.fsencode(path), ll.llama_model_default_params())
        if not model:
            raise NativeError("load", self._log.first_error())
        if (heads := ll.llama_model_n_cls_out(model)) != 1:
            raise NativeError("load", f"it has {heads} classes: a reranker gives one number for each pair")
        self._vocabulary = ll.llama_model_get_vocab(model)
        self._room = min(ll.llama_model_n_ctx_train(model), LONGEST)
        self._context = self._open(model)
        self._memory = ll.llama_get_memory(self._context)
        template = ll.llama_model_chat_template(model, b"rerank")
        self._template = template.decode("utf-8", "replace") if template else ""

    def _open(self, model: ll.llama_model_p) -> ll.llama_context_p:
        params = ll.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = self._room  # an encoder reads all its tokens at once
        params.n_threads = params.n_threads_batch = default_threads()
        params.embeddings = True
        params.pooling_type = ll.LLAMA_POOLING_TYPE_RANK
        context: ll.llama_context_p | None = ll.llama_init_from_model(model, params)
        if not context:
            raise NativeError("context", self._log.first_error())
        return context

    def score(self, query: str, passage: str) -> PairScore:
        """See ``workbench.engine.pair_server.Pairs``. Raises NativeError."""
        tokens, truncated = self._pair(self._tokens(query), self._tokens(passage))
        if self._memory:
            ll.llama_memory_clear(self._memory, True)
        array = (ll.llama_token * len(tokens))(*tokens)  # named, because the batch holds only its address
        evaluate = ll.llama_decode if self._memory else ll.llama_encode
        status = evaluate(self._context, ll.llama_batch_get_one(array, len(tokens)))
        scores = ll.llama_get_embeddings_seq(self._context, 0)
        if status or not scores:
            raise NativeError("pair", self._log.first_error() or f"llama_decode: {status}")
        return PairScore(float(scores[0]), truncated)

    def _pair(self, query: list[int], passage: list[int]) -> tuple[list[int], bool]:
        """The tokens that the model reads, and whether some of the texts' had to go: the passage's last ones first."""
        fixed = len(self._framed([], []))
        asked = query[: max(1, (self._room - fixed) // 2)]
        read = passage[: max(1, self._room - fixed - len(asked))]
        return self._framed(asked, read), (len(asked), len(read)) != (len(query), len(passage))

    def _framed(self, query: list[int], passage: list[int]) -> list[int]:
        """By the file's own template, else [BOS] query [EOS] [SEP] passage [EOS], as llama.cpp's server does it."""
        texts = {"{query}": query, "{document}": passage}
        if self._template:
            parts = PLACES.split(self._template)
            framed = (texts[part] if part in texts else self._tokens(part, special=True) for part in parts)
            return [token for tokens in framed for token in tokens]
        vocabulary = self._vocabulary
        sep = ll.llama_vocab_sep(vocabulary)
        eos = ll.llama_vocab_eos(vocabulary)
        begin = [ll.llama_vocab_bos(vocabulary)] if ll.llama_vocab_get_add_bos(vocabulary) else []
        end = [eos if eos >= 0 else sep] if ll.llama_vocab_get_add_eos(vocabulary) else []
        middle = [sep] if ll.llama_vocab_get_add_sep(vocabulary) else []
        return [*begin, *query, *end, *middle, *passage, *end]

    def _tokens(self, text: str, *, special: bool = False) -> list[int]:
        """Without the model's frame. What looks like a special token in a text is text, unless ``special``."""
        data = text.encode("utf-8", "replace")
        size = len(data) + 8
        tokens = (ll.llama_token * size)()
        count = ll.llama_tokenize(self._vocabulary, data, len(data), tokens, size, False, special)
        return tokens[: max(count, 0)]
