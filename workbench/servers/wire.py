"""HTTP to one server: typed errors, retries where they can do no harm, streams that can be stopped at once."""

from __future__ import annotations

import json
import os
import queue
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import httpx

from workbench.errors import ServerError
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.servers import Endpoint, Layer
from workbench.text.clean import printable

ATTEMPTS: Final = 3
"""Tries of a call that changes nothing: p_eff = 1 - (1 - p)³."""

_RETRIED: Final = frozenset({429, 500, 502, 503, 504})
_BACK_OFF_S: Final = 0.25  # doubled each time
_LONGEST_WAIT_S: Final = 10.0  # of what a server asks for with Retry-After
_POLL_S: Final = 0.05  # how soon a stop is noticed
_EXCERPT: Final = 300  # characters of a reply that an error quotes


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that each phase of a call may take: connecting, a short call's reply, the first token, the gap after."""

    connect: float = 2.0
    reply: float = 30.0
    first: float = 600.0
    gap: float = 120.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a streamed reply, and when it arrived (``time.perf_counter``)."""

    at: float
    text: str


class Wire:
    """Calls to one endpoint. Every method may be called from any thread."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts | None = None) -> None:
        self.endpoint = endpoint
        self.timeouts = timeouts or Timeouts()

    def get(self, path: str) -> Any:
        """The reply as JSON; tried again on 429 and 5xx. Raises ServerError."""
        return self._json(self._patiently("GET", path, None))

    def get_text(self, path: str) -> str:
        """The reply as text. Raises ServerError."""
        return self._patiently("GET", path, None).text

    def post(self, path: str, body: object, *, idempotent: bool = False, reply_s: float | None = None) -> Any:
        """The reply as JSON. Raises ServerError.

        Args:
            idempotent: it may be tried again on 429 and 5xx, as it changes nothing and costs little.
        """
        call = self._patiently if idempotent else self._once
        return self._json(call("POST", path, body, reply_s))

    def stream(self, path: str, body: object, cancel: Cancel | None = None) -> Iterator[Line]:
        """The reply's lines as they arrive, empty ones left out. A stop, or leaving early, closes the connection.

        Raises:
            ServerError: no reply, an error in place of one, or a phase that takes too long.
        """
        exchange = _Exchange(self, path, body)
        try:
            yield from exchange.lines(cancel)
        finally:
            exchange.close()

    def client(self, reply_s: float | None = None) -> httpx.Client:
        """A client for one call: a connection of its own, which closing it ends."""
        reply = self.timeouts.reply if reply_s is None else reply_s
        timeout = httpx.Timeout(reply, connect=self.timeouts.connect)
        return httpx.Client(base_url=self.endpoint.url, timeout=timeout, headers=self._headers(), trust_env=False)

    def _headers(self) -> Mapping[str, str]:
        name = self.endpoint.key_variable
        if not name:
            return {}
        key = os.environ.get(name, "")
        if not key:
            raise ServerError(
                tr("No key"),
                tr(
                    "The variable {name}, which is to hold the key for {url}, is empty.",
                    name=name,
                    url=self.endpoint.url,
                ),
                tr("Set it in the shell that starts the workbench."),
                layer="key",
            )
        return {"Authorization": f"Bearer {key}"}

    def _patiently(self, method: str, path: str, body: object, reply_s: float | None = None) -> httpx.Response:
        for attempt in range(ATTEMPTS):
            try:
                return self._once(method, path, body, reply_s)
            except ServerError as error:
                if attempt + 1 == ATTEMPTS or error.status not in _RETRIED:
                    raise
                asked = error.wait_s if isinstance(error, _BusyError) else 0.0
                time.sleep(min(_LONGEST_WAIT_S, max(asked, _BACK_OFF_S * 2**attempt)))
        raise AssertionError("unreachable")

    def _once(self, method: str, path: str, body: object, reply_s: float | None = None) -> httpx.Response:
        try:
            with self.client(reply_s) as client:
                response = client.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise self.failure(error) from error
        if response.is_error:
            raise self.refusal(response.status_code, response.text, response.headers)
        return response

    def _json(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError as error:
            raise ServerError(
                tr("The reply is no JSON"),
                tr("{url} answered: {text}", url=str(response.url), text=_excerpt(response.text)),
                tr("Something else may listen at this address."),
                layer="json",
                status=response.status_code,
            ) from error

    def failure(self, error: httpx.HTTPError) -> ServerError:
        """What a call that got no reply means."""
        if isinstance(error, httpx.TimeoutException):
            phase = tr("connecting") if isinstance(error, httpx.ConnectTimeout) else tr("waiting for the reply")
            return self.too_slow(phase)
        return ServerError(
            tr("Nobody answers"),
            tr("{url}: {reason}", url=self.endpoint.url, reason=str(error) or type(error).__name__),
            tr("Start the server, or check its address and port."),
            layer="endpoint",
        )

    def too_slow(self, phase: str) -> ServerError:
        """A phase took longer than it may."""
        return ServerError(
            tr("The server is too slow"),
            tr("{url}: gave up while {phase}.", url=self.endpoint.url, phase=phase),
            tr("It may be loading a model or serving others: look at its log, then try again."),
            layer="timeout",
        )

    def refusal(self, status: int, text: str, headers: Mapping[str, str]) -> ServerError:
        """What an error status and its body mean."""
        layer, said = layer_of(status, text), message_of(text)
        error = ServerError(
            _TITLES[layer](),
            tr("{url} answered {status}: {text}", url=self.endpoint.url, status=status, text=_excerpt(said)),
            _REMEDIES[layer](),
            layer=layer,
            status=status,
        )
        if status in _RETRIED and (wait := headers.get("retry-after", "")).isdigit():
            return _BusyError(error, float(wait))
        return error


class _BusyError(ServerError):
    """A refusal that says how long to wait."""

    def __init__(self, error: ServerError, wait_s: float) -> None:
        super().__init__(error.title, error.message, error.remedy, layer=error.layer, status=error.status)
        self.wait_s = wait_s


class _Exchange:
    """One streamed call: a thread reads, the caller waits for lines and for a stop.

    The connection is caught as it is made, so that it can be shut before any reply has come: a server that reads a
    long prompt sends nothing for minutes.
    """

    def __init__(self, wire: Wire, path: str, body: object) -> None:
        self._wire, self._path, self._body = wire, path, body
        self._lines: queue.SimpleQueue[Line | ServerError | None] = queue.SimpleQueue()
        self._socket: socket.socket | None = None
        self._client = wire.client()
        self._thread = threading.Thread(target=self._read, name="server stream", daemon=True)

    def lines(self, cancel: Cancel | None) -> Iterator[Line]:
        """As ``Wire.stream``."""
        self._thread.start()
        waited, allowed = time.perf_counter(), self._wire.timeouts.first
        while cancel is None or not cancel.is_set():
            try:
                item = self._lines.get(timeout=_POLL_S)
            except queue.Empty:
                if time.perf_counter() - waited > allowed:
                    raise self._wire.too_slow(tr("waiting for the next token")) from None
                continue
            if item is None:
                return
            if isinstance(item, ServerError):
                raise item
            waited, allowed = item.at, self._wire.timeouts.gap
            yield item

    def close(self) -> None:
        """Shuts the connection, which tells the server to stop, and wakes the thread that reads."""
        if self._socket is not None:
            with suppress(OSError):  # it was over already
                self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=1.0)
        self._client.close()

    def _read(self) -> None:
        timeout = httpx.Timeout(None, connect=self._wire.timeouts.connect)
        try:
            with self._client.stream(
                "POST",
                self._path,
                json=self._body,
                timeout=timeout,
                extensions={"trace": self._caught},
            ) as response:
                if response.is_error:
                    text = response.read().decode("utf-8", "replace")
                    self._lines.put(self._wire.refusal(response.status_code, text, response.headers))
                    return
                for line in response.iter_lines():
                    if line:
                        self._lines.put(Line(time.perf_counter(), line))
            self._lines.put(None)
        except httpx.HTTPError as error:
            self._lines.put(self._wire.failure(error))
        except Exception as error:  # noqa: BLE001 -- the thread's last word: the caller must not wait for ever
            self._lines.put(self._wire.failure(httpx.ReadError(str(error))))

    def _caught(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            found = info["return_value"].get_extra_info("socket")
            self._socket = found if isinstance(found, socket.socket) else None


def message_of(text: str) -> str:
    """What an error's body says: the message in it where it is JSON of any of the usual shapes, else all of it."""
    try:
        body = json.loads(text)
    except ValueError:
        return text
    while isinstance(body, dict):
        inner = next((body[key] for key in ("error", "message", "detail", "error_message") if body.get(key)), None)
        if inner is None:
            return text
        body = inner
    return str(body)


def layer_of(status: int, text: str) -> Layer:
    """Which layer an error status with that body is about; servers differ in status, so the words count too."""
    said = text.casefold()
    if status in (401, 403):
        return "key"
    for layer, marks in _MARKS.items():
        if any(mark in said for mark in marks):
            return layer
    if status == 404:
        return "model" if "model" in said else "endpoint"
    if status in (429, 503):
        return "overload"
    if status in (408, 504):
        return "timeout"
    return "request" if 400 <= status < 500 else "server"


_MARKS: Final[Mapping[Layer, tuple[str, ...]]] = {
    "context": (
        "context length",
        "context size",
        "context window",
        "exceed_context",
        "context_length",
        "max_model_len",
    ),
    "memory": ("out of memory", "requires more system memory", "cuda error", "oom", "insufficient memory"),
    "template": ("chat template", "jinja", "chat_template"),
    "model": ("model not found", "try pulling", "does not exist", "model_not_found", "loading model", "not loaded"),
}
_TITLES: Final = {
    "endpoint": lambda: tr("Nothing there"),
    "key": lambda: tr("The server wants a key"),
    "model": lambda: tr("The model isn't there"),
    "memory": lambda: tr("The server has no memory for it"),
    "template": lambda: tr("The chat template fails"),
    "context": lambda: tr("It doesn't fit the server's context"),
    "request": lambda: tr("The server refused the request"),
    "json": lambda: tr("The reply is no JSON"),
    "overload": lambda: tr("The server is busy"),
    "timeout": lambda: tr("The server is too slow"),
    "server": lambda: tr("The server failed"),
}
_REMEDIES: Final = {
    "endpoint": lambda: tr("Check the address: some servers want a path before /v1."),
    "key": lambda: tr("Name the variable that holds the key: workbench servers add URL --key-variable NAME"),
    "model": lambda: tr("workbench servers lists the models it serves; load or pull it there first."),
    "memory": lambda: tr("Unload another model there, or take a smaller one."),
    "template": lambda: tr("Give the model another chat template on the server."),
    "context": lambda: tr("Start the server with a larger context, or ask with less evidence."),
    "request": lambda: tr("workbench servers check URL tells what this server takes."),
    "json": lambda: tr("Something else may listen at this address."),
    "overload": lambda: tr("Wait, or lower the number of requests at once."),
    "timeout": lambda: tr("Look at the server's log, then try again."),
    "server": lambda: tr("Look at the server's log."),
}


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return printable(flat if len(flat) <= _EXCERPT else flat[:_EXCERPT] + "…", newlines=False)
