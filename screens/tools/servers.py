"""Servers: what answers, where it really runs, what it serves; one put to work, examined, loaded with requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from screens.dialogs import ConfirmDialog
from screens.models.served import where_words
from screens.style import Line, Tone, content, count, size
from screens.tools.form import Answers, FormDialog, number
from screens.tools.form import Line as FormLine
from screens.tools.found import Kept, Known, change_lines, contract_lines, server_lines
from screens.tools.loads import LoadTestsDialog, changed_lines, read_beside
from screens.tools.tab import FindingTab
from screens.widgets.grid import Column, Grid, ListPane, Row
from screens.work import Job
from workbench.i18n import tr
from workbench.records.corpus import EmbedderInfo
from workbench.records.servers import ContractReport, LoadTest, ServedModel, Server, short_name
from workbench.servers.words import load_lines, load_progress, promise_name


@dataclass(frozen=True, slots=True)
class Chosen:
    """The row under the cursor: a server, with one of its models or none."""

    server: Server
    model: ServedModel | None

    @property
    def name(self) -> str:
        """ "URL#MODEL"."""
        return f"{self.server.endpoint.url}#{self.model.id if self.model else ''}"

    @property
    def title(self) -> str:
        """The model's short name, or the address."""
        return self.model.name if self.model else self.server.endpoint.url


class ServersTab(FindingTab):
    """Servers with their models beside what was last found out about one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "use", "Use", id="tools.use", tooltip="Asks this model from now on, in place of the loaded one"),
        Binding("a", "add", "Add", id="tools.add", tooltip="Remembers an address"),
        Binding("c", "contract", "Contract", id="tools.contract", tooltip="Holds it against what its dialect promises"),
        Binding("l", "load", "Load test", id="tools.load", tooltip="Many requests, and Little's law"),
        Binding("o", "loads", "Load tests", id="tools.loads", tooltip="Those that were made, two of them side by side"),
        Binding("p", "probe", "Probe", id="tools.probe", tooltip="Names the layer that fails"),
        Binding("e", "embed", "Embed", id="tools.embed", tooltip="Embeds new collections with this model"),
        Binding("h", "here", "Embed here", show=False, id="tools.here", tooltip="Embeds new collections here again"),
        Binding("r", "look", "Look again", id="tools.look", tooltip="What answers now"),
        Binding("delete", "forget", "Forget", show=False, id="tools.forget", tooltip="Drops the address"),
        Binding("escape", "stop", "Stop", show=False, id="tools.stop", tooltip="Stops what runs, or shuts the tools"),
    ]
    pane = "report"
    _looked = False

    def compose(self) -> ComposeResult:
        """List and report."""
        self._rows: dict[str, Chosen] = {}
        with Horizontal(id="served"):
            columns = [
                Column("", 1),
                Column(tr("server and model")),
                Column(tr("where"), 12),
                Column(tr("quant"), 8, keep=56),
                Column(tr("size"), 9, "right", keep=64),
                Column(tr("context"), 8, "right", keep=48),
            ]
            yield ListPane(
                lambda shown, _: tr("Servers and their models: {count}", count=shown), columns, id="servers-list"
            )
            with VerticalScroll(classes="pane", id="report", can_focus=True):
                yield Static(content((_nothing(), Tone.DIM)))

    def reload(self) -> None:
        """Looks once; after that when it is asked to."""
        if not self._looked:
            self.action_look()

    def entered(self) -> None:
        """The list."""
        self.query_one("#servers-list-grid", Grid).focus()

    def action_look(self) -> None:
        """What answers."""
        self._looked = True
        pane = self.query_one("#servers-list", ListPane)
        pane.border_subtitle = content(tr("looking…"))
        self.jobs.read(self, lambda: tuple(self.desk.servers.discover()), self._show)

    def _show(self, servers: tuple[Server, ...]) -> None:
        self._rows = {}
        rows = []
        for server in servers:
            for chosen in (Chosen(server, None), *(Chosen(server, model) for model in server.models)):
                self._rows[chosen.name] = chosen
                rows.append(Row(chosen.name, _cells(chosen)))
        pane = self.query_one("#servers-list", ListPane)
        pane.show(rows)
        pane.border_subtitle = content(
            "" if servers else tr("Nothing answers on this machine's usual ports: a adds one.")
        )

    @property
    def _chosen(self) -> Chosen | None:
        return self._rows.get(self.query_one("#servers-list-grid", Grid).key)

    @on(Grid.Highlighted, "#servers-list-grid")
    def show_facts(self) -> None:
        """What it is, and its last contract report; not over what runs or was just found about the same row."""
        chosen = self._chosen
        if chosen is None or self._job or chosen.name == self._shown:
            return
        self._shown = chosen.name
        self.jobs.read(self, lambda: self._read_known(chosen), lambda known: self._tell(chosen, known))

    def _read_known(self, chosen: Chosen) -> Known:
        url, model = chosen.server.endpoint.url, chosen.model.id if chosen.model else ""
        reports, loads = self.desk.servers.reports, self.desk.servers.loads
        found, tests = reports.all(url, model), loads.all(url, model)
        kept = Kept(found[0], reports.before(found[0]), reports.changes(found[0])) if found else None
        return Known(self.desk.servers.state(chosen.server), kept, tests[0] if tests else None)

    def _tell(self, chosen: Chosen, known: Known) -> None:
        if self._job or chosen.name != self._shown:
            return
        kept = known.kept
        lines = [*server_lines(chosen.server, chosen.model, known.state), "\n"]
        if known.load:
            test = known.load
            when = f"{test.created.astimezone():%Y-%m-%d %H:%M}"
            told = tr("load test of {when}: {rate}/s × {sent}", when=when, rate=f"{test.rate:g}", sent=test.sent)
            lines += [(told, Tone.STRONG), "\n", "\n".join(load_lines(test)), "\n\n"]
        if kept is None:
            lines.append((tr("Not examined yet: c does."), Tone.DIM))
        else:
            when = f"{kept.report.created.astimezone():%Y-%m-%d %H:%M}"
            told = tr("contract of {when}, {version}", when=when, version=f"{kept.report.kind} {kept.report.version}")
            lines += [(told.strip(), Tone.STRONG), "\n", *contract_lines(kept.report), "\n\n", *change_lines(kept)]
        self._say(*lines, title=chosen.title)

    @on(Grid.Opened, "#servers-list-grid")
    def action_use(self) -> None:
        """Puts the model to work."""
        if chosen := self._chosen:
            url, model = chosen.server.endpoint.url, chosen.model.id if chosen.model else ""
            self.jobs.read(self, lambda: self.desk.servers.use(url, model).model.file.name, self._used)

    def _used(self, name: str) -> None:
        self._say(("✓ ", Tone.GOOD), tr("{name} answers from now on.", name=name), title=tr("In use"))

    def action_add(self) -> None:
        """Asks for an address."""
        lines = (
            FormLine("url", tr("Address"), "http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            FormLine("variable", tr("Key's variable"), "", tr("name of the environment variable, if it wants a key")),
        )
        note = tr("The key itself is never stored.")
        self.app.push_screen(FormDialog(tr("Add a server"), lines, _address, note), self._add)

    def _add(self, asked: tuple[str, str] | None) -> None:
        if asked:
            self.jobs.read(self, lambda: self.desk.servers.add(*asked), lambda _: self.action_look())

    def action_forget(self) -> None:
        """Drops the address under the cursor, once that is meant."""
        if not (chosen := self._chosen):
            return
        url = chosen.server.endpoint.url

        def forget(sure: bool | None) -> None:
            if sure:
                self.jobs.read(self, lambda: self.desk.servers.remove(url), lambda _: self.action_look())

        question = tr("Forget {url}, and what embeds there?", url=url)
        self.app.push_screen(ConfirmDialog(tr("Forget an address"), question, tr("Forget it"), tr("Keep it")), forget)

    def action_embed(self) -> None:
        """Asks for the prefixes that the model's card wants, then embeds new collections with it."""
        if not (chosen := self._chosen):
            return
        lines = (
            FormLine("query", tr("Before questions"), "", tr("as its card says, e.g. query:")),
            FormLine("passage", tr("Before passages"), "", tr("as its card says, e.g. passage:")),
        )
        note = tr("New collections are embedded with it; others keep what made their vectors. A server adds no prefix.")
        dialog = FormDialog(tr("Embed with {name}", name=chosen.title), lines, _prefixes, note)
        self.app.push_screen(dialog, lambda asked: self._embed(chosen, asked))

    def _embed(self, chosen: Chosen, asked: tuple[str, str] | None) -> None:
        if asked is None:
            return
        url, model = chosen.server.endpoint.url, chosen.model.id if chosen.model else ""
        self._say((tr("asking for vectors…"), Tone.DIM), title=chosen.title)
        self.jobs.read(
            self,
            lambda: self.desk.servers.embed_with(url, model, query_prefix=asked[0], passage_prefix=asked[1]),
            self._embeds,
            self._ended,
        )

    def _embeds(self, info: EmbedderInfo) -> None:
        shape = {"name": info.name, "count": info.dimension, "tokens": info.max_tokens}
        told = tr("{name}: {count} dimensions, texts up to {tokens} tokens.", **shape)
        more = tr("New collections are embedded with it. It tells no token vectors, so there is no late interaction.")
        self._say(("✓ ", Tone.GOOD), told, "\n", more, title=tr("Embedder"))

    def action_here(self) -> None:
        """This machine embeds again."""
        said = tr("New collections are embedded on this machine.")
        self.jobs.read(
            self, self.desk.servers.embed_here, lambda _: self._say(("✓ ", Tone.GOOD), said, title=tr("Embedder"))
        )

    def action_contract(self) -> None:
        """Every promise in turn."""
        if not (chosen := self._chosen) or self._job:
            return
        url, model = chosen.server.endpoint.url, chosen.model.id if chosen.model else ""
        self._say((tr("examining…"), Tone.DIM), title=chosen.title)
        self._job = self.jobs.run(
            self,
            tr("contract"),
            lambda cancel: self.desk.servers.examine(url, model, cancel=cancel),
            then=self._examined,
            failed=self._ended,
            describe=_tell_check,
        )

    def _examined(self, report: ContractReport | None) -> None:
        self._job = None
        self._shown = ""
        self.show_facts()

    def action_load(self) -> None:
        """Asks how many requests, then sends them."""
        if not (chosen := self._chosen) or self._job:
            return
        lines = (FormLine("rate", tr("Requests a second"), "1"), FormLine("requests", tr("In all"), "10"))
        self.app.push_screen(FormDialog(tr("Load test"), lines, _rate), lambda asked: self._load(chosen, asked))

    def _load(self, chosen: Chosen, asked: tuple[float, int] | None) -> None:
        if asked is None:
            return
        url, model = chosen.server.endpoint.url, chosen.model.id if chosen.model else ""

        self._say((tr("sending… esc stops it"), Tone.DIM), title=chosen.title)
        self._job = self.jobs.run(
            self,
            tr("load test"),
            lambda cancel: self.desk.servers.load_test(url, model, *asked, cancel=cancel),
            then=self._loaded,
            failed=self._ended,
            describe=_tell_load,
        )

    def _loaded(self, found: LoadTest | None) -> None:
        self._job = None
        if found is None:
            return
        told = "\n".join(load_lines(found))
        self.jobs.read(
            self,
            lambda: read_beside(self.desk, found),
            lambda b: self._say(told, *(("\n\n", *changed_lines(b)) if b else ()), title=short_name(found.model)),
        )

    def action_loads(self) -> None:
        """Lists the load tests."""

        def show(found: tuple[LoadTest, ...]) -> None:
            self.app.push_screen(LoadTestsDialog(self.desk, self.jobs, found))

        self.jobs.open(self, self.desk.servers.loads.all, show)

    def action_probe(self) -> None:
        """Layer by layer."""
        if not (chosen := self._chosen) or self._job:
            return
        self._probe(chosen.name, chosen.title)


def _nothing() -> str:
    return tr("a adds an address; u uses a model, e embeds with it; c examines, p probes, l loads it; o lists loads.")


def _cells(chosen: Chosen) -> tuple[Line, ...]:
    server, model = chosen.server, chosen.model
    if model is None:
        mark: Line = ("✗", Tone.BAD) if server.problem else ("●", Tone.GOOD)
        named = f"{server.endpoint.url} · {server.kind} {server.version}".strip()
        open_: Line = ((" ⚠ " + tr("listens beyond this machine"), Tone.WARN) if server.exposed else "",)
        told: Line = ((named, Tone.STRONG), open_, (f" {server.problem}", Tone.BAD))
        return mark, told, where_words(server.reach), "", "", ""
    tone = Tone.PLAIN if model.reach == "machine" else Tone.WARN
    return (
        ("●", Tone.GOOD) if model.loaded else ("◦", Tone.DIM),
        f"  {model.name}",
        (where_words(model.reach), tone),
        model.quantization or "–",
        size(model.bytes) if model.bytes else "–",
        count(model.context) if model.context else "–",
    )


def _address(answers: Answers) -> tuple[str, str]:
    if not answers["url"]:
        raise ValueError(tr("Give an address."))
    return answers["url"], answers["variable"]


def _prefixes(answers: Answers) -> tuple[str, str]:
    query, passage = (f"{answers[name]} " if answers[name] else "" for name in ("query", "passage"))
    return query, passage


def _rate(answers: Answers) -> tuple[float, int]:
    rate, requests = number(answers, "rate", tr("Requests a second")), number(answers, "requests", tr("In all"))
    if not 0 < rate <= 1000 or not 1 <= requests <= 10_000:
        raise ValueError(tr("At most 1000 a second and 10000 in all, and more than none."))
    return rate, int(requests)


def _tell_load(job: Job, found: LoadTest) -> None:
    job.detail, job.fraction = load_progress(found), len(found.flights) / found.asked


def _tell_check(job: Job, report: ContractReport) -> None:
    job.detail = promise_name(report.checks[-1].key)
