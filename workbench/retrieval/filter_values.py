"""Values of the filter language: from the written word to a typed value, checked against the field's type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from typing import Final

from workbench.i18n import tr
from workbench.records.retrieval import Comparator, Scalar
from workbench.retrieval.filter_tokens import Token, fail

_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_LARGEST: Final = 2**63 - 1  # what the file can hold
_ORDER: Final = frozenset({"<", "<=", ">", ">="})


def value_of(expression: str, token: Token) -> Scalar:
    """The value that ``token`` writes: text, a whole or decimal number, an ISO date, true or false.

    Raises:
        FilterError: it is no value, a day that no calendar has, or a number larger than the file can hold.
    """
    if token.kind not in ("text", "bare"):
        fail(expression, token.start, tr("expected a value; text with spaces or signs goes in quotes"))
    if token.kind == "text":
        return re.sub(r"\\(.)", r"\1", token.raw[1:-1], flags=re.DOTALL)
    if token.raw.lower() in ("true", "false"):
        return token.raw.lower() == "true"
    if _DATE.fullmatch(token.raw):
        try:
            return date.fromisoformat(token.raw)
        except ValueError:
            fail(expression, token.start, tr("there is no day {day}", day=token.raw))
    if _NUMBER.fullmatch(token.raw):
        number = float(token.raw) if "." in token.raw else int(token.raw)
        if abs(number) > _LARGEST:
            fail(expression, token.start, tr("this number is too large"))
        return number
    return token.raw


def checked_value(expression: str, token: Token, field: str, kind: str, op: Comparator) -> Scalar:
    """The value of ``token``, as the type of ``field`` needs it for ``op``.

    A number, date or truth value compared with a text field is taken as the text that was written.

    Raises:
        FilterError: the types can't be compared, or the comparison makes no sense for the field's type.
    """
    value = value_of(expression, token)
    given = _type_name(value)
    if kind == "list" and op in (*_ORDER, "like"):
        fail(expression, token.start, tr("“{field}” is a list: ask whether it contains a value", field=field))
    if kind in ("text", "list") and op not in _ORDER:
        return value if isinstance(value, str) else token.raw
    if op in ("contains", "like"):
        fail(
            expression,
            token.start,
            tr("“{field}” is no text and no list, so “{op}” can't be asked", field=field, op=op),
        )
    if kind != given or (kind == "bool" and op in _ORDER):
        problem = tr("“{field}” is of type {kind}, but this is {given}", field=field, kind=kind, given=given)
        fail(expression, token.start, problem, _example(field, kind))
    return value


def known_field(expression: str, token: Token, fields: Mapping[str, str]) -> None:
    """Raises FilterError, naming the nearest fields there are, when ``token`` names none of ``fields``."""
    if token.raw in fields:
        return
    near = get_close_matches(token.raw, fields, n=3, cutoff=0.5) or sorted(fields)[:8]
    remedy = tr("Fields like it: {names}.", names=", ".join(near)) if near else tr("This collection has no fields yet.")
    fail(expression, token.start, tr("there is no field “{field}”", field=token.raw), remedy)


def _type_name(value: Scalar) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case date():
            return "date"
        case _:
            return "text"


def _example(field: str, kind: str) -> str:
    examples = {"number": f"{field} >= 2026", "date": f"{field} >= 2026-01-31", "bool": f"{field} = true"}
    return tr("Write it like this: {example}", example=examples.get(kind, f'{field} = "…"'))
