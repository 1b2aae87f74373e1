"""What the workbench and a child process say to each other: frozen requests and events, one pickle after another.

Each request carries an ``id``. The child answers with any number of events of that id and then exactly one ``Done`` or
``Failed``. ``Cancel`` names the id of the request that should end early; that request still gets its ``Done``.
Pickle is safe here: both ends are this program, on one machine, over a pipe nobody else can open.
"""

from __future__ import annotations

import pickle
import threading
from dataclasses import dataclass
from typing import BinaryIO, Generic, Literal, TypeAlias, TypeVar

from workbench.records.answers import Generation
from workbench.records.models import GenerationSettings, LoadSettings, MemorySplit

FailureKind: TypeAlias = Literal["load", "context", "grammar", "prompt", "decode", "vector"]


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
class Generate:
    """Continues ``prompt``. Events: ``Step``…, the last of which is complete or cancelled."""

    id: int
    prompt: str
    settings: GenerationSettings


@dataclass(frozen=True, slots=True)
class LoadEmbedder:
    """Loads an ONNX embedder from its folder. No events."""

    id: int
    folder: str
    model_file: str
    dimension: int
    pooling: str
    normalised: bool


@dataclass(frozen=True, slots=True)
class Embed:
    """Embeds ``texts``, prefixes included; ``urgent`` overtakes all texts that wait. Events: an ``Embedded`` each."""

    id: int
    texts: tuple[str, ...]
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ends the request ``id`` early."""

    id: int


Request: TypeAlias = LoadModel | Count | Generate | LoadEmbedder | Embed | Cancel


@dataclass(frozen=True, slots=True)
class LoadFraction:
    """How far a load is, 0–1."""

    id: int
    fraction: float


@dataclass(frozen=True, slots=True)
class ModelLoaded:
    """The model stands ready. ``bos`` and ``eos`` are the texts of its special tokens, for chat templates."""

    id: int
    context: int
    memory: MemorySplit
    load_ms: float
    bos: str
    eos: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Tokens of a text."""

    id: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Step:
    """A generation that grew: ``generation.text`` holds only what is new since the previous step."""

    id: int
    generation: Generation


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vector of the next text: float32, little-endian."""

    id: int
    vector: bytes


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


Event: TypeAlias = LoadFraction | ModelLoaded | Counted | Step | Embedded | Done | Failed


Incoming = TypeVar("Incoming", Request, Event)
Outgoing = TypeVar("Outgoing", Request, Event)


class Wire(Generic[Incoming, Outgoing]):
    """One end of the pipe: sends from any thread, receives from one.

    Args:
        incoming, outgoing: buffered binary streams.
    """

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._sending = threading.Lock()

    def send(self, message: Outgoing) -> None:
        """Raises OSError or ValueError when the other end is gone or this one is closed."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        with self._sending:
            self._outgoing.write(data)
            self._outgoing.flush()

    def receive(self) -> Incoming | None:
        """The next message; None when the other end is gone, in the middle of a message too."""
        try:
            message: Incoming = pickle.load(self._incoming)  # noqa: S301 -- the other end is this program
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            return None
        return message
