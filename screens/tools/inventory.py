"""Inventory: which models there are here and elsewhere, the four filters of each, and whether one is alive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final, cast, get_args

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from screens.dialogs import ConfirmDialog
from screens.style import Line, Tone, content, count
from screens.tools.form import Answers, FormDialog
from screens.tools.form import Line as FormLine
from screens.tools.tab import FindingTab
from screens.widgets.grid import Column, Grid, ListPane, Row
from workbench.i18n import tr
from workbench.inventory.inventory import FILTERS
from workbench.inventory.words import filter_name, takes
from workbench.money.money import price_words
from workbench.records.inventory import Filter, Offer, ProbeReport, VersionPolicy
from workbench.records.servers import short_name

POLICIES: Final = tuple(filter(None, get_args(VersionPolicy)))


@dataclass(frozen=True, slots=True)
class Listed:
    """What the table shows: offers by name, those whose facts are old, prices by the same name."""

    offers: Mapping[str, Offer]
    stale: frozenset[str]
    prices: Mapping[str, str]


class InventoryTab(FindingTab):
    """Offers with their filters beside what is known of one, and what a probe of it found."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "probe", "Probe", id="inventory.probe", tooltip="Tries each layer of a call: which one fails?"),
        Binding("f", "mark", "Filter", id="inventory.mark", tooltip="Passed or not, and what was seen"),
        Binding("n", "scan", "Scan", id="inventory.scan", tooltip="Writes down what this machine and its servers have"),
        Binding("a", "add", "Add", id="inventory.add", tooltip="A model that is elsewhere"),
        Binding("e", "edit", "Edit", id="inventory.edit", tooltip="Changes what is known of it"),
        Binding("delete", "drop", "Drop", show=False, id="inventory.drop", tooltip="Takes it off the list"),
        Binding("escape", "stop", "Stop", show=False, id="inventory.stop", tooltip="Stops what runs"),
    ]
    pane = "offer"
    _listed = Listed({}, frozenset(), {})

    def compose(self) -> ComposeResult:
        """List and facts."""
        with Horizontal(id="offers-beside"):
            columns = [
                Column(tr("provider"), fit=True),
                Column(tr("model")),
                Column(tr("filters"), 8),
                Column(tr("checked"), 12, keep=60),
                Column(tr("context"), 9, "right", keep=70),
                Column(tr("price"), 14, "right", keep=80, fold=True),
            ]
            yield ListPane(lambda shown, _: tr("Models on offer: {count}", count=shown), columns, id="offers")
            with VerticalScroll(classes="pane", id="offer", can_focus=True):
                yield Static(content((_nothing(), Tone.DIM)))

    def reload(self) -> None:
        """Reads the list."""
        self.jobs.read(self, self._read_list, self._show)

    def entered(self) -> None:
        """The list."""
        self.reload()
        self.query_one("#offers-grid", Grid).focus()

    def _read_list(self) -> Listed:
        found = self.desk.inventory.offers()
        stale = frozenset(o.name for o in found if self.desk.inventory.stale(o))
        prices = {o.name: price_words(self.desk.money.price_of(o.provider, short_name(o.model))) for o in found}
        return Listed({o.name: o for o in found}, stale, prices)

    def _show(self, listed: Listed) -> None:
        self._listed = listed
        pane = self.query_one("#offers", ListPane)
        pane.show([_row(offer, listed) for offer in listed.offers.values()])
        pane.border_subtitle = content("" if listed.offers else tr("Nothing yet: n writes down what is here."))
        self._shown = ""
        self.show_facts()

    @property
    def _offer(self) -> Offer | None:
        return self._listed.offers.get(self.query_one("#offers-grid", Grid).key)

    @on(Grid.Highlighted, "#offers-grid")
    def show_facts(self) -> None:
        """All that is known of the row under the cursor, unless a probe of it was just told."""
        offer = self._offer
        if offer and not self._job and offer.name != self._shown:
            self._shown = offer.name
            self._say(*_fact_lines(offer, self._listed), title=short_name(offer.model))

    @on(Grid.Opened, "#offers-grid")
    def action_probe(self) -> None:
        """Layer by layer."""
        if not (offer := self._offer) or self._job:
            return
        self._probe(offer.name, short_name(offer.model))

    def _probed(self, report: ProbeReport | None, title: str) -> None:
        super()._probed(report, title)
        self.jobs.read(self, self._read_list, self._refresh)

    def _refresh(self, listed: Listed) -> None:
        """The rows alone: the pane still says what was found."""
        self._listed = listed
        self.query_one("#offers", ListPane).show([_row(offer, listed) for offer in listed.offers.values()])

    def action_scan(self) -> None:
        """What is here."""
        pane = self.query_one("#offers", ListPane)
        pane.border_subtitle = content(tr("looking…"))
        self.jobs.read(self, self.desk.inventory.scan, lambda _: self.reload())

    def action_mark(self) -> None:
        """Asks for a filter, yes or no, and the evidence."""
        if not (offer := self._offer):
            return
        lines = (
            FormLine("filter", tr("Filter"), "approved", ", ".join(FILTERS)),
            FormLine("passed", tr("Passed"), "yes", "yes, no"),
            FormLine("evidence", tr("Evidence"), "", tr("what was seen: run 12, a reply, a page")),
        )
        note = tr("exists: listed; usable: you can call it; accepts: it takes what you send; approved: by an eval.")

        def mark(asked: tuple[Filter, bool, str] | None) -> None:
            if asked:
                self.jobs.read(self, lambda: self.desk.inventory.mark(offer.name, *asked), lambda _: self.reload())

        title = tr("A filter of {name}", name=short_name(offer.model))
        self.app.push_screen(FormDialog(title, lines, _marked, note), mark)

    def action_add(self) -> None:
        """Asks for a model that is elsewhere."""
        self._write(tr("A model on offer"), Offer("", "", checked=date.today()))

    def action_edit(self) -> None:
        """Asks for what is known of the one under the cursor."""
        if offer := self._offer:
            self._write(tr("What is known of {name}", name=short_name(offer.model)), offer)

    def _write(self, title: str, offer: Offer) -> None:
        def put(asked: Offer | None) -> None:
            if asked:
                self.jobs.read(self, lambda: self.desk.inventory.put(asked), lambda _: self.reload())

        self.app.push_screen(FormDialog(title, _lines(offer), _written), put)

    def action_drop(self) -> None:
        """Takes the one under the cursor off the list, once that is meant."""
        if not (offer := self._offer):
            return

        def drop(sure: bool | None) -> None:
            if sure:
                self.jobs.read(self, lambda: self.desk.inventory.remove(offer.name), lambda _: self.reload())

        question = tr("Take {name} off the list?", name=offer.name)
        self.app.push_screen(ConfirmDialog(tr("Drop a model"), question, tr("Drop it"), tr("Keep it")), drop)


def _nothing() -> str:
    return tr("n writes down what is here, a what is elsewhere; p probes a model; f says what passed a filter.")


def _seen(offer: Offer, filter_: Filter) -> Line:
    seen = offer.filters.get(filter_)
    if seen is None:
        return "·", Tone.DIM
    return ("✓", Tone.GOOD) if seen.passed else ("✗", Tone.BAD)


def _row(offer: Offer, listed: Listed) -> Row:
    stale = offer.name in listed.stale
    checked: Line = (f"{offer.checked} ⚠", Tone.WARN) if stale else f"{offer.checked}"
    marks = tuple(piece for filter_ in FILTERS for piece in (_seen(offer, filter_), " "))
    cells = (
        offer.provider,
        short_name(offer.model),
        marks,
        checked,
        count(offer.context) if offer.context else "–",
        listed.prices.get(offer.name, ""),
    )
    return Row(offer.name, cells)


def _fact_lines(offer: Offer, listed: Listed) -> list[Line]:
    lines: list[Line] = []
    for filter_ in FILTERS:
        seen = offer.filters.get(filter_)
        told = f"  {seen.evidence} ({seen.checked})" if seen else f"  {tr('not known')}"
        lines += [_seen(offer, filter_), f" {filter_name(filter_)}", (told + "\n", Tone.DIM)]
    facts = (
        (tr("provider"), offer.provider),
        (tr("address"), offer.endpoint),
        (tr("context"), tr("{count} tokens", count=count(offer.context)) if offer.context else ""),
        (tr("takes"), takes(offer)),
        (tr("price"), listed.prices.get(offer.name, "")),
        (tr("retention"), offer.retention.strip("–")),
        (tr("region"), offer.region),
        (tr("version"), offer.version),
        (tr("checked"), f"{offer.checked}"),
    )
    for label, value in facts:
        lines += [(f"\n{label}: ", Tone.DIM), value] if value else []
    if offer.name in listed.stale:
        lines += [
            "\n\n",
            (tr("⚠ Over 90 days old: check it anew, then e dates it."), Tone.WARN),
        ]
    return lines


def _lines(offer: Offer) -> tuple[FormLine, ...]:
    yes = {True: "yes", False: "no", None: ""}
    return (
        FormLine("provider", tr("Provider"), offer.provider, tr("who runs it")),
        FormLine("model", tr("Model"), offer.model, tr("as the provider names it")),
        FormLine("endpoint", tr("Address"), offer.endpoint, "https://…"),
        FormLine("context", tr("Context"), str(offer.context or ""), tr("tokens; empty when untold")),
        FormLine("modalities", tr("Modalities"), ", ".join(offer.modalities), "text, image, audio, embedding"),
        FormLine("tools", tr("Takes tools"), yes[offer.tools], tr("yes, no, or empty when untold")),
        FormLine("json", tr("Holds to a JSON schema"), yes[offer.json], tr("yes, no, or empty when untold")),
        FormLine("retention", tr("Retention"), offer.retention, tr("what is kept of what you send")),
        FormLine("region", tr("Region"), offer.region, tr("where it is computed and kept")),
        FormLine("version", tr("Version policy"), offer.version, ", ".join(POLICIES)),
        FormLine("checked", tr("Checked"), f"{date.today()}", tr("the day this was true")),
    )


def _written(answers: Answers) -> Offer:
    context, version = answers["context"].replace(",", ""), answers["version"]
    if context and not (context.isascii() and context.isdigit() and int(context)):
        raise ValueError(tr("{field}: give a whole number, or nothing.", field=tr("Context")))
    if version and version not in POLICIES:
        raise ValueError(tr("{field}: one of {choices}.", field=tr("Version policy"), choices=", ".join(POLICIES)))
    if not answers["provider"] or not answers["model"]:
        raise ValueError(tr("It has a provider and a model."))
    return Offer(
        answers["provider"],
        answers["model"],
        answers["endpoint"],
        int(context) if context else None,
        tuple(part.strip() for part in answers["modalities"].split(",") if part.strip()) or ("text",),
        _yes(answers["tools"], tr("Takes tools")),
        _yes(answers["json"], tr("Holds to a JSON schema")),
        answers["retention"],
        answers["region"],
        cast(VersionPolicy, version),
        _day(answers["checked"]),
    )


def _marked(answers: Answers) -> tuple[Filter, bool, str]:
    filter_ = next((name for name in FILTERS if name == answers["filter"]), None)
    if filter_ is None:
        raise ValueError(tr("{field}: one of {choices}.", field=tr("Filter"), choices=", ".join(FILTERS)))
    passed = _yes(answers["passed"], tr("Passed"))
    if passed is None or not answers["evidence"]:
        raise ValueError(tr("A filter is passed or not because something was seen."))
    return filter_, passed, answers["evidence"]


def _yes(text: str, label: str) -> bool | None:
    words = {"": None, "yes": True, "y": True, "sí": True, "si": True, "s": True, "no": False, "n": False}
    if text.casefold() not in words:
        raise ValueError(tr("{field}: one of {choices}.", field=label, choices="yes, no"))
    return words[text.casefold()]


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(tr("{field}: a day as 2026-11-30.", field=tr("Checked"))) from None
