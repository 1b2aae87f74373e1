"""Two models fed the same tokens in lockstep, so that their logits can be compared without keeping them.

Runs in the ladder's child only. Memory: both models, a context of one window each, and the logits of ``PART`` tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import llama_cpp.llama_cpp as ll
import numpy as np

from workbench.engine.divergence import Logits, Position, divergences
from workbench.engine.llama_model import DECODE_ABORTED, NativeError, NativeModel
from workbench.records.ladders import WindowScores
from workbench.records.models import LoadSettings

PART: Final = 64
"""Tokens evaluated at once: their logits are held in memory, 64 × 152k × 4 bytes = 37 MiB a model at worst."""


class Pair:
    """The reference and another model with the same vocabulary.

    Args:
        window: tokens of context.
        on_progress: told 0–1 while the weights are read.

    Raises:
        NativeError: one of them can't be loaded, or their vocabularies differ.
    """

    def __init__(
        self,
        reference: str,
        model: str,
        window: int,
        settings: LoadSettings,
        on_progress: Callable[[float], None],
        cancelled: Callable[[], bool],
    ) -> None:
        sized = replace(settings, context=window, batch=PART)
        self._window = window
        self._reference = NativeModel(reference, sized, lambda share: on_progress(share / 2), cancelled)
        self._model = NativeModel(model, sized, lambda share: on_progress((1 + share) / 2), cancelled)
        self._cancelled = cancelled
        self._size: int = ll.llama_vocab_n_tokens(self._reference.vocabulary)
        self._check_vocabularies()

    def _check_vocabularies(self) -> None:
        one, other = self._reference.vocabulary, self._model.vocabulary
        theirs: int = ll.llama_vocab_n_tokens(other)
        if theirs != self._size:
            raise NativeError("vocabulary", f"{self._size} ≠ {theirs}")
        for token in range(self._size):
            if ll.llama_vocab_get_text(one, token) != ll.llama_vocab_get_text(other, token):
                raise NativeError("vocabulary", f"#{token}")

    def score(self, number: int, passage: str) -> WindowScores | None:
        """The second half of the passage's first ``window`` tokens; None when it was cancelled.

        BOS stands before it where the model wants one. Each scored position has at least half a window before it.

        Raises:
            NativeError: too few tokens, or the engine couldn't compute it.
        """
        tokens = self._reference.tokenize(passage, as_prompt=True)
        if tokens != self._model.tokenize(passage, as_prompt=True):
            raise NativeError("vocabulary", passage[:40])
        if len(tokens) <= self._window:
            raise NativeError("text", f"{len(tokens)} < {self._window + 1}")
        for model in (self._reference, self._model):
            model.keep_prefix(())
        found: list[Position] = []
        for start in range(0, self._window, PART):
            end = min(start + PART, self._window)
            first = max(start, min(end, self._window // 2))  # positions from here on are scored
            part, following = tokens[start:end], tokens[first + 1 : end + 1]
            logits = [self._evaluate(model, part, start, first - start) for model in (self._reference, self._model)]
            if self._cancelled():
                return None
            found += divergences(logits[0], logits[1], following)
        columns = zip(*found, strict=True)
        return WindowScores(number, *columns)

    def _evaluate(self, model: NativeModel, tokens: Sequence[int], position: int, first: int) -> Logits:
        """The logits after the tokens from ``first`` on, (tokens, vocabulary); they hold until the next evaluation."""
        batch = ll.llama_batch_init(len(tokens), 0, 1)
        try:
            batch.n_tokens = len(tokens)
            for n, token in enumerate(tokens):
                batch.token[n], batch.pos[n] = token, position + n
                batch.n_seq_id[n], batch.seq_id[n][0] = 1, 0
                batch.logits[n] = n >= first
            status = ll.llama_decode(model.pointer, batch)
        finally:
            ll.llama_batch_free(batch)
        wanted = len(tokens) - first
        if status == DECODE_ABORTED or not wanted:
            return np.zeros((0, self._size), np.float32)
        if status:
            raise NativeError("decode", model.log.first_error() or f"llama_decode: {status}")
        return np.ctypeslib.as_array(ll.llama_get_logits(model.pointer), shape=(wanted, self._size))
