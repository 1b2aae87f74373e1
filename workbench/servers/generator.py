"""A served model in place of a loaded one: the port ``Generator`` over HTTP.

Where the server tells the template and the tokenizer (llama-server does), prompts are rendered here and sent as they
stand, so that what is shown is what was asked. Elsewhere the messages are sent, the server renders them, and counts are
estimates until its own counters come.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property, lru_cache

from workbench.engine.gauges import measure
from workbench.engine.template import ChatTemplate
from workbench.errors import BudgetError, EngineError, ServerError
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.answers import EngineTimes, Generation, GenerationState, Message
from workbench.records.models import Gauges, GenerationSettings, LoadedModel, LoadSettings, MemorySplit, ModelFile
from workbench.records.playground import Pulse, Token
from workbench.records.servers import UNTOLD_TEMPLATE, ServedModel, ServerTimes
from workbench.servers.dialect import Delta, Dialect, shaped
from workbench.servers.discovery import listens
from workbench.servers.wire import Wire
from workbench.text.counting import tiktoken_count

UNKNOWN_CONTEXT = 4096
"""Tokens that a model is taken to have room for when its server doesn't tell."""


_LOOK_AGAIN_S = 1.0
_DYING_S = (0.0, 0.1, 0.4)
_CHARACTERS = 4
"""Of a token, where nothing better counts."""


class ServedPrompt(str):
    """A prompt that the server will render itself: it reads like one, and carries its messages."""

    __slots__ = ("messages",)
    messages: tuple[Message, ...]

    def __new__(cls, messages: Sequence[Message]) -> ServedPrompt:
        """A prompt of these messages."""
        prompt = super().__new__(cls, "\n\n".join(f"[{m.role}]\n{m.content}" for m in messages))
        prompt.messages = tuple(messages)
        return prompt


class ServedGenerator:
    """One model of one server. See ``workbench.ports.Generator``."""

    def __init__(self, wire: Wire, dialect: Dialect, served: ServedModel) -> None:
        self._wire, self._dialect, self._served = wire, dialect, served
        self._latest: Generation | None = None
        self._gone: ServerError | None = None
        self._looked = 0.0
        self._count = lru_cache(maxsize=256)(self._counted)
        self._is_special = lru_cache(maxsize=256)(self._is_special_token)

    @cached_property
    def model(self) -> LoadedModel:
        """The served model as one that is loaded; it has no process, and no memory of this machine is told of it."""
        served, (template, bos, eos) = self._served, self._template
        context = served.context or UNKNOWN_CONTEXT
        file = ModelFile(
            f"{self._wire.endpoint.url}#{served.id}",
            served.name,
            served.bytes,
            served.family,
            served.parameters,
            context,
            quantization=served.quantization,
            # Askers send bare text to a model without a template; this one has one, if not here.
            chat_template=template or UNTOLD_TEMPLATE,
            hash=served.digest,
        )
        return LoadedModel(
            file,
            LoadSettings(context=context),
            context,
            MemorySplit(),
            0.0,
            0,
            bos=bos,
            eos=eos,
            server=self._wire.endpoint.url,
            cloud=served.reach == "cloud",
            counted=self._dialect.counts,
            context_told=bool(served.context),
        )

    @property
    def death(self) -> EngineError | None:
        """Why it can't be reached since the last call failed, None while it can: one that was started again is back."""
        if self._gone and time.monotonic() - self._looked > _LOOK_AGAIN_S:
            self._gone = None if listens(self._wire.endpoint.url) else self._gone
            self._looked = time.monotonic()
        return self._gone

    @property
    def grammars(self) -> bool:
        """It can be held to a grammar."""
        return self._dialect.grammars

    def count_tokens(self, text: str) -> int:
        """By the server's tokenizer where it has one to ask, else by tiktoken's o200k, which is an estimate."""
        return self._count(text)

    def render(self, messages: Sequence[Message]) -> str:
        """Through the model's template where the server tells it; else what the server is sent, as text."""
        template, bos, eos = self._template
        return ChatTemplate(template, bos, eos).render(messages) if template else ServedPrompt(messages)

    def generate(self, prompt: str, settings: GenerationSettings, cancel: Cancel | None = None) -> Iterator[Generation]:
        """Streams the growing generation, its times stamped as each piece arrives; the server's own in ``engine``.

        A server that can't be held to a grammar isn't: what the model writes is checked as ever.

        Raises:
            BudgetError: at once, when prompt and ``max_tokens`` don't fit the context that the server tells.
            ServerError: it can't be reached, or fails on the way.
        """
        if self._served.context and (tokens := self._count(prompt)) + settings.max_tokens > self._served.context:
            raise BudgetError(
                tr("The prompt doesn't fit"),
                tr(
                    "{prompt} prompt tokens and {reserve} reserved for the answer exceed the context of {context}.",
                    prompt=tokens,
                    reserve=settings.max_tokens,
                    context=self._served.context,
                ),
                tr("Shorten the prompt, reserve less, or give the server a larger context."),
            )
        return self._stream(prompt, settings, cancel)

    def _stream(self, prompt: str, settings: GenerationSettings, cancel: Cancel | None) -> Iterator[Generation]:
        name = self._served.id
        deltas = (
            self._dialect.chat(self._wire, name, prompt.messages, settings, cancel)
            if isinstance(prompt, ServedPrompt)
            else self._dialect.complete(self._wire, name, prompt, settings, cancel)
        )
        start = time.perf_counter()
        clock, latest = _Clock(start), Generation("started", "")
        yield latest
        with self._watched(), shaped(self._wire):
            for delta in deltas:
                clock.take(delta)
                latest = clock.stamped(replace(latest, state="partial", text=latest.text + delta.text))
                self._latest = latest
                yield latest
        stopped = cancel is not None and cancel.is_set()
        if not stopped and not clock.reason:
            raise self._wire.broken_off(tr("the answer has no end"))
        if not latest.prompt_tokens:  # it doesn't count: a prompt of no tokens would cost nothing
            latest = replace(latest, prompt_tokens=self._count(prompt), estimated=True)
        state: GenerationState = "cancelled" if stopped else "complete"
        reason = "cancelled" if stopped else clock.reason
        yield replace(latest, state=state, stop_reason=reason, duration_ms=clock.elapsed())

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Whether the server is gone when a call fails."""
        try:
            yield
        except ServerError as error:
            if error.status == 0 and self._is_gone():
                self._gone, self._looked = error, time.monotonic()
            raise

    def _is_gone(self) -> bool:
        """Nobody listens; a process that is dying closes what it was saying before its door."""
        for pause_s in _DYING_S:
            time.sleep(pause_s)
            if not listens(self._wire.endpoint.url):
                return True
        return False

    def tokens(self, prompt: str) -> tuple[Token, ...]:
        """As the server would read it; none where it doesn't tell, or renders the prompt itself."""
        if isinstance(prompt, ServedPrompt):
            return ()
        with shaped(self._wire):
            found = self._dialect.pieces(self._wire, self._served.id, prompt, prompt=True) or ()
            return tuple(self._token(number, piece) for number, piece in found)

    def _token(self, number: int, piece: bytes) -> Token:
        text, eos = piece.decode("utf-8", "backslashreplace"), self._template[2]
        return Token(number, text, special=self._is_special(number, text), end=bool(text) and text == eos)

    def _is_special_token(self, number: int, text: str) -> bool:
        """A token that its own text, read as plain text, isn't made of."""
        if not text.startswith(("<", "[")) or len(text) < 3:  # how all of them are written
            return False
        plain = self._dialect.pieces(self._wire, self._served.id, text) or ()
        return [other for other, _ in plain] != [number]

    def gauges(self) -> Gauges:
        """Of this machine; the server's process is its own, and nothing is told of it."""
        return replace(measure(None), rss=0, rss_peak=0, cpu_percent=0.0)

    def pulses(self) -> tuple[Pulse, ...]:
        """The generation under way, or the last one, as the one pulse there is; none before the first."""
        said = self._latest
        if said is None:
            return ()
        held = said.prompt_tokens + said.output_tokens
        return (Pulse(time.time(), self.gauges(), held, self.model.context, replace(said, text="")),)

    def close(self) -> None:
        """Nothing is kept open between calls."""

    @cached_property
    def _template(self) -> tuple[str, str, str]:
        with suppress(ServerError), shaped(self._wire):
            return self._dialect.template(self._wire, self._served.id)
        return "", "", ""

    def _counted(self, text: str) -> int:
        with shaped(self._wire):
            told = self._dialect.count(self._wire, self._served.id, text)
        return told if told is not None else tiktoken_count(text) or len(text) // _CHARACTERS + 1


class _Clock:
    """Times of one generation, by this machine's clock, with the server's counters beside."""

    def __init__(self, start: float) -> None:
        self._start = start
        self._first = self._last = 0.0
        self._pieces = 0
        self._times = ServerTimes()
        self.reason = ""

    def take(self, delta: Delta) -> None:
        """One more piece."""
        if delta.text:
            self._pieces += 1
            self._first = self._first or delta.at
        self._last = delta.at
        self.reason = delta.reason or self.reason
        if delta.times is not None:
            self._times = delta.times

    def elapsed(self) -> float:
        """Milliseconds since the call."""
        return (time.perf_counter() - self._start) * 1000

    def stamped(self, generation: Generation) -> Generation:
        """With what is known by now. A piece counts as a token until the server has counted."""
        times, first = self._times, self._first
        output = times.output_tokens if times.output_tokens is not None else self._pieces
        span = self._last - first
        prefill = (times.prompt_tokens or 0) - (times.cached or 0)
        queue = (times.queue_ms or 0.0) + (times.load_ms or 0.0)
        return replace(
            generation,
            prompt_tokens=times.prompt_tokens or 0,
            output_tokens=output,
            reused_tokens=times.cached or 0,
            ttft_ms=(first - self._start) * 1000 if first else None,
            prefill_tps=1e3 * prefill / times.prefill_ms if times.prefill_ms else None,
            decode_tps=(output - 1) / span if first and output > 1 and span > 0 else None,
            duration_ms=self.elapsed(),
            engine=EngineTimes(prefill, times.prefill_ms or 0.0, output, times.decode_ms or 0.0, queue)
            if times.prefill_ms or times.decode_ms
            else None,
        )
