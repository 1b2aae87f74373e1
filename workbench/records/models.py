"""Records of models: files, loading, gauges, generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

KvType: TypeAlias = Literal["f16", "q8_0", "q4_0"]

FEWEST_PARAMETERS: Final = 50_000
"""Fewer aren't told: they would be written as 0.0 M."""


@dataclass(frozen=True, slots=True)
class LayerCache:
    """Layers that keep keys and values alike.

    Attributes:
        key: elements per token and layer; ``value`` likewise, 0 where values are read out of the keys (MLA).
        windowed: they attend to the last ``MemoryShape.window`` tokens only.
    """

    layers: int
    key: int
    value: int
    windowed: bool = False


@dataclass(frozen=True, slots=True)
class MemoryShape:
    """What of a model takes memory. Bytes unless said otherwise; all 0 when its header doesn't tell.

    Attributes:
        weights: of all tensors; ``layer_weights``: of those that belong to a layer, which a GPU can take.
        vocabulary: rows of the token embedding.
        feed_forward: width of a layer's widest projection for one token, of the experts that act on it together.
        window: tokens that a windowed layer attends to.
        state: what recurrent layers keep, however long the context.
        output: elements of the matrix that makes logits, which may be the embedding's; ``narrow``: of other matrices
            whose rows don't divide into the 256 elements of a K quantization's block.
    """

    weights: int = 0
    layer_weights: int = 0
    vocabulary: int = 0
    feed_forward: int = 0
    experts: int = 0
    caches: tuple[LayerCache, ...] = ()
    window: int = 0
    state: int = 0
    output: int = 0
    narrow: int = 0


Keeper: TypeAlias = Literal["folder", "ollama", "lmstudio", "huggingface"]
"""What keeps a model file: a folder of the person's own, or another tool."""


@dataclass(frozen=True, slots=True)
class Place:
    """One way to a model file.

    Attributes:
        name: what its keeper calls it: "smollm2:135m", "publisher/repository"; "" in a folder of the person's own.
        manifest: Ollama's file that names the blob, "" elsewhere.
    """

    keeper: Keeper
    path: str
    name: str = ""
    manifest: str = ""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file as its header describes it; no weights are read.

    Attributes:
        kind: "model", or what the header says instead: "adapter" (LoRA), "mmproj", "imatrix", …
        family: what it is a variant of, without quantization and size: "smollm2".
        active_parameters: those that act on one token; ``parameters`` less the experts that don't.
        fallbacks: tensors that can't have the quantization's type, because their rows don't divide into its blocks.
        places: every way to this very file, ``path`` first.
        quantization: what the name says ("Q4_1"); ``tensor_types``: what the tensors are, most frequent first.
        bits_per_weight: file bits of tensor data ÷ parameters.
        chat_template: the template's source, "" for none.
        hash: SHA-256 of the file, "" until it was loaded once; it holds for this ``size`` and ``modified`` (Unix s).
        problem: why it can't be used (damaged header), "" when it can.
        ranks: it scores pairs of texts: its pooling is by rank, or it has a classifier's head.
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
    shape: MemoryShape = MemoryShape()
    kind: str = "model"
    family: str = ""
    active_parameters: int = 0
    fallbacks: int = 0
    places: tuple[Place, ...] = ()
    ranks: bool = False


@dataclass(frozen=True, slots=True)
class Adapter:
    """A LoRA file that is added to a model's weights, times ``scale``."""

    path: str
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """How a model is loaded.

    Attributes:
        gpu_layers: how many layers a GPU shall take, where there is one.
        threads: 0 means physical cores − 1 (at least 1).
        whole_window: layers that attend to a window keep the whole context all the same: more memory, and a prompt that
            begins like the last one is not read again.
    """

    context: int = 4096
    batch: int = 512
    threads: int = 0
    gpu_layers: int = 0
    kv_type: KvType = "f16"
    flash_attention: bool = True
    mmap: bool = False
    whole_window: bool = True
    adapters: tuple[Adapter, ...] = ()


@dataclass(frozen=True, slots=True)
class SaferLoad:
    """Settings to try again with after a failure; ``change`` says what is other: "without memory mapping"."""

    settings: LoadSettings
    change: str


@dataclass(frozen=True, slots=True)
class MemorySplit:
    """Bytes by use, as the engine reported them at load; 0 where it reported none."""

    weights: int = 0
    kv_cache: int = 0
    compute: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.weights + self.kv_cache + self.compute + self.output


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """A running load: ``fraction`` 0–1, ``model`` is set on the last one."""

    fraction: float
    message: str = ""
    model: LoadedModel | None = None


@dataclass(frozen=True, slots=True)
class Offload:
    """How many layers a GPU took of those it was asked to.

    Attributes:
        layers: the model's, its output counted as one.
        reason: why it took fewer, "" when it took what was asked.
    """

    asked: int = 0
    taken: int = 0
    layers: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that stands ready.

    Attributes:
        pid: its child process, 0 for a server's.
        bos, eos: texts of its special tokens.
        server: the address of the server that it runs on, "" for one in a child process.
        cloud: that server hands its calls on to a cloud, however near it is.
        counted: its tokens are counted by its own tokenizer; False where a server doesn't tell, and they are estimated.
        context_told: ``context`` is known; False where a server doesn't tell, and it is assumed.
    """

    file: ModelFile
    settings: LoadSettings
    context: int
    memory: MemorySplit
    load_ms: float
    pid: int
    offload: Offload = Offload()
    bos: str = ""
    eos: str = ""
    server: str = ""
    cloud: bool = False
    counted: bool = True
    context_told: bool = True


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """Sampling; temperature 0 is greedy.

    Attributes:
        min_p: leaves out tokens less likely than this share of the likeliest; 0 leaves out none.
        repeat_penalty: divides the logits of the last 64 tokens; 1 changes nothing.
        grammar: GBNF with root rule ``root``, "" for none; ``json_schema``: one to make the grammar of, instead.
    """

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 0.95
    top_k: int = 40
    seed: int = 0
    stop: tuple[str, ...] = ()
    grammar: str = ""
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    json_schema: str = ""


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """A GPU's memory in bytes; ``process``: the measured process's share, None where the driver doesn't tell."""

    index: int
    name: str
    used: int
    total: int
    process: int | None = None


@dataclass(frozen=True, slots=True)
class Gauges:
    """What is in memory now. Bytes; None where it can't be measured, with the reason in ``vram_note``.

    ``vram_used`` and ``vram_total`` are sums over ``devices``.
    """

    rss: int
    rss_peak: int
    cpu_percent: float
    ram_used: int
    ram_total: int
    vram_used: int | None = None
    vram_total: int | None = None
    vram_note: str = ""
    devices: tuple[DeviceMemory, ...] = ()


MemoryPart: TypeAlias = Literal["weights", "kv_cache", "compute", "output"]
Verdict: TypeAlias = Literal["fits", "tight", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class MemoryTerm:
    """One summand of an estimate, with the product it is: "30 × 4,096 × 384 × 2 B"."""

    part: MemoryPart
    what: str
    bytes: int


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """Bytes a load will take, by use, before it is tried.

    Attributes:
        context: tokens, as the engine rounds them.
        margin: what the process takes beside the engine's buffers.
        touched: how much of the scratch is written to while it answers. The rest is reserved for logits of whole
            batches, which only a measurement asks for, and takes no memory until then.
        device: how much of the total lies on the GPU.
        terms: what the parts are sums of, before they were corrected.
        loads: how many measured loads of the architecture corrected the parts.
    """

    context: int
    weights: int
    kv_cache: int
    compute: int
    output: int
    margin: int
    device: int = 0
    terms: tuple[MemoryTerm, ...] = ()
    loads: int = 0
    touched: int = 0

    @property
    def buffers(self) -> int:
        """What the engine allocates: the part that a load measures."""
        return self.weights + self.kv_cache + self.compute + self.output

    @property
    def total(self) -> int:
        """What has to be free."""
        return self.buffers + self.margin

    @property
    def resident(self) -> int:
        """The peak of the process's resident memory while it answers, without a GPU."""
        return self.weights + self.kv_cache + self.touched + self.margin


@dataclass(frozen=True, slots=True)
class MemoryFit:
    """An estimate held against what is free.

    Attributes:
        estimate: None when the header doesn't tell enough.
        largest_context: tokens, the most that still fit; 0 when nothing does or nothing is known.
        measured: the last load of this file with these settings, if there was one.
    """

    verdict: Verdict
    estimate: MemoryEstimate | None
    largest_context: int
    measured: MemoryMeasurement | None = None


def parameter_count(number: int) -> str:
    """134515008 → "134.5 M", 1543714304 → "1.54 B", too few to be a model's → "–"."""
    if number >= 1_000_000_000:
        return f"{number / 1e9:,.2f} B"
    return f"{number / 1e6:.1f} M" if number >= FEWEST_PARAMETERS else "–"


def change(share: float) -> str:
    """A share as "+1.2%"; what is rounded to nothing has no sign."""
    return f"{share:+.1%}" if round(share, 3) else "0.0%"


@dataclass(frozen=True, slots=True)
class MemoryMeasurement:
    """A load: what was foreseen for it, uncorrected, and what the engine took."""

    architecture: str
    path: str
    settings: LoadSettings
    predicted: MemorySplit
    measured: MemorySplit

    @property
    def error(self) -> float:
        """Measured ÷ predicted − 1, of all the engine's buffers."""
        return self.measured.total / self.predicted.total - 1 if self.predicted.total else 0.0

    @property
    def told(self) -> str:
        """The error as "+1.2%"."""
        return change(self.error)


@dataclass(frozen=True, slots=True)
class MemoryGridRow:
    """A quantization at each context of a grid; ``is_file`` marks the file itself, the others are reckoned."""

    quantization: str
    is_file: bool
    fits: tuple[MemoryFit, ...]


@dataclass(frozen=True, slots=True)
class MemoryGrid:
    """Quantization × context, most bits first."""

    contexts: tuple[int, ...]
    rows: tuple[MemoryGridRow, ...]
