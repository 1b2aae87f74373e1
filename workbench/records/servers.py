"""Model servers reached over HTTP: what they are, where they run, what they serve, how true they are to their word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from workbench.records.evals import Estimate

ServerKind: TypeAlias = Literal["ollama", "lmstudio", "llama-server", "vllm", "sglang", "tgi", "openai"]
"""Whose dialect a server speaks; "openai" for any other that has ``/v1/models``."""

Reach: TypeAlias = Literal["machine", "network", "cloud"]
"""Where a model's computing happens: on this machine, on another one of a private network, elsewhere."""

Layer: TypeAlias = Literal[
    "endpoint", "key", "model", "memory", "template", "context", "request", "json", "overload", "timeout", "server"
]
"""Which layer of a call failed: nobody listens, the key, the model isn't there or not loaded, its memory, its chat
template, its context, the request itself, a reply that is no JSON, too much at once, time, the server."""


Outcome: TypeAlias = Literal["kept", "differs", "refused", "broken"]
"""Of a promise. "differs": it answers, and otherwise than the dialect says; "refused": it says that it can't."""

_UNDATED: Final = datetime.min.replace(tzinfo=UTC)

UNTOLD_TEMPLATE: Final = "{# the server's own #}"
"""In place of a chat template that a server keeps to itself: it renders the messages."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address a person gave, or one that is looked at by itself.

    Attributes:
        url: scheme, host and port, and a path before ``/v1`` where there is one; no slash at its end.
        key_variable: name of the environment variable that holds the key; the key itself is never stored.
    """

    url: str
    key_variable: str = ""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that each phase of a call may take: connecting, a short call's reply, the first token, the gap after."""

    connect: float = 2.0
    reply: float = 30.0
    first: float = 600.0
    gap: float = 120.0


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server offers.

    Attributes:
        context: tokens, None where the server doesn't tell.
        loaded: it stands ready; None where the server doesn't tell.
        reach: where it computes: a server on this machine may pass calls on.
        bytes: of its file, 0 where untold.
        capabilities: as the server names them ("completion", "tools", "vision", "embedding").
        digest: of its weights, as the server tells it; "" where untold.
    """

    id: str
    kind: Literal["chat", "embedding"] = "chat"
    context: int | None = None
    loaded: bool | None = None
    reach: Reach = "machine"
    bytes: int = 0
    parameters: int = 0
    quantization: str = ""
    family: str = ""
    capabilities: tuple[str, ...] = ()
    digest: str = ""

    @property
    def name(self) -> str:
        """What to call it: its id, or the file's name where llama-server gives a whole path."""
        return short_name(self.id)


def short_name(model: str) -> str:
    """A model's id, without the folders of one that is a file's path."""
    return re.split(r"[\\/]", model)[-1] if model.casefold().endswith(".gguf") else model


@dataclass(frozen=True, slots=True)
class Server:
    """What answers at an endpoint.

    Attributes:
        exposed: its port listens beyond the loopback; None where that can't be told from here.
        problem: why it can't be used, "" when it can.
    """

    endpoint: Endpoint
    kind: ServerKind
    version: str
    reach: Reach
    exposed: bool | None
    models: tuple[ServedModel, ...]
    latency_ms: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ServerState:
    """What a server does at this moment, by its own account; None for what it doesn't tell.

    Attributes:
        ready: it answers questions: a model is in memory.
        slots: requests that it works on at once at most; ``busy`` of them are at work.
        waiting: requests that wait for one.
        cache: share of its cache for keys and values that is in use.
        prefill_tps, decode_tps: tokens per second, by its own clock, since it last told them.
    """

    ready: bool | None = None
    slots: int | None = None
    busy: int | None = None
    waiting: int | None = None
    cache: float | None = None
    prefill_tps: float | None = None
    decode_tps: float | None = None


@dataclass(frozen=True, slots=True)
class EmbedderCard:
    """A served model chosen to embed: all that its vectors depend on, so that nothing needs to be asked to know it.

    Attributes:
        identity: what the server told of the weights: their digest, or their bytes and parameters; "" for nothing.
        max_tokens: longest input; the rest is cut off.
        query_prefix, passage_prefix: put before every text by us, as the model's card wants; a server adds none.
    """

    endpoint: Endpoint
    kind: ServerKind
    model: str
    identity: str
    dimension: int
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""


@dataclass(frozen=True, slots=True)
class ServerTimes:
    """The server's own counters of one call; None where it has none.

    Attributes:
        cached: prompt tokens that it had kept from before.
        load_ms: bringing the model into memory.
        ttft_ms: until its first token, as it counts that itself.
    """

    prompt_tokens: int | None = None
    output_tokens: int | None = None
    cached: int | None = None
    queue_ms: float | None = None
    load_ms: float | None = None
    prefill_ms: float | None = None
    decode_ms: float | None = None
    ttft_ms: float | None = None


@dataclass(frozen=True, slots=True)
class ContractCheck:
    """One promise held against the server.

    Attributes:
        key: the promise, whatever the language: "stream", "reason", "usage", "max_tokens", "stop", "repeat", "schema",
            "grammar", "bad_request", "unknown_model", "overflow", "cancel", "two_at_once", "embeddings".
        name: the promise in words, and ``detail`` what was seen, in the language of the day.
    """

    key: str
    name: str
    outcome: Outcome
    detail: str
    ms: float


@dataclass(frozen=True, slots=True)
class ContractReport:
    """Where "compatible" is true of a server and where it isn't."""

    url: str
    kind: ServerKind
    version: str
    model: str
    checks: tuple[ContractCheck, ...]
    created: datetime

    @property
    def kept(self) -> int:
        """How many promises hold."""
        return sum(check.outcome == "kept" for check in self.checks)


@dataclass(frozen=True, slots=True)
class ContractChange:
    """A promise that ended otherwise than in the report before; None where one of the two doesn't hold it."""

    key: str
    name: str
    before: Outcome | None
    now: Outcome | None


@dataclass(frozen=True, slots=True)
class Flight:
    """One request of a load test, in seconds since its start; ``error`` is "" when it was answered.

    Attributes:
        estimated: its server counted no tokens: each piece that came was taken for one; None where that wasn't noted.
    """

    sent_s: float
    ttft_s: float | None
    done_s: float
    output_tokens: int
    error: str = ""
    estimated: bool | None = None

    @property
    def seconds(self) -> float:
        """In the system."""
        return self.done_s - self.sent_s


@dataclass(frozen=True, slots=True)
class LoadTest:
    """Requests sent at a steady rate, and Little's law held against what was seen.

    Attributes:
        rate: requests sent per second; ``served`` answered per second.
        in_system: mean number at once, counted over the time from the first request to the last answer.
        little: λ·W: arrivals per second times mean seconds in the system, over the same time.
        tokens_per_second: of all answers together.
        flights: each request; none in a list of tests, where they are left in the file.
        asked: requests that were to be sent: more than ``flights`` where it was stopped.
        max_tokens: of an answer.
        estimated: as ``Flight.estimated``, of any of them.
    """

    url: str
    model: str
    rate: float
    served: float
    in_system: float
    little: float
    mean_s: float
    p50_s: float
    p95_s: float
    ttft_p50_s: float | None
    tokens_per_second: float
    failed: int
    flights: tuple[Flight, ...]
    sent: int = 0
    asked: int = 0
    max_tokens: int = 16
    kind: ServerKind = "openai"
    version: str = ""
    created: datetime = _UNDATED
    estimated: bool | None = None


@dataclass(frozen=True, slots=True)
class Flights:
    """The requests of a load test that the file keeps, apart from its figures."""

    flights: tuple[Flight, ...]


LoadFigureName: TypeAlias = Literal["p50", "p95", "ttft_p50", "ttft_p95"]


@dataclass(frozen=True, slots=True)
class LoadFigure:
    """A time of two load tests, in seconds with its 95 % interval; None where nothing was answered.

    Attributes:
        apart: their intervals don't meet: more than chance tells them apart.
    """

    name: LoadFigureName
    before: Estimate | None
    now: Estimate | None
    apart: bool = False
