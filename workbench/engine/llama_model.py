"""A model and its context through llama.cpp's low-level interface. Runs in the llama child only.

Not thread-safe, except ``tokenize``, ``piece`` and ``is_end``, which read the immutable vocabulary.
"""

from __future__ import annotations

import ctypes
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import llama_cpp.llama_cpp as ll
import psutil

from workbench.engine.protocol import FailureKind
from workbench.records.models import LoadSettings, MemorySplit

# ggml's own numbers; the package's tables lag behind them.
LOG_DEBUG, LOG_ERROR = 1, 4
KV_TYPES: Final = {"f16": 1, "q8_0": 8, "q4_0": 2}
FLASH_AUTO, FLASH_OFF = -1, 0
DECODE_ABORTED = 2
BUFFER_LINE: Final = re.compile(r": +(.+?) buffer size = +([\d.]+) MiB")
MIB = 1024 * 1024


class NativeError(Exception):
    """The engine refused something and lives on."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(detail)
        self.kind: FailureKind = kind
        self.detail = detail


class EngineLog:
    """Receives llama.cpp's log: passes it to standard error, and keeps the buffers and errors that it mentions."""

    def __init__(self) -> None:
        self._errors: list[str] = []
        self._buffers: list[tuple[str, int]] = []
        self._callback = ll.llama_log_callback(self._receive)  # kept: native code holds only its address
        ll.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _receive(self, level: int, text: bytes, _: object) -> None:
        if level == LOG_DEBUG or text == b".":
            return
        os.write(2, text)
        line = text.decode("utf-8", "replace").strip()
        if level == LOG_ERROR:
            self._errors.append(line)
        elif found := BUFFER_LINE.search(line):
            self._buffers.append((found[1], round(float(found[2]) * MIB)))

    def first_error(self) -> str:
        """The first error since the last call, which names the cause; without the function it came from."""
        line = self._errors[0] if self._errors else ""
        self._errors.clear()
        return re.sub(r"^\w+: (error loading model: )?", "", line)

    def memory(self) -> MemorySplit:
        """The buffers mentioned so far, by use. A scratch buffer that was laid out again counts once."""
        total = {"model": 0, "KV": 0, "RS": 0}
        scratch = {"compute": dict[str, int](), "output": dict[str, int]()}
        for name, size in self._buffers:
            use = name.split()[-1]
            if use in scratch:
                scratch[use][name] = size
            elif use in total:
                total[use] += size
        return MemorySplit(
            weights=total["model"],
            kv_cache=total["KV"] + total["RS"],
            compute=sum(scratch["compute"].values()),
            output=sum(scratch["output"].values()),
        )


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
        self.log = EngineLog()
        self._cancelled = cancelled
        ll.llama_backend_init()
        self._model = self._load_weights(path, settings, on_progress)
        self.vocabulary = ll.llama_model_get_vocab(self._model)
        self.pointer = self._open_context(settings)
        self._memory = ll.llama_get_memory(self.pointer)
        self._held: list[int] = []
        self._whole_window = settings.whole_window
        self._piece_size = 64
        self.context: int = ll.llama_n_ctx(self.pointer)
        self.batch: int = ll.llama_n_batch(self.pointer)
        self.memory = self.log.memory()
        self.bos = self._special_text(ll.llama_vocab_bos(self.vocabulary))
        self.eos = self._special_text(ll.llama_vocab_eos(self.vocabulary))
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
        self._abort = ll.ggml_abort_callback(lambda _: self._cancelled())  # kept as long as the context
        params.abort_callback = self._abort
        context: ll.llama_context_p | None = ll.llama_init_from_model(self._model, params)
        if not context:
            raise NativeError("context", self.log.first_error())
        return context

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
            status = ll.llama_decode(self.pointer, ll.llama_batch_get_one(array, len(part)))
            self._held.extend(part)
            if status:
                # Whole micro-batches stay in the cache; the one that failed was taken out.
                del self._held[ll.llama_memory_seq_pos_max(self._memory, 0) + 1 :]
                detail = self.log.first_error()
                if status == DECODE_ABORTED:
                    return False
                raise NativeError("decode", detail or f"llama_decode: {status}")
        return True
