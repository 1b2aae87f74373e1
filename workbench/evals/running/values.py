"""What each value of a run's configuration may be: one place for options, files, dialogs and sweeps alike."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.codec import TYPE_KEY
from workbench.records.evals import RunConfig
from workbench.records.retrieval import Lane

MOST: Final = 2**31 - 1
"""What numbers reach unless told otherwise: more fits neither an engine's integer nor any use."""

_COUNTS: Final = (
    "k",
    "depth",
    "search.k",
    "search.candidates",
    "search.lane_candidates",
    "search.rerank_depth",
    "ask.evidence",
    "ask.max_output",
    "ask.budget",
    "load.context",
    "load.batch",
)
_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(_COUNTS, (1, MOST)),
    "ask.threshold": (0, 1),
    "ask.mmr": (0, 1),
    "ask.retries": (0, 3),
    "load.adapters.scale": (-MOST, MOST),
}
"""From and to; other numbers begin at 0."""
_NEVER_EMPTY: Final = frozenset({"search.lanes", "search.rerank"})
_NARROWER: Final[Mapping[str, Any]] = {"search.weights": tuple[tuple[Lane, float], ...]}
"""What takes less than its record says."""
_SHOWN: Final = 60
"""Characters of a value in a message."""


def check_values(config: RunConfig | Mapping[str, Any]) -> None:
    """Holds a configuration, or the JSON of one, to the keys there are, their types and their ranges.

    Raises:
        UsageError: for a key that no configuration has, as a misspelt one would silently leave the default; for a value
            that its key doesn't take, naming both and what it takes.
    """
    _check_record("", RunConfig, config)


def readable(data: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of a stored configuration less what isn't of its key's kind, which then reads as the default.

    Earlier versions stored what they were given. A number out of its range stays: the run was made with it.
    """
    return _readable("", RunConfig, data)


def fits(path: str, value: object) -> bool:
    """Whether the key, as "search.lanes", takes the value."""
    return _fits(path, _kind(path), value)


def takes(path: str) -> str:
    """What the key takes, in words: "a whole number from 1 to 2147483647"."""
    return _words(path, _kind(path))


def no_value(name: str, value: str, taken: str) -> UsageError:
    """The error for a value that ``name`` doesn't take."""
    return UsageError(
        tr("Not a value"),
        tr("“{value}” is no value of {name}.", value=value, name=name),
        tr("It takes {what}.", what=taken),
    )


def _check_record(path: str, kind: Any, value: Any) -> None:
    if isinstance(value, Mapping):
        _check_keys(path, kind, value)
        given = {name: one for name, one in value.items() if name in _hints(kind)}
    elif isinstance(value, kind):
        given = {name: getattr(value, name) for name in _hints(kind)}
    else:
        raise no_value(path or tr("a configuration"), _shown(value), _words(path, kind))
    for name, one in given.items():
        key = f"{path}.{name}" if path else name
        inner = _NARROWER.get(key, _hints(kind)[name])
        if _is_record(inner):
            _check_record(key, inner, one)
        elif not _fits(key, inner, one):
            raise no_value(key, _shown(one), _words(key, inner))


def _readable(path: str, kind: type, data: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, inner in _hints(kind).items():
        key, value = f"{path}.{name}" if path else name, data.get(name)
        if _is_record(inner):
            kept[name] = _readable(key, inner, value if isinstance(value, Mapping) else {})
        elif name in data and (_is_number(inner, value) or _fits_quietly(key, inner, value)):
            kept[name] = value
    return kept


def _fits_quietly(path: str, kind: Any, value: Any) -> bool:
    try:
        return _fits(path, kind, value)
    except UsageError:  # of a record in a list
        return False


def _check_keys(path: str, kind: type, data: Mapping[str, Any]) -> None:
    for name in data:
        if name in _hints(kind) or name == TYPE_KEY:
            continue
        known = tuple(_keys(RunConfig))
        names = {key.rpartition(".")[2]: key for key in known}
        names |= {one: f"{path}.{one}" if path else one for one in _hints(kind)}  # first of all those beside it
        near = get_close_matches(name, names, 1)
        raise UsageError(
            tr("No such key"),
            tr("A run's configuration has no “{name}”.", name=f"{path}.{name}" if path else name),
            tr("Did you mean “{name}”?", name=names[near[0]])
            if near
            else tr("There are: {names}.", names=", ".join(known)),
        )


def _fits(path: str, kind: Any, value: Any) -> bool:
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return (value is None and NoneType in args) or _fits(path, _some(args), value)
    if origin is tuple:
        return isinstance(value, (list, tuple)) and _fit_all(path, args, value)
    if origin is Literal:
        return isinstance(value, str) and value in args
    if _is_record(kind):
        _check_record(path, kind, value)
        return not isinstance(value, Mapping) or _required(kind) <= value.keys()
    if kind is bool:
        return isinstance(value, bool)
    if kind is str:
        return isinstance(value, str) and _is_storable(value) and (bool(value) or path not in _NEVER_EMPTY)
    low, high = _RANGES.get(path, (0, MOST))
    return _is_number(kind, value) and low <= value <= high


def _fit_all(path: str, args: tuple[Any, ...], values: list[Any] | tuple[Any, ...]) -> bool:
    if args[1:] != (Ellipsis,):
        return len(values) == len(args) and all(_fits(path, *pair) for pair in zip(args, values, strict=True))
    if not all(_fits(path, args[0], value) for value in values):
        return False
    once = get_origin(args[0]) is not Literal or len(set(values)) == len(values)
    return once and (bool(values) or path not in _NEVER_EMPTY)


def _is_number(kind: Any, value: Any) -> bool:
    """Whether a number of that kind, or of the kind that may be None, is asked for and given."""
    wanted = _some(get_args(kind)) if get_origin(kind) in (Union, UnionType) else kind
    numbers = (int, float) if wanted is float else (int,) if wanted is int else ()
    return isinstance(value, numbers) and not isinstance(value, bool)


def _words(path: str, kind: Any) -> str:
    origin, args = get_origin(kind), get_args(kind)
    low, high = _RANGES.get(path, (0, MOST))
    if origin in (Union, UnionType):
        return _words(path, _some(args))
    if origin is Literal:
        return tr("one of {names}", names=", ".join(args))
    if origin is tuple and args[1:] != (Ellipsis,):
        return f"[{', '.join(_words(path, arg) for arg in args)}]"
    if origin is tuple and path in _NEVER_EMPTY:
        return tr("a list of one or more, each {what}", what=_words(path, args[0]))
    if origin is tuple:
        return tr("a list, each {what}", what=_words(path, args[0]))
    if _is_record(kind):
        return tr("an object with {names}", names=", ".join(_hints(kind)))
    if kind is bool:
        return tr("true or false")
    if kind is str:
        return tr("a name") if path in _NEVER_EMPTY else tr("text")
    if kind is int:
        return tr("a whole number from {low} to {high}", low=low, high=high)
    return tr("a number from {low} to {high}", low=low, high=high)


def _shown(value: object) -> str:
    """As JSON has it, so that "5" isn't taken for 5; shortened."""
    text = json.dumps(value, ensure_ascii=False, default=repr).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _is_storable(text: str) -> bool:
    """Whether it is UTF-8 without the character that ends a path."""
    return "\0" not in text and not any("\ud800" <= one <= "\udfff" for one in text)


def _some(args: tuple[Any, ...]) -> Any:
    """The one kind that may be None."""
    return next(arg for arg in args if arg is not NoneType)


def _kind(path: str) -> Any:
    kind: Any = RunConfig
    for name in path.split("."):
        kind = _hints(kind)[name]
    return _NARROWER.get(path, kind)


def _is_record(kind: Any) -> bool:
    return is_dataclass(kind)


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}


def _required(kind: Any) -> set[str]:
    """The keys without a default."""
    return {one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING}


def _keys(kind: type, before: str = "") -> Iterator[str]:
    """Every key of a record and of the records in it, as "search.lanes"."""
    for name, inner in _hints(kind).items():
        yield before + name
        if _is_record(inner):
            yield from _keys(inner, f"{before}{name}.")
