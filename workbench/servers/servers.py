"""The servers a person uses: remembered addresses, what answers there now, and one of their models put to work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from workbench.errors import NotFoundError, ServerError
from workbench.i18n import tr
from workbench.ports import Cancel, ServerRepository
from workbench.records.servers import ContractReport, Endpoint, LoadTest, Reach, ServedModel, Server
from workbench.servers.concurrency import load_test
from workbench.servers.contract import contract
from workbench.servers.dialect import Dialect
from workbench.servers.discovery import endpoint_of, is_exposed, reach_of, recognise, usual_endpoints
from workbench.servers.generator import ServedGenerator
from workbench.servers.wire import Wire


class Servers:
    """Model servers over HTTP. Every method may be called from any thread.

    Args:
        adopt: puts a served model in the place of the loaded one.
    """

    def __init__(self, endpoints: ServerRepository, adopt: Callable[[ServedGenerator], None]) -> None:
        self._endpoints = endpoints
        self._adopt = adopt

    def add(self, url: str, key_variable: str = "") -> Server:
        """Remembers an address, and says what answers there. Raises UsageError, ServerError (nothing is remembered)."""
        endpoint = endpoint_of(url, key_variable)
        server = self.look(endpoint)
        self._endpoints.put(endpoint)
        return server

    def remove(self, url: str) -> None:
        """Forgets an address. Raises NotFoundError."""
        self._endpoints.remove(endpoint_of(url).url)

    def endpoints(self) -> tuple[Endpoint, ...]:
        """The remembered addresses, and the usual ports of this machine where something listens."""
        known = {endpoint.url: endpoint for endpoint in (*usual_endpoints(), *self._endpoints.all())}
        return tuple(known.values())

    def discover(self, cancel: Cancel | None = None) -> Iterator[Server]:
        """What answers at each of ``endpoints``; a server that can't be used says why in ``problem``.

        Only the loopback is looked at besides what a person has added.
        """
        remembered = {endpoint.url for endpoint in self._endpoints.all()}
        for endpoint in self.endpoints():
            if cancel is not None and cancel.is_set():
                return
            try:
                yield self.look(endpoint)
            except ServerError as error:
                if endpoint.url in remembered:  # anything may listen on a usual port
                    problem = f"{error.title}: {error.message}"
                    reach, exposed = reach_of(endpoint.url), is_exposed(endpoint.url)
                    yield Server(endpoint, "openai", "", reach, exposed, (), 0.0, problem)

    def look(self, endpoint: Endpoint) -> Server:
        """What answers at an address, with its models. Raises ServerError."""
        dialect, server = recognise(endpoint)
        models = dialect.models(Wire(endpoint))
        # A model on another machine isn't on this one, whatever its server calls local.
        return replace(server, models=tuple(replace(m, reach=_farther(m.reach, server.reach)) for m in models))

    def use(self, url: str, model: str = "", key_variable: str = "") -> ServedGenerator:
        """Asks one of a server's models from now on, in place of a loaded one. Raises NotFoundError, ServerError."""
        wire, dialect, served = self._chosen(url, model, key_variable)
        generator = ServedGenerator(wire, dialect, served)
        self._adopt(generator)
        return generator

    def examine(
        self, url: str, model: str = "", key_variable: str = "", cancel: Cancel | None = None
    ) -> Iterator[ContractReport]:
        """Where "compatible" is true of a server; the report grows. Raises NotFoundError, ServerError."""
        endpoint = self._endpoint(url, key_variable)
        server = self.look(endpoint)
        dialect, _ = recognise(endpoint)
        yield from contract(Wire(endpoint), dialect, server, _named(server, model, embedding=True), cancel)

    def load_test(
        self, url: str, model: str, rate: float, requests: int, key_variable: str = "", cancel: Cancel | None = None
    ) -> LoadTest:
        """Requests at a steady rate. Raises NotFoundError, ServerError."""
        wire, dialect, served = self._chosen(url, model, key_variable)
        return load_test(wire, dialect, served.id, rate, requests, cancel=cancel)

    def _chosen(self, url: str, model: str, key_variable: str) -> tuple[Wire, Dialect, ServedModel]:
        endpoint = self._endpoint(url, key_variable)
        dialect, _ = recognise(endpoint)
        return Wire(endpoint), dialect, _named(self.look(endpoint), model)

    def _endpoint(self, url: str, key_variable: str) -> Endpoint:
        endpoint = endpoint_of(url, key_variable)
        known = next((known for known in self._endpoints.all() if known.url == endpoint.url), endpoint)
        return endpoint if key_variable else known


def _named(server: Server, model: str, *, embedding: bool = False) -> ServedModel:
    """The model of that name; the first that chats, and stands ready if one does, when none is named."""
    offered = [m for m in server.models if m.kind == "chat"] or (list(server.models) if embedding else [])
    found = (
        [m for m in server.models if m.id == model] if model else sorted(offered, key=lambda m: m.loaded is not True)
    )
    if not found:
        names = ", ".join(m.id for m in server.models) or "–"
        raise NotFoundError(
            tr("No such model there"),
            tr("{url} serves {names}.", url=server.endpoint.url, names=names),
            tr("Name one of them, or load the one you want on the server."),
        )
    return found[0]


def _farther(one: Reach, other: Reach) -> Reach:
    order: tuple[Reach, ...] = ("machine", "network", "cloud")
    return order[max(order.index(one), order.index(other))]
