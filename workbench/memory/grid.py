"""The same model in other quantizations and at other contexts: what would fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from workbench.memory.estimate import weight_bytes
from workbench.memory.room import Room, fit
from workbench.records.models import LoadSettings, MemoryGrid, MemoryGridRow, MemoryMeasurement, ModelFile

MIXES: Final = {
    "F16": (16.0, 16.0),
    "Q8_0": (8.5, 8.5),
    "Q6_K": (6.5625, 8.5),
    "Q5_K_M": (5.65, 6.1),
    "Q4_K_M": (4.8, 5.6),
    "Q4_0": (4.5, 4.5),
    "Q3_K_M": (3.85, 4.75),
    "Q2_K": (3.1, 4.45),
}
"""Bits per weight that llama.cpp's mixes come to, without the matrix of the output; and where rows don't divide into
blocks of 256, so that a larger type takes their place. From files of 8 B parameters, and from SmolLM2's."""
OUTPUT_BITS: Final = (6.5625, 8.5)
"""Likewise of the output's matrix, in every mix of fewer than 8 bits: Q6_K, or Q8_0 where rows don't divide."""
CONTEXTS: Final = (2048, 8192, 32_768, 131_072)


def memory_grid(
    file: ModelFile, settings: LoadSettings, free: Room, measurements: Sequence[MemoryMeasurement] = ()
) -> MemoryGrid:
    """The file as it is and as ``MIXES`` would make it, most bits first: at the settings' context and at ``CONTEXTS``.

    Of those only the ones that the model was trained for.
    """
    contexts = tuple(sorted({settings.context, *(n for n in CONTEXTS if n <= file.context)}))
    variants = [(file, True)] + [(_as(file, name), False) for name in MIXES if name != file.quantization]
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
    weights = quantized_bytes(file, quantization)
    layers = file.shape.layer_weights * weights // (file.shape.weights or 1)
    return replace(file, quantization=quantization, shape=replace(file.shape, weights=weights, layer_weights=layers))


def quantized_bytes(file: ModelFile, quantization: str) -> int:
    """Of all tensors, were the file quantized so; its own types count for nothing."""
    shape, (bits, narrow_bits) = file.shape, MIXES[quantization]
    output_bits = OUTPUT_BITS[file.embedding % 256 != 0] if bits < OUTPUT_BITS[1] else bits
    others = file.parameters - shape.output - shape.narrow
    parts = ((others, bits), (shape.narrow, narrow_bits), (shape.output, output_bits))
    return round(sum(weight_bytes(*part) for part in parts))
