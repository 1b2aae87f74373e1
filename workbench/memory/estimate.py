"""The memory a load will take, part by part.

Weights are what the file holds, of every expert. Keys and values follow M_KV = 2 · L · B · S · H_kv · d_head · bytes,
layer by layer, for one sequence. The scratch buffer is the larger of the two moments at which llama.cpp needs most: the
logits of a micro-batch, and a layer's attention or feed-forward with the mask over the whole context. Its factors were
fitted to what the engine reports for three architectures at 512–131,072 tokens; see docs/memory.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workbench.i18n import tr
from workbench.records.models import (
    KvType,
    LoadSettings,
    MemoryEstimate,
    MemoryPart,
    MemoryShape,
    MemoryTerm,
    ModelFile,
)

BLOCK = 32
KV_BLOCK_BYTES: Final[dict[KvType, int]] = {"f16": 64, "q8_0": 34, "q4_0": 18}
"""Bytes of 32 elements: q8_0 and q4_0 keep a two-byte scale with each block."""
CONTEXT_STEP = 256
"""The engine rounds a context up to this many tokens, and a window's cells too."""
LARGEST_MICRO_BATCH = 512
F32, F16 = 4, 2
PROCESS_BYTES = 61 << 20
"""The child process beside the engine's buffers: interpreter, libraries, thread stacks."""
ENTRY_BYTES = 200
"""What an entry of the vocabulary takes in its process: its text and merges, and its place among the candidates."""


def weight_bytes(parameters: float, bits: float) -> float:
    """M_weights = N · b ÷ 8: the rule of thumb before there is a file."""
    return parameters * bits / 8


def rounded_context(context: int) -> int:
    """The tokens that the engine makes room for when ``context`` are asked for."""
    return max(1, -(-context // CONTEXT_STEP)) * CONTEXT_STEP


def estimate(file: ModelFile, settings: LoadSettings) -> MemoryEstimate | None:
    """What loading ``file`` will take, uncorrected. None when its header doesn't tell enough."""
    shape = file.shape
    if file.problem or not shape.weights or not (shape.caches or shape.state):
        return None
    context = rounded_context(settings.context)
    terms = (
        MemoryTerm("weights", tr("all tensors of the file"), shape.weights),
        *_cache_terms(shape, settings, context),
        _compute_term(file, settings, context),
        MemoryTerm("output", f"{shape.vocabulary:,} × {F32} B", shape.vocabulary * F32),
    )
    weights, cache, compute, output = (_sum(terms, part) for part in ("weights", "kv_cache", "compute", "output"))
    return MemoryEstimate(
        context=context,
        weights=weights,
        kv_cache=cache,
        compute=compute,
        output=output,
        margin=PROCESS_BYTES + shape.vocabulary * ENTRY_BYTES,
        touched=min(compute, _layer_bytes(file) * _micro_batch(settings, context)),
        device=_on_device(file, settings.gpu_layers, cache, compute),
        terms=terms,
    )


def _sum(terms: tuple[MemoryTerm, ...], part: str) -> int:
    return sum(term.bytes for term in terms if term.part == part)


def _cache_terms(shape: MemoryShape, settings: LoadSettings, context: int) -> Iterator[MemoryTerm]:
    """Keys and values of each kind of layer, then the state of recurrent ones."""
    part: MemoryPart = "kv_cache"
    block = KV_BLOCK_BYTES[settings.kv_type]
    for cache in shape.caches:
        cells = context
        if cache.windowed and not settings.whole_window:
            cells = min(context, rounded_context(shape.window + _micro_batch(settings, context)))
        octets = cache.layers * cells * (cache.key + cache.value) * block // BLOCK
        what = tr(
            "{layers} layers × {cells} tokens × ({key} + {value}) × {bytes} B",
            layers=cache.layers,
            cells=f"{cells:,}",
            key=cache.key,
            value=cache.value,
            bytes=f"{block / BLOCK:g}",
        )
        yield MemoryTerm(part, what, octets)
    if shape.state:
        yield MemoryTerm(part, tr("state of the recurrent layers"), shape.state)


def _micro_batch(settings: LoadSettings, context: int) -> int:
    return max(1, min(settings.batch, LARGEST_MICRO_BATCH, context))


def _compute_term(file: ModelFile, settings: LoadSettings, context: int) -> MemoryTerm:
    """The scratch buffer: the widest moment of a micro-batch, in bytes per token of it."""
    shape, tokens = file.shape, _micro_batch(settings, context)
    logits = (shape.vocabulary + 2 * file.embedding) * F32
    cells = context if shape.caches else 0
    if settings.flash_attention:
        layer = _layer_bytes(file) + cells * F16
    else:
        heads = file.heads * file.head_dimension + file.kv_heads * file.head_dimension
        layer = (3 * file.embedding + 2 * heads) * F32 + cells * (file.heads + 1) * F32
    what = tr("{tokens} tokens × {each} B", tokens=tokens, each=f"{max(logits, layer):,}")
    return MemoryTerm("compute", what, tokens * max(logits, layer))


def _layer_bytes(file: ModelFile) -> int:
    """Scratch of the feed-forward for one token: all that generating writes to, where logits are asked of one token."""
    return (3 * file.shape.feed_forward + 3 * file.embedding) * F32


def _on_device(file: ModelFile, gpu_layers: int, cache: int, compute: int) -> int:
    """Bytes on the GPU: its share of the layers with their cache, the output with the last one, and the scratch.

    ``gpu_layers`` below 0 means all, as the engine has it.
    """
    taken = min(gpu_layers, file.layers) if gpu_layers >= 0 else file.layers
    if not taken or not file.layers:
        return 0
    output = file.shape.weights - file.shape.layer_weights if gpu_layers < 0 or gpu_layers > file.layers else 0
    return (file.shape.layer_weights + cache) * taken // file.layers + output + compute
