"""The same model in other quantizations and at other contexts: what would fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from workbench.memory.estimate import weight_bytes
from workbench.memory.room import Room, fit
from workbench.records.models import LoadSettings, MemoryGrid, MemoryGridRow, MemoryMeasurement, ModelFile

BITS: Final = {
    "F16": 16.0,
    "Q8_0": 8.5,
    "Q6_K": 6.5625,
    "Q5_K_M": 5.68,
    "Q4_K_M": 4.85,
    "Q4_0": 4.55,
    "Q3_K_M": 3.91,
    "Q2_K": 3.35,
}
"""Bits per weight that llama.cpp's mixes come to on models of 7–8 B parameters; small models differ."""
CONTEXTS: Final = (2048, 8192, 32_768, 131_072)


def memory_grid(
    file: ModelFile, settings: LoadSettings, free: Room, measurements: Sequence[MemoryMeasurement] = ()
) -> MemoryGrid:
    """The file as it is and as ``BITS`` would make it, most bits first: at the settings' context and at ``CONTEXTS``.

    Of those only the ones that the model was trained for.
    """
    contexts = tuple(sorted({settings.context, *(n for n in CONTEXTS if n <= file.context)}))
    variants = [(file, True)] + [(_as(file, name), False) for name in BITS if name != file.quantization]
    variants.sort(key=lambda variant: -variant[0].shape.weights)
    rows = (
        MemoryGridRow(
            variant.quantization,
            is_file,
            tuple(fit(variant, replace(settings, context=n), free, measurements) for n in contexts),
        )
        for variant, is_file in variants
    )
    return MemoryGrid(contexts, tuple(rows))


def _as(file: ModelFile, quantization: str) -> ModelFile:
    weights = round(weight_bytes(file.parameters, BITS[quantization]))
    layers = file.shape.layer_weights * weights // (file.shape.weights or 1)
    return replace(file, quantization=quantization, shape=replace(file.shape, weights=weights, layer_weights=layers))
