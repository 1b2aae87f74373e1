"""The servers a person uses: remembered addresses, what answers there now, and one of their models put to work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from workbench.errors import NotFoundError, ServerError
from workbench.i18n import tr
from workbench.ports import Cancel, EntryRepository, ServerRepository, SettingsRepository
from workbench.records.corpus import EmbedderInfo
from workbench.records.models import LoadedModel
from workbench.records.servers import (
    ContractReport,
    Endpoint,
    LoadTest,
    Reach,
    ServedModel,
    Server,
    ServerState,
    Timeouts,
)
from workbench.servers.concurrency import load_test
from workbench.servers.contract import contract
from workbench.servers.dialect import OTHER_SHAPE, Dialect, shaped
from workbench.servers.discovery import (
    GLANCE,
    address_words,
    dialect_of,
    endpoint_of,
    is_exposed,
    reach_of,
    recognise,
    usual_endpoints,
)
from workbench.servers.embedder import ServedEmbedder, probe
from workbench.servers.embedders import ServedEmbedders
from workbench.servers.generator import ServedGenerator
from workbench.servers.loads import LoadTests
from workbench.servers.reports import Reports
from workbench.servers.timeouts import remember_timeouts, timeouts_in
from workbench.servers.wire import Wire


class Servers:
    """Model servers over HTTP. Every method may be called from any thread.

    Args:
        entries: where contract reports and load tests are kept.
        settings: where timeouts and the chosen embedder are remembered.
        adopt: puts a served model in the place of the loaded one.
        choose_embedder: has new collections embedded by the one of that name.
    """

    def __init__(
        self,
        endpoints: ServerRepository,
        entries: EntryRepository,
        settings: SettingsRepository,
        adopt: Callable[[ServedGenerator], None],
        choose_embedder: Callable[[str], None],
    ) -> None:
        self._endpoints = endpoints
        self._settings = settings
        self._adopt = adopt
        self._choose_embedder = choose_embedder
        self._embedders = ServedEmbedders(settings)
        self._reports = Reports(entries)
        self._loads = LoadTests(entries)

    def add(self, url: str, key_variable: str = "") -> Server:
        """Remembers an address, and says what answers there. Raises UsageError, ServerError (nothing is remembered)."""
        endpoint = endpoint_of(url, key_variable)
        server = self.look(endpoint)
        self._endpoints.put(endpoint)
        return server

    def remove(self, url: str) -> None:
        """Forgets an address, and what embeds there. Raises NotFoundError."""
        wanted = endpoint_of(url).url
        written = [endpoint.url for endpoint in self._endpoints.all() if endpoint_of(endpoint.url).url == wanted]
        for one in written or [wanted]:
            self._endpoints.remove(one)
            self._embedders.forget(one)

    def _remembered(self) -> tuple[Endpoint, ...]:
        """The addresses that a person added, each as ``endpoint_of`` writes it now."""
        return tuple(endpoint_of(endpoint.url, endpoint.key_variable) for endpoint in self._endpoints.all())

    def endpoints(self) -> tuple[Endpoint, ...]:
        """The remembered addresses, and the usual ports of this machine where something listens."""
        known = {endpoint.url: endpoint for endpoint in (*usual_endpoints(), *self._remembered())}
        return tuple(known.values())

    def discover(self, cancel: Cancel | None = None, *, everywhere: bool = True) -> Iterator[Server]:
        """What answers at each of ``endpoints``; a server that can't be used says why in ``problem``.

        Only the loopback is looked at besides what a person has added.

        Args:
            everywhere: also those that aren't on this machine.
        """
        remembered = {endpoint.url for endpoint in self._remembered()}
        for endpoint in self.endpoints():
            if not everywhere and reach_of(endpoint.url) != "machine":
                continue
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
        wire = Wire(endpoint, self.timeouts)
        with shaped(wire):
            models = dialect.models(wire)
        # A model on another machine isn't on this one, whatever its server calls local.
        return replace(server, models=tuple(replace(m, reach=_farther(m.reach, server.reach)) for m in models))

    def state(self, server: Server) -> ServerState | None:
        """What a server does at this moment, by its own account; None where it tells nothing, or doesn't answer."""
        try:
            return dialect_of(server.kind).state(Wire(server.endpoint, GLANCE)) if not server.problem else None
        except (ServerError, *OTHER_SHAPE):
            return None

    def use(self, url: str, model: str = "") -> ServedGenerator:
        """Asks one of a server's models from now on, in place of a loaded one. See ``open``."""
        generator = self.open(url, model)
        self._adopt(generator)
        return generator

    def open(self, url: str, model: str = "", key_variable: str = "") -> ServedGenerator:
        """One of a server's models; ``url`` may name it too, as URL#NAME. Raises NotFoundError, ServerError.

        One that its server hasn't in memory is loaded there first, so that its context is known and no question waits.
        """
        wire, dialect, served = chosen = self._chosen(url, model, key_variable)
        if served.loaded is False and served.reach != "cloud":
            with shaped(wire):
                dialect.load(wire, served.id)
            chosen = self._chosen(url, served.id, key_variable)
        return ServedGenerator(*chosen)

    def embed_with(
        self, url: str, model: str = "", key_variable: str = "", query_prefix: str = "", passage_prefix: str = ""
    ) -> EmbedderInfo:
        """New collections are embedded with a server's model from now on; others keep what made their vectors.

        Args:
            url: the server's address; URL#NAME names the model too.
            query_prefix: what the model's card wants before questions; ``passage_prefix`` likewise.

        Raises:
            NotFoundError: no such model.
            ServerError: the server can't be reached, or the model doesn't embed.
        """
        wire, dialect, served = self._chosen(url, model, key_variable, ("embedding", "chat"))
        card = probe(wire, dialect, served, query_prefix, passage_prefix)
        self._choose_embedder(self._embedders.remember(card))
        return ServedEmbedder(wire, card).info

    def embed_here(self) -> None:
        """New collections are embedded on this machine again."""
        self._choose_embedder("")

    @property
    def embedders(self) -> ServedEmbedders:
        """The served models that were chosen to embed."""
        return self._embedders

    @property
    def reports(self) -> Reports:
        """What examinations found, with what changed from one to the next."""
        return self._reports

    @property
    def loads(self) -> LoadTests:
        """The load tests that were made."""
        return self._loads

    @property
    def timeouts(self) -> Timeouts:
        """How long each phase of a call may take. Remembered in the file; setting raises UsageError."""
        return timeouts_in(self._settings)

    @timeouts.setter
    def timeouts(self, timeouts: Timeouts) -> None:
        remember_timeouts(self._settings, timeouts)

    def reach(self, model: LoadedModel | None, embedder: str) -> str:
        """ "offline", or the addresses that the model and the embedder in use may talk to."""
        card = self._embedders.card(embedder)
        told = [address_words(model.server, cloud=model.cloud)] if model and model.server else []
        told += [address_words(card.endpoint.url)] if card else []
        return " · ".join(dict.fromkeys(told)) or "offline"

    def examine(
        self, url: str, model: str = "", key_variable: str = "", cancel: Cancel | None = None
    ) -> Iterator[ContractReport]:
        """Where "compatible" is true of a server; the report grows, and a whole one is kept.

        Raises:
            NotFoundError: no such model.
            ServerError: the server can't be reached.
        """
        endpoint = self._endpoint(url, key_variable)
        server = self.look(endpoint)
        served = _named(server, model, ("chat", "embedding"))
        report: ContractReport | None = None
        for report in contract(Wire(endpoint, self.timeouts), dialect_of(server.kind), server, served, cancel):
            yield report
        if report and not (cancel is not None and cancel.is_set()):
            self._reports.keep(report)

    def load_test(
        self, url: str, model: str, rate: float, requests: int, key_variable: str = "", cancel: Cancel | None = None
    ) -> Iterator[LoadTest]:
        """Requests at a steady rate; the test grows, and the whole is kept, unless none was sent.

        Raises:
            NotFoundError: no such model. ServerError: the server can't be reached.
        """
        server, wire, dialect, served = self._found(url, model, key_variable)
        found: LoadTest | None = None
        for now in load_test(wire, dialect, served.id, rate, requests, cancel=cancel):
            found = replace(now, version=server.version)
            yield found
        if found and found.flights:
            self._loads.keep(found)

    def _chosen(
        self, url: str, model: str, key_variable: str, kinds: Sequence[str] = ("chat",)
    ) -> tuple[Wire, Dialect, ServedModel]:
        return self._found(url, model, key_variable, kinds)[1:]

    def _found(
        self, url: str, model: str, key_variable: str, kinds: Sequence[str] = ("chat",)
    ) -> tuple[Server, Wire, Dialect, ServedModel]:
        address, _, named = url.partition("#")
        endpoint = self._endpoint(address, key_variable)
        server = self.look(endpoint)
        return server, Wire(endpoint, self.timeouts), dialect_of(server.kind), _named(server, model or named, kinds)

    def _endpoint(self, url: str, key_variable: str) -> Endpoint:
        endpoint = endpoint_of(url, key_variable)
        known = next((known for known in self._remembered() if known.url == endpoint.url), endpoint)
        return endpoint if key_variable else known


def _named(server: Server, model: str, kinds: Sequence[str] = ("chat",)) -> ServedModel:
    """The model of that name; when none is named, the first of the first of these kinds, one that is loaded before."""
    offered = sorted((m for m in server.models if m.kind in kinds), key=lambda m: (kinds.index(m.kind), not m.loaded))
    found = [m for m in server.models if model in (m.id, m.name)] if model else offered
    if not found:
        names = ", ".join(m.name for m in server.models) or "–"
        raise NotFoundError(
            tr("No such model there"),
            tr("{url} serves {names}.", url=server.endpoint.url, names=names),
            tr("Name one of them, or load the one you want on the server."),
        )
    return found[0]


def _farther(one: Reach, other: Reach) -> Reach:
    order: tuple[Reach, ...] = ("machine", "network", "cloud")
    return order[max(order.index(one), order.index(other))]
