"""Model files as their headers would describe them, without the files."""

from __future__ import annotations

from workbench.memory.shape import read_shape
from workbench.records.models import ModelFile

GQA = {"attention.head_count": 32, "attention.head_count_kv": 8, "embedding_length": 4096, "feed_forward_length": 14336}


def model(architecture: str = "llama", weights: int = 4_600_000_000, layers: int = 32, **fields: object) -> ModelFile:
    """A model of 8 B parameters with grouped-query attention, with ``fields`` (dots as ``__``) in its header."""
    given = GQA | {key.replace("__", "."): value for key, value in fields.items()} | {"block_count": layers}
    header = {f"{architecture}.{key}": value for key, value in given.items()}
    return ModelFile(
        path=f"/models/{architecture}.gguf",
        name=architecture,
        size=weights,
        architecture=architecture,
        context=131_072,
        layers=layers,
        embedding=4096,
        heads=32,
        kv_heads=8,
        head_dimension=128,
        shape=read_shape(architecture, header, weights, weights * 9 // 10, 128_256),
    )
