"""What a call means when it fails, when it is tried again, and how soon a stop is heard."""

from __future__ import annotations

import time

import pytest

from tests.servers.conftest import free_port, playing
from workbench.errors import ServerError, UsageError
from workbench.ports import Cancel
from workbench.records.servers import Endpoint, Timeouts
from workbench.servers.discovery import endpoint_of, is_exposed, reach_of
from workbench.servers.refusals import layer_of, message_of
from workbench.servers.wire import Wire


def test_a_call_that_changes_nothing_is_tried_again_on_429_and_5xx() -> None:
    with playing({"GET /x": [(429, "{}"), (503, "{}"), (200, '{"a": 1}')]}) as server:
        assert Wire(Endpoint(server.url)).get("/x") == {"a": 1}
        assert len(server.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_request_that_is_at_fault_is_never_sent_twice(status: int) -> None:
    with playing({"GET /x": (status, '{"error": {"message": "no"}}')}) as server:
        with pytest.raises(ServerError, match="no") as caught:
            Wire(Endpoint(server.url)).get("/x")
        assert caught.value.status == status
        assert len(server.asked) == 1


def test_a_call_that_may_cost_is_not_tried_again() -> None:
    with playing({"POST /x": (500, "{}")}) as server:
        with pytest.raises(ServerError):
            Wire(Endpoint(server.url)).post("/x", {})
        assert len(server.asked) == 1


def test_nobody_there_is_said_with_the_address() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(ServerError, match=url) as caught:
        Wire(Endpoint(url)).get("/v1/models")
    assert caught.value.layer == "endpoint"


def test_a_page_in_place_of_json_is_told_apart() -> None:
    with playing({"GET /x": (200, "<html>a router</html>")}) as server, pytest.raises(ServerError) as caught:
        Wire(Endpoint(server.url)).get("/x")
    assert caught.value.layer == "json"
    assert "a router" in caught.value.message


def test_a_stop_is_heard_while_the_server_reads_the_prompt_and_closes_the_connection() -> None:
    with playing({"POST /x": (0, "")}) as server:
        stop = Cancel()
        lines = Wire(Endpoint(server.url)).stream("/x", {}, stop)
        start = None

        def when_held() -> None:
            nonlocal start
            assert server.hold.wait(60)
            start = time.perf_counter()
            stop.set()

        import threading

        threading.Thread(target=when_held).start()
        assert list(lines) == []
        assert start is not None
        assert server.gone.wait(60), "the server was not told"


def test_a_server_that_never_begins_is_given_up() -> None:
    with playing({"POST /x": (0, "")}) as server:
        wire = Wire(Endpoint(server.url), Timeouts(first=0.2))
        with pytest.raises(ServerError) as caught:
            list(wire.stream("/x", {}))
        assert caught.value.layer == "timeout"


def test_an_error_in_place_of_a_stream_says_what_the_server_said() -> None:
    with playing({"POST /x": (400, '{"error": {"message": "maximum context length is 2048"}}')}) as server:
        with pytest.raises(ServerError, match="maximum context length") as caught:
            list(Wire(Endpoint(server.url)).stream("/x", {}))
        assert caught.value.layer == "context"


def test_the_key_comes_from_its_variable_and_an_empty_one_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with playing({"GET /x": (200, "{}")}) as server:
        wire = Wire(Endpoint(server.url, "SOME_KEY"))
        monkeypatch.delenv("SOME_KEY", raising=False)
        with pytest.raises(ServerError, match="SOME_KEY") as caught:
            wire.get("/x")
        assert caught.value.layer == "key"
        monkeypatch.setenv("SOME_KEY", "hidden")
        wire.get("/x")
        assert server.headers["authorization"] == "Bearer hidden"


@pytest.mark.parametrize(
    ("status", "body", "layer"),
    [
        (401, "", "key"),
        (404, '{"error":"model \'x\' not found, try pulling it first"}', "model"),
        (404, '{"detail":"Not Found"}', "endpoint"),
        (500, '{"error":"model requires more system memory (9 GiB) than is available"}', "memory"),
        (400, '{"error":{"type":"exceed_context_size_error","message":"request (3031 tokens) exceeds …"}}', "context"),
        (503, '{"error":{"message":"Loading model"}}', "model"),
        (429, "", "overload"),
        (504, "", "timeout"),
        (400, '{"error":"bad"}', "request"),
        (500, "", "server"),
    ],
)
def test_the_failing_layer_is_told_from_status_and_words(status: int, body: str, layer: str) -> None:
    assert layer_of(status, body) == layer


def test_the_message_is_found_in_every_usual_shape() -> None:
    shapes = (
        '{"error": "no"}',
        '{"error": {"message": "no", "code": 1}}',
        '{"detail": "no"}',
        '{"message": "no"}',
        "no",
    )
    assert [message_of(text) for text in shapes] == ["no"] * 5


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("localhost:11434", "http://127.0.0.1:11434"),
        ("https://localhost:8443", "https://localhost:8443"),  # its certificate is for the name
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080"),
        ("https://example.org/api", "https://example.org/api"),
    ],
)
def test_an_address_is_taken_as_people_write_it(written: str, url: str) -> None:
    assert endpoint_of(written).url == url


@pytest.mark.parametrize("written", ["", "ftp://x", "http://", "http://a:b@host", "http://x:port", "http://x/?key=1"])
def test_what_is_no_address_or_would_store_a_secret_is_refused(written: str) -> None:
    with pytest.raises(UsageError):
        endpoint_of(written)


@pytest.mark.parametrize(
    ("url", "reach"),
    [
        ("http://localhost:1", "machine"),
        ("http://127.5.0.1:1", "machine"),
        ("http://0.0.0.0:1", "machine"),
        ("http://100.64.3.2:1", "network"),  # shared address space, as overlay networks use it
        ("http://[::1]:1", "machine"),
        ("http://192.168.1.7:1", "network"),
        ("http://gpu-box:1", "network"),
        ("http://box.local:1", "network"),
        ("http://8.8.8.8:1", "cloud"),
        ("https://api.example.org", "cloud"),
    ],
)
def test_where_an_address_is(url: str, reach: str) -> None:
    assert reach_of(url) == reach


def test_a_port_on_the_loopback_alone_is_not_exposed() -> None:
    import socket

    with socket.socket() as inside, socket.socket() as outside:
        inside.bind(("127.0.0.1", 0))
        outside.bind(("0.0.0.0", 0))
        inside.listen()
        outside.listen()
        assert is_exposed(f"http://127.0.0.1:{inside.getsockname()[1]}") is False
        assert is_exposed(f"http://127.0.0.1:{outside.getsockname()[1]}") is True
    assert is_exposed("http://example.org") is None
