"""Records of models: files, loading, gauges, generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

KvType: TypeAlias = Literal["f16", "q8_0", "q4_0"]


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file as its header describes it; no weights are read.

    Attributes:
        quantization: what the name says ("Q4_1"); ``tensor_types``: what the tensors are, most frequent first.
        bits_per_weight: file bits of tensor data ÷ parameters.
        chat_template: the template's source, "" for none.
        hash: SHA-256 of the file, "" until it was loaded once; it holds for this ``size`` and ``modified`` (Unix s).
        problem: why it can't be used (damaged header), "" when it can.
    """

    path: str
    name: str
    size: int
    architecture: str = ""
    parameters: int = 0
    context: int = 0
    layers: int = 0
    embedding: int = 0
    heads: int = 0
    kv_heads: int = 0
    head_dimension: int = 0
    tokenizer: str = ""
    quantization: str = ""
    tensor_types: tuple[tuple[str, int], ...] = ()
    bits_per_weight: float = 0.0
    chat_template: str = ""
    licence: str = ""
    origin: str = ""
    hash: str = ""
    modified: float = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """How a model is loaded. ``threads`` 0 means physical cores − 1 (at least 1)."""

    context: int = 4096
    batch: int = 512
    threads: int = 0
    gpu_layers: int = 0
    kv_type: KvType = "f16"
    flash_attention: bool = True
    mmap: bool = False


@dataclass(frozen=True, slots=True)
class MemorySplit:
    """Bytes by use, as the engine reported them at load; 0 where it reported none."""

    weights: int = 0
    kv_cache: int = 0
    compute: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """A running load: ``fraction`` 0–1, ``model`` is set on the last one."""

    fraction: float
    message: str = ""
    model: LoadedModel | None = None


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that stands ready in its child process."""

    file: ModelFile
    settings: LoadSettings
    context: int
    memory: MemorySplit
    load_ms: float
    pid: int


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """Sampling; temperature 0 is greedy. ``grammar`` is GBNF with root rule ``root``, "" for none."""

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 0.95
    top_k: int = 40
    seed: int = 0
    stop: tuple[str, ...] = ()
    grammar: str = ""


@dataclass(frozen=True, slots=True)
class Gauges:
    """What is in memory now. Bytes; None where it can't be measured, with the reason in ``vram_note``."""

    rss: int
    rss_peak: int
    cpu_percent: float
    ram_used: int
    ram_total: int
    vram_used: int | None = None
    vram_total: int | None = None
    vram_note: str = ""
