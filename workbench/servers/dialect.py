"""What every server's dialect can do, and the pieces of a streamed answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.errors import ServerError
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.answers import Message
from workbench.records.models import GenerationSettings
from workbench.records.servers import ServedModel, ServerKind, ServerState, ServerTimes
from workbench.servers.refusals import excerpt
from workbench.servers.wire import Line, Wire


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer.

    Attributes:
        at: when it arrived (``time.perf_counter``).
        reason: why the answer ended ("stop", "length", …), on its last piece; "" before.
        times: the server's own counters, where the piece brings them.
    """

    at: float
    text: str
    reason: str = ""
    times: ServerTimes | None = None


class Dialect(Protocol):
    """How one kind of server is spoken to. Every method raises ServerError."""

    @property
    def kind(self) -> ServerKind:
        """Whose dialect it is."""
        ...

    @property
    def grammars(self) -> bool:
        """It can be held to a GBNF grammar."""
        ...

    @property
    def counts(self) -> bool:
        """Its tokenizer can be asked how many tokens a text has."""
        ...

    def recognise(self, wire: Wire) -> str | None:
        """The server's version ("" when untold) if it is of this kind, else None."""
        ...

    def models(self, wire: Wire) -> tuple[ServedModel, ...]:
        """What it serves."""
        ...

    def state(self, wire: Wire) -> ServerState | None:
        """What it does at this moment, None where it tells nothing of that."""
        ...

    def load(self, wire: Wire, model: str) -> None:
        """Brings it into memory, where the server can be told to; returns when it is there."""
        ...

    def chat(
        self, wire: Wire, model: str, messages: Sequence[Message], settings: GenerationSettings, cancel: Cancel | None
    ) -> Iterator[Delta]:
        """Streams an answer through the server's own chat template."""
        ...

    def complete(
        self, wire: Wire, model: str, prompt: str, settings: GenerationSettings, cancel: Cancel | None
    ) -> Iterator[Delta]:
        """Streams a continuation of the prompt as it stands."""
        ...

    def embed(self, wire: Wire, model: str, texts: Sequence[str], cancel: Cancel | None = None) -> list[list[float]]:
        """A vector per text, in order. Raises Cancelled too."""
        ...

    def template(self, wire: Wire, model: str) -> tuple[str, str, str]:
        """The model's chat template with the texts of BOS and EOS, ("", "", "") where the server doesn't tell."""
        ...

    def count(self, wire: Wire, model: str, text: str) -> int | None:
        """Tokens of ``text`` by the model's own tokenizer, None where the server doesn't tell."""
        ...

    def pieces(self, wire: Wire, model: str, text: str, *, prompt: bool = False) -> list[tuple[int, bytes]] | None:
        """Each token of ``text`` with what it stands for, None where the server doesn't tell.

        Args:
            prompt: as the model would get it: special tokens are read as such, and put where the model puts them.
        """
        ...


def events(lines: Iterator[Line]) -> Iterator[tuple[float, Mapping[str, Any]]]:
    """The JSON events of a stream, whether it comes as server-sent events or as a JSON object a line.

    The closing ``[DONE]`` is an empty event. Comments, other fields, and what is no JSON object are passed over.
    """
    for line in lines:
        text = line.text
        if text.startswith("data:"):
            text = text[5:].strip()
        elif not text.startswith("{"):
            continue
        if text == "[DONE]":
            yield line.at, {}
            continue
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event:
            yield line.at, event


@contextmanager
def shaped(wire: Wire) -> Iterator[None]:
    """A reply that is JSON of another shape than the dialect's is a ServerError."""
    try:
        yield
    except OTHER_SHAPE as error:
        raise ServerError(
            tr("The reply has another shape"),
            tr("{url}: {reason}", url=wire.endpoint.url, reason=excerpt(f"{type(error).__name__}: {error}")),
            tr("workbench servers check URL tells what this server takes."),
            layer="json",
        ) from error


OTHER_SHAPE = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError)
"""What reading a reply raises when it isn't what the dialect says."""
