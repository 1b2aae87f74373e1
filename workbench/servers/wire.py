"""HTTP to one server: typed errors, retries where they can do no harm, calls and streams that can be stopped at once.

A call has a connection of its own, so that a stop shuts it and nothing else. No proxy that the environment names is
used and no redirect is followed: what is sent, a key among it, goes to the address a person gave or nowhere.
"""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import httpx

from workbench.errors import Cancelled, ServerError
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.servers import Endpoint, Timeouts
from workbench.servers.exchange import Exchange
from workbench.servers.refusals import excerpt, refusal

ATTEMPTS: Final = 3
"""Tries of a call that changes nothing, so that one that succeeds with p each time succeeds with 1 − (1 − p)³."""

LARGEST: Final = 64 << 20
"""Bytes of a reply, unpacked, that are read before it is given up; ``LONGEST`` likewise of a stream's line."""
LONGEST: Final = 8 << 20

_RETRIED: Final = frozenset({429, 500, 502, 503, 504})
_BACK_OFF_S: Final = 0.25  # doubled each time
_LONGEST_WAIT_S: Final = 10.0  # of what a server asks for with Retry-After


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
        return self._json(path, self._patiently("GET", path, None))

    def text(self, path: str) -> str:
        """The reply as it stands; tried again on 429 and 5xx. Raises ServerError."""
        return self._patiently("GET", path, None).decode("utf-8", "replace")

    def post(
        self,
        path: str,
        body: object,
        *,
        idempotent: bool = False,
        reply_s: float | None = None,
        cancel: Cancel | None = None,
    ) -> Any:
        """The reply as JSON. A stop closes the connection.

        Args:
            idempotent: it may be tried again on 429 and 5xx, as it changes nothing and costs little.
            reply_s: how long the reply may take, where that is more than of other calls.

        Raises:
            ServerError: no reply, or an error in place of one.
            Cancelled: ``cancel`` was set.
        """
        call = self._patiently if idempotent else self._once
        return self._json(path, call("POST", path, body, reply_s, cancel))

    def stream(self, path: str, body: object, cancel: Cancel | None = None) -> Iterator[Line]:
        """The reply's lines as they arrive, empty ones left out. A stop, or leaving early, closes the connection.

        Lines end with ``\\n`` or ``\\r\\n`` and nothing else: U+2028 inside a JSON string is part of it.

        Raises:
            ServerError: no reply, an error in place of one, it breaks off, or a phase takes too long.
        """
        times, rest = self.timeouts, b""
        for at, data in self._pieces("POST", path, body, times.first, times.gap, cancel):
            *lines, rest = (rest + data).split(b"\n")
            for line in filter(None, (line.rstrip(b"\r") for line in lines)):
                yield Line(at, line.decode("utf-8", "replace"))
            if len(rest) > LONGEST:
                raise self._too_long(LONGEST)
        if rest:
            yield Line(time.perf_counter(), rest.decode("utf-8", "replace"))

    def told(self, text: str, status: int = 500) -> ServerError:
        """What an error that came inside a reply means."""
        return refusal(self.endpoint.url, status, text)

    def broken_off(self, why: str) -> ServerError:
        """The reply ended before it was whole."""
        return ServerError(
            tr("The server broke off"),
            tr("{url}: {reason}", url=self._url, reason=why),
            tr("It may have ended or run out of memory: look at its log, then try again."),
            layer="server",
        )

    def _pieces(
        self, method: str, path: str, body: object, first_s: float, gap_s: float, cancel: Cancel | None
    ) -> Iterator[tuple[float, bytes]]:
        """The reply's bytes with their moments. Ends early, without a word, on a stop."""
        client = httpx.Client(
            base_url=self.endpoint.url,
            timeout=httpx.Timeout(None, connect=self.timeouts.connect),
            headers=self._headers(),
            trust_env=False,
            follow_redirects=False,
            verify=_authorities() if self._url.startswith("https:") else False,  # plain HTTP has nothing to verify
        )
        exchange = Exchange(client, method, path, body)
        try:
            yield from exchange.pieces(first_s, gap_s, cancel)
        except httpx.HTTPStatusError as error:
            raise self._refused(error.response) from error
        except httpx.HTTPError as error:
            raise self._failure(error) from error
        finally:
            exchange.close()

    def _headers(self) -> Mapping[str, str]:
        name = self.endpoint.key_variable
        if not name:
            return {}
        key = os.environ.get(name, "").strip()
        if not key.isprintable() or not key.isascii():
            key = ""  # no header can hold it
        if not key:
            raise ServerError(
                tr("No key"),
                tr("The variable {name}, which is to hold the key for {url}, is empty.", name=name, url=self._url),
                tr("Set it in the shell that starts the workbench."),
                layer="key",
            )
        return {"Authorization": f"Bearer {key}"}

    def _patiently(
        self, method: str, path: str, body: object, reply_s: float | None = None, cancel: Cancel | None = None
    ) -> bytes:
        for attempt in range(ATTEMPTS):
            try:
                return self._once(method, path, body, reply_s, cancel)
            except ServerError as error:
                if attempt + 1 == ATTEMPTS or error.status not in _RETRIED:
                    raise
                asked = error.wait_s if isinstance(error, _BusyError) else 0.0
                _pause(min(_LONGEST_WAIT_S, max(asked, _BACK_OFF_S * 2**attempt)), cancel)
        raise AssertionError("unreachable")

    def _once(
        self, method: str, path: str, body: object, reply_s: float | None = None, cancel: Cancel | None = None
    ) -> bytes:
        allowed, whole = self.timeouts.reply if reply_s is None else reply_s, bytearray()
        for _, data in self._pieces(method, path, body, allowed, allowed, cancel):
            whole += data
            if len(whole) > LARGEST:
                raise self._too_long(LARGEST)
        if cancel is not None and cancel.is_set():
            raise Cancelled
        return bytes(whole)

    def _json(self, path: str, reply: bytes) -> Any:
        try:
            return json.loads(reply)
        except (ValueError, RecursionError) as error:
            raise ServerError(
                tr("The reply is no JSON"),
                tr("{url} answered: {text}", url=self._url + path, text=excerpt(reply.decode("utf-8", "replace"))),
                tr("Something else may listen at this address."),
                layer="json",
                status=200,
            ) from error

    @property
    def _url(self) -> str:
        return self.endpoint.url

    def _failure(self, error: httpx.HTTPError) -> ServerError:
        """What a call that got no reply, or not all of it, means."""
        if isinstance(error, httpx.TimeoutException):
            phase = tr("connecting") if isinstance(error, httpx.ConnectTimeout) else tr("waiting for the reply")
            return ServerError(
                tr("The server is too slow"),
                tr("{url}: gave up while {phase}.", url=self._url, phase=phase),
                tr("It may be loading a model or serving others: look at its log, then try again."),
                layer="timeout",
            )
        said = excerpt(str(error)) or type(error).__name__
        if isinstance(error, httpx.ConnectError):
            return ServerError(
                tr("Nobody answers"),
                tr("{url}: {reason}", url=self._url, reason=said),
                tr("Start the server, or check its address and port."),
                layer="endpoint",
            )
        return self.broken_off(said)

    def _refused(self, response: httpx.Response) -> ServerError:
        if response.is_redirect:
            return ServerError(
                tr("The server sends us elsewhere"),
                tr("{url} points to {other}.", url=self._url, other=excerpt(response.headers.get("location", ""))),
                tr("If you trust that address, give it in place of this one."),
                layer="endpoint",
                status=response.status_code,
            )
        error = refusal(self._url, response.status_code, response.text)
        wait = response.headers.get("retry-after", "")
        return _BusyError(error, float(wait)) if wait.isascii() and wait.isdigit() else error

    def _too_long(self, most: int) -> ServerError:
        return ServerError(
            tr("The reply is too long"),
            tr("{url} sent more than {size} MiB.", url=self._url, size=most >> 20),
            tr("Something else may listen at this address."),
            layer="json",
        )


class _BusyError(ServerError):
    """A refusal that says how long to wait."""

    def __init__(self, error: ServerError, wait_s: float) -> None:
        super().__init__(error.title, error.message, error.remedy, layer=error.layer, status=error.status)
        self.wait_s = wait_s


@cache
def _authorities() -> ssl.SSLContext:
    """Read once: it takes longer than a call on the loopback."""
    return httpx.create_ssl_context(trust_env=False)


def _pause(seconds: float, cancel: Cancel | None) -> None:
    if cancel is None:
        time.sleep(seconds)
    elif cancel.wait(seconds):
        raise Cancelled
