"""The dialect that most servers share: models, chat completions, completions and embeddings under ``/v1``.

vLLM, SGLang and TGI speak it with signs of their own; a server that shows none of them is "openai".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final

from workbench.errors import ServerError
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.answers import Message
from workbench.records.models import GenerationSettings
from workbench.records.servers import ServedModel, ServerKind, ServerState, ServerTimes
from workbench.servers.dialect import Delta, events
from workbench.servers.metrics import gauges, stated
from workbench.servers.wire import Wire

RESPONSE_FORMAT: Final = "response_format"
"""What a schema is sent as. Servers that came before ``json_schema`` take ``json_object`` with a ``schema``."""


class OpenAi:
    """Any server with ``/v1/models``."""

    kind: ServerKind = "openai"
    grammars: bool = False
    counts: bool = False
    samplers: ClassVar[frozenset[str]] = frozenset()
    """Settings beyond the common ones that the server takes, by their names there."""
    metrics: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Fields of ``ServerState`` by what ``/metrics`` calls them, in this version or an earlier one."""

    def recognise(self, wire: Wire) -> str | None:
        """ "" for any server whose ``/v1/models`` is a list."""
        with suppress(ServerError):
            if isinstance(_listed(wire), list):
                return ""
        return None

    def models(self, wire: Wire) -> tuple[ServedModel, ...]:
        """As ``/v1/models`` lists them."""
        return tuple(self._model(entry) for entry in _listed(wire) if isinstance(entry, dict) and entry.get("id"))

    def state(self, wire: Wire) -> ServerState | None:
        """From ``/metrics``, where it has gauges."""
        if not self.metrics:
            return None
        with suppress(ServerError):
            state = stated(gauges(wire.text("/metrics")), self.metrics)
            return state if state != ServerState() else None
        return None

    def load(self, wire: Wire, model: str) -> None:
        """Nothing to be told: what it serves is loaded, or is with the first call."""

    def _model(self, entry: Mapping[str, Any]) -> ServedModel:
        context = next(
            (entry[key] for key in ("max_model_len", "context_length", "max_context_length") if entry.get(key)), None
        )
        name = str(entry["id"])
        return ServedModel(name, _kind(name, entry), whole(context))

    def chat(
        self, wire: Wire, model: str, messages: Sequence[Message], settings: GenerationSettings, cancel: Cancel | None
    ) -> Iterator[Delta]:
        """Streams ``/v1/chat/completions``."""
        turns = [{"role": message.role, "content": message.content} for message in messages]
        body = self._body(model, settings) | {"messages": turns}
        return self._either(wire, "/v1/chat/completions", body, cancel)

    def complete(
        self, wire: Wire, model: str, prompt: str, settings: GenerationSettings, cancel: Cancel | None
    ) -> Iterator[Delta]:
        """Streams ``/v1/completions``."""
        return self._either(wire, "/v1/completions", self._body(model, settings) | {"prompt": prompt}, cancel)

    def embed(self, wire: Wire, model: str, texts: Sequence[str], cancel: Cancel | None = None) -> list[list[float]]:
        """``/v1/embeddings``; replies are put in order by their index."""
        body = {"model": model, "input": list(texts), "encoding_format": "float"}
        reply = wire.post("/v1/embeddings", body, idempotent=True, reply_s=wire.timeouts.first, cancel=cancel)
        rows = (reply.get("data") if isinstance(reply, dict) else None) or ()
        found = {row.get("index", place): row.get("embedding") for place, row in enumerate(rows)}
        if len(rows) != len(texts) or set(found) != set(range(len(texts))):
            raise bad_embeddings(wire, len(texts), len(rows))
        return [found[place] for place in range(len(texts))]

    def template(self, wire: Wire, model: str) -> tuple[str, str, str]:
        """Untold."""
        return "", "", ""

    def count(self, wire: Wire, model: str, text: str) -> int | None:
        """Untold."""
        return None

    def pieces(self, wire: Wire, model: str, text: str, *, prompt: bool = False) -> list[tuple[int, bytes]] | None:
        """Untold."""
        return None

    def _body(self, model: str, settings: GenerationSettings) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": settings.max_tokens,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "seed": settings.seed,
        }
        if settings.stop:
            body["stop"] = list(settings.stop)
        extra = {
            "top_k": settings.top_k,
            "min_p": settings.min_p,
            "repetition_penalty": settings.repeat_penalty,
            "repeat_penalty": settings.repeat_penalty,
        }
        return body | self._held(settings) | {name: extra[name] for name in self.samplers}

    def _held(self, settings: GenerationSettings) -> dict[str, Any]:
        """What holds the output to a schema or a grammar."""
        if not settings.json_schema:
            return {}
        return _schema_format(json.loads(settings.json_schema))

    def _either(self, wire: Wire, path: str, body: Mapping[str, Any], cancel: Cancel | None) -> Iterator[Delta]:
        """The answer; a schema that is refused is sent again in the older form, which was refused before it began."""
        try:
            yield from self._deltas(wire, path, body, cancel)
        except ServerError as error:
            if RESPONSE_FORMAT not in body or RESPONSE_FORMAT not in error.message:
                raise
            schema = body[RESPONSE_FORMAT]["json_schema"]["schema"]
            older = {**body, RESPONSE_FORMAT: {"type": "json_object", "schema": schema}}
            yield from self._deltas(wire, path, older, cancel)

    def _deltas(self, wire: Wire, path: str, body: Mapping[str, Any], cancel: Cancel | None) -> Iterator[Delta]:
        ended = ""
        for at, event in events(wire.stream(path, body, cancel)):
            if event.get("error"):
                raise wire.told(json.dumps(event), status_of(event["error"]))
            choice: Mapping[str, Any] = next(iter(event.get("choices") or ()), {})
            piece = choice.get("delta") or {}
            text = str(piece.get("content") or choice.get("text") or "")
            # The closing event is the only sign of the end that some servers give.
            reason = str(choice.get("finish_reason") or "") or ("" if event or ended else "stop")
            ended, times = ended or reason, self._times(event)
            if text or reason or times:
                yield Delta(at, text, reason, times)

    def _times(self, event: Mapping[str, Any]) -> ServerTimes | None:
        usage = event.get("usage")
        if not isinstance(usage, dict):
            return None
        details = usage.get("prompt_tokens_details") or {}
        return ServerTimes(
            whole(usage.get("prompt_tokens")),
            whole(usage.get("completion_tokens")),
            whole(details.get("cached_tokens")),
        )


class Vllm(OpenAi):
    """vLLM: ``/version``, and models owned by "vllm" with their ``max_model_len``.

    Outputs are held by ``structured_outputs`` (0.12 and later), whose grammars are written as llama.cpp's are.
    """

    kind = "vllm"
    grammars = True
    counts = True
    samplers = frozenset({"top_k", "min_p", "repetition_penalty"})
    metrics: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "busy": ("vllm:num_requests_running",),
        "waiting": ("vllm:num_requests_waiting",),
        "cache": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    }

    def recognise(self, wire: Wire) -> str | None:
        """Its version."""
        if not _owned(wire, "vllm"):
            return None
        with suppress(ServerError):
            return str(wire.get("/version").get("version", ""))
        return ""

    def count(self, wire: Wire, model: str, text: str) -> int | None:
        """``/tokenize``."""
        reply = wire.post("/tokenize", {"model": model, "prompt": text, "add_special_tokens": False}, idempotent=True)
        return whole(reply.get("count"))

    def _held(self, settings: GenerationSettings) -> dict[str, Any]:
        if settings.json_schema:
            return {"structured_outputs": {"json": json.loads(settings.json_schema)}}
        return {"structured_outputs": {"grammar": settings.grammar}} if settings.grammar else {}


class SgLang(OpenAi):
    """SGLang: models owned by "sglang"; ``/get_server_info`` tells its version."""

    kind = "sglang"
    samplers = frozenset({"top_k", "min_p", "repetition_penalty"})
    metrics: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "busy": ("sglang:num_running_reqs",),
        "waiting": ("sglang:num_queue_reqs",),
        "cache": ("sglang:token_usage",),
        "decode_tps": ("sglang:gen_throughput",),
    }

    def recognise(self, wire: Wire) -> str | None:
        """Its version."""
        if not _owned(wire, "sglang"):
            return None
        with suppress(ServerError):
            return str(wire.get("/get_server_info").get("version", ""))
        return ""


class Tgi(OpenAi):
    """Text Generation Inference: ``/info`` names the one model, its version and its longest sequence."""

    kind = "tgi"
    metrics: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "busy": ("tgi_batch_current_size",),
        "waiting": ("tgi_queue_size",),
    }

    def recognise(self, wire: Wire) -> str | None:
        """Its version."""
        with suppress(ServerError):
            info = wire.get("/info")
            if isinstance(info, dict) and "model_id" in info and "max_total_tokens" in info:
                return str(info.get("version", ""))
        return None

    def models(self, wire: Wire) -> tuple[ServedModel, ...]:
        """The one it serves."""
        info = wire.get("/info")
        return (ServedModel(str(info["model_id"]), context=whole(info.get("max_total_tokens")), loaded=True),)


def takes_json_schema(wire: Wire, model: str, schema: Mapping[str, Any]) -> bool:
    """Whether a server takes a schema as the dialect says it is sent. Raises ServerError for another refusal."""
    body = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": "{}"}]}
    try:
        wire.post("/v1/chat/completions", body | _schema_format(schema), reply_s=wire.timeouts.first)
    except ServerError as error:
        if RESPONSE_FORMAT in error.message:
            return False
        raise
    return True


def _schema_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        RESPONSE_FORMAT: {"type": "json_schema", "json_schema": {"name": "output", "schema": schema, "strict": True}}
    }


def bad_embeddings(wire: Wire, asked: int, came: int) -> ServerError:
    """A reply that isn't a vector for each text."""
    return ServerError(
        tr("The server's vectors don't match"),
        tr(
            "{url}: {asked} texts were sent, and {came} vectors came back.",
            url=wire.endpoint.url,
            asked=asked,
            came=came,
        ),
        tr("Choose a model that embeds: workbench servers lists them."),
        layer="json",
    )


def _listed(wire: Wire) -> Any:
    reply = wire.get("/v1/models")
    return reply.get("data") if isinstance(reply, dict) else None


def _owned(wire: Wire, owner: str) -> bool:
    with suppress(ServerError):
        entries = _listed(wire)
        return isinstance(entries, list) and any(isinstance(e, dict) and e.get("owned_by") == owner for e in entries)
    return False


def _kind(name: str, entry: Mapping[str, Any]) -> Any:
    """ "embedding" where the server, or else the name, says so."""
    return "embedding" if entry.get("type") in ("embeddings", "embedding") or "embed" in name.casefold() else "chat"


def whole(value: object) -> int | None:
    """A count as JSON has it, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def status_of(error: object) -> int:
    """The HTTP status that an error inside a stream names."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else 500
