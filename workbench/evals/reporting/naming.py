"""How runs are called, by their title or by what tells one from another, and what people say of their results."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workbench.answers.support import THRESHOLD
from workbench.evals.measuring.compare import threshold_of
from workbench.evals.running.sweep import VARIABLES
from workbench.i18n import tr
from workbench.records.answers import AskOptions
from workbench.records.evals import Layer, Run, RunConfig
from workbench.records.rerankers import NONE
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.rerank import DEPTH

_SAID_IN_WORDS: Final = frozenset({"layer", "model", "lane", "fusion", "collection"})
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

    What is set stands first: it tells runs apart where a narrow list cuts the rest. A sweep's title tells only the
    variable, so that the rest stands after it: "k0=10 · lexical".
    """
    config = run.config
    varied = _varied(config.title)
    if config.title and not varied:
        return config.title
    layer = "" if config.layer == "retrieval" or varied == "layer" else layer_title(config.layer)
    model = "" if varied == "model" else model_name(config.model or run.manifest.model)
    return " · ".join(
        part for part in (config.title, *_settings(run, varied), layer, _ways(config, varied), model) if part
    )


def model_name(path: str) -> str:
    """A model's file as it is called: without folder and ending."""
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".gguf")


def lane_name(lane: str) -> str:
    """A lane in the interface's language."""
    return {"lexical": tr("lexical"), "dense": tr("dense")}.get(lane, lane)


def label_name(value: int) -> str:
    """A verdict in the interface's language."""
    return {1: tr("right"), -1: tr("wrong"), 0: tr("undecided")}[value]


def _varied(title: str) -> str:
    """The variable of a sweep by the title that it gives its runs, "" where a person gave it."""
    name, equals, _ = title.rpartition(" · ")[2].partition("=")
    return name if equals and name in VARIABLES else ""


def _ways(config: RunConfig, varied: str) -> str:
    """How is searched, as far as the variable doesn't tell."""
    search = config.search
    if config.layer not in VARIABLES["lane"].layers or not search.lanes:
        return ""
    if varied == "lane":
        return f"fusion={search.fusion}" if search.fusion != SearchOptions().fusion else ""
    if len(search.lanes) == 1:
        return lane_name(search.lanes[0])
    return "" if varied == "fusion" else tr("hybrid {fusion}", fusion=search.fusion)


def _searched(search: SearchOptions) -> list[str]:
    """What of a search has no option of its own."""
    weights = search.weights if search.fusion == "weights" else SearchOptions().weights
    pairs = {"weights": () if weights == SearchOptions().weights else weights, "candidates": search.lane_candidates}
    told = [f"{name}={' '.join(f'{lane} {n:g}' for lane, n in own)}" for name, own in pairs.items() if own]
    return [*told, "+".join(search.transforms)] if search.transforms else told


def _settings(run: Run, varied: str) -> tuple[str, ...]:
    """What differs from a configuration in which nothing was chosen, by the names of options; what it costs is none.

    A τ that the file stored for its collection counts as chosen.
    """
    config = replace(run.config, ask=replace(run.config.ask, threshold=threshold_of(run)))
    plain = replace(
        RunConfig(config.dataset),
        search=SearchOptions(rerank=NONE, rerank_depth=DEPTH),
        ask=AskOptions(threshold=THRESHOLD),
    )
    told = []
    for name, variable in VARIABLES.items():
        if name in {*_SAID_IN_WORDS, varied} or variable.part == "prices" or config.layer not in variable.layers:
            continue
        mine, usual = (
            getattr(getattr(one, variable.part) if variable.part else one, variable.field) for one in (config, plain)
        )
        if mine not in (usual, None):
            told.append(f"{_SHORT.get(name, name)}={mine}")
    if config.layer in VARIABLES["mode"].layers:
        pairs = ((one, getattr(config.ask, one)) for one in _UNNAMED)
        told += [f"{one}={mine}" for one, mine in pairs if mine != getattr(plain.ask, one)]
    if config.layer in VARIABLES["lane"].layers:
        told += _searched(config.search)
    if config.segment:
        told.append("=".join(config.segment))
    if config.limit:
        told.append(tr("first {n}", n=f"{config.limit:,}"))
    if config.exclude_gold:
        told.append(tr("gold left out"))
    return tuple(told)
