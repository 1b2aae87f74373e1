"""Ollama's own dialect: ``/api/tags``, ``/api/ps``, ``/api/show``, ``/api/chat``, ``/api/generate``, ``/api/embed``.

A model whose name ends in "cloud", or that has a ``remote_host``, is computed on somebody else's machine, however local
the server is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from workbench.errors import ServerError
from workbench.ports import Cancel
from workbench.records.answers import Message
from workbench.records.models import GenerationSettings
from workbench.records.servers import ServedModel, ServerKind, ServerState, ServerTimes
from workbench.servers.dialect import Delta, events
from workbench.servers.openai import bad_embeddings, whole
from workbench.servers.wire import Wire

KEEP_ALIVE = "30m"
"""How long Ollama keeps a model after a call: its own five minutes would have an eval load it again and again."""

_NS = 1e-6  # milliseconds in a nanosecond


class Ollama:
    """Ollama 0.3 and later."""

    kind: ServerKind = "ollama"
    grammars: bool = False
    counts: bool = False

    def recognise(self, wire: Wire) -> str | None:
        """Its version."""
        with suppress(ServerError):
            tags = wire.get("/api/tags")
            if isinstance(tags, dict) and isinstance(tags.get("models"), list):
                return str(wire.get("/api/version").get("version", ""))
        return None

    def models(self, wire: Wire) -> tuple[ServedModel, ...]:
        """Those it has, with what it says of each."""
        running = {entry.get("name"): entry for entry in wire.get("/api/ps").get("models") or ()}
        return tuple(self._model(wire, entry, running) for entry in wire.get("/api/tags").get("models") or ())

    def _model(self, wire: Wire, entry: Mapping[str, Any], running: Mapping[str, Mapping[str, Any]]) -> ServedModel:
        name, details = str(entry.get("name") or entry.get("model")), entry.get("details") or {}
        shown: Mapping[str, Any] = {}
        with suppress(ServerError):
            shown = wire.post("/api/show", {"model": name}, idempotent=True)
        info = shown.get("model_info") or {}
        capabilities = tuple(map(str, shown.get("capabilities") or ()))
        longest = next((value for key, value in info.items() if key.endswith(".context_length")), None)
        cloud = bool(entry.get("remote_host") or shown.get("remote_host")) or name.endswith(("-cloud", ":cloud"))
        # What is loaded has the context it was loaded with; the model's own may be far longer than Ollama's default.
        context = (running.get(name) or {}).get("context_length") or longest
        return ServedModel(
            name,
            "embedding" if "embedding" in capabilities else "chat",
            context,
            name in running,
            "cloud" if cloud else "machine",
            int(entry.get("size") or 0),
            int(info.get("general.parameter_count") or 0),
            str(details.get("quantization_level") or ""),
            str(details.get("family") or ""),
            capabilities,
            str(entry.get("digest") or ""),
        )

    def chat(
        self, wire: Wire, model: str, messages: Sequence[Message], settings: GenerationSettings, cancel: Cancel | None
    ) -> Iterator[Delta]:
        """Streams ``/api/chat``."""
        turns = [{"role": message.role, "content": message.content} for message in messages]
        return self._deltas(wire, "/api/chat", self._body(model, settings) | {"messages": turns}, cancel)

    def complete(
        self, wire: Wire, model: str, prompt: str, settings: GenerationSettings, cancel: Cancel | None
    ) -> Iterator[Delta]:
        """Streams ``/api/generate``, the prompt as it stands."""
        body = self._body(model, settings) | {"prompt": prompt, "raw": True}
        return self._deltas(wire, "/api/generate", body, cancel)

    def embed(self, wire: Wire, model: str, texts: Sequence[str], cancel: Cancel | None = None) -> list[list[float]]:
        """``/api/embed``, which answers in order."""
        body = {"model": model, "input": list(texts), "keep_alive": KEEP_ALIVE}
        reply = wire.post("/api/embed", body, idempotent=True, reply_s=wire.timeouts.first, cancel=cancel)
        rows = reply.get("embeddings") or []
        if len(rows) != len(texts):
            raise bad_embeddings(wire, len(texts), len(rows))
        return list(rows)

    def template(self, wire: Wire, model: str) -> tuple[str, str, str]:
        """Its templates are written in another language than models' own."""
        return "", "", ""

    def count(self, wire: Wire, model: str, text: str) -> int | None:
        """Untold."""
        return None

    def pieces(self, wire: Wire, model: str, text: str, *, prompt: bool = False) -> list[tuple[int, bytes]] | None:
        """Untold."""
        return None

    def state(self, wire: Wire) -> ServerState | None:
        """It tells what is loaded, and nothing of what is under way."""
        return None

    def load(self, wire: Wire, model: str) -> None:
        """``/api/generate`` without a prompt, which loads and generates nothing."""
        body = {"model": model, "stream": False, "keep_alive": KEEP_ALIVE}
        wire.post("/api/generate", body, reply_s=wire.timeouts.first)

    def _body(self, model: str, settings: GenerationSettings) -> dict[str, Any]:
        options: dict[str, Any] = {
            "num_predict": settings.max_tokens,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "top_k": settings.top_k,
            "min_p": settings.min_p,
            "repeat_penalty": settings.repeat_penalty,
            "seed": settings.seed,
        }
        if settings.stop:  # an empty list would take away those of the model's own file
            options["stop"] = list(settings.stop)
        held = {"format": json.loads(settings.json_schema)} if settings.json_schema else {}
        # From 0.12.6 on it refuses what doesn't fit rather than leave out a prompt's beginning without a word.
        fitting = {"truncate": False}
        return {"model": model, "stream": True, "keep_alive": KEEP_ALIVE, "options": options, **fitting, **held}

    def _deltas(self, wire: Wire, path: str, body: Mapping[str, Any], cancel: Cancel | None) -> Iterator[Delta]:
        for at, event in events(wire.stream(path, body, cancel)):
            if event.get("error"):
                raise wire.told(json.dumps(event), whole(event.get("status_code")) or 500)
            text = str((event.get("message") or {}).get("content") or event.get("response") or "")
            done = bool(event.get("done"))
            reason = str(event.get("done_reason") or "stop") if done else ""
            if text or done:
                yield Delta(at, text, reason, _times(event) if done else None)


def _times(event: Mapping[str, Any]) -> ServerTimes:
    def ms(key: str) -> float | None:
        value = event.get(key)
        return value * _NS if isinstance(value, int) else None

    return ServerTimes(
        whole(event.get("prompt_eval_count")),
        whole(event.get("eval_count")),
        load_ms=ms("load_duration"),
        prefill_ms=ms("prompt_eval_duration"),
        decode_ms=ms("eval_duration"),
    )
