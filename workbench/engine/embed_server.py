"""The embed child's server: one embedder of any runtime, one text at a time."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from workbench.engine.embedding_models import EmbeddingModel, find_runtime
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
from workbench.processes.child import give_way
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
        self._model: EmbeddingModel | None = None

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
        if sys.platform == "linux":  # elsewhere niceness is the whole process's: queries would give way too
            give_way()
        _work(self._ordinary)

    def _load(self, request: LoadEmbedder) -> None:
        try:
            self._model = find_runtime(request.runtime)(request)
        except Exception as error:  # noqa: BLE001 -- every runtime has its own tree; the sentence goes to the parent
            self._wire.send(Failed(request.id, "load", str(error)))
        else:
            self._wire.send(Done(request.id))

    def _tokenise(self, request: Count | Locate) -> None:
        """Answers on the reading thread, beside an embedding that runs."""
        try:
            spans = self._loaded().spans(request.text)
        except Exception as error:  # noqa: BLE001 -- as below: a text that can't be encoded, no embedder
            self._wire.send(Failed(request.id, "vector", str(error)))
            return
        answer = Counted(request.id, len(spans)) if isinstance(request, Count) else Located(request.id, spans)
        self._wire.send(answer)
        self._wire.send(Done(request.id))

    def _loaded(self) -> EmbeddingModel:
        if self._model is None:
            raise ValueError("no embedder is loaded")
        return self._model

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
        try:
            found = self._loaded().embed(text, job.prefix)
        except Exception as error:  # noqa: BLE001 -- as above
            return str(error)
        vector = np.asarray(found.vector, dtype="<f4")
        if not np.isfinite(vector).all():
            return "the vector is not finite"
        if not vector.any():
            return "the vector is zero"
        self._wire.send(Embedded(job.id, vector.tobytes(), found.tokens.astype("<f2").tobytes()))
        return ""


def _work(waiting: Texts) -> None:
    while True:
        waiting.get()()
