"""Quantizes a model file with llama.cpp. Runs in the ladder's child only.

``llama_model_quantize`` returns nothing but success: sizes, types and fallbacks stand in its log, and so does how far
it is. It can't be stopped but by ending the process.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

import llama_cpp.llama_cpp as ll

from workbench.engine.llama_model import LOG_DEBUG, LOG_ERROR, NativeError, default_threads
from workbench.engine.log_lines import FUNCTION, MIB
from workbench.records.ladders import Fallback, Preview

TENSOR_LINE: Final = re.compile(r"\[ *(\d+)/ *(\d+)\]")
TYPE: Final = re.compile(r"type = +(\w+)")
NEW_TYPE: Final = re.compile(r"(?:MiB \(|converting to +)(\w+)")
SIZE_LINE: Final = re.compile(r"quant size += +([\d.]+) MiB")
FALLBACK: Final = re.compile(r"required for type +(\w+)\) *-> falling back to +(\w+)")
NO_IMATRIX: Final = re.compile(r"(?i)require an imatrix|missing importance matrix|without an importance matrix")


class QuantizeLog:
    """Reads what the quantizer says, which comes in pieces of lines.

    Attributes:
        needs_imatrix: it can't be made without an importance matrix.
        error: the first error, "" for none.
    """

    def __init__(self, on_tensor: Callable[[float], None]) -> None:
        self._on_tensor = on_tensor
        self._line = ""
        self._types: Counter[str] = Counter()
        self._fallbacks: Counter[tuple[str, str]] = Counter()
        self._size = 0
        self.needs_imatrix = False
        self.error = ""
        self._callback = ll.llama_log_callback(self._receive)  # kept: native code holds only its address
        ll.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _receive(self, level: int, text: bytes, _: object) -> None:
        if level == LOG_DEBUG:
            return
        os.write(2, text)
        self._line += text.decode("utf-8", "replace")
        if level == LOG_ERROR and not self.error:
            self.error = FUNCTION.sub("", text.decode("utf-8", "replace").strip())
        *whole, self._line = self._line.split("\n")
        for line in whole:
            self.read(line)

    def read(self, line: str) -> None:
        """The next whole line."""
        if found := FALLBACK.search(line):
            self._fallbacks[found[1].lower(), found[2].lower()] += 1
        if NO_IMATRIX.search(line):
            self.needs_imatrix = True
        if found := SIZE_LINE.search(line):
            self._size = round(float(found[1]) * MIB)
        if found := TENSOR_LINE.search(line):
            kind = NEW_TYPE.search(line) or TYPE.search(line)
            if kind:
                self._types[kind[1].upper()] += 1
            self._on_tensor(int(found[1]) / int(found[2]))

    def preview(self, kind: str) -> Preview:
        """What the lines so far come to."""
        fallbacks = tuple(Fallback(w.upper(), g.upper(), n) for (w, g), n in self._fallbacks.most_common())
        return Preview(kind, self._size, tuple(self._types.most_common()), fallbacks)


def quantize(source: str, target: str, kind: str, threads: int, on_tensor: Callable[[float], None]) -> Preview:
    """Writes ``target``; with "" nothing, and only tells what would be written (some 60 ms).

    Files that are quantized already are dequantized first: what they have lost stays lost.

    Args:
        on_tensor: told 0–1 after each tensor.

    Raises:
        NativeError: the engine refuses it; what lies at ``target`` then is a part of a file.
    """
    log = QuantizeLog(on_tensor)
    settings = ll.llama_model_quantize_default_params()
    settings.ftype = getattr(ll, f"LLAMA_FTYPE_MOSTLY_{kind}")
    settings.allow_requantize = True
    settings.nthread = threads or default_threads()
    settings.dry_run = not target
    status = ll.llama_model_quantize(os.fsencode(source), os.fsencode(target), ctypes.byref(settings))
    if log.needs_imatrix:
        raise NativeError("quantize", "imatrix")
    if status:
        raise NativeError("quantize", log.error)
    return log.preview(kind)
