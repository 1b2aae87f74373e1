"""Records to JSON and back: one codec for storage, the command line and exports.

Dataclasses become objects; a union of dataclasses carries its class name under ``"type"``. Dates are ISO 8601. A bound
that is infinite, for there is none, becomes null.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from typing import Any, TypeVar

R = TypeVar("R")
TYPE_KEY = "type"


def encode(value: object) -> Any:
    """A record (or a tuple, mapping or scalar of records) as JSON-ready Python values.

    Raises:
        TypeError: for a value that no record holds.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        body: dict[str, Any] = {TYPE_KEY: type(value).__name__} if _has_no_type_field(type(value)) else {}
        return body | {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): encode(v) for k, v in value.items()}
    if isinstance(value, (tuple, list, frozenset)):
        return [encode(v) for v in value]
    if isinstance(value, date):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, float) and math.isinf(value):
        return None
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"no record holds a {type(value).__name__}")


def decode(kind: type[R], data: Any) -> R:
    """The record of type ``kind`` that ``encode`` made ``data`` from.

    Unknown keys are ignored and missing ones take their defaults, so that a file from an older version still reads.

    Raises:
        TypeError, ValueError, KeyError: when ``data`` can't be such a record.
    """
    return typing.cast(R, _decode(kind, data))


@cache
def _has_no_type_field(kind: type) -> bool:
    return all(f.name != TYPE_KEY for f in dataclasses.fields(kind))


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _decode(kind: Any, data: Any) -> Any:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(typing.get_args(kind), data)
    if origin is typing.Literal or kind is Any:
        return data
    if origin is tuple:
        return _decode_tuple(typing.get_args(kind), data)
    if origin is not None and issubclass(origin, Mapping):
        value_kind = typing.get_args(kind)[1]
        return {k: _decode(value_kind, v) for k, v in data.items()}
    if dataclasses.is_dataclass(kind):
        hints = _hints(typing.cast(type, kind))
        fields = {f.name for f in dataclasses.fields(kind)}
        return kind(**{k: _decode(hints[k], v) for k, v in data.items() if k in fields})  # type: ignore[operator]  # a dataclass type, which mypy can't tell from an instance
    if kind is datetime or kind is date:
        return kind.fromisoformat(data)
    if kind is float and (data is None or isinstance(data, int)):
        return math.inf if data is None else float(data)
    return data


def _decode_tuple(args: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    if len(args) == 2 and args[1] is Ellipsis:
        return tuple(_decode(args[0], v) for v in data)
    return tuple(_decode(a, v) for a, v in zip(args, data, strict=True))


def _decode_union(args: tuple[Any, ...], data: Any) -> Any:
    if data is None:
        return None
    if isinstance(data, dict):
        for arg in args:
            if dataclasses.is_dataclass(arg) and typing.cast(type, arg).__name__ == data.get(TYPE_KEY):
                return _decode(arg, data)
        only = [a for a in args if dataclasses.is_dataclass(a)]
        if len(only) == 1:
            return _decode(only[0], data)
        raise ValueError(f"unknown record type {data.get(TYPE_KEY)!r}")
    if isinstance(data, list):
        tuples = [a for a in args if typing.get_origin(a) is tuple]
        return _decode(tuples[0], data) if tuples else data
    scalars = [a for a in args if a is not type(None)]
    if isinstance(data, str) and str not in scalars:
        return _decode(scalars[0], data)
    if len(scalars) == 1:
        return _decode(scalars[0], data)
    return data
