"""The workbench's side of a loaded language model: the port ``Generator`` over a child process."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import protocol
from workbench.engine.failures import check_load, load_error
from workbench.engine.gauges import measure
from workbench.engine.offload import offload
from workbench.engine.process import ChildProcess
from workbench.engine.pulses import PulseLog
from workbench.errors import BudgetError, Cancelled, EngineError
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.answers import Generation, Message
from workbench.records.models import (
    Gauges,
    GenerationSettings,
    LoadedModel,
    LoadProgress,
    LoadSettings,
    ModelFile,
)
from workbench.records.playground import Pulse, Token

if TYPE_CHECKING:
    from workbench.engine.template import ChatTemplate


def engine_available() -> str:
    """ "" when llama-cpp-python can be imported, else why not. Doesn't import it, and is cheap."""
    if importlib.util.find_spec("llama_cpp") is None:
        return tr("llama-cpp-python is not installed")
    return ""


def load_generator(
    file: ModelFile,
    settings: LoadSettings | None = None,
    on_progress: Callable[[LoadProgress], None] | None = None,
    cancel: Cancel | None = None,
) -> ChildGenerator:
    """Loads a model in a child process of its own.

    Args:
        file: as ``gguf_header.read_header`` describes it.
        on_progress: called on this thread as the weights are read; the last time with the loaded model.

    Raises:
        UsageError: a setting is out of range.
        EngineError: no engine, a file that can't be used, or the child refused it or died.
        Cancelled: ``cancel`` was set; nothing is left loaded.
    """
    settings = settings or LoadSettings()
    if reason := engine_available():
        raise EngineError(tr("No engine"), reason, tr("Run `make engine`, or pip install llama-cpp-python==0.3.36."))
    check_load(file, settings)
    tell = on_progress or (lambda _: None)
    pulses = PulseLog()
    process = ChildProcess("llama", pulses.take)
    try:
        tell(LoadProgress(0.0, tr("Loading {name}", name=file.name)))
        ready = _load(process, file, settings, tell, cancel)
    except BaseException:
        process.close()
        raise
    model = LoadedModel(
        file,
        settings,
        ready.context,
        ready.memory,
        ready.load_ms,
        process.pid,
        offload=offload(settings.gpu_layers, file.layers + 1, ready.offloaded),
        bos=ready.bos,
        eos=ready.eos,
    )
    tell(LoadProgress(1.0, tr("Loaded {name}", name=file.name), model))
    return ChildGenerator(process, model, pulses)


def _load(
    process: ChildProcess,
    file: ModelFile,
    settings: LoadSettings,
    tell: Callable[[LoadProgress], None],
    cancel: Cancel | None,
) -> protocol.ModelLoaded:
    for event in process.ask(lambda id_: protocol.LoadModel(id_, file.path, settings), cancel):
        match event:
            case protocol.LoadFraction():
                tell(LoadProgress(event.fraction, tr("Loading {name}", name=file.name)))
            case protocol.ModelLoaded():
                return event
            case protocol.Failed():
                raise load_error(event, file, settings, process.log)
    raise Cancelled


class ChildGenerator:
    """A loaded model in its child process; made by ``load_generator``. See ``workbench.ports.Generator``."""

    def __init__(self, process: ChildProcess, model: LoadedModel, pulses: PulseLog) -> None:
        self._process = process
        self._model = model
        self._pulses = pulses
        self._template: ChatTemplate | None = None

    @property
    def model(self) -> LoadedModel:
        """What is loaded."""
        return self._model

    @property
    def death(self) -> EngineError | None:
        """Why its process ended, None while it runs."""
        return self._process.death

    @property
    def grammars(self) -> bool:
        """It can be held to a grammar."""
        return True

    @property
    def idle_s(self) -> float:
        """Seconds since it was last asked something; 0 while it works."""
        return self._process.idle_s

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text``, its special tokens parsed. Answered while the model generates, too."""
        return self._count(text, as_prompt=False)

    def _count(self, text: str, *, as_prompt: bool) -> int:
        return sum(
            event.tokens
            for event in self._process.ask(lambda id_: protocol.Count(id_, text, as_prompt))
            if isinstance(event, protocol.Counted)
        )

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt through the model's chat template. Raises EngineError when it is missing, broken or refuses."""
        if self._template is None:
            from workbench.engine.template import ChatTemplate  # jinja is not needed to paint

            self._template = ChatTemplate(self._model.file.chat_template, self._model.bos, self._model.eos)
        return self._template.render(messages)

    def generate(self, prompt: str, settings: GenerationSettings, cancel: Cancel | None = None) -> Iterator[Generation]:
        """Streams the growing generation: started, partial…, and last complete, cancelled or error.

        Closing the iterator early cancels too.

        Raises:
            BudgetError: at once, when prompt and ``max_tokens`` don't fit the context.
            EngineError: the child is dead, or dies on the way.
        """
        tokens, context = self._count(prompt, as_prompt=True), self._model.context
        if tokens + settings.max_tokens > context:
            raise BudgetError(
                tr("The prompt doesn't fit"),
                tr(
                    "{prompt} prompt tokens and {reserve} reserved for the answer exceed the context of {context}.",
                    prompt=tokens,
                    reserve=settings.max_tokens,
                    context=context,
                ),
                tr("Shorten the prompt, reserve less, or load the model with a larger context."),
            )
        return self._stream(prompt, settings, cancel)

    def _stream(self, prompt: str, settings: GenerationSettings, cancel: Cancel | None) -> Iterator[Generation]:
        latest = Generation("started", "")
        for event in self._process.ask(lambda id_: protocol.Generate(id_, prompt, settings), cancel):
            match event:
                case protocol.Step():
                    latest = replace(event.generation, text=latest.text + event.generation.text)
                    yield latest
                case protocol.Failed():
                    yield replace(latest, state="error", stop_reason="error", error=_generation_error(event))

    def measure(self, prompt: int, generate: int, depth: int = 0, cancel: Cancel | None = None) -> float:
        """Seconds to evaluate ``prompt`` random tokens at once, then ``generate`` singly, with ``depth`` before them.

        Nothing else is in them: no sampling, no tokenising, no wire. What was cached before is gone.

        Raises:
            EngineError: the engine can't compute it, or the child is dead, or dies on the way.
            Cancelled: ``cancel`` was set; it takes effect between tokens and between batches.
        """
        for event in self._process.ask(lambda id_: protocol.Measure(id_, prompt, generate, depth), cancel):
            match event:
                case protocol.Measured():
                    return event.seconds
                case protocol.Failed():
                    raise EngineError(
                        tr("The measurement failed"),
                        tr("The engine couldn't compute it: {reason}.", reason=event.detail),
                        tr("Load the model with a larger context, or measure fewer tokens."),
                        log=self._process.log,
                    )
        raise Cancelled

    def tokens(self, prompt: str) -> tuple[Token, ...]:
        """The tokens of ``prompt`` as ``generate`` would send it. Answered while the model generates, too."""
        return tuple(
            token
            for event in self._process.ask(lambda id_: protocol.Tokenize(id_, prompt))
            if isinstance(event, protocol.Tokenized)
            for token in event.tokens
        )

    def gauges(self) -> Gauges:
        """Memory of the child and the machine now."""
        return measure(self._process.pid)

    def pulses(self) -> tuple[Pulse, ...]:
        """What the child measured of itself over the last minutes, oldest first."""
        return self._pulses.kept()

    def close(self) -> None:
        """Ends the child process; returns when it is gone."""
        self._process.close()


def _generation_error(failed: protocol.Failed) -> str:
    match failed.kind:
        case "grammar" if failed.detail:
            return tr("The grammar doesn't parse: {reason}. Correct it, or ask without it.", reason=failed.detail)
        case "grammar":
            return tr("The grammar left the model no token to go on with. Correct it, or ask without it.")
        case "schema":
            why = tr("The engine can't make a grammar of the schema: {reason}.", reason=failed.detail)
            return why + " " + tr("Correct the schema, or ask without a grammar.")
        case "recursion":
            return tr("The schema refers to itself, which a grammar can't: ask without a grammar.")
        case "size":
            return tr("The schema's grammar would have {count} characters: ask without a grammar.", count=failed.detail)
        case "prompt":
            return tr("The prompt is empty.")
        case _:
            why = tr("The engine couldn't compute it: {reason}.", reason=failed.detail)
            return why + " " + tr("Load the model with a larger context or with smaller batches.")
