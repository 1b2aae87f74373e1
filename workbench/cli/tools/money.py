"""``workbench money``: the sums behind "what does it cost", with prices of your own and measured speeds."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final, get_args

import click

from workbench.cli.display import print_json, print_table, say, size
from workbench.cli.front import FrontEnds
from workbench.cli.numbers import Number
from workbench.desk import Desk
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.money.costs import (
    break_even_requests,
    cache_plan,
    call_cost,
    cloud_month,
    gpu_month,
    local_month,
    per_million_tokens,
    tco,
)
from workbench.money.times import effective_success, in_system
from workbench.money.vectors import Component, vector_bytes
from workbench.records.money import Price, Usage
from workbench.usage.words import marks_told, near

AMOUNT: Final = Number(0)
TOKENS: Final = click.IntRange(0)


@click.group()
def money() -> None:
    """Costs of calls, months, machines and vectors; prices are yours, with their date, and none is built in."""


# -- prices --------------------------------------------------------------------------------------------------------


@money.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def prices(front: FrontEnds, as_json: bool) -> None:
    """Lists the prices of this file; those looked up over 90 days ago are marked."""
    with front.desk("read") as desk:
        found = desk.money.prices()
        stale = {p for p in found if desk.money.stale(p)}
    if as_json:
        print_json(found)
        return
    if not found:
        say(tr("No price is written down. Add one: workbench money price PROVIDER MODEL --input 2 --output 8"))
        return
    prices = (tr("input"), tr("output"), tr("cache read"), tr("cache write"))
    head = (tr("provider"), tr("model"), *prices, "", tr("checked"), tr("source"))
    rows = [
        (
            p.provider,
            p.model,
            f"{p.input:g}",
            f"{p.output:g}",
            "–" if p.cache_read is None else f"{p.cache_read:g}",
            "–" if p.cache_write is None else f"{p.cache_write:g}",
            p.currency,
            f"{p.checked}{' ' + tr('stale') if p in stale else ''}",
            p.source,
        )
        for p in found
    ]
    print_table(head, rows, right=(2, 3, 4, 5))
    say(tr("Per million tokens."))


@money.command()
@click.argument("provider")
@click.argument("model")
@click.option("--input", "input_", type=AMOUNT, required=True, help="Per million tokens sent.")
@click.option("--output", type=AMOUNT, required=True, help="Per million tokens written.")
@click.option("--cache-read", type=AMOUNT, help="Per million tokens that a cache served [as input].")
@click.option("--cache-write", type=AMOUNT, help="Per million tokens stored in a cache [as input].")
@click.option("--currency", default="EUR", show_default=True, help="Of all four.")
@click.option("--checked", type=click.DateTime(["%Y-%m-%d"]), help="The day it was looked up [today].")
@click.option("--source", default="", help="Where it was looked up.")
@click.pass_obj
def price(
    front: FrontEnds,
    provider: str,
    model: str,
    input_: float,
    output: float,
    cache_read: float | None,
    cache_write: float | None,
    currency: str,
    checked: datetime | None,
    source: str,
) -> None:
    """Writes a model's price down, in place of its earlier one.

    PROVIDER is a server's address, "local", a company's name, or "*" for any; where address and model are those of the
    ledger's calls, workbench usage reckons with it.
    """
    day = checked.date() if checked else date.today()
    with front.desk("create") as desk:
        desk.money.put_price(Price(provider, model, currency, input_, output, day, cache_read, cache_write, source))
    say(tr("“{name}” is written down.", name=f"{provider}#{model}"))


@money.command()
@click.argument("name", metavar="PROVIDER#MODEL")
@click.pass_obj
def unprice(front: FrontEnds, name: str) -> None:
    """Drops a price."""
    with front.desk() as desk:
        desk.money.remove_price(name)
    say(tr("“{name}” is gone.", name=name))


# -- calls and months ----------------------------------------------------------------------------------------------


@money.command()
@click.argument("name", metavar="PROVIDER#MODEL")
@click.option("--fresh", type=TOKENS, help="Tokens sent that no cache serves [the ledger's mean].")
@click.option("--output", type=TOKENS, help="Tokens written [the ledger's mean].")
@click.option("--cache-read", type=TOKENS, help="Tokens that a cache serves [none, or the ledger's mean].")
@click.option("--cache-write", type=TOKENS, default=0, help="Tokens stored in a cache.")
@click.option("--requests", type=AMOUNT, help="So many a month, too.")
@click.pass_obj
def call(
    front: FrontEnds,
    name: str,
    fresh: int | None,
    output: int | None,
    cache_read: int | None,
    cache_write: int,
    requests: float | None,
) -> None:
    """The cost of one call: fresh, cached and written tokens, each at its price."""
    with front.desk("read") as desk:
        found, used = desk.money.price(name), _usage(desk, fresh, output, cache_read, cache_write)
        stale = desk.money.stale(found)
    cost = call_cost(used, found)
    about = near(used.estimated)
    sent = f"{about}{used.fresh:,} " + tr("fresh")
    cached = f"{used.cache_read:,} " + tr("cache read") + f" + {used.cache_write:,} " + tr("cache write")
    say(f"{sent} + {cached} + {about}{used.output:,} " + tr("output") + f" = {about}{cost:.6f} {found.currency}")
    if requests is not None:
        month = cloud_month(requests, cost)
        say(tr("{requests} a month: {cost}", requests=f"{requests:,.0f}", cost=f"{about}{month:,.2f} {found.currency}"))
    if told := marks_told(used.estimated):
        say(told)
    if stale:
        say(tr("The price is of {day}: look it up again.", day=found.checked), err=True)


def _usage(desk: Desk, fresh: int | None, output: int | None, cache_read: int | None, cache_write: int) -> Usage:
    """What was asked for; the ledger's mean for what wasn't."""
    if fresh is not None and output is not None:
        return Usage(fresh, output, cache_read or 0, cache_write)
    mean = desk.money.mean_call()
    if mean is None:
        raise UsageError(
            tr("Nothing to go by"),
            tr("The ledger has no call to take the mean of."),
            tr("Give --fresh and --output."),
        )
    say(tr("From the ledger's mean call."), dim=True, err=True)
    return Usage(
        mean.fresh if fresh is None else fresh,
        mean.output if output is None else output,
        mean.cache_read if cache_read is None else cache_read,
        cache_write,
        mean.estimated,
    )


@money.command()
@click.argument("name", metavar="PROVIDER#MODEL")
@click.option("--prefix", type=TOKENS, required=True, help="Tokens that every call begins with.")
@click.option("--fresh", type=TOKENS, required=True, help="Tokens that differ.")
@click.option("--output", type=TOKENS, required=True, help="Tokens written.")
@click.option("--calls", "count", type=click.IntRange(1), default=10, show_default=True, help="Calls in all.")
@click.pass_obj
def cache(front: FrontEnds, name: str, prefix: int, fresh: int, output: int, count: int) -> None:
    """What caching a stable prefix does: the first call writes it, the others read it."""
    with front.desk("read") as desk:
        found = desk.money.price(name)
    plan = cache_plan(prefix, fresh, output, found)
    rows = [
        (tr("without cache"), f"{plan.full:.4f}"),
        (tr("first call, which writes"), f"{plan.write:.4f}"),
        (tr("later ones, which read"), f"{plan.read:.4f}"),
        (tr("mean of {calls} calls", calls=count), f"{plan.mean(count):.4f}"),
    ]
    print_table((tr("call"), found.currency), rows, right=(1,))
    if plan.break_even is None:
        say(tr("It never pays at these prices."))
    else:
        say(tr("It pays from {calls} calls on.", calls=plan.break_even))


@money.command()
@click.option("--requests", type=AMOUNT, required=True, help="A month.")
@click.option("--per-request", type=AMOUNT, required=True, help="Cost of one: workbench money call tells it.")
@click.option("--fixed", type=AMOUNT, default=0.0, help="What is paid whatever the volume.")
@click.option("--currency", default="", help="Of all amounts [yours, unnamed].")
def month(requests: float, per_request: float, fixed: float, currency: str) -> None:
    """A month of paying per request."""
    cost = cloud_month(requests, per_request, fixed)
    say(f"{requests:,.0f} × {per_request:g} + {fixed:g} = {cost:,.2f} {_in(currency)}")


@money.command("break-even")
@click.option("--per-request", type=AMOUNT, required=True, help="Cost of a request elsewhere.")
@click.option("--local", "fixed", type=AMOUNT, help="What your own machine costs a month; or its parts:")
@click.option("--hardware", type=AMOUNT, default=0.0, help="Its price,")
@click.option("--months", type=Number(0, min_open=True), default=36.0, help="written off over so many,")
@click.option("--energy", type=AMOUNT, default=0.0, help="energy a month,")
@click.option("--operation", type=AMOUNT, default=0.0, help="people's hours a month,")
@click.option("--maintenance", type=AMOUNT, default=0.0, help="repairs a month,")
@click.option("--failures", type=AMOUNT, default=0.0, help="what outages cost a month.")
@click.option("--currency", default="", help="Of all amounts [yours, unnamed].")
def break_even(
    per_request: float,
    fixed: float | None,
    hardware: float,
    months: float,
    energy: float,
    operation: float,
    maintenance: float,
    failures: float,
    currency: str,
) -> None:
    """From how many requests a month on a machine of your own costs less."""
    local = local_month(hardware, months, energy, operation, maintenance, failures) if fixed is None else fixed
    found = break_even_requests(local, per_request)
    if found is None:
        say(tr("A request costs nothing there: never."))
    else:
        say(f"{local:,.2f} / {per_request:g} = {found:,} " + tr("requests a month") + f" ({_in(currency)})")


def _in(currency: str) -> str:
    """What the amounts are in."""
    return currency or tr("in your currency")


# -- machines ------------------------------------------------------------------------------------------------------


@money.command()
@click.option("--hour", type=AMOUNT, required=True, help="Price of an hour.")
@click.option("--tokens-per-second", "speed", type=Number(0, min_open=True), help="Measured, of all calls.")
@click.option(
    "--model",
    default="",
    help="Take its measured speed here: NAME, or URL#NAME of a server's.",
)
@click.option(
    "--utilisation",
    "shares",
    type=click.FloatRange(0, 1, min_open=True),
    multiple=True,
    default=(0.1, 0.5, 1.0),
    help="Share of the time that it generates; may be repeated.",
)
@click.option("--active", type=AMOUNT, help="Busy hours a month, for its bill…")
@click.option("--idle", type=AMOUNT, default=0.0, help="…idle hours…")
@click.option("--extras", type=AMOUNT, default=0.0, help="…and volume, traffic, images, operation.")
@click.option("--currency", default="", help="Of all amounts [yours, unnamed].")
@click.pass_obj
def gpu(
    front: FrontEnds,
    hour: float,
    speed: float | None,
    model: str,
    shares: tuple[float, ...],
    active: float | None,
    idle: float,
    extras: float,
    currency: str,
) -> None:
    """What a million tokens cost on a machine rented by the hour: an idle one is dear."""
    if speed is None:
        speed = _measured(front, model)
    rows = [(f"{share:.0%}", f"{per_million_tokens(hour, speed, share):,.1f}") for share in shares]
    print_table((tr("busy"), f"{tr('a million tokens')}, {_in(currency)}"), rows, right=(0, 1))
    if active is not None:
        say(tr("A month: {cost}", cost=f"{gpu_month(active, idle, hour, extras):,.2f} {_in(currency)}"))


def _measured(front: FrontEnds, model: str) -> float:
    """A model's measured speed. Raises UsageError when there is none."""
    with front.desk("read") as desk:
        found = desk.money.speed(model) if model else None
    if found is None:
        raise UsageError(
            tr("No measured speed"),
            tr("Neither a bench nor the ledger knows how fast “{model}” is.", model=model),
            tr("Measure it: workbench bench FILE; or give --tokens-per-second."),
        )
    told = f"{found.tokens_per_second:.1f} tokens/s ({found.evidence})"
    say(told, dim=True, err=True)
    return found.tokens_per_second


@money.command("tco")
@click.option("--tokens", type=AMOUNT, default=0.0, help="What is paid per token, a month.")
@click.option("--infrastructure", type=AMOUNT, default=0.0, help="Machines, storage, network.")
@click.option("--operation", type=AMOUNT, default=0.0, help="People who keep it running.")
@click.option("--change", type=AMOUNT, default=0.0, help="New versions, migrations, evaluations.")
@click.option("--currency", default="", help="Of all amounts [yours, unnamed].")
def ownership(tokens: float, infrastructure: float, operation: float, change: float, currency: str) -> None:
    """Total cost of ownership of a month."""
    total = tco(tokens, infrastructure, operation, change)
    say(f"{tokens:,.2f} + {infrastructure:,.2f} + {operation:,.2f} + {change:,.2f} = {total:,.2f} {_in(currency)}")


@money.command()
@click.argument("count", type=click.IntRange(1))
@click.argument("dimension", type=click.IntRange(1))
@click.option("--replicas", type=click.IntRange(1), default=1, help="Copies.")
def vectors(count: int, dimension: int, replicas: int) -> None:
    """Memory of vectors by the type of their components; indexes and texts not included."""
    kinds: tuple[Component, ...] = get_args(Component)
    sized = [(kind, vector_bytes(count, dimension, kind, replicas)) for kind in kinds]
    rows = [(kind, f"{n / 1e9:,.3f} GB", size(int(n))) for kind, n in sized]
    print_table((tr("component"), "10⁹", "2³⁰"), rows, right=(1, 2))


@money.command()
@click.option("--rate", type=AMOUNT, required=True, help="Requests that come in a second.")
@click.option("--seconds", type=AMOUNT, help="A request takes [the ledger's mean].")
@click.option("--success", type=click.FloatRange(0, 1), help="Share of tries that succeed…")
@click.option("--attempts", type=click.IntRange(1), default=3, show_default=True, help="…and how often one is made.")
@click.pass_obj
def capacity(front: FrontEnds, rate: float, seconds: float | None, success: float | None, attempts: int) -> None:
    """How many requests are in the system at once, by Little's law; what retries bring."""
    if seconds is None:
        with front.desk("read") as desk:
            seconds = desk.money.mean_seconds()
        if seconds is None:
            raise UsageError(tr("Nothing to go by"), tr("The ledger is empty."), tr("Give --seconds."))
    say(f"{rate:g}/s × {seconds:g} s = " + tr("{requests} at once", requests=f"{in_system(rate, seconds):g}"))
    if success is not None:
        say(f"1 − (1 − {success:g})^{attempts} = {effective_success(success, attempts):g}")


COMMANDS = (money,)
