"""An estimate held against what is free: does it fit, how large a context fits, and which quantizations would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from workbench.memory.estimate import CONTEXT_STEP, estimate, rounded_context
from workbench.memory.ledger import correct
from workbench.records.models import (
    Gauges,
    LoadSettings,
    MemoryEstimate,
    MemoryFit,
    MemoryMeasurement,
    ModelFile,
    Verdict,
)

TIGHT_ABOVE = 0.85
"""A load that takes more than this share of what is free leaves the machine short of breath."""


@dataclass(frozen=True, slots=True)
class Room:
    """Free bytes; ``vram`` is None where there is no GPU, whose share then comes out of the RAM."""

    ram: int
    vram: int | None = None


def room(gauges: Gauges, loaded: bool) -> Room:
    """What a load may take. The model that stands ``loaded`` makes way for it, so that its memory counts as free."""
    ram = gauges.ram_total - gauges.ram_used + (gauges.rss if loaded else 0)
    vram = None if gauges.vram_used is None else max(0, (gauges.vram_total or 0) - gauges.vram_used)
    return Room(max(0, ram), vram)


def verdict(expected: MemoryEstimate, free: Room) -> Verdict:
    """How the load stands to the free bytes of both kinds; the worse of the two."""
    device = 0 if free.vram is None else expected.device
    needs = ((expected.total - device, free.ram), (device, free.vram or 0))
    if any(need > free for need, free in needs):
        return "no"
    return "tight" if any(need > TIGHT_ABOVE * free for need, free in needs) else "fits"


def fit(
    file: ModelFile,
    settings: LoadSettings,
    free: Room,
    measurements: Sequence[MemoryMeasurement] = (),
) -> MemoryFit:
    """The verdict on loading ``file`` so, corrected by ``measurements``, which are newest first."""

    def at(context: int) -> MemoryEstimate | None:
        return correct(file, estimate(file, replace(settings, context=context)), measurements)

    expected = at(settings.context)
    if expected is None:
        return MemoryFit("unknown", None, 0)
    before = next((m for m in measurements if m.path == file.path and m.settings == settings), None)
    return MemoryFit(verdict(expected, free), expected, _largest(file, free, at), before)


def _largest(file: ModelFile, free: Room, at: Callable[[int], MemoryEstimate | None]) -> int:
    """The largest context up to the one the model was trained for; bisection, because memory grows with context."""
    low, high = 0, max(1, rounded_context(file.context or CONTEXT_STEP) // CONTEXT_STEP)
    while low < high:
        middle = (low + high + 1) // 2
        expected = at(middle * CONTEXT_STEP)
        if expected and verdict(expected, free) != "no":
            low = middle
        else:
            high = middle - 1
    return min(low * CONTEXT_STEP, file.context) if file.context else low * CONTEXT_STEP
