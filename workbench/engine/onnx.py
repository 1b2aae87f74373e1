"""The embed child's server: runs an ONNX embedder through fastembed, one text at a time."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.text.custom_text_embedding import CustomTextEmbedding
from tokenizers import Tokenizer

from workbench.engine.protocol import (
    Cancel,
    Count,
    Counted,
    Done,
    Embed,
    Embedded,
    Event,
    Failed,
    LoadEmbedder,
    Locate,
    Located,
    Request,
)
from workbench.processes.wire import Wire

Texts: TypeAlias = "queue.SimpleQueue[Callable[[], None]]"


@dataclass(slots=True)
class _Job:
    """A request under way; ``left`` counts its texts that are still to come, ``prefix`` is that of ``Embed``."""

    id: int
    left: int
    prefix: int | None
    ended: bool = False


class EmbedServer:
    """One embedder. A query runs beside the passage that an ingest is embedding: behind it, it would wait for 100 ms.

    One text per run of the network: on CPUs this is the fastest, because nothing is padded.
    """

    def __init__(self, wire: Wire[Request, Event]) -> None:
        self._wire = wire
        self._urgent: Texts = queue.SimpleQueue()
        self._ordinary: Texts = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._embedder: CustomTextEmbedding | None = None
        self._tokenizer: Tokenizer | None = None

    def receive(self, request: Request) -> None:
        """See ``workbench.processes.child.Server``."""
        match request:
            case Cancel():
                self._cancelled.add(request.id)
            case LoadEmbedder():
                self._urgent.put(partial(self._load, request))
            case Count() | Locate():
                self._tokenise(request)
            case Embed():
                job = _Job(request.id, len(request.texts), request.prefix)
                waiting = self._urgent if request.urgent else self._ordinary
                for text in request.texts:
                    waiting.put(partial(self._advance, job, text))
            case _:
                raise TypeError(f"not for an embedder: {request}")

    def run(self) -> None:
        """See ``workbench.processes.child.Server``."""
        threading.Thread(target=_work, args=(self._urgent,), daemon=True).start()
        _work(self._ordinary)

    def _load(self, request: LoadEmbedder) -> None:
        try:
            TextEmbedding.add_custom_model(
                model=request.folder,
                pooling=PoolingType(request.pooling.upper()),
                normalization=request.normalised,
                sources=ModelSource(url="file:"),  # required, and never used with specific_model_path
                dim=request.dimension,
                model_file=request.model_file,
            )
            embedding = TextEmbedding(
                request.folder, specific_model_path=request.folder, threads=max(1, (os.cpu_count() or 1) - 1)
            )
            self._embedder = cast(CustomTextEmbedding, embedding.model)
            self._tokenizer = self._embedder.tokenizer
        except Exception as error:  # noqa: BLE001 -- onnxruntime has its own tree; the sentence goes to the parent
            self._wire.send(Failed(request.id, "load", str(error)))
        else:
            self._wire.send(Done(request.id))

    def _tokenise(self, request: Count | Locate) -> None:
        """Answers on the reading thread, beside an embedding that runs."""
        try:
            spans = self._spans(request.text)
        except Exception as error:  # noqa: BLE001 -- as below: a text that can't be encoded, no embedder
            self._wire.send(Failed(request.id, "vector", str(error)))
            return
        answer = Counted(request.id, len(spans)) if isinstance(request, Count) else Located(request.id, spans)
        self._wire.send(answer)
        self._wire.send(Done(request.id))

    def _spans(self, text: str) -> list[tuple[int, int]]:
        if self._tokenizer is None:
            raise ValueError("no embedder is loaded")
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        # It truncates for the network, and pads: what it cut off is in the overflowing pieces.
        return [
            span
            for piece in (encoding, *encoding.overflowing)
            for span, is_text in zip(piece.offsets, piece.attention_mask, strict=True)
            if is_text
        ]

    def _advance(self, job: _Job, text: str) -> None:
        """Embeds one text of a job and ends the job with its last one, or early."""
        if job.ended:
            return
        job.left -= 1
        failure = "" if job.id in self._cancelled else self._embed(job, text)
        if failure:
            self._wire.send(Failed(job.id, "vector", failure))
        elif job.left == 0 or job.id in self._cancelled:
            self._wire.send(Done(job.id))
        else:
            return
        job.ended = True
        self._cancelled.discard(job.id)

    def _embed(self, job: _Job, text: str) -> str:
        """Sends the vector of ``text``; returns what is wrong with it, "" when nothing is."""
        if self._embedder is None:
            return "no embedder is loaded"
        try:
            # TextEmbedding.embed in its two steps: only between them are the tokens' vectors to be had.
            output = self._embedder.onnx_embed([text])
            [vector] = self._embedder._post_process_onnx_output(output)
            tokens = b"" if job.prefix is None else self._token_vectors(text, job.prefix, output.model_output)
        except Exception as error:  # noqa: BLE001 -- as above
            return str(error)
        vector = np.asarray(vector, dtype="<f4")
        if not np.isfinite(vector).all():
            return "the vector is not finite"
        if not vector.any():
            return "the vector is zero"
        self._wire.send(Embedded(job.id, vector.tobytes(), tokens))
        return ""

    def _token_vectors(self, text: str, prefix: int, output: npt.NDArray[Any]) -> bytes:
        """The rows of ``output`` (1, tokens, dimension) that are text, as unit vectors; none when it comes pooled."""
        if self._tokenizer is None or output.ndim != 3:
            return b""
        # Special tokens stand at (0, 0), so what ends behind the prefix is text.
        is_text = [end > prefix for _, end in self._tokenizer.encode(text).offsets]
        rows = output[0][is_text]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return bytes((rows / np.maximum(lengths, np.finfo(np.float32).tiny)).astype("<f2").tobytes())


def _work(waiting: Texts) -> None:
    while True:
        waiting.get()()
