"""What the workbench and a child of the engine say to each other: frozen requests and events.

Each request carries an ``id``. The child answers with any number of events of that id and then exactly one ``Done`` or
``Failed``. ``Cancel`` names the id of the request that should end early; that request still gets its ``Done``. A
``Beat`` comes unasked, with id 0, several times a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.records.answers import Generation
from workbench.records.ladders import Preview, WindowScores
from workbench.records.models import GenerationSettings, LoadSettings, MemorySplit
from workbench.records.playground import Pulse, Token

FailureKind: TypeAlias = Literal[
    "load",
    "context",
    "adapter",
    "grammar",
    "schema",
    "recursion",
    "size",
    "prompt",
    "decode",
    "vector",
    "quantize",
    "vocabulary",
    "text",
    "pair",
]


@dataclass(frozen=True, slots=True)
class LoadModel:
    """Loads a GGUF file. Events: ``LoadFraction``…, ``ModelLoaded``."""

    id: int
    path: str
    settings: LoadSettings


@dataclass(frozen=True, slots=True)
class Count:
    """Counts the tokens of ``text``, as ``Generate`` would see it when ``as_prompt``. Event: ``Counted``."""

    id: int
    text: str
    as_prompt: bool = False


@dataclass(frozen=True, slots=True)
class Tokenize:
    """Cuts a prompt into tokens, as ``Generate`` would. Event: ``Tokenized``."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Generate:
    """Continues ``prompt``. Events: ``Step``…, the last of which is complete or cancelled."""

    id: int
    prompt: str
    settings: GenerationSettings


@dataclass(frozen=True, slots=True)
class Measure:
    """Times the evaluation alone of ``prompt`` tokens at once, then of ``generate`` one by one, after ``depth`` others.

    As llama-bench does it: random tokens, no sampling, no tokenising, nothing held from before. Event: ``Measured``.
    """

    id: int
    prompt: int
    generate: int
    depth: int


@dataclass(frozen=True, slots=True)
class LoadEmbedder:
    """Loads an embedder from its folder with one of ``workbench.engine.embedding_models``. No events."""

    id: int
    folder: str
    model_file: str
    dimension: int
    pooling: str
    normalised: bool
    runtime: str = "onnx"
    max_tokens: int = 512


@dataclass(frozen=True, slots=True)
class Embed:
    """Embeds ``texts``, prefixes included; ``urgent`` overtakes all texts that wait. Events: an ``Embedded`` each.

    ``prefix``: characters that each text's prefix has; its tokens' vectors are wanted too. None: they aren't.
    """

    id: int
    texts: tuple[str, ...]
    urgent: bool = False
    prefix: int | None = None


@dataclass(frozen=True, slots=True)
class Locate:
    """Finds the embedder's tokens in ``text``: no prefix, no special tokens, no truncation. Event: ``Located``."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Quantize:
    """Writes the model at ``source`` as ``target``; "": only tells what would be written. Can't be cancelled.

    Events: ``LoadFraction``…, ``Quantized``.
    """

    id: int
    source: str
    target: str
    kind: str
    threads: int


@dataclass(frozen=True, slots=True)
class CompareModels:
    """Feeds both models the same passages, numbered, in lockstep. Events: ``LoadFraction``…, ``Compared`` for each.

    ``window``: tokens of each passage that are evaluated; those of its second half are scored.
    """

    id: int
    reference: str
    model: str
    passages: tuple[tuple[int, str], ...]
    window: int
    settings: LoadSettings


@dataclass(frozen=True, slots=True)
class LoadReranker:
    """Loads a reranker: ``model_file`` of an ONNX folder, or a GGUF file. No events."""

    id: int
    path: str
    model_file: str


@dataclass(frozen=True, slots=True)
class Score:
    """Scores each passage for ``query``. Events: a ``Scored`` each."""

    id: int
    query: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ends the request ``id`` early."""

    id: int


Request: TypeAlias = (
    LoadModel
    | Count
    | Tokenize
    | Generate
    | Measure
    | LoadEmbedder
    | Embed
    | Locate
    | LoadReranker
    | Score
    | Quantize
    | CompareModels
    | Cancel
)


@dataclass(frozen=True, slots=True)
class LoadFraction:
    """How far a load is, 0–1."""

    id: int
    fraction: float


@dataclass(frozen=True, slots=True)
class ModelLoaded:
    """The model stands ready.

    Attributes:
        bos, eos: the texts of its special tokens, for chat templates.
        offloaded: layers that a GPU took, of all; None where there is none.
    """

    id: int
    context: int
    memory: MemorySplit
    load_ms: float
    bos: str
    eos: str
    offloaded: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """Tokens of a text."""

    id: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Tokenized:
    """The tokens of a prompt, BOS included where the model puts one."""

    id: int
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Beat:
    """What the child measures of itself; ``id`` is 0, because nobody asked."""

    id: int
    pulse: Pulse


@dataclass(frozen=True, slots=True)
class Step:
    """A generation that grew: ``generation.text`` holds only what is new since the previous step."""

    id: int
    generation: Generation


@dataclass(frozen=True, slots=True)
class Measured:
    """How long an evaluation took."""

    id: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vector of the next text: float32, little-endian; ``tokens``: the rows of its tokens, float16 likewise."""

    id: int
    vector: bytes
    tokens: bytes = b""


@dataclass(frozen=True, slots=True)
class Located:
    """The character span (start, end) of each token of a text."""

    id: int
    offsets: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Quantized:
    """What was written, or would be."""

    id: int
    preview: Preview


@dataclass(frozen=True, slots=True)
class Compared:
    """A passage was scored by both models."""

    id: int
    scores: WindowScores


@dataclass(frozen=True, slots=True)
class Scored:
    """The next passage's score, and whether the pair was longer than the model reads."""

    id: int
    score: float
    truncated: bool


@dataclass(frozen=True, slots=True)
class Done:
    """The request has ended, by itself or because it was cancelled."""

    id: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The request has failed and the child lives on. ``detail`` is the engine's own sentence."""

    id: int
    kind: FailureKind
    detail: str


Event: TypeAlias = (
    LoadFraction
    | ModelLoaded
    | Counted
    | Tokenized
    | Beat
    | Step
    | Measured
    | Embedded
    | Located
    | Quantized
    | Compared
    | Scored
    | Done
    | Failed
)
