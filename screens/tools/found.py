"""What was found out about a server or a model, in lines: its facts, contract, load test, probe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from screens.models.served import where_words
from screens.style import Line, Tone
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.inventory.probe import layer_name
from workbench.inventory.words import sign
from workbench.records.inventory import ProbeReport
from workbench.records.servers import (
    ContractChange,
    ContractReport,
    LoadTest,
    Outcome,
    ServedModel,
    Server,
    ServerState,
)
from workbench.servers.words import promise_name, state_words

MARKS: Final[dict[Outcome | None, Line]] = {
    "kept": ("✓", Tone.GOOD),
    "differs": ("~", Tone.WARN),
    "refused": ("◦", Tone.DIM),
    "broken": ("✗", Tone.BAD),
    None: ("·", Tone.DIM),
}


@dataclass(frozen=True, slots=True)
class Kept:
    """A report out of the file, with the one before it and what changed since."""

    report: ContractReport
    before: ContractReport | None
    changes: tuple[ContractChange, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """All that a row's pane tells: what its server does now, its last report and its last load test."""

    state: ServerState | None
    kept: Kept | None
    load: LoadTest | None


def contract_lines(report: ContractReport) -> list[Line]:
    """A line a promise, and what the marks mean."""
    lines: list[Line] = []
    for check in report.checks:
        lines += [
            MARKS[check.outcome],
            f" {promise_name(check.key)} ",
            (" ".join(retold(check.detail).split()) + "\n", Tone.DIM),
        ]
    told = tr(
        "{kept} of {all} promises kept · ~ differs · ◦ says that it can't · ✗ broken",
        kept=report.kept,
        all=len(report.checks),
    )
    return [*lines, "\n", (told, Tone.STRONG)]


def change_lines(kept: Kept) -> list[Line]:
    """What ended otherwise than in the report before."""
    if kept.before is None:
        return [(tr("The first report of this model there."), Tone.DIM)]
    when = f"{kept.before.created.astimezone():%Y-%m-%d %H:%M}, {kept.before.kind} {kept.before.version}".strip()
    if not kept.changes:
        return [(tr("As in the report before ({when}).", when=when), Tone.DIM)]
    lines: list[Line] = [(tr("Otherwise than in the report before ({when}):", when=when), Tone.WARN)]
    for change in kept.changes:
        lines += ["\n", MARKS[change.before], " → ", MARKS[change.now], f" {change.name}"]
    return lines


def server_lines(server: Server, model: ServedModel | None, state: ServerState | None = None) -> list[Line]:
    """Where it really runs, who can reach its port, what it tells of itself and of the model."""
    open_words: dict[bool | None, Line] = {
        True: ("⚠ " + tr("its port listens beyond this machine"), Tone.WARN),
        False: tr("its port listens on this machine alone"),
        None: (tr("who else reaches its port can't be told from here"), Tone.DIM),
    }
    kind, latency = f"{server.kind} {server.version}".strip(), f"{server.latency_ms:.0f}"
    reach = model.reach if model else server.reach
    facts: list[Line] = [
        (where_words(reach), Tone.STRONG if reach == "machine" else Tone.WARN),
        open_words[server.exposed],
        tr("{kind}, answered in {ms} ms", kind=kind, ms=latency),
    ]
    if state and (doing := state_words(state)):
        facts.append(tr("now: {state}", state=doing))
    if server.problem:
        facts[2:] = [(f"✗ {server.problem}", Tone.BAD)]
    if server.endpoint.key_variable:
        facts.append(tr("its key is in the variable {name}", name=server.endpoint.key_variable))
    if model:
        facts += [tr("takes") + ": " + ", ".join(model.capabilities)] if model.capabilities else []
        facts += [tr("it embeds")] if model.kind == "embedding" else []
    return [piece for fact in facts for piece in (fact, "\n")]


def probe_lines(report: ProbeReport) -> list[Line]:
    """A line a layer; the one that fails with its remedy."""
    lines: list[Line] = []
    for step in report.steps:
        tone = Tone.DIM if step.passed is None else Tone.GOOD if step.passed else Tone.BAD
        lines += [(f"{sign(step.passed)} ", tone), layer_name(step.layer)]
        lines += [(f"  {step.detail} ({step.ms:,.0f} ms)\n", Tone.DIM)]
    if report.failed:
        lines += ["\n", (tr("The layer that fails: {layer}.", layer=layer_name(report.failed.layer)), Tone.STRONG)]
        lines += [f"\n→ {report.failed.remedy}"] if report.failed.remedy else []
    return lines
