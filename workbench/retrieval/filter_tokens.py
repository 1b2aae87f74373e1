"""The words of the filter language, and the error that points at one of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, cast

from workbench.errors import FilterError
from workbench.i18n import tr

MAX_LENGTH: Final = 4000

_Kind = Literal["text", "op", "bare", "name", "keyword", "end"]
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<name>`[^`]+`)|"""
    r"""(?P<op>==|!=|<=|>=|[=<>(),])|(?P<bare>[^\s()=<>!,"'`]+))""",
    re.DOTALL,
)
_PLAIN_NAME: Final = re.compile(r"[^\W\d][\w.\-]*")
_KEYWORDS: Final = frozenset({"and", "or", "not", "in", "contains", "like"})
_CARET_WINDOW: Final = 30


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of an expression, as written (keywords in lower case), and where it starts."""

    kind: _Kind
    raw: str
    start: int

    @property
    def name(self) -> str:
        """The field that it names, "" when it can't name one."""
        if self.kind == "name":
            return self.raw[1:-1]
        return self.raw if self.kind == "bare" and _PLAIN_NAME.fullmatch(self.raw) else ""


def written_name(field: str) -> str:
    """The field's name as an expression has it: in backticks when it would be read as something else."""
    return field if _PLAIN_NAME.fullmatch(field) and field.lower() not in _KEYWORDS else f"`{field}`"


def tokens(expression: str) -> list[Token]:
    """The tokens of ``expression``, an "end" token last.

    Raises:
        FilterError: it is too long, a quote is never closed, or a character belongs to no token.
    """
    if len(expression) > MAX_LENGTH:
        fail(
            expression, MAX_LENGTH, tr("a filter may have {limit} characters, and this one is longer", limit=MAX_LENGTH)
        )
    found: list[Token] = []
    position, end = 0, len(expression.rstrip())
    while position < end:
        match = _TOKEN.match(expression, position)
        if match is None:
            start = end - len(expression[position:end].lstrip())
            unclosed = expression[start] in "\"'`"
            fail(
                expression, start, tr("this quote is never closed") if unclosed else tr("this sign means nothing here")
            )
        kind = cast(_Kind, match.lastgroup)
        raw = match[kind]
        if kind == "bare" and raw.lower() in _KEYWORDS:
            kind, raw = "keyword", raw.lower()
        found.append(Token(kind, raw, match.end() - len(raw)))
        position = match.end()
    return [*found, Token("end", "", end)]


def fail(expression: str, position: int, message: str, remedy: str = "") -> NoReturn:
    """Raises the FilterError that shows ``expression`` with a caret under ``position``."""
    begin = max(0, position - _CARET_WINDOW)
    shown = "".join(c if c.isprintable() else " " for c in expression[begin : position + _CARET_WINDOW])
    where = tr("At character {number}: {message}.", number=position + 1, message=message)
    raise FilterError(
        tr("Filter not understood"),
        f"{where}\n  {shown}\n  {' ' * (position - begin)}^",
        remedy or tr('An example: status = current and year >= 2026 and "student" in roles'),
        position=position,
    )
