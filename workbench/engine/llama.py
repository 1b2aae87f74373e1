"""The llama child's server: loads one model and continues prompts with it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from workbench.engine.gauges import measure
from workbench.engine.llama_model import NativeError, NativeModel
from workbench.engine.llama_sampler import Sampler
from workbench.engine.llama_timing import evaluation_seconds
from workbench.engine.protocol import (
    Beat,
    Cancel,
    Count,
    Counted,
    Done,
    Event,
    Failed,
    Generate,
    LoadFraction,
    LoadModel,
    Measure,
    Measured,
    ModelLoaded,
    Request,
    Step,
    Tokenize,
    Tokenized,
)
from workbench.engine.text import StopScanner
from workbench.processes.wire import Wire
from workbench.records.answers import Generation, GenerationState
from workbench.records.playground import Pulse

FLUSH_S = 0.03
"""New text is sent at most this often, except the first and the last."""
PREFILL_S = 0.1
"""How far the prompt is read is told at most this often."""
BEAT_S = 0.15
"""The gauges beat more than six times a second, whatever the model does."""


class LlamaServer:
    """One model. Counting and cancelling are answered at once, by the reading thread; the rest waits its turn."""

    def __init__(self, wire: Wire[Request, Event]) -> None:
        self._wire = wire
        self._waiting: queue.SimpleQueue[tuple[LoadModel | Generate | Measure, float]] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._running = 0
        self._model: NativeModel | None = None
        self._latest: Generation | None = None

    def receive(self, request: Request) -> None:
        """See ``workbench.processes.child.Server``."""
        match request:
            case Cancel():
                self._cancelled.add(request.id)
            case Count():
                self._count(request)
            case Tokenize():
                self._tokenize(request)
            case LoadModel() | Generate() | Measure():
                self._waiting.put((request, time.perf_counter()))
            case _:
                raise TypeError(f"not for a language model: {request}")

    def run(self) -> None:
        """See ``workbench.processes.child.Server``."""
        while True:
            request, received = self._waiting.get()
            self._running = request.id
            try:
                match request:
                    case LoadModel():
                        self._load(request)
                    case Generate():
                        self._generate(request, received)
                    case Measure():
                        self._measure(request)
                ending: Done | Failed = Done(request.id)
            except NativeError as error:
                ending = Done(request.id) if self._is_cancelled() else Failed(request.id, error.kind, error.detail)
            self._wire.send(ending)
            self._cancelled.discard(request.id)

    def _is_cancelled(self) -> bool:
        return self._running in self._cancelled

    def _loaded(self) -> NativeModel:
        if self._model is None:
            raise RuntimeError("no model is loaded")
        return self._model

    def _load(self, request: LoadModel) -> None:
        told = -1.0

        def progress(fraction: float) -> None:
            nonlocal told
            if fraction - told >= 0.01:
                told = fraction
                self._wire.send(LoadFraction(request.id, fraction))

        model = self._model = NativeModel(request.path, request.settings, progress, self._is_cancelled)
        self._wire.send(
            ModelLoaded(request.id, model.context, model.memory, model.load_ms, model.bos, model.eos, model.offloaded)
        )
        threading.Thread(target=self._beat, args=(model,), name="gauges", daemon=True).start()

    def _beat(self, model: NativeModel) -> None:
        """Tells for ever how the process is; computing doesn't hold it up, because native code lets go of the lock."""
        while True:
            pulse = Pulse(time.time(), measure(None), model.position, model.context, self._latest)
            try:
                self._wire.send(Beat(0, pulse))
            except (OSError, ValueError):  # the parent is gone, and this process goes with it
                return
            time.sleep(BEAT_S)

    def _count(self, request: Count) -> None:
        tokens = self._loaded().tokenize(request.text, as_prompt=request.as_prompt)
        self._wire.send(Counted(request.id, len(tokens)))
        self._wire.send(Done(request.id))

    def _measure(self, request: Measure) -> None:
        seconds = evaluation_seconds(self._loaded(), request.prompt, request.generate, request.depth)
        if seconds is not None:
            self._wire.send(Measured(request.id, seconds))

    def _tokenize(self, request: Tokenize) -> None:
        model = self._loaded()
        tokens = tuple(map(model.describe, model.tokenize(request.text, as_prompt=True)))
        self._wire.send(Tokenized(request.id, tokens))
        self._wire.send(Done(request.id))

    def _tell(self, request: int, generation: Generation) -> None:
        """Sends a step, and keeps it for the gauges."""
        self._latest = replace(generation, text="")
        self._wire.send(Step(request, generation))

    def _generate(self, request: Generate, received: float) -> None:
        model = self._loaded()
        prompt = model.tokenize(request.prompt, as_prompt=True)
        if not prompt:
            raise NativeError("prompt", "")
        with Sampler(model, request.settings) as sampler:
            report = _Report(partial(self._tell, request.id), model, received, len(prompt), model.keep_prefix(prompt))
            scanner = StopScanner(request.settings.stop)
            reason = self._continue(prompt[report.reused :], request.settings.max_tokens, sampler, scanner, report)
            report.finish(scanner.finish(), reason)

    def _continue(
        self, pending: list[int], max_tokens: int, sampler: Sampler, scanner: StopScanner, report: _Report
    ) -> str:
        """Evaluates and samples until something ends it; returns what."""
        model = self._loaded()
        for _ in range(max_tokens):
            if not model.evaluate(pending):
                return "cancelled"
            token = sampler.sample()
            report.sampled()
            if model.is_end(token):
                return "eos"
            report.grow(scanner.feed(model.piece(token)))
            if scanner.stopped:
                return "stop"
            pending = [token]
        return "length"


class _Report:
    """Stamps the times of one generation and sends its steps."""

    def __init__(
        self, send: Callable[[Generation], None], model: NativeModel, received: float, prompt_tokens: int, reused: int
    ) -> None:
        self._tell = send
        self._model = model
        self._received = received
        self._began = time.perf_counter()
        self._first: float | None = None
        self._latest = self._began
        self._sent = 0.0
        self._prompt_tokens = prompt_tokens
        self._output_tokens = 0
        self._text = ""
        self.reused = reused
        model.reset_times()
        model.on_progress = self._read
        self._send("started")

    def _read(self) -> None:
        """The engine has computed a little more; while it is the prompt, how far it is gets told."""
        if self._first is None and time.perf_counter() - self._sent >= PREFILL_S:
            self._send("started")

    def sampled(self) -> None:
        """A token was chosen; the first one ends the prefill."""
        if self._first is None:
            self._first = time.perf_counter()

    def grow(self, text: str) -> None:
        """The token chosen last makes ``text`` certain."""
        self._latest = time.perf_counter()
        self._output_tokens += 1
        self._text += text
        if self._output_tokens == 1 or self._latest - self._sent >= FLUSH_S:
            self._send("partial")

    def finish(self, text: str, reason: str) -> None:
        """Sends the last step."""
        self._text += text
        self._send("cancelled" if reason == "cancelled" else "complete", reason)

    def _send(self, state: GenerationState, reason: str = "") -> None:
        first, after_first = self._first, self._output_tokens - 1
        decoding = self._latest - first if first else 0.0
        self._sent = now = time.perf_counter()
        prefilled = min(self._prompt_tokens, self._model.position)
        read = prefilled - self.reused
        generation = Generation(
            state=state,
            text=self._text,
            prompt_tokens=self._prompt_tokens,
            output_tokens=self._output_tokens,
            reused_tokens=self.reused,
            ttft_ms=(first - self._received) * 1e3 if first else None,
            prefill_tps=read / ((first or now) - self._began) if read > 0 else None,
            decode_tps=after_first / decoding if after_first > 0 and decoding > 0 else None,
            duration_ms=(now - self._received) * 1e3,
            stop_reason=reason,
            prefilled_tokens=prefilled,
            engine=self._model.times(),
        )
        self._text = ""
        self._tell(generation)
