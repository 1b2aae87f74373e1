"""Renders chat prompts from the template inside a model file, in a sandbox, as the model's makers meant it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import NoReturn

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from workbench.errors import EngineError
from workbench.i18n import tr
from workbench.records.answers import Message


class ChatTemplate:
    """A model's chat template.

    Args:
        source: jinja, as the model file holds it.
        bos, eos: texts of the model's special tokens.

    Raises:
        EngineError: there is none, or it doesn't parse.
    """

    def __init__(self, source: str, bos: str = "", eos: str = "") -> None:
        if not source.strip():
            raise EngineError(
                tr("No chat template"),
                tr("This file holds a base model: it continues text and was not made for instructions."),
                tr("Choose an instruct or chat version of the model."),
            )
        self._tokens = {"bos_token": bos, "eos_token": eos}
        try:
            self._template = _environment().from_string(source)
        except jinja2.TemplateError as error:
            raise _broken(error) from error

    def render(self, messages: Sequence[Message], *, generation_prompt: bool = True) -> str:
        """The prompt up to where the assistant's answer begins; or, without ``generation_prompt``, up to here.

        Raises:
            EngineError: the template refuses these messages or fails on them.
        """
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            return self._template.render(messages=turns, add_generation_prompt=generation_prompt, **self._tokens)
        except Exception as error:  # a template is a program from outside: it can fail in any way
            raise _broken(error) from error


def _broken(error: Exception) -> EngineError:
    return EngineError(
        tr("The chat template failed"),
        tr("The model file's own template says “{reason}”.", reason=str(error) or type(error).__name__),
        tr("Choose another file of this model; this one's template is broken or doesn't take such messages."),
    )


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    """What templates may rely on: the settings and helpers of ``transformers``, which they are written for."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = lambda pattern: datetime.now().astimezone().strftime(pattern)
    return environment


def _to_json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(reason: str) -> NoReturn:
    raise jinja2.TemplateError(reason)
