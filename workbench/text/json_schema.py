"""JSON Schemas and patterns of somebody's own, made safe: nothing is fetched, and patterns have a time limit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from itertools import count
from typing import Any, Final

from workbench.i18n import tr

PATTERN_SECONDS: Final = 1.0
LONGEST_PATTERN: Final = 10_000
MOST_REFERENCES: Final = 20_000
"""References that one validator follows. Ten definitions that name the next one ten times each make 10⁹."""
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_FENCE: Final = re.compile(r"```[\w+-]*[ \t]*\n(.*?)(?:\n?```|\Z)", re.DOTALL)
_FULL_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def unfenced(output: str) -> str:
    """The first fenced block of ``output``, else all of it, without outer white space."""
    match = _FENCE.search(output)
    return (match[1] if match else output).strip()


def strict_json(text: str) -> Any:
    """The value of ``text``. Raises ValueError for NaN, infinities and a key given twice too, RecursionError."""
    return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_without_doubles)


def compile_pattern(pattern: str) -> Any:
    """By ``regex``, which, unlike ``re``, gives up when time is over: a pattern can take exponentially long.

    Raises:
        ValueError: it can't be understood, in words.
    """
    import regex

    if not pattern or len(pattern) > LONGEST_PATTERN:
        raise ValueError(tr("a pattern has from 1 to {limit} characters", limit=LONGEST_PATTERN))
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError) as error:
        raise ValueError(tr("the pattern can't be understood: {reason}", reason=error)) from error


def compile_schema(schema: str, *, formats: bool = False) -> Any:
    """A jsonschema validator that fetches nothing and ends: a reference to elsewhere, or round in a circle, is refused.

    References inside properties and items come to light with a value that has them: validating raises then.

    Args:
        formats: a ``format`` is checked, too; a "date" is then a day of the calendar, as RFC 3339 writes it.

    Raises:
        ValueError: it is no schema, in words.
    """
    from jsonschema import FormatChecker, validators
    from jsonschema.exceptions import SchemaError
    from referencing import Registry

    try:
        value = _object(schema)
        kind = validators.validator_for(value, default=validators.Draft202012Validator)
        kind.check_schema(value)
    except (ValueError, RecursionError, SchemaError) as error:
        reason = f"{error.json_path}: {error.message}" if isinstance(error, SchemaError) else str(error)
        shown = reason if len(reason) <= 120 else reason[:119] + "…"
        raise ValueError(tr("the schema can't be understood: {reason}", reason=shown)) from error
    extend: Any = validators.extend  # untyped in the stubs
    checker = FormatChecker()
    checker.checks("date", ValueError)(_is_date)
    followed = count(1)
    references = {key: _counted(kind.VALIDATORS[key], followed) for key in REFERENCES if key in kind.VALIDATORS}
    limited = extend(kind, {"pattern": _limited_pattern, **references})
    validator = limited(value, registry=Registry(), format_checker=checker if formats else None)
    try:
        for _ in validator.iter_errors(None):  # any value shows where the outermost references lead
            pass
    except Exception as error:
        raise ValueError(tr("the schema can't be understood: {reason}", reason=endless_or(error))) from error
    return validator


def endless_or(error: Exception) -> str:
    """Why validating failed, in words, where the schema is to blame."""
    if isinstance(error, RecursionError):
        return tr("it refers to itself without end")
    return str(error) or type(error).__name__


def _object(schema: str) -> dict[str, Any]:
    value = json.loads(schema)
    if not isinstance(value, dict):
        raise ValueError(tr("a schema is an object"))  # noqa: TRY004 -- the one kind of error there is here
    return value


def _is_date(value: object) -> bool:
    return not isinstance(value, str) or bool(_FULL_DATE.fullmatch(value) and date.fromisoformat(value))


def _counted(keyword: Callable[..., Any], followed: Iterator[int]) -> Callable[..., Any]:
    """The keyword, which gives up when all of the validator's references have been followed too often."""

    def limited(validator: Any, reference: Any, instance: object, schema: Any) -> Any:
        if next(followed) > MOST_REFERENCES:
            raise ValueError(tr("it leads over more than {count} references", count=f"{MOST_REFERENCES:,}"))
        return keyword(validator, reference, instance, schema)

    return limited


def _limited_pattern(_validator: Any, pattern: str, instance: object, _schema: Any) -> Any:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not compile_pattern(pattern).search(instance, timeout=PATTERN_SECONDS):
        yield ValidationError(tr("“{value}” doesn't fit its pattern", value=instance[:120]))


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(tr("“{key}” is there twice", key=key))
        made[key] = value
    return made
