"""One HTTP exchange whose caller can leave at any moment: a thread reads, the caller waits for bytes and for a stop."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias

import httpx

from workbench.ports import Cancel

_POLL_S: Final = 0.05  # how soon a stop is noticed
_REFUSAL: Final = 1 << 20  # bytes of an error's body that are read
_AHEAD: Final = 256  # pieces that are read before the caller takes them

_Piece: TypeAlias = tuple[float, bytes] | httpx.HTTPError | None


class Exchange:
    """A request that is sent when its pieces are asked for.

    The connection is caught as it is made, so that it can be shut before any reply has come: a server that reads a
    long prompt sends nothing for minutes.

    Args:
        client: of this exchange alone; it is closed with it.
    """

    def __init__(self, client: httpx.Client, method: str, path: str, body: object) -> None:
        self._client, self._method, self._path, self._body = client, method, path, body
        self._pieces: queue.Queue[_Piece] = queue.Queue(_AHEAD)
        self._socket: socket.socket | None = None
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._read, name="server reply", daemon=True)

    def pieces(self, first_s: float, gap_s: float, cancel: Cancel | None) -> Iterator[tuple[float, bytes]]:
        """The reply's bytes, unpacked, each with the moment of its arrival; ends early on a stop.

        Raises:
            httpx.HTTPError: ``HTTPStatusError``, its response read, where the status isn't 2xx; ``ReadTimeout`` when
                the first piece or a later one doesn't come in time.
        """
        self._thread.start()
        waited, allowed = time.perf_counter(), first_s
        while cancel is None or not cancel.is_set():
            try:
                item = self._pieces.get(timeout=_POLL_S)
            except queue.Empty:
                if time.perf_counter() - waited > allowed:
                    raise httpx.ReadTimeout("") from None
                continue
            if item is None:
                return
            if isinstance(item, httpx.HTTPError):
                raise item
            yield item
            waited, allowed = time.perf_counter(), gap_s

    def close(self) -> None:
        """Shuts the connection, which tells the server to stop, and wakes the thread that reads."""
        self._left.set()
        if self._socket is not None:
            with suppress(OSError):  # it was over already
                self._socket.shutdown(socket.SHUT_RDWR)
        if self._thread.is_alive():
            self._thread.join(timeout=1.0)
        self._client.close()

    def _read(self) -> None:
        last: _Piece = None
        try:
            with self._client.stream(
                self._method, self._path, json=self._body, extensions={"trace": self._caught}
            ) as response:
                if not response.is_success:
                    self._refuse(response)
                for data in response.iter_bytes():
                    self._put((time.perf_counter(), data))
        except httpx.HTTPError as error:
            last = error
        except Exception as error:  # noqa: BLE001 -- the thread's last word: the caller must not wait for ever
            last = httpx.ReadError(str(error) or type(error).__name__)
        self._put(last)

    def _refuse(self, response: httpx.Response) -> None:
        body = bytearray()
        with suppress(httpx.HTTPError):  # what came of it says enough
            for data in response.iter_bytes():
                body += data
                if len(body) > _REFUSAL:
                    break
        headers = {k: v for k, v in response.headers.items() if k in ("retry-after", "location")}
        told = httpx.Response(response.status_code, headers=headers, content=bytes(body), request=response.request)
        raise httpx.HTTPStatusError("", request=response.request, response=told)

    def _put(self, item: _Piece) -> None:
        while not self._left.is_set():
            with suppress(queue.Full):
                self._pieces.put(item, timeout=_POLL_S)
                return

    def _caught(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            found = info["return_value"].get_extra_info("socket")
            self._socket = found if isinstance(found, socket.socket) else None
