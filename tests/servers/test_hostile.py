"""Servers that break off, restart, lie, or try to act on the terminal: played byte by byte on the loopback."""

from __future__ import annotations

import gzip
import json
import re
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from storage import open_store
from tests.servers.conftest import playing
from workbench.__main__ import open_desk
from workbench.cli import FrontEnds, run
from workbench.desk import Desk
from workbench.errors import ServerError, UsageError
from workbench.records.answers import Generation, Message
from workbench.records.models import GenerationSettings
from workbench.records.servers import Endpoint, ServedModel, Timeouts
from workbench.servers import wire as wire_module
from workbench.servers.generator import ServedGenerator
from workbench.servers.ollama import Ollama
from workbench.servers.openai import OpenAi
from workbench.servers.wire import Wire

HELLO = [Message("user", "hello")]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
WAIT = b""
"""In a script: nothing more is sent until the caller has gone."""


def read_request(connection: socket.socket) -> None:
    """All of it: closing a connection with something unread resets it."""
    asked = b""
    while b"\r\n\r\n" not in asked:
        asked += connection.recv(65_536)
    head, _, body = asked.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    left = (int(length[1]) if length else 0) - len(body)
    while left > 0:
        left -= len(connection.recv(65_536))


@contextmanager
def scripted(*replies: Sequence[bytes]) -> Iterator[str]:
    """A server that answers one connection after another, each with the pieces of its script, and then closes it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for pieces in replies:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, suppress(OSError):  # the caller may leave at any moment
                    read_request(connection)
                    for piece in pieces:
                        if piece == WAIT:
                            while connection.recv(64):
                                pass
                        connection.sendall(piece)
                    connection.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread.join(60)


def sse(**event: object) -> bytes:
    return b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"


def piece(text: str) -> bytes:
    return sse(choices=[{"delta": {"content": text}}])


END = sse(choices=[{"delta": {}, "finish_reason": "stop"}]) + b"data: [DONE]\n\n"


def answer(url: str, timeouts: Timeouts | None = None) -> Generation:
    generator = ServedGenerator(Wire(Endpoint(url), timeouts), OpenAi(), ServedModel("m"))
    *_, last = generator.generate(generator.render(HELLO), GenerationSettings(max_tokens=8))
    return last


def test_an_answer_is_whole_only_when_the_server_says_that_it_ended() -> None:
    close = HEAD + b"Connection: close\r\n\r\n"
    with scripted([close, piece("Hel"), piece("lo"), END]) as url:
        last = answer(url)
        assert (last.state, last.text) == ("complete", "Hello")
    with scripted([close, piece("Hel")]) as url, pytest.raises(ServerError, match="has no end") as caught:
        answer(url)
    assert caught.value.layer == "server"


def test_a_server_that_ends_in_the_middle_of_a_promised_length_broke_off() -> None:
    with scripted([HEAD + b"Content-Length: 10000\r\n\r\n", piece("Hel")]) as url, pytest.raises(ServerError) as caught:
        answer(url)
    assert (caught.value.title, caught.value.layer) == ("The server broke off", "server")


def test_the_next_call_reaches_a_server_that_was_started_again() -> None:
    close = HEAD + b"Connection: close\r\n\r\n"
    with scripted([close], [close, piece("Hello"), END]) as url:
        with pytest.raises(ServerError):
            answer(url)
        assert answer(url).text == "Hello"


def test_a_connection_that_the_server_keeps_open_is_not_waited_for() -> None:
    body = b'{"a": 1}'
    with scripted([b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 8\r\n\r\n" + body, WAIT]) as url:
        assert Wire(Endpoint(url), Timeouts(reply=5)).get("/x") == {"a": 1}


def test_garbage_between_events_is_passed_over_and_characters_may_come_in_halves() -> None:
    whole = piece("¡Búho 🦉!")
    middle = whole.index("🦉".encode()) + 2
    close = HEAD + b"Connection: close\r\n\r\n"
    noise = b": comment\n\nevent: x\ndata: {not json\n\ndata: [1]\n\n\xff\xfe\n\ndata: " + b"[" * 5_000 + b"\n\n"
    with scripted([close, noise, whole[:middle], whole[middle:], b"id: 7\r\n", END]) as url:
        assert answer(url).text == "¡Búho 🦉!"


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x1c", "\x0c"])
def test_only_a_newline_ends_a_line_whatever_unicode_calls_one(separator: str) -> None:
    close = HEAD + b"Connection: close\r\n\r\n"
    text = f"one{separator}two"
    escaped = piece(text) if ord(separator) > 0x20 else sse(choices=[{"delta": {"content": text}}])
    with scripted([close, escaped, END]) as url:
        assert answer(url).text == text


def test_a_line_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_module, "LONGEST", 100_000)
    close = HEAD + b"Connection: close\r\n\r\n"
    with scripted([close, *[b"x" * 65_536] * 4]) as url, pytest.raises(ServerError, match="more than") as caught:
        answer(url)
    assert caught.value.layer == "json"


def test_a_small_reply_that_unpacks_to_a_huge_one_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_module, "LARGEST", 100_000)
    bomb = gzip.compress(b"[" + b"0," * 10_000_000 + b"0]")
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    with scripted([head, bomb]) as url, pytest.raises(ServerError, match="more than"):
        Wire(Endpoint(url)).get("/x")


def test_a_packed_reply_is_unpacked() -> None:
    packed = gzip.compress(b'{"a": 1}')
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    with scripted([head, packed]) as url:
        assert Wire(Endpoint(url)).get("/x") == {"a": 1}


def test_what_is_no_http_is_told_with_the_address() -> None:
    with scripted([b"SSH-2.0-OpenSSH_9.6\r\n"]) as url, pytest.raises(ServerError, match=url):
        Wire(Endpoint(url)).get("/x")


def test_a_redirect_is_told_and_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "hidden")
    with playing({"GET /x": (200, "{}")}) as other:
        moved = f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {other.url}/x\r\nContent-Length: 0\r\n\r\n".encode()
        with scripted([moved]) as url, pytest.raises(ServerError, match=other.url):
            Wire(Endpoint(url, "SOME_KEY")).get("/x")
        assert other.asked == []  # the key would have gone along


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with playing({"GET /x": (200, "{}")}) as server:
        assert Wire(Endpoint(server.url)).get("/x") == {}


def test_a_wrong_key_is_told_as_such_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-secret")
    with playing({"GET /x": (401, '{"error": {"message": "Incorrect API key provided"}}')}) as server:
        with pytest.raises(ServerError) as caught:
            Wire(Endpoint(server.url, "SOME_KEY")).get("/x")
        assert len(server.asked) == 1
    assert caught.value.layer == "key"
    assert "sk-secret" not in f"{caught.value.title}{caught.value.message}{caught.value.remedy}"


@pytest.mark.parametrize("key", ["line\r\nX-Other: 1", "ñ", "  "])
def test_a_key_that_no_header_can_hold_is_refused_here(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", key)
    with pytest.raises(ServerError) as caught:
        Wire(Endpoint("http://127.0.0.1:1", "SOME_KEY")).get("/x")
    assert caught.value.layer == "key"


@pytest.mark.parametrize(
    ("script", "timeouts"),
    [
        ([HEAD + b"\r\n", WAIT], Timeouts(first=0.2)),
        ([HEAD + b"\r\n", piece("Hel"), WAIT], Timeouts(gap=0.2)),
    ],
)
def test_the_first_token_and_each_gap_have_a_time_of_their_own(script: list[bytes], timeouts: Timeouts) -> None:
    with scripted(script) as url, pytest.raises(ServerError) as caught:
        answer(url, timeouts)
    assert caught.value.layer == "timeout"


def test_a_short_calls_reply_has_its_own_time() -> None:
    with scripted([WAIT]) as url, pytest.raises(ServerError) as caught:
        Wire(Endpoint(url), Timeouts(reply=0.2, first=60)).get("/x")
    assert caught.value.layer == "timeout"


@pytest.mark.parametrize(
    "event",
    [{"choices": 3}, {"choices": ["x"]}, {"choices": [{"delta": 7}]}, {"usage": {"prompt_tokens_details": 4}}],
)
def test_an_event_of_another_shape_is_an_error_and_no_crash(event: dict[str, object]) -> None:
    close = HEAD + b"Connection: close\r\n\r\n"
    with scripted([close, sse(**event), END]) as url, pytest.raises(ServerError) as caught:
        answer(url)
    assert caught.value.layer == "json"


def test_numbers_and_lists_in_place_of_text_do_no_harm() -> None:
    close = HEAD + b"Connection: close\r\n\r\n"
    odd = sse(choices=[{"delta": {"content": 7}}], usage={"prompt_tokens": "many", "completion_tokens": True})
    with scripted([close, odd, END]) as url:
        last = answer(url)
    assert (last.text, last.prompt_tokens) == ("7", 3), "what it does not count in numbers is estimated"


ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"


def test_nothing_that_a_server_says_acts_on_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither its version nor its models' names nor its errors nor its checks."""
    name = f"evil{ESCAPES}\nname"
    hostile = {
        "GET /props": (200, json.dumps({"default_generation_settings": {"n_ctx": 64}, "build_info": ESCAPES})),
        "GET /v1/models": (200, json.dumps({"data": [{"id": name}]})),
        "POST /v1/chat/completions": (400, json.dumps({"error": {"message": ESCAPES}})),
    }
    front = FrontEnds(open_desk, lambda _: 0)
    with playing(hostile) as server:
        for command in (["add", server.url], ["check", server.url], ["check", server.url, "--markdown"], []):
            run(["--db", str(tmp_path / "w.db"), "servers", *command], front)
            captured = capsys.readouterr()
            assert "evil" in captured.out
            assert not set("\x1b\x07\x9b\u202e") & set(captured.out + captured.err), command


def test_time_limits_are_remembered_in_the_file_and_senseless_ones_refused(tmp_path: Path) -> None:
    desk = Desk(open_store(tmp_path / "w.db"))
    desk.servers.timeouts = Timeouts(first=1200)
    for senseless in (Timeouts(connect=0), Timeouts(gap=-1), Timeouts(reply=float("nan"))):
        with pytest.raises(UsageError):
            desk.servers.timeouts = senseless
    desk.close()
    desk = Desk(open_store(tmp_path / "w.db"))
    assert desk.servers.timeouts == Timeouts(first=1200)
    desk.remember("servers.timeouts", '{"connect": "x"}')
    assert desk.servers.timeouts == Timeouts()
    desk.close()


def test_ollama_keeps_a_model_between_the_calls_of_an_eval() -> None:
    done = json.dumps({"message": {"content": "ok"}, "done": True, "done_reason": "stop"})
    with playing({"POST /api/chat": (200, done)}) as server:
        list(Ollama().chat(Wire(Endpoint(server.url)), "m", HELLO, GenerationSettings(), None))
        assert server.asked[0][1]["keep_alive"] == "30m"


def test_a_call_leaves_no_connection_behind() -> None:
    with playing({"GET /x": (200, "{}")}) as server:
        wire = Wire(Endpoint(server.url))
        for _ in range(20):
            wire.get("/x")
        port = int(server.url.rpartition(":")[2])
        left = [c for c in psutil.Process().net_connections("tcp") if c.raddr and c.raddr.port == port]
        assert len([c for c in left if c.status == psutil.CONN_ESTABLISHED]) <= 1  # the last may be on its way out
