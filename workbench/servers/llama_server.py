"""llama.cpp's ``llama-server``: its template and tokenizer are told, so that prompts are exact and grammars hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

from workbench.errors import ServerError
from workbench.ports import Cancel
from workbench.records.models import GenerationSettings
from workbench.records.servers import ServedModel, ServerState, ServerTimes
from workbench.servers.dialect import Delta, events
from workbench.servers.openai import OpenAi, status_of
from workbench.servers.wire import Wire

_REASONS = {"limit": "length", "word": "stop", "eos": "eos", "none": ""}


class LlamaServer(OpenAi):
    """``/health``, ``/props``, ``/slots``, ``/metrics``, ``/tokenize``, ``/completion``, and ``/v1``."""

    kind = "llama-server"
    grammars = True
    counts = True
    samplers = frozenset({"top_k", "min_p", "repeat_penalty"})
    metrics: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "busy": ("llamacpp:requests_processing",),
        "waiting": ("llamacpp:requests_deferred",),
        "cache": ("llamacpp:kv_cache_usage_ratio",),
        "prefill_tps": ("llamacpp:prompt_tokens_seconds",),
        "decode_tps": ("llamacpp:predicted_tokens_seconds",),
    }

    def recognise(self, wire: Wire) -> str | None:
        """Its build."""
        with suppress(ServerError):
            props = wire.get("/props")
            if isinstance(props, dict) and "default_generation_settings" in props:
                return str(props.get("build_info", ""))
        return None

    def models(self, wire: Wire) -> tuple[ServedModel, ...]:
        """The one it serves, with the context of one slot: a request can't have more."""
        props = wire.get("/props")
        context = (props.get("default_generation_settings") or {}).get("n_ctx")
        entry: Mapping[str, Any] = next(iter((wire.get("/v1/models") or {}).get("data") or ()), {})
        meta = entry.get("meta") or {}
        name = str(entry.get("id") or props.get("model_alias") or props.get("model_path") or "model")
        return (
            ServedModel(
                name,
                context=context if isinstance(context, int) else meta.get("n_ctx"),
                loaded=not props.get("is_sleeping", False),
                bytes=int(meta.get("size") or 0),
                parameters=int(meta.get("n_params") or 0),
                quantization=str(props.get("model_ftype") or ""),
            ),
        )

    def state(self, wire: Wire) -> ServerState | None:
        """From ``/health``, ``/slots`` and ``/metrics``; the last two only where it was started with them."""
        state = super().state(wire) or ServerState()
        with suppress(ServerError):
            state = replace(state, ready=wire.get("/health").get("status") == "ok")
        with suppress(ServerError, TypeError, AttributeError):
            slots = [bool(slot.get("is_processing")) for slot in wire.get("/slots")]
            state = replace(state, slots=len(slots), busy=sum(slots))
        return state if state != ServerState() else None

    def complete(
        self, wire: Wire, model: str, prompt: str, settings: GenerationSettings, cancel: Cancel | None
    ) -> Iterator[Delta]:
        """Streams ``/completion``, which has the server's clocks."""
        body = {
            "prompt": prompt,
            "stream": True,
            "n_predict": settings.max_tokens,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "top_k": settings.top_k,
            "min_p": settings.min_p,
            "repeat_penalty": settings.repeat_penalty,
            "seed": settings.seed,
            "stop": list(settings.stop),
            "cache_prompt": True,
            **self._held(settings),
        }
        for at, event in events(wire.stream("/completion", body, cancel)):
            if event.get("error"):
                raise wire.told(json.dumps(event), status_of(event["error"]))
            reason = _REASONS.get(str(event.get("stop_type", "")), "") or ("stop" if event.get("stop") is True else "")
            yield Delta(at, str(event.get("content") or ""), reason, self._times(event))

    def template(self, wire: Wire, model: str) -> tuple[str, str, str]:
        """From ``/props``."""
        props = wire.get("/props")
        template, bos, eos = (str(props.get(key) or "") for key in ("chat_template", "bos_token", "eos_token"))
        return template, bos, eos

    def count(self, wire: Wire, model: str, text: str) -> int | None:
        """``/tokenize``."""
        reply = wire.post("/tokenize", {"content": text, "add_special": False, "parse_special": True}, idempotent=True)
        return len(reply["tokens"])

    def pieces(self, wire: Wire, model: str, text: str, *, prompt: bool = False) -> list[tuple[int, bytes]] | None:
        """``/tokenize`` with the piece of each; one that is no whole character comes as its bytes."""
        body = {"content": text, "add_special": prompt, "parse_special": prompt, "with_pieces": True}
        found = [(token["id"], token["piece"]) for token in wire.post("/tokenize", body, idempotent=True)["tokens"]]
        return [(number, piece.encode() if isinstance(piece, str) else bytes(piece)) for number, piece in found]

    def _held(self, settings: GenerationSettings) -> dict[str, Any]:
        """Both ``/completion`` and ``/v1`` take these."""
        if settings.json_schema:
            return {"json_schema": json.loads(settings.json_schema)}
        return {"grammar": settings.grammar} if settings.grammar else {}

    def _times(self, event: Mapping[str, Any]) -> ServerTimes | None:
        clocks = event.get("timings")
        if not isinstance(clocks, dict):
            return super()._times(event)
        kept = int(clocks.get("cache_n") or 0)
        return ServerTimes(
            kept + int(clocks.get("prompt_n") or 0),
            int(clocks.get("predicted_n") or 0),
            kept,
            prefill_ms=clocks.get("prompt_ms"),
            decode_ms=clocks.get("predicted_ms"),
        )
