"""``workbench inventory``: which models there are, what is known of each, and whether one is alive."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import date, datetime
from typing import Any, cast

import click

from workbench.cli.display import StatusLine, print_json, print_table, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.inventory.inventory import FILTERS
from workbench.inventory.probe import layer_name
from workbench.inventory.words import marks, sign, takes
from workbench.money.money import price_words
from workbench.records.inventory import Filter, Offer, ProbeReport
from workbench.records.servers import short_name

CHOICE = click.Choice(["yes", "no"])


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def inventory(context: click.Context, as_json: bool) -> None:
    """Models here and at providers: context, prices, modalities, region, and the four filters.

    exists: the provider lists it; usable: you can call it; accepts: its endpoint takes what you send; approved: your
    evaluation approves. ✓ passed, ✗ not, · not known.
    """
    if context.invoked_subcommand is not None:
        return
    with context.obj.desk("read") as desk:
        found = desk.inventory.offers()
        stale = {o.name for o in found if desk.inventory.stale(o)}
        prices = {o.name: price_words(desk.money.price_of(o.provider, short_name(o.model))) for o in found}
    if as_json:
        print_json(found)
        return
    if not found:
        say(tr("Nothing yet. workbench inventory scan writes down what is here; add writes down what is elsewhere."))
        return
    head = (
        tr("provider"),
        tr("model"),
        tr("context"),
        tr("price"),
        tr("takes"),
        tr("region"),
        tr("filters"),
        tr("checked"),
    )
    rows = [
        (
            o.provider,
            short_name(o.model),
            f"{o.context:,}" if o.context else "–",
            prices[o.name] or "–",
            takes(o),
            " · ".join(part for part in (o.region, o.retention, o.version) if part),
            marks(o),
            f"{o.checked}{' ' + tr('stale') if o.name in stale else ''}",
        )
        for o in found
    ]
    print_table(head, rows, right=(2,))
    say(tr("Filters: exists, usable, accepts, approved; ✓ passed, ✗ not, · not known."))


@inventory.command()
@click.pass_obj
def scan(front: FrontEnds) -> None:
    """Writes down the model files of this machine and what the servers that answer serve."""
    with front.desk("create") as desk, stoppable() as stop:
        found = desk.inventory.scan(stop)
    say(tr("{count} models are written down.", count=len(found)))


@inventory.command()
@click.argument("provider")
@click.argument("model")
@click.option("--endpoint", help="The address that is called.")
@click.option("--context", "context_", type=click.IntRange(1), help="Tokens of its window.")
@click.option("--modality", "modalities", multiple=True, help="text, image, audio, embedding.")
@click.option("--tools", type=CHOICE, help="It takes tool definitions.")
@click.option("--json-schema", type=CHOICE, help="It can be held to a schema.")
@click.option("--retention", help="What is kept of what you send.")
@click.option("--region", help="Where it is computed and kept.")
@click.option("--version", type=click.Choice(["pinned", "stable", "preview", "latest"]), help="What its name means.")
@click.option("--checked", type=click.DateTime(["%Y-%m-%d"]), help="The day this was true [today].")
@click.pass_obj
def add(
    front: FrontEnds,
    provider: str,
    model: str,
    endpoint: str | None,
    context_: int | None,
    modalities: tuple[str, ...],
    tools: str | None,
    json_schema: str | None,
    retention: str | None,
    region: str | None,
    version: str | None,
    checked: datetime | None,
) -> None:
    """Writes a model of a provider down, or changes what is known of it: what is left out stays as it is."""
    told: dict[str, Any] = {
        "endpoint": endpoint,
        "context": context_,
        "modalities": modalities or None,
        "tools": None if tools is None else tools == "yes",
        "json": None if json_schema is None else json_schema == "yes",
        "retention": retention,
        "region": region,
        "version": version,
        "checked": checked.date() if checked else date.today(),
    }
    with front.desk("create") as desk:
        known = desk.inventory.known(provider, model) or Offer(provider, model)
        offer = desk.inventory.put(replace(known, **{name: fact for name, fact in told.items() if fact is not None}))
    say(tr("“{name}” is written down.", name=offer.name))


@inventory.command()
@click.argument("name", metavar="PROVIDER#MODEL")
@click.argument("filter_", metavar="FILTER", type=click.Choice(FILTERS))
@click.argument("passed", type=CHOICE)
@click.option("--evidence", required=True, help="What was seen: run 12, a reply, a page.")
@click.pass_obj
def mark(front: FrontEnds, name: str, filter_: str, passed: str, evidence: str) -> None:
    """Says that a model passed one of the four filters, or didn't, and what shows it."""
    with front.desk() as desk:
        offer = desk.inventory.mark(name, cast(Filter, filter_), passed == "yes", evidence)
    say(f"{offer.name} {marks(offer)}")


@inventory.command()
@click.argument("name", metavar="PROVIDER#MODEL")
@click.pass_obj
def remove(front: FrontEnds, name: str) -> None:
    """Drops a model of the inventory."""
    with front.desk() as desk:
        desk.inventory.remove(name)
    say(tr("“{name}” is gone.", name=name))


@inventory.command()
@click.argument("name")
@click.option("--seconds", type=click.FloatRange(0.1), default=60.0, show_default=True, help="An answer may take.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def probe(front: FrontEnds, name: str, seconds: float, as_json: bool) -> None:
    """Tries each layer of a call and names the one that fails: model, template, server, context, JSON.

    NAME is of the inventory, a model file, or URL#NAME. Exits with 1 when a layer fails.
    """
    report: ProbeReport | None = None
    with front.desk("change" if front.file.exists() else "create") as desk, stoppable() as stop:
        line = StatusLine()
        for report in desk.inventory.probe(name, stop, seconds):
            line.say(report.steps[-1].layer)
        line.clear()
    if report is None:
        raise UsageError(tr("Nothing was probed"), tr("It was stopped."), tr("Run it again."))
    if as_json:
        print_json(report)
    else:
        print_probe(report)
    if report.failed:
        sys.exit(1)


def print_probe(report: ProbeReport) -> None:
    """A line a layer; the failing one with its remedy."""
    for step in report.steps:
        say(
            f"{sign(step.passed)} {layer_name(step.layer)}: {step.detail}  ({step.ms:,.0f} ms)",
            newlines=False,
        )
    if report.failed:
        say(tr("The layer that fails: {layer}.", layer=layer_name(report.failed.layer)), bold=True)
        if report.failed.remedy:
            say(f"  → {report.failed.remedy}")
    if not report.offer and len(report.steps) > 1:
        say(tr("The inventory doesn't list it: nothing is written down. First: workbench inventory scan"), dim=True)


COMMANDS = (inventory,)
