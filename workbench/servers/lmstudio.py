"""LM Studio: its own list of models says what is loaded and how; its own chat has its counters.

That chat takes one message, no stop strings, no seed and no schema: what needs those goes through ``/v1``.
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
from workbench.records.servers import ServedModel, ServerTimes
from workbench.servers.dialect import Delta, events
from workbench.servers.openai import OpenAi, whole
from workbench.servers.wire import Wire


class LmStudio(OpenAi):
    """``/api/v1/models`` (LM Studio 0.4 and later) or ``/api/v0/models`` (0.3), and ``/v1``."""

    kind = "lmstudio"
    samplers = frozenset({"top_k", "min_p", "repeat_penalty"})

    def recognise(self, wire: Wire) -> str | None:
        """The version of its own interface."""
        for version in ("v1", "v0"):
            if self._own(wire, version):
                return version
        return None

    def models(self, wire: Wire) -> tuple[ServedModel, ...]:
        """Those it has, with what is loaded."""
        entries = self._own(wire, "v1") or self._own(wire, "v0") or []
        return tuple(_model(entry) for entry in entries)

    def load(self, wire: Wire, model: str) -> None:
        """``/api/v1/models/load``; LM Studio 0.3 loads with the first call."""
        if self._own(wire, "v1"):
            wire.post("/api/v1/models/load", {"model": model}, reply_s=wire.timeouts.first)

    def chat(
        self, wire: Wire, model: str, messages: Sequence[Message], settings: GenerationSettings, cancel: Cancel | None
    ) -> Iterator[Delta]:
        """Streams ``/api/v1/chat`` where that takes all that is asked and the server has it, else ``/v1``."""
        plain = not settings.stop and not settings.json_schema and settings.temperature == 0
        *before, last = messages
        if plain and last.role == "user" and [m.role for m in before] in ([], ["system"]) and self._own(wire, "v1"):
            return self._own_chat(wire, model, [m.content for m in before], last.content, settings, cancel)
        return super().chat(wire, model, messages, settings, cancel)

    def _own_chat(
        self,
        wire: Wire,
        model: str,
        system: Sequence[str],
        said: str,
        settings: GenerationSettings,
        cancel: Cancel | None,
    ) -> Iterator[Delta]:
        body = {
            "model": model,
            "input": said,
            "stream": True,
            "store": False,
            "max_output_tokens": settings.max_tokens,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "top_k": settings.top_k,
            "min_p": settings.min_p,
            "repeat_penalty": settings.repeat_penalty,
        } | ({"system_prompt": system[0]} if system else {})
        for at, event in events(wire.stream("/api/v1/chat", body, cancel)):
            if event.get("type") == "error":
                raise wire.told(json.dumps(event))
            if event.get("type") == "message.delta":
                yield Delta(at, str(event.get("content") or ""))
            elif event.get("type") == "chat.end":
                times = _times(event["result"]["stats"])
                # It doesn't say why it ended.
                yield Delta(at, "", "length" if (times.output_tokens or 0) >= settings.max_tokens else "stop", times)

    def _own(self, wire: Wire, version: str) -> list[Mapping[str, Any]]:
        with suppress(ServerError):
            reply = wire.get(f"/api/{version}/models")
            if isinstance(reply, dict):
                found = reply.get("models") if version == "v1" else reply.get("data")
                return [entry for entry in found or () if isinstance(entry, dict) and ("key" in entry or "id" in entry)]
        return []


def _times(stats: Mapping[str, Any]) -> ServerTimes:
    output, rate = whole(stats.get("total_output_tokens")), stats.get("tokens_per_second")
    first, load = stats.get("time_to_first_token_seconds"), stats.get("model_load_time_seconds")
    return ServerTimes(
        whole(stats.get("input_tokens")),
        output,
        load_ms=load * 1e3 if load else None,
        decode_ms=1e3 * output / rate if output and rate else None,
        ttft_ms=first * 1e3 if first else None,
    )


def _model(entry: Mapping[str, Any]) -> ServedModel:
    """From either version's shape: v1 has a list of loaded instances, v0 a state."""
    instances = entry.get("loaded_instances")
    loaded = bool(instances) if instances is not None else entry.get("state") == "loaded"
    config = (instances[0].get("config") or {}) if instances else {}
    quantization = entry.get("quantization")
    if isinstance(quantization, dict):
        quantization = quantization.get("name")
    capabilities = entry.get("capabilities")
    if isinstance(capabilities, dict):
        capabilities = [name for name, value in capabilities.items() if value]
    return ServedModel(
        str(entry.get("key") or entry.get("id")),
        "embedding" if str(entry.get("type", "")).startswith("embedding") else "chat",
        config.get("context_length") or entry.get("loaded_context_length") or entry.get("max_context_length"),
        loaded,
        bytes=int(entry.get("size_bytes") or 0),
        quantization=str(quantization or ""),
        family=str(entry.get("architecture") or entry.get("arch") or ""),
        capabilities=tuple(map(str, capabilities or ())),
    )
