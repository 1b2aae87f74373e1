"""A chat template looked at before it is used: many models are good, and answer badly through a bad template."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from workbench.engine.template import ChatTemplate
from workbench.errors import EngineError
from workbench.i18n import tr
from workbench.records.answers import Message
from workbench.records.models import LoadedModel
from workbench.records.playground import Lint, Token

Tokens: TypeAlias = Callable[[str], Sequence[Token]]

MARK: Final = "qzmark"
"""A word that no template writes by itself."""
USER: Final = Message("user", "Hi")
REPLY: Final = Message("assistant", MARK)


def lint_template(model: LoadedModel, tokens: Tokens) -> tuple[Lint, ...]:
    """What is wrong with the model's chat template, the worst first.

    Args:
        tokens: the tokens of a prompt, by the model's own tokenizer.
    """
    source = model.file.chat_template
    if not source.strip():
        why = tr("There is no chat template: this is a base model, and messages are sent as plain text.")
        return (Lint("missing", "warning", why, tr("Write the beginning of what it shall continue.")),)
    try:
        template = ChatTemplate(source, model.bos, model.eos)
        prompt = template.render([USER])
    except EngineError as error:
        return (Lint("broken", "error", error.message, error.remedy),)
    found = [*_beginning(template, prompt, model.bos, tokens), *_end(template, model.bos, tokens), *_roles(template)]
    order = ("error", "warning", "note")
    return tuple(sorted(found, key=lambda lint: order.index(lint.severity)))


def _beginning(template: ChatTemplate, prompt: str, bos: str, tokens: Tokens) -> Iterator[Lint]:
    if template.render([USER], generation_prompt=False) == prompt:
        yield Lint(
            "no_generation_prompt",
            "warning",
            tr("The template doesn't open the assistant's turn: the model may go on writing yours."),
            tr("Choose a newer file of this model."),
        )
    first = [token.text for token in tokens(prompt)[:2]]
    if bos and first == [bos, bos]:
        yield Lint(
            "bos_doubled",
            "warning",
            tr("The prompt begins with {bos} twice, which no model was trained on.", bos=bos),
            tr("Choose a newer file of this model."),
        )
    elif bos and prompt.startswith(bos) and [token.text for token in tokens(MARK)[:1]] == [bos]:
        yield Lint(
            "bos_written",
            "note",
            tr("Template and tokenizer both put {bos}; here it is sent once, other programs may double it.", bos=bos),
        )


def _end(template: ChatTemplate, bos: str, tokens: Tokens) -> Iterator[Lint]:
    """How a turn of the assistant ends, and whether the model ends there."""
    try:
        rendered = template.render([USER, REPLY], generation_prompt=False)
    except EngineError:
        return
    tail = rendered.partition(MARK)[2]
    found = tokens(tail) if tail else ()
    if found and found[0].text == bos and not tail.startswith(bos):  # put there for a prompt, which this isn't
        found = found[1:]
    ending = next((token for token in found if token.special), None)
    if ending is None:
        yield Lint(
            "no_end",
            "warning",
            tr("The template ends the assistant's turn without a special token: the model may not stop."),
            tr("Set a stop string."),
        )
    elif not ending.end:
        yield Lint(
            "end_mismatch",
            "error",
            tr("Turns end with {token}, which this file doesn't mark as an end: the model runs on.", token=ending.text),
            tr("Add {token} to the stop strings.", token=ending.text),
        )


def _roles(template: ChatTemplate) -> Iterator[Lint]:
    system = Message("system", MARK)
    orders: tuple[tuple[str, tuple[Message, ...]], ...] = (
        (tr("a system message"), (system, USER)),
        (tr("a second question"), (USER, REPLY, USER)),
        (tr("two messages of yours in a row"), (USER, USER)),
        (tr("a conversation that the assistant begins"), (REPLY, USER)),
    )
    for what, messages in orders:
        common = what in (orders[0][0], orders[1][0])
        try:
            rendered = template.render(messages)
        except EngineError as error:
            why = tr("The template refuses {what}. {reason}", what=what, reason=error.message)
            yield Lint("role_refused", "warning" if common else "note", why)
            continue
        if messages[0] is system and MARK not in rendered:
            why = tr("The template leaves system messages out.")
            yield Lint("role_refused", "warning", why, tr("Write your instructions into the first message."))
