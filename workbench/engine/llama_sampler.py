"""llama.cpp's own sampler chain for one generation. Runs in the llama child only."""

from __future__ import annotations

import ctypes
from types import TracebackType

import llama_cpp.llama_cpp as ll
import numpy as np

from workbench.engine.llama_model import NativeError, NativeModel
from workbench.engine.protocol import FailureKind
from workbench.records.models import GenerationSettings

PENALISED = 64
"""How many of the last tokens the repeat penalty looks at; llama.cpp's default."""
LONGEST_GRAMMAR = 1 << 18
"""Characters. A schema that repeats repetitions can ask for millions of rules."""
CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])  # llama_token_data


class Sampler:
    """Chooses the next token from the context's logits; free it by leaving its ``with`` block.

    With a grammar the token is sampled freely first and only when the grammar refuses it sampled again among those it
    allows (as llama.cpp's own tools do): checking one token is far cheaper than checking the vocabulary.

    Raises:
        NativeError: the grammar doesn't parse, or the schema can't be made one.
    """

    def __init__(self, model: NativeModel, settings: GenerationSettings) -> None:
        self._model = model
        self._grammar: ll.llama_sampler_p | None = None
        if grammar := _grammar(settings):
            self._grammar = ll.llama_sampler_init_grammar(model.vocabulary, grammar.encode("utf-8", "replace"), b"root")
            if not self._grammar:
                raise NativeError("grammar", model.log.first_error())
        self._chain = ll.llama_sampler_chain_init(ll.llama_sampler_chain_default_params())
        for part in _parts(settings, ll.llama_vocab_n_tokens(model.vocabulary)):
            ll.llama_sampler_chain_add(self._chain, part)

    def __enter__(self) -> Sampler:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ll.llama_sampler_free(self._chain)
        if self._grammar:
            ll.llama_sampler_free(self._grammar)

    def sample(self) -> int:
        """The next token, accepted by the grammar if there is one.

        Raises:
            NativeError: the grammar allows no token at all.
        """
        if not self._grammar:
            token: int = ll.llama_sampler_sample(self._chain, self._model.pointer, -1)
            return token
        token = self._choose(allowed_only=False)
        if not self._allowed(token):
            token = self._choose(allowed_only=True)
        ll.llama_sampler_accept(self._chain, token)
        if not self._model.is_end(token):
            ll.llama_sampler_accept(self._grammar, token)
        return token

    def _allowed(self, token: int) -> bool:
        single = np.array([(token, 1.0, 0.0)], CANDIDATE)
        ll.llama_sampler_apply(self._grammar, ctypes.byref(_candidates(single)))
        return bool(np.isfinite(single["logit"][0]))

    def _choose(self, *, allowed_only: bool) -> int:
        """A token that nothing has accepted yet: a refused one must not count as said."""
        count = ll.llama_vocab_n_tokens(self._model.vocabulary)
        every = np.zeros(count, CANDIDATE)
        every["id"] = np.arange(count)
        every["logit"] = np.ctypeslib.as_array(ll.llama_get_logits_ith(self._model.pointer, -1), (count,))
        array = _candidates(every)
        if allowed_only:
            ll.llama_sampler_apply(self._grammar, ctypes.byref(array))
        ll.llama_sampler_apply(self._chain, ctypes.byref(array))
        chosen = array.data[array.selected]
        if not np.isfinite(chosen.logit):
            raise NativeError("grammar", "")
        return int(chosen.id)


def _grammar(settings: GenerationSettings) -> str:
    """GBNF, "" for none."""
    if not settings.json_schema:
        return settings.grammar
    from llama_cpp.llama_grammar import json_schema_to_gbnf

    try:
        grammar: str = json_schema_to_gbnf(settings.json_schema)
    except (KeyError, RecursionError) as error:  # a definition that names itself isn't found while it is being made
        raise NativeError("recursion", str(error)) from error
    except Exception as error:  # it may fail in any way on a schema of somebody's own
        kind: FailureKind = "recursion" if str(error) == "Unsupported ref #" else "schema"
        told = str(error).partition(" (use --")[0]  # an option of the engine's own tool
        raise NativeError(kind, told or type(error).__name__) from error
    if len(grammar) > LONGEST_GRAMMAR:
        raise NativeError("size", f"{len(grammar):,}")
    return grammar


def _parts(settings: GenerationSettings, vocabulary: int) -> list[ll.llama_sampler_p]:
    """In the order of llama.cpp's own tools."""
    penalties = []
    if settings.repeat_penalty != 1:
        penalties = [ll.llama_sampler_init_penalties(vocabulary, PENALISED, settings.repeat_penalty, 0.0, 0.0)]
    if settings.temperature <= 0:
        return [*penalties, ll.llama_sampler_init_greedy()]
    return [
        *penalties,
        ll.llama_sampler_init_top_k(settings.top_k),
        ll.llama_sampler_init_top_p(settings.top_p, 1),
        *([ll.llama_sampler_init_min_p(settings.min_p, 1)] if settings.min_p > 0 else []),
        ll.llama_sampler_init_temp(settings.temperature),
        ll.llama_sampler_init_dist(settings.seed & 0xFFFFFFFF),
    ]


def _candidates(tokens: np.ndarray) -> ll.llama_token_data_array:
    """A view of ``tokens`` (of CANDIDATE, kept alive by the caller) as llama.cpp wants them."""
    data = ctypes.cast(tokens.ctypes.data, ll.llama_token_data_p)
    return ll.llama_token_data_array(data, len(tokens), -1, False)
