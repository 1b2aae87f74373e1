"""Commands about a collection's health and the file's space."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, islice
from threading import Event
from typing import Final

import click

from workbench.cli.display import StatusLine, duration, print_json, print_table, say, size, stoppable
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.errors import FileError
from workbench.health.doctor import SAFE_REPAIRS
from workbench.i18n import tr
from workbench.records.health import Finding, Health, HealthCheck, Histogram, Repair, SpaceMap

_TOLD: Final = 10
"""Findings of a check that are printed; --json has more."""

_BAR: Final = 40

_ASKED: Final[dict[Repair, str]] = {"retire": "document-copies"}
"""Repairs that an option asks for, each with the check that it speaks of."""


@click.command()
@click.option("--collection", "-c", default="", help="Which collection [the chosen one].")
@click.option("--fix", is_flag=True, help="Repair what can be repaired without a decision, then check again.")
@click.option("--retire-copies", is_flag=True, help="With --fix: retire documents that are copies of another.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def doctor(front: FrontEnds, collection: str, fix: bool, retire_copies: bool, as_json: bool) -> None:
    """Checks a collection: text, chunks, vectors, metadata, sources. Exits with 1 when an error is left."""
    with front.desk("change" if fix else "read") as desk, stoppable() as stop:
        name = collection or desk.collection
        health = _examine(desk, name, stop)
        repairs = (*SAFE_REPAIRS, "retire") if retire_copies else SAFE_REPAIRS
        if fix and _repair(desk, health, repairs, stop):
            health = _examine(desk, name, stop)
    if as_json:
        print_json(health)
    else:
        _report(health)
    if health.errors:
        sys.exit(1)


def _examine(desk: Desk, collection: str, stop: Event) -> Health:
    line = StatusLine()
    health: Health | None = None
    for health in desk.doctor.examine(collection, stop):
        line.say(tr("checking {what} {done}/{total}", what=health.running, done=health.done, total=health.total))
    line.clear()
    assert health is not None  # noqa: S101 -- the iterator ends with a whole one
    with suppress(FileError):  # a file that can't be written to is examined all the same
        desk.doctor.keep(health)
    return health


def _repair(desk: Desk, health: Health, repairs: Sequence[Repair], stop: Event) -> bool:
    """Whether anything was to be repaired."""
    line = StatusLine()
    wanted = {check.repair for check in health.checks}
    for repair in (repair for repair in repairs if repair in wanted):
        for progress in desk.doctor.repair(health, repair, stop, only=_ASKED.get(repair, "")):
            line.say(f"{tr(repair)} {progress.done:,}/{progress.total:,}")
            if progress.finished:
                line.clear()
                say(progress.told, err=True)
    return any(repair in wanted for repair in repairs)


def _report(health: Health) -> None:
    for check in health.checks:
        say(_headline(check), newlines=False)
        groups = list(islice(_grouped(check.findings), _TOLD))
        for head, *others in groups:
            names = ", ".join(other.name for other in others[:_TOLD]) + (" …" if len(others) > _TOLD else "")
            say(f"    {head.name}: {head.detail}" + (f" · {names}" if others else ""), newlines=False)
        if left := check.count - sum(map(len, groups)):
            say("    " + tr("and {count} more", count=f"{left:,}"), dim=True)
        if not check.passed:
            say(f"  → {check.remedy}")
    for histogram in health.histograms:
        _draw(histogram)
    failed = sum(not check.passed for check in health.checks)
    say("")
    say(
        tr(
            "{collection}: {failed} of {checks} checks found something, {errors} of them errors ({time}).",
            collection=health.collection,
            failed=failed,
            checks=len(health.checks),
            errors=health.errors,
            time=duration(health.duration_ms / 1000),
        )
    )


def _grouped(findings: Iterable[Finding]) -> Iterator[list[Finding]]:
    """Those that belong together, the first of them first; each other one by itself."""
    for group, found in groupby(findings, key=lambda finding: finding.group):
        if group:
            yield list(found)
        else:
            yield from ([finding] for finding in found)


def _headline(check: HealthCheck) -> str:
    mark = "✓" if check.passed else {"error": "✗", "warning": "~", "note": "◦"}[check.severity]
    count = "" if check.passed else f" {check.count:,}/{check.of:,}"
    return f"{mark} {check.title}{count}" + (f" · {check.measured}" if check.measured else "")


def _draw(histogram: Histogram) -> None:
    say("")
    say(histogram.title)
    widest, most = max(map(len, histogram.labels), default=0), max(histogram.counts, default=1)
    for label, count in zip(histogram.labels, histogram.counts, strict=True):
        bar = "▇" * max(1 if count else 0, round(_BAR * count / most))
        say(f"  {label:>{widest}}  {bar} {count:,}", newlines=False)


@click.command()
@click.option("--compact", is_flag=True, help="Make vector tables anew and rewrite the file without what nothing uses.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def space(front: FrontEnds, compact: bool, as_json: bool) -> None:
    """Where the file's bytes are, table by table, and how many can be given back."""
    with front.desk("change" if compact else "read") as desk, stoppable() as stop:
        if compact:
            line = StatusLine()
            freed = desk.doctor.compact(
                lambda name, done, total: line.say(
                    tr("{name}: vectors {done}/{total}", name=name, done=f"{done:,}", total=f"{total:,}")
                    if name
                    else tr("rewriting the file")
                )
            )
            line.clear()
            say(tr("{bytes} were given back.", bytes=size(max(0, freed))), err=True)
        found = desk.doctor.space(stop)
    if as_json:
        print_json(found)
    else:
        _print_space(found)


def _print_space(space: SpaceMap) -> None:
    rows = [
        (
            i.name,
            size(i.bytes),
            f"{i.bytes / max(1, space.file_bytes):.1%}",
            size(i.unused),
            size(i.gaps) if i.gaps else "–",
            i.what,
        )
        for i in space.items
        if i.bytes > 0.001 * space.file_bytes or i.gaps
    ]
    head = (tr("table"), tr("bytes"), "%", tr("unused"), tr("gaps"), tr("what it holds"))
    print_table(head, rows, right=(1, 2, 3, 4))
    say("")
    say(
        tr(
            "{file} in the file, {log} in its log. {reclaimable} can be given back: workbench space --compact",
            file=size(space.file_bytes),
            log=size(space.log_bytes),
            reclaimable=size(space.reclaimable),
        )
    )


COMMANDS = (doctor, space)
