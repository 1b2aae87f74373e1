"""A model and its context through llama.cpp's low-level interface. Runs in the llama child only.

Not thread-safe, except ``tokenize``, ``piece`` and ``is_end``, which read the immutable vocabulary.
"""

from __future__ import annotations

import ctypes
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import llama_cpp.llama_cpp as ll
import psutil

from workbench.engine.log_lines import LogReader
from workbench.engine.protocol import FailureKind
from workbench.records.answers import EngineTimes
from workbench.records.models import Adapter, LoadSettings
from workbench.records.playground import Token

# ggml's own numbers; the package's tables lag behind them.
LOG_DEBUG, LOG_ERROR = 1, 4
KV_TYPES: Final = {"f16": 1, "q8_0": 8, "q4_0": 2}
FLASH_AUTO, FLASH_OFF = -1, 0
DECODE_ABORTED = 2
COMPUTED: Final = 0.55
"""Share of a graph's nodes that compute something; the rest are views. Only for the first batch's progress."""
SPECIAL_ATTRIBUTES: Final = 1 | 8 | 16  # llama_token_attr: unknown, control, user-defined


class NativeError(Exception):
    """The engine refused something and lives on."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(detail)
        self.kind: FailureKind = kind
        self.detail = detail


class EngineLog(LogReader):
    """Receives llama.cpp's log: passes it to standard error, and reads it.

    Args:
        cancelled: whether the computation is being stopped: what the engine then calls a failure is none, and would be
            read as the cause of a later death.
    """

    def __init__(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        super().__init__()
        self._cancelled = cancelled
        self._callback = ll.llama_log_callback(self._receive)  # kept: native code holds only its address
        ll.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _receive(self, level: int, text: bytes, _: object) -> None:
        if level == LOG_DEBUG or text == b".":
            return
        if not (level == LOG_ERROR and self._cancelled()):
            os.write(2, text)
        self.read(text.decode("utf-8", "replace").strip(), error=level == LOG_ERROR)


def default_threads() -> int:
    """Physical cores − 1, at least 1, within the cores this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or 1, usable) - 1)


class NativeModel:
    """A loaded model, its context, and the tokens whose keys and values the context holds.

    Args:
        on_progress: told 0–1 while the weights are read.
        cancelled: asked between and within computations; True stops a load or an evaluation.

    Raises:
        NativeError: the file or the context can't be made.
    """

    def __init__(
        self, path: str, settings: LoadSettings, on_progress: Callable[[float], None], cancelled: Callable[[], bool]
    ) -> None:
        started = time.perf_counter()
        self.log = EngineLog(cancelled)
        self._cancelled = cancelled
        self.on_progress: Callable[[], None] = lambda: None  # called many times within an evaluation
        ll.llama_backend_init()
        self._model = self._load_weights(path, settings, on_progress)
        self.vocabulary = ll.llama_model_get_vocab(self._model)
        self.pointer = self._open_context(settings)
        self._apply(settings.adapters)
        self._memory = ll.llama_get_memory(self.pointer)
        self._held: list[int] = []
        self._part = self._nodes = 0
        self._graph = max(1, round(self.log.graph_nodes * COMPUTED))
        self._whole_window = settings.whole_window
        self._piece_size = 64
        self.context: int = ll.llama_n_ctx(self.pointer)
        self.batch: int = ll.llama_n_batch(self.pointer)
        self._micro_batch: int = ll.llama_n_ubatch(self.pointer)
        self.memory = self.log.memory()
        self.bos = self._special_text(ll.llama_vocab_bos(self.vocabulary))
        self.eos = self._special_text(ll.llama_vocab_eos(self.vocabulary))
        if settings.adapters:  # the engine lays out its memory anew for them, and doesn't time the evaluation that does
            self.evaluate([0])
            self.keep_prefix(())
        self.load_ms = (time.perf_counter() - started) * 1e3

    def _load_weights(
        self, path: str, settings: LoadSettings, on_progress: Callable[[float], None]
    ) -> ll.llama_model_p:
        def progress(fraction: float, _: object) -> bool:
            on_progress(fraction)
            return not self._cancelled()

        params = ll.llama_model_default_params()
        params.n_gpu_layers = settings.gpu_layers
        params.load_mode = ll.LLAMA_LOAD_MODE_MMAP if settings.mmap else ll.LLAMA_LOAD_MODE_NONE
        params.progress_callback = callback = ll.llama_progress_callback(progress)
        model: ll.llama_model_p | None = ll.llama_model_load_from_file(os.fsencode(path), params)
        del callback  # had to outlive the load
        if not model:
            raise NativeError("load", self.log.first_error())
        return model

    def _open_context(self, settings: LoadSettings) -> ll.llama_context_p:
        params = ll.llama_context_default_params()
        params.n_ctx = settings.context
        params.n_batch = settings.batch
        params.n_ubatch = min(settings.batch, params.n_ubatch)
        params.n_threads = params.n_threads_batch = settings.threads or default_threads()
        params.type_k = params.type_v = KV_TYPES[settings.kv_type]
        params.swa_full = settings.whole_window
        params.flash_attn_type = FLASH_AUTO if settings.flash_attention else FLASH_OFF
        params.no_perf = False
        self._abort = ll.ggml_abort_callback(lambda _: self._node_computed())  # kept as long as the context
        params.abort_callback = self._abort
        context: ll.llama_context_p | None = ll.llama_init_from_model(self._model, params)
        if not context:
            raise NativeError("context", self.log.first_error())
        return context

    def _apply(self, adapters: Sequence[Adapter]) -> None:
        """Adds LoRA adapters to the weights of this context."""
        if not adapters:
            return
        loaded = [ll.llama_adapter_lora_init(self._model, os.fsencode(adapter.path)) for adapter in adapters]
        if not all(loaded):
            raise NativeError("adapter", self.log.first_error())
        scales = (ctypes.c_float * len(adapters))(*(adapter.scale for adapter in adapters))
        pointers = (ll.llama_adapter_lora_p_ctypes * len(adapters))(*loaded)
        if ll.llama_set_adapters_lora(self.pointer, pointers, len(adapters), scales):
            raise NativeError("adapter", self.log.first_error())

    @property
    def offloaded(self) -> tuple[int, int] | None:
        """Layers that a GPU took, of all; None where it has none, or they ended up in the CPU's memory all the same."""
        return self.log.offloaded if self.log.on_device else None

    @contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """Evaluations don't ask at every node whether they shall stop; between batches they still do."""
        ll.llama_set_abort_callback(self.pointer, ll.ggml_abort_callback(0), ctypes.c_void_p(0))
        try:
            yield
        finally:
            ll.llama_set_abort_callback(self.pointer, self._abort, ctypes.c_void_p(0))

    def _special_text(self, token: int) -> str:
        text = ll.llama_vocab_get_text(self.vocabulary, token) if token >= 0 else None
        return text.decode("utf-8", "replace") if text else ""

    def tokenize(self, text: str, *, as_prompt: bool) -> list[int]:
        """Tokens of ``text``, special tokens parsed.

        ``as_prompt`` puts the model's BOS before it when the model wants one and the text doesn't begin with it.
        """
        data = text.encode("utf-8", "replace")
        add = as_prompt and ll.llama_vocab_get_add_bos(self.vocabulary) and not (self.bos and text.startswith(self.bos))
        size = len(data) + 8
        tokens = (ll.llama_token * size)()
        count = ll.llama_tokenize(self.vocabulary, data, len(data), tokens, size, add, True)
        return tokens[: max(count, 0)]

    def piece(self, token: int) -> bytes:
        """The bytes that ``token`` adds to a text; none for control tokens."""
        while True:
            buffer = ctypes.create_string_buffer(self._piece_size)
            length = ll.llama_token_to_piece(self.vocabulary, token, buffer, self._piece_size, 0, False)
            if length >= 0:
                return buffer.raw[:length]
            self._piece_size = -length

    def describe(self, token: int) -> Token:
        """A token as a person sees it, special ones by their names."""
        buffer = ctypes.create_string_buffer(256)
        length = max(0, ll.llama_token_to_piece(self.vocabulary, token, buffer, 256, 0, True))
        text = buffer.raw[:length].decode("utf-8", "backslashreplace")
        special = bool(ll.llama_vocab_get_attr(self.vocabulary, token) & SPECIAL_ATTRIBUTES)
        return Token(token, text, special, self.is_end(token))

    @property
    def position(self) -> int:
        """Tokens in the context, those of the batch that is being computed by how far it is."""
        part = self._part  # once: another thread may ask while a batch ends
        graphs = self._graph * max(1, math.ceil(part / self._micro_batch))
        return len(self._held) + int(part * min(1.0, self._nodes / graphs))

    def times(self) -> EngineTimes:
        """The engine's clocks since ``reset_times``."""
        perf = ll.llama_perf_context(self.pointer)
        # It counts at least one token, evaluated or not.
        return EngineTimes(
            perf.n_p_eval if perf.t_p_eval_ms else 0,
            perf.t_p_eval_ms,
            perf.n_eval if perf.t_eval_ms else 0,
            perf.t_eval_ms,
        )

    def reset_times(self) -> None:
        """Before a generation."""
        ll.llama_perf_context_reset(self.pointer)

    def _node_computed(self) -> bool:
        """The engine asks, after each node of its graph, whether to stop."""
        self._nodes += 1
        self.on_progress()
        return self._cancelled()

    def is_end(self, token: int) -> bool:
        """``token`` ends the generation (EOS, EOT and their like)."""
        return bool(ll.llama_vocab_is_eog(self.vocabulary, token))

    def keep_prefix(self, tokens: Sequence[int]) -> int:
        """Drops from the cache what isn't the beginning of ``tokens``; returns how many of them it still holds.

        The last token is never held: its logits have to be computed.
        """
        keep = 0
        for held, wanted in zip(self._held, tokens[:-1], strict=False):
            if held != wanted:
                break
            keep += 1
        cut_short = keep < len(self._held) and not self._whole_window  # the window before the cut may be gone
        # Recurrent state can't be cut back.
        if cut_short or not ll.llama_memory_seq_rm(self._memory, 0, keep, -1):
            ll.llama_memory_clear(self._memory, True)
            keep = 0
        del self._held[keep:]
        return keep

    def evaluate(self, tokens: Sequence[int]) -> bool:
        """Appends ``tokens`` to the cache, a batch at a time. False when it was cancelled on the way.

        Raises:
            NativeError: the engine couldn't compute it.
        """
        for start in range(0, len(tokens), self.batch):
            if self._cancelled():
                return False
            part = tokens[start : start + self.batch]
            array = (ll.llama_token * len(part))(*part)  # named, because the batch holds only its address
            self._part, self._nodes = len(part), 0
            status = ll.llama_decode(self.pointer, ll.llama_batch_get_one(array, len(part)))
            if self._nodes and not status:
                self._graph = max(1, self._nodes // math.ceil(len(part) / self._micro_batch))
            self._part = 0
            self._held.extend(part)
            self.on_progress()
            if status:
                # Whole micro-batches stay in the cache; the one that failed was taken out.
                del self._held[ll.llama_memory_seq_pos_max(self._memory, 0) + 1 :]
                detail = self.log.first_error()
                if status == DECODE_ABORTED:
                    return False
                raise NativeError("decode", detail or f"llama_decode: {status}")
        return True
