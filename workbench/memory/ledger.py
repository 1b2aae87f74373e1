"""What earlier loads took corrects the next estimate of the same architecture.

The rule: each part is multiplied by the median of measured ÷ predicted over the architecture's last nine loads, and
by no less than a half and no more than two, so that one odd load can't turn a verdict round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from workbench.records.models import (
    LoadedModel,
    MemoryEstimate,
    MemoryMeasurement,
    MemoryPart,
    MemorySplit,
    ModelFile,
)

LOADS_COUNTED = 9
LEAST, MOST = 0.5, 2.0
PARTS: tuple[MemoryPart, ...] = ("weights", "kv_cache", "compute", "output")


def measurement(model: LoadedModel, predicted: MemoryEstimate | None) -> MemoryMeasurement | None:
    """The ledger's entry for a load; None where nothing was foreseen or the engine reported nothing."""
    if predicted is None or not model.memory.weights:
        return None
    foreseen = MemorySplit(predicted.weights, predicted.kv_cache, predicted.compute, predicted.output)
    return MemoryMeasurement(model.file.architecture, model.file.path, model.settings, foreseen, model.memory)


def correct(
    file: ModelFile, expected: MemoryEstimate | None, measurements: Sequence[MemoryMeasurement]
) -> MemoryEstimate | None:
    """The estimate by the rule above; ``measurements`` are newest first. ``loads`` tells how many it rests on."""
    if expected is None:
        return None
    loads = [m for m in measurements if m.architecture == file.architecture][:LOADS_COUNTED]
    parts = {part: round(getattr(expected, part) * ratio(part, loads)) for part in PARTS}
    grown = sum(parts.values()) / expected.buffers if expected.buffers else 1.0
    return replace(expected, **parts, device=round(expected.device * grown), loads=len(loads))


def ratio(part: MemoryPart, loads: Sequence[MemoryMeasurement]) -> float:
    """Median of measured ÷ predicted for a part, within the bounds; 1 where there is none."""
    ratios = [getattr(m.measured, part) / predicted for m in loads if (predicted := getattr(m.predicted, part))]
    return min(MOST, max(LEAST, median(ratios))) if ratios else 1.0
