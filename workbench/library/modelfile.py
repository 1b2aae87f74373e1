"""Ollama's Modelfile, read and written. It is text: an instruction per line, longer texts between triple quotes.

Instructions: FROM, PARAMETER, TEMPLATE, SYSTEM, ADAPTER, LICENSE, MESSAGE; ``#`` begins a comment. The format is
that of Ollama's documentation, which has no escape for a triple quote inside of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Literal

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.answers import Message
from workbench.records.library import Modelfile

QUOTES: Final = '"""'
KEYED: Final = {"PARAMETER", "MESSAGE"}
QUOTABLE: Final = {"PARAMETER", "TEMPLATE", "SYSTEM", "MESSAGE", "LICENSE"}
_ROLES: Final[dict[str, Literal["system", "user", "assistant"]]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
}


def read_modelfile(text: str) -> Modelfile:
    """What a Modelfile says. Instructions it doesn't know are kept as ``unknown``.

    Raises:
        UsageError: a text between triple quotes doesn't end.
    """
    read = Modelfile()
    for found in _instructions(text):
        read = _with(read, found)
    return read


def write_modelfile(file: Modelfile) -> str:
    """The text that ``read_modelfile`` reads as ``file``, except for its unknown lines, which are left out."""
    lines = [f"FROM {file.model}"] if file.model else []
    lines += [f"ADAPTER {path}" for path in file.adapters]
    lines += [f"PARAMETER {name} {_quoted(value)}" for name, value in file.parameters]
    lines += [f"TEMPLATE {_quoted(file.template)}"] if file.template else []
    lines += [f"SYSTEM {_quoted(file.system)}"] if file.system else []
    lines += [f"MESSAGE {message.role} {_quoted(message.content)}" for message in file.messages]
    lines += [f"LICENSE {_quoted(licence)}" for licence in file.licences]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Instruction:
    """``key`` is the name of a parameter or the role of a message; ``line`` is the first of its lines."""

    line: str
    name: str
    key: str
    value: str


def _instructions(text: str) -> Iterator[_Instruction]:
    lines = iter(text.removeprefix("\ufeff").split("\n"))
    for whole in lines:
        line = whole.strip()
        name, rest = _cut(line)
        if not name or name.startswith("#"):
            continue
        key = ""
        if name.upper() in KEYED:
            key, rest = _cut(rest)
        if name.upper() in QUOTABLE and rest.startswith(QUOTES):
            # Of the untouched line: what follows the quotes is text, to its last space.
            value = _until_quotes(line, whole[whole.index(QUOTES) + 3 :], lines)
        else:
            value = _unquoted(rest)
        yield _Instruction(line, name.upper(), key, value)


def _cut(line: str) -> tuple[str, str]:
    """The first word and the rest."""
    word, *rest = line.split(None, 1) or [""]
    return word, rest[0] if rest else ""


def _until_quotes(line: str, text: str, following: Iterator[str]) -> str:
    while QUOTES not in text:
        more = next(following, None)
        if more is None:
            raise UsageError(
                tr("The Modelfile breaks off"),
                tr("The text that begins in “{line}” has no closing quotes.", line=line[:60]),
                tr("Close it with three double quotes."),
            )
        text += "\n" + more
    return text[: text.index(QUOTES)]


def _with(read: Modelfile, found: _Instruction) -> Modelfile:
    """``read`` and one instruction more."""
    key, value = found.key, found.value
    match found.name:
        case "FROM":
            return replace(read, model=value)
        case "ADAPTER":
            return replace(read, adapters=(*read.adapters, value))
        case "PARAMETER" if key and value:
            return replace(read, parameters=(*read.parameters, (key, value)))
        case "TEMPLATE":
            return replace(read, template=value)
        case "SYSTEM":
            return replace(read, system=value)
        case "LICENSE":
            return replace(read, licences=(*read.licences, value))
        case "MESSAGE" if role := _ROLES.get(key):
            return replace(read, messages=(*read.messages, Message(role, value)))
    return replace(read, unknown=(*read.unknown, found.line))


def _unquoted(value: str) -> str:
    """Without the double quotes around a value on one line."""
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] == '"' else value


def _quoted(value: str) -> str:
    """The plainest writing that is read back as ``value``. Raises UsageError where none is."""
    for written in (value, f'"{value}"', f"{QUOTES}{value}{QUOTES}"):
        with suppress(UsageError):
            if read_modelfile(f"SYSTEM {written}") == Modelfile(system=value):
                return written
    raise UsageError(
        tr("No Modelfile can hold this text"),
        tr("“{text}” holds three double quotes, or ends in one.", text=value[-40:]),
        tr("Change the quotes in it."),
    )
