"""A generator that enters each of its generations in the ledger as it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from workbench.errors import EngineError
from workbench.ports import Cancel, Generator
from workbench.records.answers import Generation, Message
from workbench.records.models import Gauges, GenerationSettings, LoadedModel
from workbench.records.money import Usage
from workbench.records.playground import Pulse, Token
from workbench.records.usage import Call, Purpose


class RecordingGenerator:
    """Another generator, with every generation told to ``record``. See ``workbench.ports.Generator``."""

    def __init__(self, inner: Generator, purpose: Purpose, record: Callable[[Call], None]) -> None:
        self._inner, self._purpose, self._record = inner, purpose, record

    @property
    def model(self) -> LoadedModel:
        """What is loaded."""
        return self._inner.model

    @property
    def death(self) -> EngineError | None:
        """Why its process ended, None while it runs."""
        return self._inner.death

    @property
    def grammars(self) -> bool:
        """It can be held to a grammar."""
        return self._inner.grammars

    def count_tokens(self, text: str) -> int:
        """By the model's own tokenizer."""
        return self._inner.count_tokens(text)

    def render(self, messages: Sequence[Message]) -> str:
        """Through the model's chat template. Raises EngineError."""
        return self._inner.render(messages)

    def generate(self, prompt: str, settings: GenerationSettings, cancel: Cancel | None = None) -> Iterator[Generation]:
        """Streams the growing generation. Raises BudgetError at once, EngineError."""
        return self._recorded(self._inner.generate(prompt, settings, cancel))

    def _recorded(self, generations: Iterator[Generation]) -> Iterator[Generation]:
        began, start, latest = datetime.now(UTC), time.perf_counter(), Generation("started", "")
        try:
            for latest in generations:
                yield latest
        finally:  # also when the caller leaves early, or the process dies: what was computed was used
            if latest.prompt_tokens or latest.output_tokens:
                self._record(_call(self._inner.model, self._purpose, began, latest, time.perf_counter() - start))

    def tokens(self, prompt: str) -> tuple[Token, ...]:
        """The tokens of ``prompt`` as it would be sent."""
        return self._inner.tokens(prompt)

    def gauges(self) -> Gauges:
        """Memory now."""
        return self._inner.gauges()

    def pulses(self) -> tuple[Pulse, ...]:
        """What the process measured of itself."""
        return self._inner.pulses()

    def close(self) -> None:
        """Ends the child process."""
        self._inner.close()


def _call(model: LoadedModel, purpose: Purpose, began: datetime, last: Generation, seconds: float) -> Call:
    times = last.engine
    used = Usage(
        max(0, last.prompt_tokens - last.reused_tokens),
        last.output_tokens,
        last.reused_tokens,
        estimated=last.estimated or not last.prompt_tokens,  # left before the server had told
    )
    return Call(
        began,
        model.server,
        model.file.name,
        purpose,
        used,
        last.duration_ms or seconds * 1000,
        last.ttft_ms,
        times.queue_ms or None if times else None,
        times.prompt_ms or None if times else None,
        times.decode_ms or None if times else None,
        last.stop_reason or "cancelled",
    )
