"""Records of talking to a model: what its process measures of itself, its tokens, what is wrong with its template,
what is asked of it and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from workbench.records.answers import Generation, GenerationState, Message
from workbench.records.models import Gauges, GenerationSettings

Severity: TypeAlias = Literal["error", "warning", "note"]
LintKind: TypeAlias = Literal[
    "missing", "broken", "no_generation_prompt", "no_end", "end_mismatch", "bos_doubled", "bos_written", "role_refused"
]
FaultKind: TypeAlias = Literal["structural", "semantic"]


@dataclass(frozen=True, slots=True)
class Pulse:
    """What a model's process measures of itself, several times a second.

    Attributes:
        at: when, in seconds since the epoch, by the child's clock.
        gauges: of the child and of the machine.
        held: tokens in the context now; ``context``: as many as it can hold.
        generation: the one that runs, or else the last one, without its text; None before the first.
    """

    at: float
    gauges: Gauges
    held: int
    context: int
    generation: Generation | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a prompt.

    Attributes:
        text: what it adds to the text; bytes that are no whole character as ``\\xf0``.
        special: a control token, that no text is made of; ``end``: the model ends its turn with it.
    """

    id: int
    text: str
    special: bool = False
    end: bool = False


@dataclass(frozen=True, slots=True)
class Lint:
    """Something about a model's chat template that a person should know before the first token."""

    kind: LintKind
    severity: Severity
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an output doesn't fit its schema; ``path`` is where, as ``$.amount``.

    "structural": it is no JSON, or of the wrong shape or types. "semantic": the shape is right, a value can't be.
    """

    path: str
    kind: FaultKind
    message: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A conversation to continue.

    Attributes:
        messages: the turns so far, the last of them the person's.
        schema: a JSON Schema that the answer has to fit, "" for free text.
        retries: how often an answer that doesn't fit is asked for again, with what is wrong with it.
        constrained: a grammar made of the schema lets the model write nothing else.
    """

    messages: tuple[Message, ...]
    settings: GenerationSettings = field(default_factory=GenerationSettings)
    schema: str = ""
    retries: int = 3
    constrained: bool = True


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer, growing; ``faults`` are found when it is complete."""

    prompt: str
    generation: Generation
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back, growing; the last of ``attempts`` is the one that counts.

    Attributes:
        value: the checked output as Python values, dates of the schema as dates; None without a schema or while it
            doesn't fit.
    """

    attempts: tuple[Attempt, ...]
    value: Any = None

    @property
    def last(self) -> Attempt:
        """The attempt that runs, or that counts."""
        return self.attempts[-1]

    @property
    def text(self) -> str:
        """What the model wrote."""
        return self.last.generation.text

    @property
    def state(self) -> GenerationState:
        """Of the last attempt."""
        return self.last.generation.state

    @property
    def failed(self) -> bool:
        """It ended, and not with an answer that can be used."""
        return self.state in ("error", "cancelled") or bool(self.last.faults) or self.silent

    @property
    def silent(self) -> bool:
        """The model ended at once and wrote nothing."""
        return self.state == "complete" and not self.last.generation.output_tokens and not self.text
