"""What every server's dialect can do, and the pieces of a streamed answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.ports import Cancel
from workbench.records.answers import Message
from workbench.records.models import GenerationSettings
from workbench.records.servers import ServedModel, ServerKind, ServerTimes
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

    def recognise(self, wire: Wire) -> str | None:
        """The server's version ("" when untold) if it is of this kind, else None."""
        ...

    def models(self, wire: Wire) -> tuple[ServedModel, ...]:
        """What it serves."""
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

    def embed(self, wire: Wire, model: str, texts: Sequence[str]) -> list[list[float]]:
        """A vector per text, in order."""
        ...

    def template(self, wire: Wire, model: str) -> tuple[str, str, str]:
        """The model's chat template with the texts of BOS and EOS, ("", "", "") where the server doesn't tell."""
        ...

    def count(self, wire: Wire, model: str, text: str) -> int | None:
        """Tokens of ``text`` by the model's own tokenizer, None where the server doesn't tell."""
        ...


def events(lines: Iterator[Line]) -> Iterator[tuple[float, Mapping[str, Any]]]:
    """The JSON events of a stream, whether it comes as server-sent events or as a JSON object a line.

    Comments, other fields and the closing ``[DONE]`` are passed over, and so is a line that isn't a JSON object.
    """
    for line in lines:
        text = line.text
        if text.startswith("data:"):
            text = text[5:].strip()
        elif not text.startswith("{"):
            continue
        try:
            event = json.loads(text)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield line.at, event
