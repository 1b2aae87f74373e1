"""Two real servers on the loopback, each in a process of its own, and one that plays recorded replies."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from workbench import paths

LLAMA_SERVER = """
import sys, time
import xllamacpp as x
p = x.CommonParams()
p.model.path, p.port, p.n_ctx, p.n_parallel, p.cpuparams.n_threads = sys.argv[1], int(sys.argv[2]), 2048, 2, 1
p.endpoint_metrics = p.endpoint_slots = p.endpoint_props = True
if len(sys.argv) > 3:  # embeds
    p.embedding, p.pooling_type, p.n_parallel, p.n_ubatch = True, x.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN, 1, 512
server = x.Server(p)
while True:
    time.sleep(60)
"""


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def serving(command: list[str], port: int) -> Iterator[str]:
    url = f"http://127.0.0.1:{port}"
    quiet = os.environ | {"OMP_WAIT_POLICY": "passive"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=quiet)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            assert process.poll() is None, "the server ended"
            try:
                if httpx.get(f"{url}/v1/models", timeout=1).status_code == 200:
                    break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield url
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def llama_server() -> Iterator[str]:
    """llama.cpp's own server."""
    pytest.importorskip("xllamacpp", reason="needs xllamacpp")
    port = free_port()
    model = str(paths.gguf_folder() / paths.STARTER_MODEL)
    with serving([sys.executable, "-c", LLAMA_SERVER, model, str(port)], port) as url:
        yield url


@pytest.fixture(scope="module")
def embedding_server() -> Iterator[str]:
    """llama.cpp's own server, embedding: with a language model, whose vectors are poor and as real as any."""
    pytest.importorskip("xllamacpp", reason="needs xllamacpp")
    port, model = free_port(), str(paths.gguf_folder() / paths.STARTER_MODEL)
    with serving([sys.executable, "-c", LLAMA_SERVER, model, str(port), "embed"], port) as url:
        yield url


@pytest.fixture(scope="module")
def python_server() -> Iterator[str]:
    """llama-cpp-python's server, which only speaks /v1."""
    for module in ("fastapi", "uvicorn", "sse_starlette", "starlette_context", "pydantic_settings"):
        pytest.importorskip(module, reason="needs what llama-cpp-python's server needs")
    port, model = free_port(), str(paths.gguf_folder() / paths.STARTER_MODEL)
    command = [sys.executable, "-m", "llama_cpp.server", "--model", model, "--port", str(port), "--n_threads", "1"]
    with serving([*command, "--n_ctx", "2048"], port) as url:
        yield url


Reply = tuple[int, str] | Callable[[Any], tuple[int, str]]


@dataclass
class Played:
    """A server that answers as was recorded: ``replies`` by "METHOD path"; ``asked`` is what came.

    A list of replies is played one by one, the last one from then on.
    """

    replies: Mapping[str, Reply | list[Reply]]
    asked: list[tuple[str, Any]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event = field(default_factory=threading.Event)
    gone: threading.Event = field(default_factory=threading.Event)
    url: str = ""


@contextmanager
def playing(replies: Mapping[str, Any]) -> Iterator[Played]:
    played = Played(replies)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def _answer(self, body: Any) -> None:
            key = f"{self.command} {self.path}"
            played.asked.append((key, body))
            played.headers = {name.lower(): value for name, value in self.headers.items()}
            reply: Any = played.replies.get(key, (404, '{"error": "not found"}'))
            if isinstance(reply, list):
                reply = reply.pop(0) if len(reply) > 1 else reply[0]
            status, text = reply(body) if callable(reply) else reply
            if status == 0:  # accepts and says nothing until the caller goes
                played.hold.set()
                while self.connection.recv(64):
                    pass
                played.gone.set()
                return
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream" if text.startswith("data:") else "application/json")
            self.send_header("Content-Length", str(len(data)))
            if status == 429:
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    played.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield played
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
