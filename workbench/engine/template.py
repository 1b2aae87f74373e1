"""Renders chat prompts from the template inside a model file, in a sandbox, as the model's makers meant it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from datetime import datetime
from functools import cache
from typing import Any, Final, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from workbench.errors import EngineError
from workbench.i18n import tr
from workbench.records.answers import Message

MOST_S: Final = 1.0
"""Processor seconds for a prompt; real templates take a few milliseconds."""
MOST_POWER: Final = 10_000
"""Exponents and repetitions up to this: beyond it one operation alone could take all time and memory."""
_deadline: ContextVar[float] = ContextVar("deadline")
"""Of the prompt that is being rendered, by the thread's processor clock: a busy machine takes nothing from it."""


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
            EngineError: the template refuses these messages, fails on them, or doesn't end.
        """
        _deadline.set(time.thread_time() + MOST_S)
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            return self._template.render(messages=turns, add_generation_prompt=generation_prompt, **self._tokens)
        except _EndlessError as error:
            raise EngineError(
                tr("The chat template doesn't end"),
                tr("The model file's own template computes on and on, and was stopped."),
                tr("Choose another file of this model: this one's template is broken or malicious."),
            ) from error
        except Exception as error:  # a template is a program from outside: it can fail in any way
            raise _broken(error) from error


def _broken(error: Exception) -> EngineError:
    return EngineError(
        tr("The chat template failed"),
        tr("The model file's own template says “{reason}”.", reason=str(error) or type(error).__name__),
        tr("Choose another file of this model; this one's template is broken or doesn't take such messages."),
    )


class _EndlessError(Exception):
    """The time for a prompt is over."""


def _charge() -> None:
    if time.thread_time() > _deadline.get():
        raise _EndlessError


def _charged(values: Iterable[Any]) -> Iterator[Any]:
    """The values, each of them only while there is time."""
    for value in values:
        _charge()
        yield value


class _BoundedEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox that ends: every turn of a loop and every call looks at the clock."""

    intercepted_binops = frozenset({"*", "**"})

    def _generate(self, source: nodes.Template, *args: Any, **options: Any) -> str:
        """Has the compiled template draw what it loops over through ``_charged``."""
        for loop in source.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, "_charged", [], [], None, None).set_lineno(loop.lineno)
            loop.iter.set_environment(self)
        return super()._generate(source, *args, **options)

    def call(self, context: Context, called: Any, /, *args: Any, **options: Any) -> Any:
        """Macros may call themselves, and so may loops, with values that no loop has drawn yet."""
        _charge()
        if isinstance(called, LoopContext):
            args = (_charged(args[0]), *args[1:]) if args else args
        return super().call(context, called, *args, **options)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Neither huge powers nor huge repetitions."""
        numbers = (int, float)
        repeats = operator == "*" and not (isinstance(left, numbers) and isinstance(right, numbers))
        large = max((abs(side) for side in (left, right) if isinstance(side, numbers)), default=0)
        if (repeats or operator == "**") and large > MOST_POWER:
            raise SecurityError(tr("it repeats something more than {count} times", count=f"{MOST_POWER:,}"))
        return super().call_binop(context, operator, left, right)


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    """What templates may rely on: the settings and helpers of ``transformers``, which they are written for."""
    environment = _BoundedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    environment.filters["_charged"] = _charged
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = lambda pattern: datetime.now().astimezone().strftime(pattern)
    return environment


def _to_json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(reason: str) -> NoReturn:
    raise jinja2.TemplateError(reason)
