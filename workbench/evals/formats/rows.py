"""A row's fields to a ``Case`` and back: one set of rules for every format, with reasons that a person can act on."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from workbench.errors import WorkbenchError
from workbench.evals.tasks.checks import check_expectation
from workbench.i18n import tr
from workbench.records.cases import Case, Expectation, GoldSpan
from workbench.records.codec import TYPE_KEY, decode, encode
from workbench.retrieval.filters import parse_filter

FIELDS: Final = tuple(f.name for f in fields(Case))
SPANS: Final = ("gold", "citations", "negatives")
LISTS: Final = (*SPANS, "answers", "tags")
TEXTS: Final = ("type", "difficulty", "language", "notes", "filter", "criterion")
GRADES: Final = range(4)
_DEFAULTS: Final = {f.name: f.default for f in fields(Case) if f.default is not MISSING}


class RowError(ValueError):
    """A row that is no case; its message is what a person reads."""


def case_from(row: object) -> Case:
    """The case that ``row`` describes; keys that no case has are left to the caller.

    Raises:
        RowError: it isn't one; the message says why.
    """
    if not isinstance(row, Mapping):
        raise RowError(tr("it is not an object with fields"))
    values = {name: row[name] for name in FIELDS if row.get(name) is not None}
    if isinstance(values.get("id"), int) and not isinstance(values["id"], bool):
        values["id"] = str(values["id"])
    _check_shape(values)
    try:
        case = decode(Case, values)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise RowError(tr("its fields don't fit: {reason}", reason=error)) from error
    _check_values(case)
    return case


def fields_of(case: Case, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields that ``case`` gives a value to, as JSON-ready values, in the order of ``Case``."""
    given = {name: getattr(case, name) for name in FIELDS if name not in without}
    return {name: _plain(encode(value)) for name, value in given.items() if value != _DEFAULTS.get(name, MISSING)}


def case_id(question: str) -> str:
    """An id for a question that came without one: the same in every import, wherever its row stands."""
    return "q-" + hashlib.sha256(" ".join(question.split()).encode("utf-8", "replace")).hexdigest()[:10]


def text_of(row: Mapping[str, Any], *names: str) -> str:
    """The first of the fields ``names`` that holds text, "" when none does."""
    return next((row[name] for name in names if isinstance(row.get(name), str) and row[name].strip()), "")


def _plain(value: Any) -> Any:
    """Without the class names that the codec needs only to tell records of a union apart."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {k: v for k, v in value.items() if k != TYPE_KEY} if isinstance(value, dict) else value


def _require(fact: object, reason: str) -> None:
    if not fact:
        raise RowError(reason)


def _check_shape(values: Mapping[str, Any]) -> None:
    for name in ("question", "id"):
        text = values.get(name)
        _require(isinstance(text, str) and text.strip(), tr("“{field}” is missing or empty", field=name))
    for name in LISTS:
        _require(isinstance(values.get(name, []), list), tr("“{field}” is not a list", field=name))
    for name in SPANS:
        whole = all(isinstance(item, Mapping) and "source_id" in item for item in values.get(name, []))
        _require(whole, tr("“{field}” is not a list of objects with source_id, start, end, grade", field=name))
    wanted = values.get("expectation")
    if wanted is not None:
        _require(isinstance(wanted, Mapping), tr("“{field}” is not an object", field="expectation"))
        for name in ("kind", "value"):
            text = isinstance(wanted.get(name), str)
            _require(text, tr("“{field}” is missing or not text", field=f"expectation.{name}"))


def _check_values(case: Case) -> None:
    _require(isinstance(case.answerable, bool), tr("“{field}” is neither true nor false", field="answerable"))
    for name in TEXTS:
        _require(isinstance(getattr(case, name), str), tr("“{field}” is not text", field=name))
    for name in ("answers", "tags"):
        texts = all(isinstance(item, str) for item in getattr(case, name))
        _require(texts, tr("“{field}” holds something that is not text", field=name))
    for name in SPANS:
        for span in getattr(case, name):
            _check_span(name, span)
    _check_filter(case.filter)
    if case.expectation:
        _check_expectation(case.expectation)
    _check_characters(fields_of(case))


def _check_span(field: str, span: GoldSpan) -> None:
    numbers = (span.start, span.end, span.grade)
    named = isinstance(span.source_id, str) and span.source_id
    _require(named, tr("a span of “{field}” names no source_id", field=field))
    whole = all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
    _require(whole, tr("a span of “{field}” has a start, end or grade that is no whole number", field=field))
    _require(
        0 <= span.start < span.end or span.start == span.end == 0,
        tr("a span of “{field}” has no extent: {start}–{end}", field=field, start=span.start, end=span.end),
    )
    _require(
        span.grade in GRADES,
        tr("a span of “{field}” has grade {grade}: grades go from 0 to 3", field=field, grade=span.grade),
    )


def _check_filter(expression: str) -> None:
    try:
        parse_filter(expression)
    except WorkbenchError as error:
        told = error.message.partition("\n")[0]  # what follows points at the place with a line of its own
        raise RowError(tr("the filter “{filter}”: {reason}", filter=expression, reason=told)) from error


def _check_expectation(expectation: Expectation) -> None:
    _require(isinstance(expectation.fixture, str), tr("“{field}” is not text", field="expectation.fixture"))
    ordered = isinstance(expectation.ordered, bool)
    _require(ordered, tr("“{field}” is neither true nor false", field="expectation.ordered"))
    tolerance: object = expectation.tolerance
    number = isinstance(tolerance, (int, float)) and not isinstance(tolerance, bool) and 0 <= tolerance < math.inf
    _require(number, tr("the tolerance is no number from 0"))
    try:
        check_expectation(expectation)
    except WorkbenchError as error:
        raise RowError(error.message) from error


def _check_characters(value: Any) -> None:
    """No half of a surrogate pair: JSON can write one, and no file, index or model can take it."""
    match value:
        case str():
            half = any("\ud800" <= c <= "\udfff" for c in value)
            _require(not half, tr("it holds half of a character (a lone surrogate)"))
        case dict():
            for item in value.values():
                _check_characters(item)
        case list():
            for item in value:
                _check_characters(item)
