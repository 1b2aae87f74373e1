"""The models that somebody could use, with what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final, get_args

from workbench.engine.client import load_generator
from workbench.engine.gguf_header import read_header
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.inventory.probe import SECONDS, layer_name, probe
from workbench.library import Library
from workbench.money.costs import STALE_DAYS, refuse_future
from workbench.money.money import LOCAL
from workbench.ports import Cancel, EntryRepository, Generator
from workbench.records.inventory import Filter, Offer, Passed, ProbeReport
from workbench.records.models import ModelFile
from workbench.records.servers import ServedModel, Server, short_name
from workbench.servers import Servers

FILTERS: Final[tuple[Filter, ...]] = get_args(Filter)


class Inventory:
    """Offers in the file, and what the machine and its servers have. Every method may be called from any thread.

    Args:
        watch: a generator, with what it generates entered in the ledger.
    """

    def __init__(
        self,
        entries: EntryRepository,
        library: Library,
        servers: Servers,
        watch: Callable[[Generator], Generator],
    ) -> None:
        self._entries, self._library, self._servers = entries, library, servers
        self._watch = watch

    def offers(self) -> tuple[Offer, ...]:
        """By provider and model."""
        return self._entries.all(Offer)

    def offer(self, name: str) -> Offer:
        """By "provider#model", or by the model alone where one provider has it. Raises NotFoundError."""
        found = [o for o in self.offers() if name in _names(o)]
        if len(found) != 1:
            raise NotFoundError(
                tr("More than one model") if found else tr("No such model"),
                tr("“{name}” names {count} models of the inventory.", name=name, count=len(found)),
                tr("Name it as PROVIDER#MODEL; workbench inventory lists them."),
            )
        return found[0]

    def known(self, provider: str, model: str) -> Offer | None:
        """What is written down of a provider's model, by its id or its short name."""
        return next((o for o in self.offers() if o.provider == provider and f"{provider}#{model}" in _names(o)), None)

    def put(self, offer: Offer) -> Offer:
        """Writes an offer down, in place of the earlier one; the filters that it doesn't mention stay as they were."""
        if not offer.provider.strip() or not offer.model.strip():
            raise UsageError(tr("Not an offer"), tr("It has a provider and a model."), tr("Name both."))
        refuse_future(offer.checked)
        known = self._entries.get(Offer, offer.name)
        kept = replace(offer, filters={**(known.filters if known else {}), **offer.filters})
        self._entries.put(kept.name, kept)
        return kept

    def remove(self, name: str) -> None:
        """Raises NotFoundError."""
        self._entries.remove(Offer, self.offer(name).name)

    def mark(self, name: str, filter_: Filter, passed: bool, evidence: str) -> Offer:
        """What was seen of one of the four filters, today. Raises NotFoundError, UsageError without evidence."""
        if not evidence.strip():
            raise UsageError(
                tr("No evidence"), tr("A filter is passed or not because something was seen."), tr("Say what.")
            )
        offer = self.offer(name)
        return self.put(replace(offer, filters={filter_: Passed(passed, evidence, date.today())}))

    def stale(self, offer: Offer) -> bool:
        """Its facts were last true more than 90 days ago."""
        return (date.today() - offer.checked).days > STALE_DAYS

    def scan(self, cancel: Cancel | None = None) -> tuple[Offer, ...]:
        """Writes down the model files of this machine and what its servers serve, as of today.

        What a person knows and no server tells (retention, version policy) stays; whether a server's model can be held
        to a JSON schema is what its last contract report found.
        """
        found = [_of_file(file) for file in self._library.files() if not file.problem and file.kind == "model"]
        for server in self._servers.discover(cancel):
            found += [_of_server(server, model, self._held_to_json(server, model)) for model in server.models]
        return tuple(self.put(_beside(offer, self._entries.get(Offer, offer.name))) for offer in found)

    def _held_to_json(self, server: Server, model: ServedModel) -> bool | None:
        reports = self._servers.reports.all(server.endpoint.url, model.id)
        outcomes = [check.outcome for report in reports[:1] for check in report.checks if check.key == "schema"]
        return outcomes[0] == "kept" if outcomes else None

    def probe(self, name: str, cancel: Cancel | None = None, seconds: float = SECONDS) -> Iterator[ProbeReport]:
        """Brings a model up and tries each layer of a call; what was found joins the inventory's filters.

        The model in use stays in use: another one is opened beside it, and closed afterwards.

        Args:
            name: of the inventory, a file's path, or URL#NAME; "" for the model in use.
        """
        known = next((o for o in self.offers() if name and name in _names(o)), None)
        target = _target(known) if known else name
        report: ProbeReport | None = None
        path = ""  # of what stands there: "URL#" is the first model of a server

        def opened() -> Generator:
            nonlocal path
            found = self._opened(target, cancel, closing)
            path = found.model.file.path
            return found

        with ExitStack() as closing:
            for report in probe(name or tr("the model in use"), opened, cancel, seconds):
                yield report
        known = known or next((o for o in self.offers() if path and path in (*_names(o), o.endpoint)), None)
        if known and report:
            yield replace(report, offer=self.put(replace(known, filters=_found(report))).name)

    def _opened(self, target: str, cancel: Cancel | None, closing: ExitStack) -> Generator:
        in_use, path = self._library.generator, Path(target).expanduser()
        if "://" in target:
            return self._watch(self._servers.open(target))
        if target and not (in_use and in_use.model.file.path == str(path)):
            beside = load_generator(read_header(path), cancel=cancel)
            closing.callback(beside.close)
            return self._watch(beside)
        if in_use is None:
            raise NotFoundError(
                tr("No model is loaded"), tr("There is nothing to probe."), tr("Name a model, or load one.")
            )
        if in_use.death:
            raise in_use.death
        return self._watch(in_use)


def _names(offer: Offer) -> tuple[str, ...]:
    """What it goes by: llama-server gives its file's whole path as the model's id."""
    short = short_name(offer.model)
    return offer.name, offer.model, short, f"{offer.provider}#{short}"


def _target(offer: Offer) -> str:
    """What the desk opens."""
    return offer.endpoint if offer.provider == LOCAL else f"{offer.endpoint or offer.provider}#{offer.model}"


def _found(report: ProbeReport) -> dict[str, Passed]:
    """What the steps of a probe say of the filters: it is there and can be called, and it takes what is sent."""
    today, failed = date.today(), report.failed
    reached = len(report.steps) > 1 or failed is None
    untold = ", ".join(map(layer_name, report.untried))
    well = (
        tr("probed: all layers answer; untold: {layers}", layers=untold) if untold else tr("probed: all layers answer")
    )
    why = f"{failed.layer}: {failed.detail}" if failed else well
    found = {"usable": Passed(reached, why, today)}
    if reached:
        found["exists"] = Passed(True, tr("probed"), today)
        if failed or "context" not in report.untried:
            found["accepts"] = Passed(failed is None, why, today)
    elif failed and failed.layer in ("model", "endpoint"):
        found["exists"] = Passed(False, why, today)
    return found


def _of_file(file: ModelFile) -> Offer:
    seen = Passed(True, file.path, date.today())
    return Offer(
        LOCAL,
        file.name,
        file.path,
        file.context or None,
        tools="tools" in file.chat_template,
        json=True,
        retention="–",
        region=tr("this machine"),
        version="pinned",
        checked=date.today(),
        filters={"exists": seen},
    )


def _beside(seen: Offer, known: Offer | None) -> Offer:
    """What was seen, and of what that doesn't tell what was known."""
    if known is None:
        return seen
    return replace(
        seen,
        context=seen.context or known.context,
        tools=known.tools if seen.tools is None else seen.tools,
        json=known.json if seen.json is None else seen.json,
        retention=known.retention or seen.retention,
        version=known.version or seen.version,
    )


def _of_server(server: Server, model: ServedModel, held_to_json: bool | None) -> Offer:
    where = {"machine": tr("this machine"), "network": tr("the network"), "cloud": tr("the cloud")}
    url = server.endpoint.url
    has = {name.casefold() for name in model.capabilities}
    return Offer(
        url,
        model.id,
        url,
        model.context,
        ("embedding",) if model.kind == "embedding" else ("text", *(("image",) if "vision" in has else ())),
        tools="tools" in has if has else None,
        json=held_to_json,
        region=where[model.reach],
        checked=date.today(),
        filters={"exists": Passed(True, tr("{kind} lists it", kind=server.kind), date.today())},
    )
