"""The ladder child's server: quantizes a file, or holds a model against its reference."""

from __future__ import annotations

import queue

from workbench.engine.comparing import Pair
from workbench.engine.llama_model import NativeError
from workbench.engine.protocol import (
    Cancel,
    Compared,
    CompareModels,
    Done,
    Event,
    Failed,
    LoadFraction,
    Quantize,
    Quantized,
    Request,
)
from workbench.engine.quantizing import quantize
from workbench.processes.wire import Wire


class LadderServer:
    """One request after another. Comparing can be cancelled; to stop quantizing, the process is ended."""

    def __init__(self, wire: Wire[Request, Event]) -> None:
        self._wire = wire
        self._waiting: queue.SimpleQueue[Quantize | CompareModels] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._running = 0
        self._told = 0.0

    def receive(self, request: Request) -> None:
        """See ``workbench.processes.child.Server``."""
        match request:
            case Cancel():
                self._cancelled.add(request.id)
            case Quantize() | CompareModels():
                self._waiting.put(request)
            case _:
                raise TypeError(f"not for a ladder: {request}")

    def run(self) -> None:
        """See ``workbench.processes.child.Server``."""
        while True:
            request = self._waiting.get()
            self._running, self._told = request.id, -1.0
            try:
                match request:
                    case Quantize():
                        made = quantize(request.source, request.target, request.kind, request.threads, self._tell)
                        self._wire.send(Quantized(request.id, made))
                    case CompareModels():
                        self._compare(request)
                ending: Done | Failed = Done(request.id)
            except NativeError as error:
                ending = Done(request.id) if self._is_cancelled() else Failed(request.id, error.kind, error.detail)
            self._wire.send(ending)
            self._cancelled.discard(request.id)

    def _is_cancelled(self) -> bool:
        return self._running in self._cancelled

    def _tell(self, fraction: float) -> None:
        if fraction - self._told >= 0.01:
            self._told = fraction
            self._wire.send(LoadFraction(self._running, fraction))

    def _compare(self, request: CompareModels) -> None:
        pair = Pair(request.reference, request.model, request.window, request.settings, self._tell, self._is_cancelled)
        for number, passage in request.passages:
            scores = pair.score(number, passage)
            if scores is None:
                return
            self._wire.send(Compared(request.id, scores))
