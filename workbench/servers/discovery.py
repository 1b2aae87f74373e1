"""Which servers answer, whose dialect they speak, and where they really run."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import psutil

from workbench.errors import ServerError, UsageError
from workbench.i18n import tr
from workbench.records.servers import Endpoint, Reach, Server, ServerKind, Timeouts
from workbench.servers.dialect import OTHER_SHAPE, Dialect
from workbench.servers.llama_server import LlamaServer
from workbench.servers.lmstudio import LmStudio
from workbench.servers.ollama import Ollama
from workbench.servers.openai import OpenAi, SgLang, Tgi, Vllm
from workbench.servers.wire import Wire

DIALECTS: Final[Sequence[Dialect]] = (Ollama(), LlamaServer(), LmStudio(), Vllm(), SgLang(), Tgi(), OpenAi())
"""In the order in which a server is asked whose it is: the plain one last, as all of them speak it."""

USUAL_PORTS: Final = (11434, 1234, 8080, 8000, 30000, 3000)
"""Of Ollama, LM Studio, llama-server, vLLM, SGLang, TGI."""

_LOOK_S: Final = 0.3
GLANCE: Final = Timeouts(connect=1.0, reply=4.0)
"""For what is asked in passing: who is there, and what it does."""
_LOCAL_NAMES: Final = ("localhost", "ip6-localhost")


def endpoint_of(url: str, key_variable: str = "") -> Endpoint:
    """An address as a person writes it: a scheme may be missing, and ``/v1`` at its end is taken off.

    ``localhost`` becomes 127.0.0.1, so that a server has one address; not with https, whose certificate is for a name.

    Raises:
        UsageError: it is no HTTP address, or holds a user name or password (those would be stored).
    """
    text = url.strip()
    text = (text if "://" in text else f"http://{text}").rstrip("/").removesuffix("/v1")
    parts = urlsplit(text)
    try:
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        sound = False
    if not sound or parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            tr("Not a server's address"),
            tr("“{url}” can't be used.", url=url),
            tr("Write it as http://127.0.0.1:11434; a key goes into an environment variable (--key-variable NAME)."),
        )
    if parts.scheme == "http" and parts.hostname == "localhost":
        text = parts._replace(netloc=f"127.0.0.1:{parts.port}" if parts.port else "127.0.0.1").geturl()
    return Endpoint(text, key_variable)


def dialect_of(kind: ServerKind) -> Dialect:
    """The dialect that is called so."""
    return next(dialect for dialect in DIALECTS if dialect.kind == kind)


def usual_endpoints() -> tuple[Endpoint, ...]:
    """The usual ports of this machine's loopback where something listens."""
    usual = (f"http://127.0.0.1:{port}" for port in USUAL_PORTS)
    return tuple(Endpoint(url) for url in usual if listens(url))


def recognise(endpoint: Endpoint) -> tuple[Dialect, Server]:
    """What answers there.

    Raises:
        ServerError: nobody, or nobody that serves models.
    """
    wire, start = Wire(endpoint, GLANCE), time.perf_counter()
    for dialect in DIALECTS:
        try:
            version = dialect.recognise(wire)
        except OTHER_SHAPE:  # it answers, and not as this dialect does
            continue
        if version is None:
            continue
        latency = (time.perf_counter() - start) * 1000
        server = Server(endpoint, dialect.kind, version, reach_of(endpoint.url), is_exposed(endpoint.url), (), latency)
        return dialect, server
    wire.get("/v1/models")  # says what is wrong
    raise ServerError(
        tr("No model server"),
        tr("{url} answers, and offers no models.", url=endpoint.url),
        tr("Check the address: some servers want a path before /v1."),
        layer="endpoint",
    )


def reach_of(url: str) -> Reach:
    """Where the address is: the loopback, a private network (or a name without a dot), or anywhere."""
    host = urlsplit(url).hostname or ""
    if host.casefold() in _LOCAL_NAMES:
        return "machine"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "network" if "." not in host or host.endswith((".local", ".lan", ".internal")) else "cloud"
    if address.is_loopback or address.is_unspecified or host in _own_addresses():
        return "machine"
    return "network" if not address.is_global else "cloud"


def _own_addresses() -> frozenset[str]:
    """Of this machine's own interfaces."""
    try:
        found = psutil.net_if_addrs()
    except (psutil.Error, OSError):
        return frozenset()
    return frozenset(address.address.split("%")[0] for addresses in found.values() for address in addresses)


def address_words(url: str, *, cloud: bool = False) -> str:
    """ "127.0.0.1:8080", or "gpu-box:8000 (network)" where it isn't this machine, or hands calls on to a ``cloud``."""
    address, reach = urlsplit(url).netloc, "cloud" if cloud else reach_of(url)
    if reach == "machine":
        return address
    return f"{address} ({tr('the network') if reach == 'network' else tr('the cloud')})"


def is_exposed(url: str) -> bool | None:
    """Whether the port of a server on this machine listens beyond the loopback; None where that can't be told."""
    if reach_of(url) != "machine":
        return None
    port = _port_of(url)
    try:
        listening = [c for c in psutil.net_connections("tcp") if c.status == psutil.CONN_LISTEN and c.laddr]
    except (psutil.Error, OSError):
        return None
    addresses = [c.laddr.ip for c in listening if c.laddr.port == port]
    return any(not ipaddress.ip_address(a.split("%")[0]).is_loopback for a in addresses) if addresses else None


def listens(url: str) -> bool:
    """Somebody takes connections there, as far as can be told in a moment."""
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname, _port_of(url)), _LOOK_S):
            return True
    except OSError:
        return False


def _port_of(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)
