"""The playground: a conversation with the loaded model, and everything about it that can be seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from workbench.errors import EngineError, MissingModelError
from workbench.i18n import tr
from workbench.playground.lint import lint_template
from workbench.playground.structured import SchemaCheck, correction, for_grammar
from workbench.ports import Cancel, Generator, SettingsRepository
from workbench.records.answers import Generation, Message
from workbench.records.codec import decode, encode
from workbench.records.models import GenerationSettings
from workbench.records.playground import Attempt, ChatReply, ChatRequest, Lint, Token
from workbench.records.servers import UNTOLD_TEMPLATE

CONVERSATION_SETTING: Final = "playground.conversation"


class Playground:
    """Talks to whichever model is loaded. Every method may be called from any thread.

    Args:
        generator: the loaded model, None when there is none.
        settings: where the last conversation is remembered.
    """

    def __init__(self, generator: Callable[[], Generator | None], settings: SettingsRepository) -> None:
        self._loaded = generator
        self._settings = settings

    def lint(self) -> tuple[Lint, ...]:
        """What is wrong with the model's chat template, the worst first. Raises MissingModelError, EngineError."""
        generator = self._generator()
        if generator.model.file.chat_template == UNTOLD_TEMPLATE:
            why = tr("The server keeps its chat template to itself: it can't be looked at.")
            return (Lint("missing", "note", why),)
        return lint_template(generator.model, generator.tokens)

    def prompt(self, request: ChatRequest) -> str:
        """What would be sent. Raises MissingModelError, EngineError when the template refuses the messages."""
        return _rendered(self._generator(), _with_schema(request))

    def tokens(self, prompt: str) -> tuple[Token, ...]:
        """A prompt as the model gets it. Raises MissingModelError, EngineError."""
        return self._generator().tokens(prompt)

    def chat(self, request: ChatRequest, cancel: Cancel | None = None) -> Iterator[ChatReply]:
        """The growing reply; the last one is complete, cancelled or error.

        With a schema, an output that doesn't fit is sent back with what is wrong with it, ``retries`` times at most.

        Raises:
            MissingModelError: no model is loaded.
            UsageError: the schema is none.
            BudgetError: the conversation doesn't fit the context.
            EngineError: the template refuses the messages; or the process ended, after a reply that says "error".
        """
        generator = self._generator()
        check = SchemaCheck(request.schema) if request.schema else None
        settings = request.settings
        if check and request.constrained:
            settings = replace(settings, json_schema=for_grammar(request.schema))
        messages = _with_schema(request)
        ended: tuple[Attempt, ...] = ()
        for _ in range(1 + (request.retries if check else 0)):
            attempt = Attempt("", Generation("started", ""))
            for attempt in _attempt(generator, messages, settings, cancel):
                yield ChatReply((*ended, attempt))
            value = None
            if check and attempt.generation.state == "complete":
                value, faults = check.check(attempt.generation.text)
                attempt = replace(attempt, faults=faults)
            ended = (*ended, attempt)
            yield ChatReply(ended, value)
            if not attempt.faults:
                return
            said = Message("assistant", attempt.generation.text)
            messages = (*messages, said, Message("user", correction(attempt.faults)))

    def keep(self, messages: Sequence[Message]) -> None:
        """Remembers the conversation in the file."""
        self._settings.set(CONVERSATION_SETTING, json.dumps(encode(tuple(messages)), ensure_ascii=False))

    def kept(self) -> tuple[Message, ...]:
        """The conversation that was remembered last, () when there is none."""
        try:
            said = json.loads(self._settings.get(CONVERSATION_SETTING, "[]"))
            return tuple(decode(Message, message) for message in said)
        except (ValueError, TypeError, KeyError, AttributeError):  # something else wrote there
            return ()

    def _generator(self) -> Generator:
        generator = self._loaded()
        if generator is None:
            raise MissingModelError(
                tr("No model is loaded"),
                tr("There is nobody to talk to."),
                tr("Load one: enter in the list of models, or --model on the command line."),
            )
        if death := generator.death:
            raise death
        return generator


def markdown(messages: Sequence[Message], model: str) -> str:
    """A conversation as a Markdown document."""
    names = {"system": tr("System"), "user": tr("You"), "assistant": model or tr("Assistant")}
    turns = (f"## {names[message.role]}\n\n{message.content.strip()}\n" for message in messages)
    return f"# {tr('Conversation')}\n\n" + "\n".join(turns)


def _attempt(
    generator: Generator, messages: Sequence[Message], settings: GenerationSettings, cancel: Cancel | None
) -> Iterator[Attempt]:
    prompt = _rendered(generator, messages)
    latest = Generation("started", "")
    try:
        for latest in generator.generate(prompt, settings, cancel):
            yield Attempt(prompt, latest)
    except EngineError as error:
        why = f"{error.title}: {error.message}"
        yield Attempt(prompt, replace(latest, state="error", stop_reason="error", error=why))
        raise


def _rendered(generator: Generator, messages: Sequence[Message]) -> str:
    """Through the template; as plain text for a base model, which has none."""
    if generator.model.file.chat_template.strip():
        return generator.render(messages)
    return "\n\n".join(message.content for message in messages)


def _with_schema(request: ChatRequest) -> tuple[Message, ...]:
    """The messages, the first of them with the schema: what stays the same comes first, so that it is read once."""
    if not request.schema or not request.messages:
        return request.messages
    first, *others = request.messages
    asked = tr("Answer with JSON that fits this JSON Schema, and nothing else:")
    return (replace(first, content=f"{asked}\n{request.schema.strip()}\n\n{first.content}"), *others)
