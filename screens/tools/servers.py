"""Servers: what answers, where it really runs, what it serves; one put to work, examined, loaded with requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from screens.style import Line, Tone, content, count, size
from screens.tools.form import Answers, FormDialog, number
from screens.tools.form import Line as FormLine
from screens.tools.tab import ToolTab
from screens.widgets.grid import Column, Grid, ListPane, Row
from screens.work import Job
from workbench.i18n import tr
from workbench.inventory.words import layer_name
from workbench.records.inventory import ProbeReport
from workbench.records.servers import ContractReport, LoadTest, ServedModel, Server

if TYPE_CHECKING:
    from workbench.ports import Cancel

MARKS = {"kept": ("✓", Tone.GOOD), "differs": ("~", Tone.WARN), "refused": ("◦", Tone.DIM), "broken": ("✗", Tone.BAD)}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The row under the cursor: a server, with one of its models or none."""

    server: Server
    model: ServedModel | None

    @property
    def name(self) -> str:
        """ "URL#MODEL"."""
        return f"{self.server.endpoint.url}#{self.model.id if self.model else ''}"


class ServersTab(ToolTab):
    """Servers with their models beside what was last found out about one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "use", "Use", id="tools.use", tooltip="Asks this model from now on, in place of the loaded one"),
        Binding("a", "add", "Add", id="tools.add", tooltip="Remembers an address"),
        Binding("c", "contract", "Contract", id="tools.contract", tooltip="Holds it against what its dialect promises"),
        Binding("l", "load", "Load test", id="tools.load", tooltip="Many requests, and Little's law"),
        Binding("p", "probe", "Probe", id="tools.probe", tooltip="Names the layer that fails"),
        Binding("r", "look", "Look again", id="tools.look", tooltip="What answers now"),
        Binding("delete", "forget", "Forget", show=False, id="tools.forget", tooltip="Drops the address"),
        Binding("escape", "stop", "Stop", show=False, id="tools.stop", tooltip="Stops what runs, or shuts the tools"),
    ]
    _job: Job | None = None
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
            yield ListPane(lambda shown, _: tr("Servers and their models: {count}", count=shown), columns, id="servers")
            with VerticalScroll(classes="pane", id="report", can_focus=True):
                yield Static(content((_nothing(), Tone.DIM)))

    def reload(self) -> None:
        """Looks once; after that when it is asked to."""
        if not self._looked:
            self.action_look()

    def entered(self) -> None:
        """The list."""
        self.query_one("#servers-grid", Grid).focus()

    def action_look(self) -> None:
        """What answers."""
        self._looked = True
        pane = self.query_one("#servers", ListPane)
        pane.border_subtitle = content(tr("looking…"))
        self.jobs.read(self, lambda: tuple(self.desk.servers.discover()), self._show)

    def _show(self, servers: tuple[Server, ...]) -> None:
        self._rows = {}
        rows = []
        for server in servers:
            for chosen in (Chosen(server, None), *(Chosen(server, model) for model in server.models)):
                self._rows[chosen.name] = chosen
                rows.append(Row(chosen.name, _cells(chosen)))
        pane = self.query_one("#servers", ListPane)
        pane.show(rows)
        pane.border_subtitle = content(
            "" if servers else tr("Nothing answers on this machine's usual ports: a adds one.")
        )

    @property
    def _chosen(self) -> Chosen | None:
        return self._rows.get(self.query_one("#servers-grid", Grid).key)

    def _say(self, *lines: Line, title: str = "") -> None:
        box = self.query_one("#report", VerticalScroll)
        box.border_title = content(title)
        self.query_one("#report Static", Static).update(content(*lines))

    @on(Grid.Opened, "#servers-grid")
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
        """Drops the address under the cursor."""
        if chosen := self._chosen:
            url = chosen.server.endpoint.url
            self.jobs.read(self, lambda: self.desk.servers.remove(url), lambda _: self.action_look())

    def action_contract(self) -> None:
        """Every promise in turn."""
        if not (chosen := self._chosen) or self._job:
            return
        url, model = chosen.server.endpoint.url, chosen.model.id if chosen.model else ""
        self._say((tr("examining…"), Tone.DIM), title=chosen.name)
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
        if report:
            self._say(*_contract_lines(report), title=f"{report.kind} {report.version} · {report.model}")

    def _ended(self, error: Exception) -> None:
        self._job = None
        self._say(("✗ ", Tone.BAD), str(error))

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

        def run(cancel: Cancel) -> Iterator[LoadTest]:
            yield self.desk.servers.load_test(url, model, *asked, cancel=cancel)

        self._say((tr("sending…"), Tone.DIM), title=chosen.name)
        self._job = self.jobs.run(self, tr("load test"), run, then=self._loaded, failed=self._ended)

    def _loaded(self, found: LoadTest | None) -> None:
        self._job = None
        if found:
            self._say(*_load_lines(found), title=f"{found.model} · {found.url}")

    def action_probe(self) -> None:
        """Layer by layer."""
        if not (chosen := self._chosen) or self._job:
            return
        self._say((tr("probing…"), Tone.DIM), title=chosen.name)
        self._job = self.jobs.run(
            self,
            tr("probe"),
            lambda cancel: self.desk.inventory.probe(chosen.name, cancel),
            then=self._probed,
            failed=self._ended,
        )

    def _probed(self, report: ProbeReport | None) -> None:
        self._job = None
        if report:
            self._say(*_probe_lines(report), title=report.model)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Stopping is possible while something runs; else the key shuts the tools."""
        return action != "stop" or self._job is not None

    def action_stop(self) -> None:
        """Stops what runs."""
        if self._job:
            self._job.stop()


def _nothing() -> str:
    return tr("u uses a model in place of the loaded one; c examines a server; l sends many requests; p probes it.")


def _cells(chosen: Chosen) -> tuple[Line, ...]:
    where = {"machine": tr("this machine"), "network": tr("the network"), "cloud": tr("the cloud")}
    server, model = chosen.server, chosen.model
    if model is None:
        mark: Line = ("✗", Tone.BAD) if server.problem else ("●", Tone.GOOD)
        named = f"{server.endpoint.url} · {server.kind} {server.version}".strip()
        open_: Line = ((" ⚠ " + tr("listens beyond this machine"), Tone.WARN) if server.exposed else "",)
        told: Line = ((named, Tone.STRONG), open_, (f" {server.problem}", Tone.BAD))
        return mark, told, where[server.reach], "", "", ""
    tone = Tone.PLAIN if model.reach == "machine" else Tone.WARN
    return (
        ("●", Tone.GOOD) if model.loaded else ("◦", Tone.DIM),
        f"  {model.id}",
        (where[model.reach], tone),
        model.quantization or "–",
        size(model.bytes) if model.bytes else "–",
        count(model.context) if model.context else "–",
    )


def _address(answers: Answers) -> tuple[str, str]:
    if not answers["url"]:
        raise ValueError(tr("Give an address."))
    return answers["url"], answers["variable"]


def _rate(answers: Answers) -> tuple[float, int]:
    rate, requests = number(answers, "rate", tr("Requests a second")), number(answers, "requests", tr("In all"))
    if not 0 < rate <= 1000 or not 1 <= requests <= 10_000:
        raise ValueError(tr("At most 1000 a second and 10000 in all, and more than none."))
    return rate, int(requests)


def _tell_check(job: Job, report: ContractReport) -> None:
    job.detail = report.checks[-1].name


def _contract_lines(report: ContractReport) -> list[Line]:
    lines: list[Line] = []
    for check in report.checks:
        lines += [MARKS[check.outcome], f" {check.name} ", (f"{check.detail}\n", Tone.DIM)]
    kept = sum(check.outcome == "kept" for check in report.checks)
    told = tr(
        "{kept} of {all} promises kept · ~ differs · ◦ says that it can't · ✗ broken", kept=kept, all=len(report.checks)
    )
    return [*lines, "\n", (told, Tone.STRONG)]


def _load_lines(found: LoadTest) -> list[Line]:
    ttft = "–" if found.ttft_p50_s is None else f"{found.ttft_p50_s:.2f} s"
    return [
        tr(
            "{served}/s served of {rate}/s sent, {failed} failed. {tokens} tokens/s in all.",
            served=f"{found.served:.2f}",
            rate=f"{found.rate:g}",
            failed=found.failed,
            tokens=f"{found.tokens_per_second:.1f}",
        ),
        "\n",
        tr(
            "a request: mean {mean} s, p50 {p50} s, p95 {p95} s, first token p50 {ttft}",
            mean=f"{found.mean_s:.2f}",
            p50=f"{found.p50_s:.2f}",
            p95=f"{found.p95_s:.2f}",
            ttft=ttft,
        ),
        "\n",
        tr(
            "in the system at once: {count} counted, {little} by Little's law (λ·W)",
            count=f"{found.in_system:.2f}",
            little=f"{found.little:.2f}",
        ),
    ]


def _probe_lines(report: ProbeReport) -> list[Line]:
    lines: list[Line] = []
    for step in report.steps:
        mark: Line = ("✓ ", Tone.GOOD) if step.passed else ("✗ ", Tone.BAD)
        lines += [mark, layer_name(step.layer), (f"  {step.detail} ({step.ms:,.0f} ms)\n", Tone.DIM)]
    if report.failed:
        lines += ["\n", (tr("The layer that fails: {layer}.", layer=layer_name(report.failed.layer)), Tone.STRONG)]
        lines += [f"\n→ {report.failed.remedy}"] if report.failed.remedy else []
    return lines
