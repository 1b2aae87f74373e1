"""What runs in child processes: tokenizers, embedders and language models."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from workbench.errors import EngineError
from workbench.records.answers import Generation, Message
from workbench.records.corpus import (
    EmbedderInfo,
)
from workbench.records.models import Gauges, GenerationSettings, LoadedModel
from workbench.records.playground import Pulse, Token

Vector: TypeAlias = npt.NDArray[np.float32]
TokenVectors: TypeAlias = npt.NDArray[np.float16]
PackedTokens: TypeAlias = npt.NDArray[np.int8 | np.uint8]
Cancel: TypeAlias = threading.Event


class Tokenizer(Protocol):
    """Counts and locates tokens. Special tokens are not included.

    It can be pickled: the process that it is sent to gets one that works there.
    """

    @property
    def name(self) -> str:
        """What to call it in a ledger, e.g. "multilingual-e5-small"."""
        ...

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span (start, end) of each token of ``text``, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Embedding:
    """A text's vector and those of its tokens, from one run of the network.

    Attributes:
        vector: pooled, L2-normalised.
        tokens: (tokens, dimension), each row L2-normalised, without prefix and special tokens; what the network cuts
            off has none, and a network that pools by itself gives none.
    """

    vector: Vector
    tokens: TokenVectors


class Embedder(Protocol):
    """Turns texts into L2-normalised vectors. Adds the prefixes itself; runs in a child process."""

    @property
    def info(self) -> EmbedderInfo:
        """What makes its vectors comparable."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer, which starts the child where none runs: its counts may raise EngineError."""
        ...

    def start(self) -> None:
        """Starts the child where none runs, so that the first text needn't wait; returns when it is ready.

        Raises:
            EngineError: it can't be started.
        """
        ...

    def embed_passages(
        self, texts: Sequence[str], cancel: Cancel | None = None, *, urgent: bool = False
    ) -> Iterator[Vector]:
        """One vector per text, in order, as each is ready.

        Args:
            urgent: somebody waits for these few: they go before what is only queued (a running ingest).

        Raises:
            EngineError: the child died, or a vector is zero or not finite.
            Cancelled: ``cancel`` was set.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """The query's vector."""
        ...

    def embed_passage_tokens(self, texts: Sequence[str], cancel: Cancel | None = None) -> Iterator[Embedding]:
        """As ``embed_passages``, with the vectors of each text's tokens: 2 bytes a component and token to carry."""
        ...

    def embed_query_tokens(self, text: str) -> Embedding:
        """The query's vector and those of its tokens."""
        ...

    def token_mean(self) -> Vector:
        """The mean of its token vectors over passages of many kinds: what signs are centred on."""
        ...

    def close(self) -> None:
        """Ends the child process and frees its memory."""
        ...


class Generator(Protocol):
    """A loaded language model in its own child process."""

    @property
    def model(self) -> LoadedModel:
        """What is loaded."""
        ...

    @property
    def death(self) -> EngineError | None:
        """Why its process ended, None while it runs."""
        ...

    @property
    def grammars(self) -> bool:
        """It can be held to a grammar."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` by the model's own tokenizer, special tokens of the text included."""
        ...

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt through the model's chat template, ready for the assistant's turn.

        Raises:
            EngineError: the template is missing or broken.
        """
        ...

    def generate(self, prompt: str, settings: GenerationSettings, cancel: Cancel | None = None) -> Iterator[Generation]:
        """Streams the growing generation; the last one is complete, cancelled or error.

        A bad grammar is an error, not a crash.

        Raises:
            BudgetError: prompt and ``max_tokens`` don't fit the context.
            EngineError: the child died.
        """
        ...

    def tokens(self, prompt: str) -> tuple[Token, ...]:
        """The tokens of ``prompt`` as ``generate`` would send it, BOS included where the model puts one."""
        ...

    def gauges(self) -> Gauges:
        """Memory of the child and the machine now."""
        ...

    def pulses(self) -> tuple[Pulse, ...]:
        """What the process measured of itself over the last minutes, several times a second, oldest first."""
        ...

    def close(self) -> None:
        """Ends the child process; returns when its memory is back."""
        ...
