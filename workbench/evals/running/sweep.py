"""A run's configuration by names: what an option, or a sweep over one variable, sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias, get_type_hints

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.codec import TYPE_KEY
from workbench.records.evals import Layer, RunConfig

Part: TypeAlias = Literal["", "search", "ask", "load", "prices"]

_ALL: Final[tuple[Layer, ...]] = ("retrieval", "generation", "chain", "model")
_ON_A_CORPUS: Final[tuple[Layer, ...]] = ("retrieval", "generation", "chain")
_SEARCHING: Final[tuple[Layer, ...]] = ("retrieval", "chain")
_ASKING: Final[tuple[Layer, ...]] = ("generation", "chain")
_WRITING: Final[tuple[Layer, ...]] = ("generation", "chain", "model")

LANES: Final = {"lexical": ("lexical",), "dense": ("dense",), "both": ("lexical", "dense")}


@dataclass(frozen=True, slots=True)
class Variable:
    """A field of a run's configuration.

    Attributes:
        part: the record it is in, "" for the configuration itself.
        read: its value from text; raises ValueError or KeyError.
        layers: where it changes what is measured.
    """

    part: Part
    field: str
    read: Callable[[str], Any]
    layers: tuple[Layer, ...]


def _one_of(*names: str) -> Callable[[str], str]:
    return lambda text: {name: name for name in names}[text]


def _at_least(low: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text)
        if value < low:
            raise ValueError(text)
        return value

    return read


def _price(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError(text)
    return value


def _name(text: str) -> str:
    if not text.strip():
        raise ValueError(text)
    return text.strip()


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


VARIABLES: Final[Mapping[str, Variable]] = {
    "layer": Variable("", "layer", _one_of("retrieval", "generation", "chain", "model"), _ALL),
    "model": Variable("", "model", str, _WRITING),
    "k": Variable("", "k", _at_least(1), _SEARCHING),
    "depth": Variable("", "depth", _at_least(1), _SEARCHING),
    "collection": Variable("search", "collection", str, _ON_A_CORPUS),
    "index": Variable("", "index", _at_least(0), _ON_A_CORPUS),
    "lane": Variable("search", "lanes", LANES.__getitem__, _SEARCHING),
    "fusion": Variable("search", "fusion", _one_of("rrf", "weights"), _SEARCHING),
    "k0": Variable("search", "k0", _at_least(0), _SEARCHING),
    "candidates": Variable("search", "candidates", _at_least(1), _SEARCHING),
    "rerank": Variable("search", "rerank", _name, _SEARCHING),
    "rerank-depth": Variable("search", "rerank_depth", _at_least(1), _SEARCHING),
    "filter": Variable("search", "filter", str, _SEARCHING),
    "mode": Variable("ask", "mode", _one_of("auto", "extractive", "generated"), _ASKING),
    "evidence": Variable("ask", "evidence", _at_least(1), _ASKING),
    "threshold": Variable("ask", "threshold", _share, _ASKING),
    "max-output": Variable("ask", "max_output", _at_least(1), _WRITING),
    "temperature": Variable("ask", "temperature", float, _WRITING),
    "seed": Variable("ask", "seed", int, _WRITING),
    "context": Variable("load", "context", _at_least(1), _WRITING),
    "price-input": Variable("prices", "input", _price, _ALL),
    "price-output": Variable("prices", "output", _price, _ALL),
    "price-hour": Variable("prices", "hour", _price, _ALL),
    "kv-type": Variable("load", "kv_type", _one_of("f16", "q8_0", "q4_0"), _WRITING),
}
"""By the names that options and sweeps use. A chunk size or an embedder is another index, or another collection."""


def with_variable(config: RunConfig, name: str, text: str) -> RunConfig:
    """``config`` with one variable set. Raises UsageError for an unknown name or a value out of its range."""
    variable = VARIABLES.get(name)
    if variable is None:
        raise UsageError(
            tr("No such variable"),
            tr("A run has no variable “{name}”.", name=name),
            tr("There are: {names}.", names=", ".join(VARIABLES)),
        )
    try:
        value = variable.read(text)
    except (ValueError, KeyError) as error:
        raise UsageError(
            tr("Not a value"),
            tr("“{value}” is no value of {name}.", value=text, name=name),
            tr("workbench eval run --help tells the options."),
        ) from error
    if not variable.part:
        return replace(config, **{variable.field: value})
    part = replace(getattr(config, variable.part), **{variable.field: value})
    return replace(config, **{variable.part: part})


def vary(config: RunConfig, name: str, values: Sequence[str]) -> tuple[RunConfig, ...]:
    """One configuration per value, titled "name=value": they differ in nothing else.

    Raises:
        UsageError: fewer than two values, or one that is none; the layer never looks at the variable.
    """
    if len(set(values)) < 2:
        raise UsageError(
            tr("Nothing varies"),
            tr("A sweep needs at least two different values of {name}.", name=name),
            tr("E.g. --vary k=1,5,10"),
        )
    before = f"{config.title} · " if config.title else ""
    varied = tuple(
        replace(with_variable(config, name, value), title=f"{before}{name}={value}") for value in dict.fromkeys(values)
    )
    layers = VARIABLES[name].layers
    if config.layer not in layers:
        raise UsageError(
            tr("Nothing varies"),
            tr("In the layer “{layer}”, {name} changes nothing.", layer=config.layer, name=name),
            tr("It does in: {layers}.", layers=", ".join(layers)),
        )
    return varied


def check_keys(data: Mapping[str, Any]) -> None:
    """Raises UsageError for a key that no configuration has: a misspelt one would silently leave the default."""
    known = tuple(_keys(RunConfig))
    parts = {key.rpartition(".")[0] for key in known} - {""}
    given = [*data, *(f"{part}.{name}" for part in sorted(parts & data.keys()) for name in data[part])]
    for key in given:
        part, _, leaf = key.rpartition(".")
        if key in known or leaf == TYPE_KEY:
            continue
        beside = {path.rpartition(".")[2]: path for path in known if path.rpartition(".")[0] == part}
        names = {path.rpartition(".")[2]: path for path in known} | beside
        near = get_close_matches(leaf, names, 1)
        raise UsageError(
            tr("No such key"),
            tr("A run's configuration has no “{name}”.", name=key),
            tr("Did you mean “{name}”?", name=names[near[0]])
            if near
            else tr("There are: {names}.", names=", ".join(known)),
        )


def _keys(kind: type[Any], before: str = "") -> Iterator[str]:
    """Every key of a record and of the records in it, as "search.lanes"."""
    hints = get_type_hints(kind)
    for one in fields(kind):
        yield before + one.name
        if is_dataclass(hints[one.name]):
            yield from _keys(hints[one.name], f"{before}{one.name}.")
