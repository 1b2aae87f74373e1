"""How runs are called, by their title or by what tells one from another, and what people say of their results."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workbench.evals.running.sweep import VARIABLES
from workbench.i18n import tr
from workbench.records.evals import Layer, Run, RunConfig
from workbench.records.rerankers import NONE
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.rerank import DEPTH

_SAID_IN_WORDS: Final = frozenset({"layer", "model", "lane", "fusion", "collection", "seed"})
_UNNAMED: Final = ("constrained", "mmr", "budget", "order", "retries", "rewrite", "judge", "duplicates", "parents")
"""How answers are made, besides what has an option of its own."""
_SHORT: Final = {"threshold": "τ"}


def layer_title(layer: Layer) -> str:
    """What a run exercises, in the interface's language."""
    names: dict[Layer, str] = {
        "retrieval": tr("retrieval"),
        "generation": tr("generation"),
        "chain": tr("whole chain"),
        "model": tr("model tasks"),
    }
    return names[layer]


def run_words(run: Run) -> str:
    """A run's title, or what is set otherwise than usual, its layer, lanes and model: "k=10 · hybrid rrf".

    What is set stands first: it tells runs apart where a narrow list cuts the rest.
    """
    config = run.config
    if config.title:
        return config.title
    lanes = config.search.lanes
    ways = tr("hybrid {fusion}", fusion=config.search.fusion) if len(lanes) > 1 else lane_name(lanes[0])
    layer = "" if config.layer == "retrieval" else layer_title(config.layer)
    model = model_name(config.model or run.manifest.model)
    parts = (*_settings(config), layer, ways if config.layer in VARIABLES["lane"].layers else "", model)
    return " · ".join(part for part in parts if part)


def model_name(path: str) -> str:
    """A model's file as it is called: without folder and ending."""
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".gguf")


def lane_name(lane: str) -> str:
    """A lane in the interface's language."""
    return {"lexical": tr("lexical"), "dense": tr("dense")}.get(lane, lane)


def label_name(value: int) -> str:
    """A verdict in the interface's language."""
    return {1: tr("right"), -1: tr("wrong"), 0: tr("undecided")}[value]


def _settings(config: RunConfig) -> tuple[str, ...]:
    """What differs from a configuration in which nothing was chosen, by the names of options; what it costs is none."""
    plain = replace(RunConfig(config.dataset), search=SearchOptions(rerank=NONE, rerank_depth=DEPTH))
    told = []
    for name, variable in VARIABLES.items():
        if name in _SAID_IN_WORDS or variable.part == "prices" or config.layer not in variable.layers:
            continue
        mine, usual = (
            getattr(getattr(one, variable.part) if variable.part else one, variable.field) for one in (config, plain)
        )
        if mine not in (usual, None):
            told.append(f"{_SHORT.get(name, name)}={mine}")
    if config.layer in VARIABLES["mode"].layers:
        pairs = ((one, getattr(config.ask, one)) for one in _UNNAMED)
        told += [f"{one}={mine}" for one, mine in pairs if mine != getattr(plain.ask, one)]
    if config.search.transforms and config.layer in VARIABLES["lane"].layers:
        told.append("+".join(config.search.transforms))
    if config.segment:
        told.append("=".join(config.segment))
    if config.exclude_gold:
        told.append(tr("gold left out"))
    return tuple(told)
