"""Values of the filter language: from the written word to a typed value, checked against the field's type."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from typing import Final, NoReturn

from workbench.i18n import tr
from workbench.records.retrieval import Comparator, Scalar
from workbench.retrieval.filter_tokens import Token, fail, written_name

_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_LARGEST: Final = 2**63 - 1  # what the file can hold
_ORDER: Final = frozenset({"<", "<=", ">", ">="})


def today() -> date:
    """The day it is where the program runs."""
    return datetime.now().astimezone().date()


def value_of(expression: str, token: Token) -> Scalar:
    """The value that ``token`` writes: text, a whole or decimal number, an ISO date, ``today``, true or false.

    Raises:
        FilterError: it is no value, a day that no calendar has, or a number larger than the file can hold.
    """
    if token.kind not in ("text", "bare"):
        fail(expression, token.start, tr("expected a value; text with spaces or signs goes in quotes"))
    if token.kind == "text":
        return re.sub(r"\\(.)", r"\1", token.raw[1:-1], flags=re.DOTALL)
    if token.raw.lower() in ("true", "false"):
        return token.raw.lower() == "true"
    if token.raw.lower() == "today":
        return today()
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


def checked_value(expression: str, token: Token, field: str, kinds: Sequence[str], op: Comparator) -> Scalar:
    """The value of ``token``, as one of the types of ``field`` needs it for ``op``.

    Where a field has values of several types, the one that the value is written in counts. A number, date or truth
    value that isn't among them is taken as the text that was written, when there are texts.

    Raises:
        FilterError: the field has no value that can be compared with it, or not in that way.
    """
    value = value_of(expression, token)
    kind = _type_name(value)
    has_text = "text" in kinds or ("list" in kinds and op != "like")
    if op not in ("contains", "like") and kind in kinds and (kind != "bool" or op not in _ORDER):
        return value
    if not has_text or op in _ORDER:
        _refuse(expression, token, field, kinds, op)
    return value if isinstance(value, str) else token.raw


def _refuse(expression: str, token: Token, field: str, kinds: Sequence[str], op: Comparator) -> NoReturn:
    given = _type_name(value_of(expression, token))
    remedy = ""
    if "list" in kinds and op in (*_ORDER, "like"):
        problem = tr("“{field}” is a list: ask whether it contains a value", field=field)
    elif op in ("contains", "like"):
        problem = tr("“{field}” is no text and no list, so “{op}” can't be asked", field=field, op=op)
    elif given == "bool" and given in kinds:
        problem, remedy = tr("“{field}” is true or false, so neither is more", field=field), _example(field, given)
    else:
        names = " / ".join(map(type_name, kinds))
        problem = tr(
            "“{field}” is of type {kind}, but this is {given}", field=field, kind=names, given=type_name(given)
        )
        remedy = _example(field, kinds[0])
    fail(expression, token.start, problem, remedy)


def known_field(expression: str, token: Token, fields: Collection[str]) -> None:
    """Raises FilterError, naming the nearest fields there are, when ``token`` names none of ``fields``."""
    if token.name in fields:
        return
    folded = {field.casefold(): field for field in fields}
    near = [folded[name] for name in get_close_matches(token.name.casefold(), folded, n=3, cutoff=0.5)]
    names = ", ".join(map(written_name, near or sorted(fields)[:8]))
    remedy = tr("Fields like it: {names}.", names=names) if names else tr("This collection has no fields yet.")
    fail(expression, token.start, tr("there is no field “{field}”", field=token.name), remedy)


def type_name(kind: str) -> str:
    """A type of values in the person's language."""
    names = {
        "text": tr("text"),
        "number": tr("number"),
        "date": tr("date"),
        "bool": tr("true or false"),
        "list": tr("list"),
    }
    return names[kind]


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
    field = written_name(field)
    examples = {"number": f"{field} >= 2026", "date": f"{field} >= 2026-01-31", "bool": f"{field} = true"}
    return tr("Write it like this: {example}", example=examples.get(kind, f'{field} = "…"'))
