"""Dialects against replies in the shapes of Ollama, LM Studio, vLLM and TGI: recorded, not the servers themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from storage import open_store
from tests.servers.conftest import playing
from workbench.desk import Desk
from workbench.errors import ServerError
from workbench.playground.words import figure_words
from workbench.records.answers import Message
from workbench.records.models import GenerationSettings
from workbench.records.servers import Endpoint, ServedModel, ServerState
from workbench.records.usage import Call
from workbench.servers.concurrency import load_test
from workbench.servers.discovery import recognise
from workbench.servers.generator import ServedGenerator
from workbench.servers.lmstudio import LmStudio
from workbench.servers.ollama import Ollama
from workbench.servers.openai import OpenAi, Vllm
from workbench.servers.wire import Wire
from workbench.servers.words import state_words
from workbench.usage.recording import RecordingGenerator

HELLO = [Message("user", "hello")]


def ok(value: object) -> tuple[int, str]:
    return 200, json.dumps(value)


def lines(*values: object) -> tuple[int, str]:
    return 200, "\n".join(json.dumps(value) for value in values) + "\n"


def sse(*values: object) -> tuple[int, str]:
    return 200, "".join(f"data: {json.dumps(value)}\n\n" for value in values) + "data: [DONE]\n\n"


OLLAMA: Mapping[str, Any] = {
    "GET /api/version": ok({"version": "0.12.6"}),
    "GET /api/tags": ok(
        {
            "models": [
                {"name": "smollm2:135m", "model": "smollm2:135m", "size": 270898672, "digest": "9077", "details": {
                    "format": "gguf", "family": "llama", "parameter_size": "134.52M", "quantization_level": "F16"}},
                {"name": "gpt-oss:120b-cloud", "model": "gpt-oss:120b-cloud", "remote_model": "gpt-oss:120b",
                 "remote_host": "https://ollama.com:443", "size": 384, "details": {}},
                {"name": "nomic-embed-text:latest", "model": "nomic-embed-text:latest", "size": 274302450, "details": {
                    "family": "nomic-bert", "quantization_level": "F16"}},
            ]
        }
    ),
    "GET /api/ps": ok({"models": [{"name": "smollm2:135m", "size_vram": 0, "context_length": 4096}]}),
    "POST /api/show": lambda body: ok(
        {
            "smollm2:135m": {"capabilities": ["completion", "tools"], "model_info": {
                "general.parameter_count": 134515008, "llama.context_length": 8192}},
            "nomic-embed-text:latest": {"capabilities": ["embedding"], "model_info": {
                "nomic-bert.context_length": 2048}},
        }.get(body["model"], {"remote_host": "https://ollama.com:443", "capabilities": ["completion"]})
    ),
    "POST /api/chat": lines(
        {"model": "smollm2:135m", "message": {"role": "assistant", "content": "Hel"}, "done": False},
        {"model": "smollm2:135m", "message": {"role": "assistant", "content": "lo"}, "done": False},
        {"model": "smollm2:135m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop",
         "total_duration": 900_000_000, "load_duration": 500_000_000, "prompt_eval_count": 31,
         "prompt_eval_duration": 155_000_000, "eval_count": 4, "eval_duration": 80_000_000},
    ),
    "POST /api/embed": ok({"embeddings": [[1.0, 0.0], [0.0, 1.0]]}),
}  # fmt: skip


def test_ollama_tells_what_is_loaded_with_which_context_and_what_is_no_local_model() -> None:
    with playing(OLLAMA) as server:
        dialect, found = recognise(Endpoint(server.url))
        assert (found.kind, found.version, found.reach, found.exposed) == ("ollama", "0.12.6", "machine", False)
        small, cloud, embedder = dialect.models(Wire(Endpoint(server.url)))
        assert (small.loaded, small.context, small.parameters, small.quantization) == (True, 4096, 134515008, "F16")
        assert (cloud.reach, cloud.loaded) == ("cloud", False)
        assert (embedder.kind, embedder.context) == ("embedding", 2048)


def test_ollamas_answer_is_streamed_with_its_own_counters_beside_ours() -> None:
    with playing(OLLAMA) as server:
        wire = Wire(Endpoint(server.url))
        model = Ollama().models(wire)[0]
        generator = ServedGenerator(wire, Ollama(), model)
        *_, last = generator.generate(generator.render(HELLO), GenerationSettings(max_tokens=8, seed=7, stop=("x",)))
        assert (last.state, last.text, last.stop_reason) == ("complete", "Hello", "stop")
        assert (last.prompt_tokens, last.output_tokens) == (31, 4)
        assert last.ttft_ms is not None
        assert last.engine is not None
        assert last.engine.prefill_tps == pytest.approx(200)
        assert last.engine.decode_tps == pytest.approx(50)
        body = next(body for key, body in server.asked if key == "POST /api/chat")
        assert body["messages"] == [{"role": "user", "content": "hello"}]
        assert body["options"]["num_predict"] == 8
        assert (body["options"]["seed"], body["options"]["stop"]) == (7, ["x"])
        list(Ollama().chat(wire, "smollm2:135m", HELLO, GenerationSettings(), None))
        assert server.asked[-1][1]["truncate"] is False  # it would leave out a prompt's beginning without a word
        assert "stop" not in server.asked[-1][1]["options"]  # an empty list would silence the model's own


def test_an_error_in_the_middle_of_a_stream_is_the_servers_and_typed() -> None:
    broken = {**OLLAMA, "POST /api/chat": lines({"error": "model requires more system memory than is available"})}
    with playing(broken) as server, pytest.raises(ServerError) as caught:
        list(Ollama().chat(Wire(Endpoint(server.url)), "smollm2:135m", HELLO, GenerationSettings(), None))
    assert caught.value.layer == "memory"


LMSTUDIO = {
    "GET /api/v1/models": ok(
        {
            "models": [
                {"type": "llm", "key": "qwen/qwen3-4b", "architecture": "qwen3", "quantization": {"name": "Q4_K_M"},
                 "size_bytes": 2497280256, "max_context_length": 32768,
                 "loaded_instances": [{"id": "qwen/qwen3-4b", "config": {"context_length": 8192}}],
                 "capabilities": {"vision": False, "trained_for_tool_use": True}},
                {"type": "embedding", "key": "text-embedding-nomic", "loaded_instances": [],
                 "max_context_length": 2048},
            ]
        }
    ),
    "GET /v1/models": ok({"object": "list", "data": [{"id": "qwen/qwen3-4b", "object": "model"}]}),
}  # fmt: skip
LMSTUDIO_0_3 = {
    "GET /api/v0/models": ok(
        {"data": [{"id": "qwen3-4b", "type": "llm", "arch": "qwen3", "quantization": "Q4_K_M", "state": "loaded",
                   "max_context_length": 32768, "loaded_context_length": 4096}]}
    )
}  # fmt: skip


def test_lm_studio_of_either_version_tells_the_context_that_is_loaded() -> None:
    with playing(LMSTUDIO) as server:
        dialect, found = recognise(Endpoint(server.url))
        chat, embedder = dialect.models(Wire(Endpoint(server.url)))
        assert (found.kind, chat.context, chat.loaded, chat.quantization) == ("lmstudio", 8192, True, "Q4_K_M")
        assert chat.capabilities == ("trained_for_tool_use",)
        assert (embedder.kind, embedder.loaded, embedder.context) == ("embedding", False, 2048)
    with playing(LMSTUDIO_0_3) as server:
        dialect, found = recognise(Endpoint(server.url))
        (chat,) = dialect.models(Wire(Endpoint(server.url)))
        assert (found.kind, found.version, chat.context, chat.loaded) == ("lmstudio", "v0", 4096, True)


VLLM = {
    "GET /v1/models": ok({"data": [{"id": "Qwen/Qwen3-8B", "owned_by": "vllm", "max_model_len": 40960}]}),
    "GET /version": ok({"version": "0.11.0"}),
    "POST /tokenize": ok({"count": 3, "max_model_len": 40960, "tokens": [1, 2, 3]}),
    "POST /v1/chat/completions": sse(
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
        {"choices": [{"index": 0, "delta": {"content": "Hello"}}]},
        {"choices": [{"index": 0, "delta": {"content": " there"}, "finish_reason": "length"}]},
        {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13,
                                  "prompt_tokens_details": {"cached_tokens": 8}}},
    ),
    "GET /metrics": (200, """# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="Qwen/Qwen3-8B"} 3.0
vllm:num_requests_running{engine="1",model_name="Qwen/Qwen3-8B"} 4.0
vllm:num_requests_waiting{engine="0",model_name="Qwen/Qwen3-8B"} 2.0
vllm:kv_cache_usage_perc{engine="0",model_name="Qwen/Qwen3-8B"} 0.25
vllm:broken{engine="0"} NaN
no number here
"""),
    "POST /v1/embeddings": ok(
        {"data": [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}], "usage": {}}
    ),
}  # fmt: skip


def test_vllm_is_known_by_its_owner_and_counts_what_its_cache_served() -> None:
    with playing(VLLM) as server:
        wire = Wire(Endpoint(server.url))
        dialect, found = recognise(wire.endpoint)
        assert (found.kind, found.version) == ("vllm", "0.11.0")
        (model,) = dialect.models(wire)
        generator = ServedGenerator(wire, dialect, model)
        assert generator.count_tokens("any text") == 3
        *_, last = generator.generate(generator.render(HELLO), GenerationSettings(max_tokens=2))
        assert (last.text, last.stop_reason) == ("Hello there", "length")
        assert (last.prompt_tokens, last.reused_tokens, last.output_tokens) == (11, 8, 2)


def test_what_a_server_does_at_this_moment_is_read_from_its_gauges() -> None:
    with playing(VLLM) as server:
        dialect, _ = recognise(Endpoint(server.url))
        state = dialect.state(Wire(Endpoint(server.url)))
        assert state == ServerState(busy=7, waiting=2, cache=0.25)
        assert state_words(state) == "7 under way · 2 waiting · its cache 25% full"
    with playing(OLLAMA) as server:
        assert Ollama().state(Wire(Endpoint(server.url))) is None


def test_a_prompt_that_the_server_does_not_count_is_estimated_rather_than_free() -> None:
    said = sse({"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]})
    with playing({"POST /v1/chat/completions": said}) as server:
        generator = ServedGenerator(Wire(Endpoint(server.url)), OpenAi(), ServedModel("m"))
        prompt = generator.render(HELLO)
        entered: list[Call] = []
        watched = RecordingGenerator(generator, "chat", entered.append)
        *_, last = watched.generate(prompt, GenerationSettings(max_tokens=2))
        assert [call.usage.estimated for call in entered] == [True]
        assert last.prompt_tokens == generator.count_tokens(prompt) > 0
        assert last.estimated
        assert figure_words(last).startswith("≈ 1 token")
        assert f"prompt ≈ {last.prompt_tokens}" in figure_words(last)


def test_a_schema_that_is_refused_is_sent_in_the_older_form_and_nothing_else_is() -> None:
    said = sse({"choices": [{"delta": {"content": "{}"}, "finish_reason": "stop"}]})

    def chat(body: Any) -> tuple[int, str]:
        told = body.get("response_format", {}).get("type")
        return (500, '{"error": {"message": "response_format: not json_schema"}}') if told == "json_schema" else said

    with playing({"POST /v1/chat/completions": chat}) as server:
        wire = Wire(Endpoint(server.url))
        settings = GenerationSettings(json_schema='{"type": "object"}')
        assert "".join(d.text for d in OpenAi().chat(wire, "m", HELLO, settings, None)) == "{}"
        assert server.asked[-1][1]["response_format"] == {"type": "json_object", "schema": {"type": "object"}}
        assert len(server.asked) == 2
    with playing({"POST /v1/chat/completions": (500, "no")}) as server, pytest.raises(ServerError):
        list(OpenAi().chat(Wire(Endpoint(server.url)), "m", HELLO, settings, None))
    assert len(server.asked) == 1


def test_a_model_that_is_still_being_loaded_is_told_so() -> None:
    loading = 503, json.dumps({"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}})
    with playing({"GET /v1/models": loading}) as server, pytest.raises(ServerError) as caught:
        recognise(Endpoint(server.url))
    assert (caught.value.title, caught.value.layer) == ("The model is still loading", "model")


def test_a_request_of_a_load_test_that_breaks_off_or_has_another_shape_has_failed() -> None:
    endless, odd = sse({"choices": [{"delta": {"content": "Hi"}}]}), sse({"choices": [3]})
    with playing({"POST /v1/chat/completions": [(200, endless[1].replace("data: [DONE]", "")), odd]}) as server:
        *_, found = load_test(Wire(Endpoint(server.url)), OpenAi(), "m", rate=1000, requests=2)
    assert (found.failed, found.sent, found.served) == (2, 2, 0)
    assert {flight.error.split(":")[0] for flight in found.flights} == {
        "the answer has no end",
        "a reply of another shape",
    }


def test_embeddings_come_back_in_the_order_of_the_texts() -> None:
    with playing(VLLM) as server:
        assert OpenAi().embed(Wire(Endpoint(server.url)), "m", ["a", "b"]) == [[1.0, 0.0], [0.0, 1.0]]


def test_fewer_vectors_than_texts_are_refused() -> None:
    with playing(VLLM) as server, pytest.raises(ServerError, match="3 texts"):
        OpenAi().embed(Wire(Endpoint(server.url)), "m", ["a", "b", "c"])


def test_tgi_is_known_by_its_info() -> None:
    info = ok({"model_id": "org/model", "max_total_tokens": 4096, "version": "3.3.4"})
    with playing({"GET /info": info, "GET /v1/models": ok({"data": []})}) as server:
        dialect, found = recognise(Endpoint(server.url))
        assert (found.kind, found.version) == ("tgi", "3.3.4")
        assert [(m.id, m.context) for m in dialect.models(Wire(Endpoint(server.url)))] == [("org/model", 4096)]


def test_something_that_serves_no_models_is_no_server() -> None:
    with playing({"GET /v1/models": ok({"hello": 1})}) as server, pytest.raises(ServerError, match="offers no models"):
        recognise(Endpoint(server.url))


def test_ollama_loads_what_isnt_in_memory_before_it_is_used(tmp_path: Path) -> None:
    loaded = ok({"model": "smollm2:135m", "response": "", "done": True, "done_reason": "load"})
    before, after = ok({"models": []}), OLLAMA["GET /api/ps"]
    with playing({**OLLAMA, "GET /api/ps": [before, after], "POST /api/generate": loaded}) as server:
        desk = Desk(open_store(tmp_path / "w.db"))
        used = desk.servers.use(f"{server.url}#smollm2:135m")
        assert used.model.context == 4096  # what it was loaded with, not the 8192 it could have
        assert ("POST /api/generate", {"model": "smollm2:135m", "stream": False, "keep_alive": "30m"}) in server.asked
        sent = len(server.asked)
        near = server.url.removeprefix("http://")
        assert desk.status().reach == near
        desk.servers.use(f"{server.url}#gpt-oss:120b-cloud")
        assert desk.status().reach == f"{near} (the cloud)"  # its server is here, and it isn't
        assert all(key != "POST /api/generate" for key, _ in server.asked[sent:])
        desk.close()


LMSTUDIO_CHAT = sse(
    {"type": "chat.start", "model_instance_id": "qwen/qwen3-4b"},
    {"type": "prompt_processing.start"},
    {"type": "reasoning.delta", "content": "Hm."},
    {"type": "message.delta", "content": "Hel"},
    {"type": "message.delta", "content": "lo"},
    {"type": "message.end"},
    {"type": "chat.end", "result": {"model_instance_id": "qwen/qwen3-4b", "output": [], "stats": {
        "input_tokens": 12, "total_output_tokens": 4, "reasoning_output_tokens": 1, "tokens_per_second": 40.0,
        "time_to_first_token_seconds": 0.25, "model_load_time_seconds": 2.0}}},
)  # fmt: skip


def test_lm_studios_own_chat_has_its_counters_and_is_asked_what_it_takes() -> None:
    plain, sampled = GenerationSettings(max_tokens=8), GenerationSettings(max_tokens=8, temperature=0.7, seed=3)
    compatible = sse({"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]})
    replies = {**LMSTUDIO, "POST /api/v1/chat": LMSTUDIO_CHAT, "POST /v1/chat/completions": compatible}
    with playing(replies) as server:
        wire = Wire(Endpoint(server.url))
        generator = ServedGenerator(wire, LmStudio(), LmStudio().models(wire)[0])
        prompt = generator.render([Message("system", "Be brief."), *HELLO])
        *_, last = generator.generate(prompt, plain)
        assert (last.text, last.stop_reason, last.prompt_tokens, last.output_tokens) == ("Hello", "stop", 12, 4)
        assert last.engine is not None
        assert last.engine.decode_tps == pytest.approx(40)
        body = next(body for key, body in server.asked if key == "POST /api/v1/chat")
        assert (body["input"], body["system_prompt"], body["max_output_tokens"]) == ("hello", "Be brief.", 8)
        assert body["store"] is False  # nothing of a question stays there
        *_, last = generator.generate(prompt, sampled)  # its own chat takes no seed
        assert last.text == "Hi"


def test_vllm_is_held_by_structured_outputs() -> None:
    with playing(VLLM) as server:
        wire = Wire(Endpoint(server.url))
        for settings, held in (
            (GenerationSettings(grammar='root ::= "a"'), {"grammar": 'root ::= "a"'}),
            (GenerationSettings(json_schema='{"type": "object"}'), {"json": {"type": "object"}}),
        ):
            list(Vllm().chat(wire, "Qwen/Qwen3-8B", HELLO, settings, None))
            assert server.asked[-1][1]["structured_outputs"] == held
        list(Vllm().chat(wire, "Qwen/Qwen3-8B", HELLO, GenerationSettings(), None))
        assert "structured_outputs" not in server.asked[-1][1]
