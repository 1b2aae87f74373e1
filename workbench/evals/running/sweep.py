"""A run's configuration by names: what an option, or a sweep over one variable, sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from workbench.errors import UsageError
from workbench.evals.running.values import fits, no_value, takes
from workbench.i18n import tr
from workbench.records.evals import Layer, RunConfig
from workbench.records.rerankers import NONE

Part: TypeAlias = Literal["", "search", "ask", "load", "prices"]

_ALL: Final[tuple[Layer, ...]] = ("retrieval", "generation", "chain", "model")
_ON_A_CORPUS: Final[tuple[Layer, ...]] = ("retrieval", "generation", "chain")
_SEARCHING: Final[tuple[Layer, ...]] = ("retrieval", "chain")
_ASKING: Final[tuple[Layer, ...]] = ("generation", "chain")
_WRITING: Final[tuple[Layer, ...]] = ("generation", "chain", "model")

_OF_A_MODEL: Final = frozenset({"max-output", "temperature", "seed", "context", "kv-type"})
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

    @property
    def path(self) -> str:
        """Its key, as "search.lanes"."""
        return f"{self.part}.{self.field}" if self.part else self.field

    def of(self, config: RunConfig) -> Any:
        """Its value."""
        return getattr(getattr(config, self.part) if self.part else config, self.field)


VARIABLES: Final[Mapping[str, Variable]] = {
    "layer": Variable("", "layer", str, _ALL),
    "model": Variable("", "model", str, _WRITING),
    "k": Variable("", "k", int, _SEARCHING),
    "depth": Variable("", "depth", int, _SEARCHING),
    "collection": Variable("search", "collection", str, _ON_A_CORPUS),
    "index": Variable("", "index", int, _ON_A_CORPUS),
    "lane": Variable("search", "lanes", LANES.__getitem__, _SEARCHING),
    "fusion": Variable("search", "fusion", str, _SEARCHING),
    "k0": Variable("search", "k0", int, _SEARCHING),
    "candidates": Variable("search", "candidates", int, _SEARCHING),
    "rerank": Variable("search", "rerank", str.strip, _SEARCHING),
    "rerank-depth": Variable("search", "rerank_depth", int, _SEARCHING),
    "filter": Variable("search", "filter", str, _SEARCHING),
    "mode": Variable("ask", "mode", str, _ASKING),
    "evidence": Variable("ask", "evidence", int, _ASKING),
    "threshold": Variable("ask", "threshold", float, _ASKING),
    "max-output": Variable("ask", "max_output", int, _WRITING),
    "temperature": Variable("ask", "temperature", float, _WRITING),
    "seed": Variable("ask", "seed", int, _WRITING),
    "context": Variable("load", "context", int, _WRITING),
    "price-input": Variable("prices", "input", float, _ALL),
    "price-output": Variable("prices", "output", float, _ALL),
    "price-hour": Variable("prices", "hour", float, _ALL),
    "kv-type": Variable("load", "kv_type", str, _WRITING),
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
    except (ValueError, KeyError):
        value = None
    if value is None or not fits(variable.path, value):
        raise no_value(
            name, text, tr("one of {names}", names=", ".join(LANES)) if name == "lane" else takes(variable.path)
        )
    if not variable.part:
        return replace(config, **{variable.field: value})
    part = replace(getattr(config, variable.part), **{variable.field: value})
    return replace(config, **{variable.part: part})


def vary(config: RunConfig, name: str, values: Sequence[str]) -> tuple[RunConfig, ...]:
    """One configuration per value, titled "name=value": they differ in nothing else.

    Raises:
        UsageError: fewer than two values, or one that is none; the runs would never look at the variable.
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
    _refuse_idle(config, name)
    return varied


def check_sweep(configs: Sequence[RunConfig]) -> None:
    """Raises UsageError for settled configurations that differ in a variable which none of them looks at."""
    for name, variable in VARIABLES.items():
        if len({variable.of(config) for config in configs}) > 1:
            for config in configs:
                _refuse_idle(config, name)


def writes(config: RunConfig) -> bool:
    """Whether a model writes what a run measures."""
    asks = config.layer in _ASKING and config.ask.mode != "extractive"
    return bool(config.model) and (config.layer == "model" or asks)


def _refuse_idle(config: RunConfig, name: str) -> None:
    """Raises UsageError when a run doesn't look at the variable, whatever its value."""
    layers = VARIABLES[name].layers
    if config.layer not in layers:
        raise UsageError(
            tr("Nothing varies"),
            tr("In the layer “{layer}”, {name} changes nothing.", layer=config.layer, name=name),
            tr("It does in: {layers}.", layers=", ".join(layers)),
        )
    if lacking := _lacking(config, name):
        raise UsageError(
            tr("Nothing varies"),
            tr("Without {what}, {name} changes nothing.", what=lacking, name=name),
            tr("Choose that for all the runs first."),
        )


def _lacking(config: RunConfig, name: str) -> str:
    """What would make a run look at the variable, "" when it does. What is settled only later counts as there."""
    search = config.search
    if name in _OF_A_MODEL and not writes(config):
        return tr("a model that writes")
    if name == "mode" and not config.model:
        return tr("a model that writes")
    if name == "seed" and config.ask.temperature == 0:
        return tr("a temperature above 0")
    if name == "rerank-depth" and search.rerank == NONE:
        return tr("a reranker")
    if name == "k0" and search.fusion != "rrf":
        return tr("fusion by RRF")
    asks_once = config.layer == "retrieval" or (search.transforms == () and not config.ask.retries)
    if name in {"k0", "fusion"} and len(search.lanes) == 1 and asks_once:
        return tr("two lanes")
    return ""
