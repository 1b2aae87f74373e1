"""LM Studio: its own list of models says what is loaded and how; answers come through ``/v1``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from workbench.errors import ServerError
from workbench.records.servers import ServedModel
from workbench.servers.openai import OpenAi
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

    def _own(self, wire: Wire, version: str) -> list[Mapping[str, Any]]:
        with suppress(ServerError):
            reply = wire.get(f"/api/{version}/models")
            if isinstance(reply, dict):
                found = reply.get("models") if version == "v1" else reply.get("data")
                return [entry for entry in found or () if isinstance(entry, dict) and ("key" in entry or "id" in entry)]
        return []


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
