"""How fast a model evaluates tokens, as llama-bench times it. Runs in the llama child only."""

from __future__ import annotations

import random
import time
from typing import Final

import llama_cpp.llama_cpp as ll

from workbench.engine.llama_model import NativeModel

SEED: Final = 20_260_525


def evaluation_seconds(model: NativeModel, prompt: int, generate: int, depth: int) -> float | None:
    """Seconds of ``prompt`` tokens in batches and then ``generate`` tokens one by one; None when it was cancelled.

    The method of llama-bench (``test_prompt`` and ``test_gen`` of llama.cpp): the cache is emptied, ``depth`` random
    tokens are evaluated untimed, then the clock runs; a text begins with BOS where the model wants one; the next token
    is drawn, not sampled. The callback that makes computations stop early is taken off meanwhile: it is asked at every
    node of the graph, and llama-bench has none.

    Raises:
        NativeError: the engine couldn't compute it.
    """
    size = ll.llama_vocab_n_tokens(model.vocabulary)
    drawn = random.Random(SEED)  # noqa: S311 -- tokens to compute with

    def text(count: int) -> list[int]:
        first = [ll.llama_vocab_bos(model.vocabulary)] if ll.llama_vocab_get_add_bos(model.vocabulary) else []
        return [*first, *(drawn.randrange(size) for _ in range(count))][:count]

    model.keep_prefix(())
    with model.uninterrupted():
        if not model.evaluate(text(depth)):
            return None
        ahead, steps = text(prompt), text(generate)
        ll.llama_synchronize(model.pointer)
        began = time.perf_counter()
        for part in (ahead, *([token] for token in steps)):
            if not model.evaluate(part):
                return None
            ll.llama_synchronize(model.pointer)
        seconds = time.perf_counter() - began
    model.keep_prefix(())
    return seconds
