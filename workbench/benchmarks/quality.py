"""What evaluations found of a bench's models, so far as it compares: of cases that the models have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.benchmarks.figures import rate
from workbench.records.benchmarks import BenchModel, Rate
from workbench.records.evals import Run, RunConfig
from workbench.records.models import LoadSettings


@dataclass(frozen=True, slots=True)
class Judged:
    """Cases passed, by the models' places in the bench, all of one evaluation: the same cases, asked the same way."""

    dataset: str = ""
    rates: Mapping[int, Rate] = field(default_factory=dict)


def judged(models: Sequence[BenchModel], runs: Sequence[Run]) -> Judged:
    """The evaluation that has most of the models, the newest of such; nothing where no model has one.

    Args:
        runs: newest first; those that aren't complete don't count.
    """
    groups: list[tuple[tuple[RunConfig, str], dict[int, Rate]]] = []
    for run in runs:
        places = [n for n, model in enumerate(models) if _is_of(run, model)]
        if run.status != "complete" or not run.scored or not places:
            continue
        asked = (replace(run.config, model="", title="", load=LoadSettings()), run.dataset_hash)
        rates = next((known for key, known in groups if key == asked), None)
        if rates is None:
            rates = {}
            groups.append((asked, rates))
        for place in places:
            rates.setdefault(place, rate(run.passed, run.scored))
    if not groups:
        return Judged()
    (config, _), rates = max(groups, key=lambda group: len(group[1]))
    return Judged(config.dataset, rates)


def _is_of(run: Run, model: BenchModel) -> bool:
    """By the file's hash, so that a copy counts and a file that was replaced doesn't; a server's model by its name."""
    told = run.manifest.model_hash
    return told == model.hash if told and model.hash else run.config.model == model.path
