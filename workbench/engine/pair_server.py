"""The rerank child's server: scores pairs of a question and a passage, one pair at a time."""

from __future__ import annotations

import math
import queue
from typing import Protocol

from workbench.engine.protocol import Cancel, Done, Event, Failed, FailureKind, LoadReranker, Request, Score, Scored
from workbench.processes.wire import Wire
from workbench.records.rerankers import PairScore


class Pairs(Protocol):
    """A loaded reranker."""

    def score(self, query: str, passage: str) -> PairScore:
        """Of one pair; raises whatever its runtime raises."""
        ...


class PairServer:
    """One reranker. One pair per run of the network: a request can end between two, and nothing is padded."""

    def __init__(self, wire: Wire[Request, Event]) -> None:
        self._wire = wire
        self._waiting: queue.SimpleQueue[LoadReranker | Score] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._pairs: Pairs | None = None

    def receive(self, request: Request) -> None:
        """See ``workbench.processes.child.Server``."""
        match request:
            case Cancel():
                self._cancelled.add(request.id)
            case LoadReranker() | Score():
                self._waiting.put(request)
            case _:
                raise TypeError(f"not for a reranker: {request}")

    def run(self) -> None:
        """See ``workbench.processes.child.Server``."""
        while True:
            request = self._waiting.get()
            try:
                if isinstance(request, LoadReranker):
                    self._pairs = _load(request)
                else:
                    self._score(request)
            except Exception as error:  # noqa: BLE001 -- two native runtimes; the sentence goes to the parent
                kind: FailureKind = "load" if isinstance(request, LoadReranker) else "pair"
                self._wire.send(Failed(request.id, kind, str(error)))
            else:
                self._wire.send(Done(request.id))
            self._cancelled.discard(request.id)

    def _score(self, request: Score) -> None:
        if self._pairs is None:
            raise ValueError("no reranker is loaded")
        for passage in request.passages:
            if request.id in self._cancelled:
                return
            pair = self._pairs.score(request.query, passage)
            if not math.isfinite(pair.score):
                raise ValueError("the score is not finite")
            self._wire.send(Scored(request.id, pair.score, pair.truncated))


def _load(request: LoadReranker) -> Pairs:
    """Imports only the runtime that the reranker needs."""
    if request.model_file:
        from workbench.engine.onnx_pairs import OnnxPairs

        return OnnxPairs(request.path, request.model_file)
    from workbench.engine.llama_pairs import LlamaPairs

    return LlamaPairs(request.path)
