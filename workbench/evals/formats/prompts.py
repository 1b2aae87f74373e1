"""Prompts of promptfoo: templates filled with a test's variables, as far as jinja writes what nunjucks does.

Templates come with datasets from anywhere, so they only fill in, choose, go through what a variable holds and transform
text: no calls, no loops without an end that is near, and nothing else whose result can grow beyond what is put in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined, Template, TemplateError, TemplateRuntimeError, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from workbench.errors import reason_of
from workbench.evals.formats.rows import RowError
from workbench.i18n import tr
from workbench.records.cases import RowProblem

_FILE: Final = "file://"
_APART: Final = "\n---\n"  # between the prompts of one file
_CHAT: Final = re.compile(r'\s*\[\s*\{\s*"(?:role|content)"\s*:')
_LONGEST: Final = 100_000  # characters
_NODES: Final = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Getattr, nodes.Getitem,
    nodes.Filter, nodes.If, nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Test,
    nodes.For, nodes.Tuple,
)  # fmt: skip
_ROUNDS: Final = "rounds left"  # no name that a template can say
_MOST_ROUNDS: Final = 10_000  # of all loops of a prompt together
_FILTERS: Final = frozenset(
    {"abs", "capitalize", "default", "dump", "escape", "first", "float", "int", "join", "last", "length", "lower",
     "round", "safe", "string", "title", "tojson", "trim", "upper", "wordcount"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of a configuration, counted from 1."""

    number: int
    label: str
    template: Template

    def fill(self, variables: Mapping[str, Any]) -> str:
        """The prompt for a test. Raises RowError when it needs a variable that the test doesn't set, or fails."""
        try:
            return "".join(self._parts(variables))
        except TemplateError as error:
            raise RowError(tr("prompt {number}: {reason}", number=self.number, reason=error.message)) from error
        except (TypeError, ValueError, ArithmeticError) as error:
            raise RowError(tr("prompt {number}: {reason}", number=self.number, reason=error)) from error

    def _parts(self, variables: Mapping[str, Any]) -> Iterator[str]:
        left = _LONGEST
        for part in self.template.generate({**variables, _ROUNDS: [_MOST_ROUNDS]}):
            left -= len(part)
            if left < 0:
                raise TemplateRuntimeError(tr("it is longer than {most} characters", most=f"{_LONGEST:,}"))
            yield part


def read_prompts(listed: list[tuple[int, Any]], folder: Path) -> Iterator[Prompt | RowProblem]:
    """The prompts of a configuration, as text, ``{raw: …}`` or a text file beside it; others are named.

    Args:
        listed: each with its line.
    """
    number = 0
    for line, entry in listed:
        try:
            for label, source in _sources(entry, folder):
                number += 1
                yield Prompt(number, label, _template(source))
        except RowError as error:
            yield RowProblem(line, str(error))


def _sources(entry: Any, folder: Path) -> list[tuple[str, str]]:
    """(label, template) of each prompt that an entry gives. Raises RowError."""
    label = ""
    if isinstance(entry, Mapping) and not _is_message(entry):
        label, entry = str(entry.get("label") or ""), entry.get("raw") or entry.get("id")
    if _is_chat(entry):
        raise RowError(tr("a chat prompt (a list of messages) has no equal here: give its text as one prompt"))
    if not isinstance(entry, str) or not entry.strip():
        raise RowError(tr("a prompt is text, or a text file"))
    if not entry.startswith(_FILE):
        return [(label, entry)]
    name = entry.removeprefix(_FILE)
    path = (folder / name).resolve()
    if path.suffix not in (".txt", ".md", ".j2") or not path.is_relative_to(folder.resolve()):
        raise RowError(tr("the prompt “{name}” is no text file beside the tests", name=name))
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RowError(tr("the prompt “{name}”: {reason}", name=name, reason=reason_of(error))) from error
    return [(label or name, part.strip()) for part in text.split(_APART) if part.strip()]


def _is_message(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "role" in entry and "content" in entry


def _is_chat(entry: Any) -> bool:
    """Messages as they stand, or as JSON in a text, with or without places to fill."""
    if isinstance(entry, list):
        return bool(entry) and all(map(_is_message, entry))
    return _is_message(entry) or (isinstance(entry, str) and _CHAT.match(entry) is not None)


def _template(source: str) -> Template:
    """Raises RowError for what doesn't parse, or does more than fill in."""
    try:
        return _checked(source)
    except TemplateError as error:
        raise RowError(tr("a prompt that can't be read: {reason}", reason=error.message)) from error
    except (RecursionError, SyntaxError, MemoryError) as error:  # Python's own, of the code that it becomes
        raise RowError(tr("a prompt that can't be read: {reason}", reason=tr("it is nested too deeply"))) from error


def _checked(source: str) -> Template:
    environment = _environment()
    tree = environment.parse(source)
    for node in tree.find_all(nodes.Node):
        if not isinstance(node, _NODES):
            raise RowError(tr("a prompt uses “{what}”, which has no equal here", what=type(node).__name__.lower()))
        if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
            raise RowError(tr("a prompt uses “{what}”, which has no equal here", what=node.name))
    for loop in list(tree.find_all(nodes.For)):
        pairs = nodes.Const(isinstance(loop.target, nodes.Tuple))
        loop.iter = nodes.Filter(loop.iter, _rounds.__name__, [pairs], [], None, None)
    return environment.from_string(tree)


@pass_context
def _rounds(context: Context, value: Any, pairs: bool) -> list[Any]:
    """What a loop goes through: a list, or the names of an object, with their values where ``pairs`` are asked for.

    Raises:
        TemplateRuntimeError: it is neither, or the prompt's loops go on for too long.
    """
    if not isinstance(value, (list, tuple, Mapping)):
        raise TemplateRuntimeError(tr("a loop goes through a list or an object"))
    left = context[_ROUNDS]
    left[0] -= len(value)
    if left[0] < 0:
        raise TemplateRuntimeError(tr("its loops take more than {most} rounds", most=f"{_MOST_ROUNDS:,}"))
    return list(value.items() if pairs and isinstance(value, Mapping) else value)


def _as_nunjucks_writes(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return "" if value is None else value


@cache
def _environment() -> Environment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True, finalize=_as_nunjucks_writes
    )
    environment.filters[_rounds.__name__] = _rounds
    environment.filters["dump"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment
