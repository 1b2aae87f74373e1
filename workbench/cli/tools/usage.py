"""``workbench usage``: what models were called for, how many tokens and how long, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TypeAlias

import click

from workbench.cli.display import print_json, print_table, say
from workbench.cli.front import FrontEnds
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.money.costs import call_cost, hit_ratio, is_stale
from workbench.money.money import spent_words
from workbench.records.codec import encode
from workbench.records.money import Price, Spent, Usage, Waterfall
from workbench.records.usage import Call, UsageSum
from workbench.usage.ledger import GROUPS, Group
from workbench.usage.times import call_phases, trace_phases
from workbench.usage.words import fit_words, flaw_words, forecast_words, marks_told, near, phase_lines, phase_name

BAR: int = 30


@click.group(invoke_without_command=True)
@click.option(
    "--by", "groups", type=click.Choice(GROUPS), multiple=True, help="Add up by this; may be repeated [day and model]."
)
@click.option("--price", metavar="PROVIDER#MODEL", default="", help="What all of it would cost at this price.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def usage(context: click.Context, groups: tuple[str, ...], price: str, as_json: bool) -> None:
    """Every call of a language model, added up: tokens, cache hits, time, cost.

    Questions, chats, evaluations, judges and benches are counted, whether a model runs here or on a server.
    """
    if context.invoked_subcommand is not None:
        return
    by: list[Group] = [name for name in GROUPS if name in groups] if groups else ["day", "model"]
    with context.obj.desk("read") as desk:
        spent, total = desk.money.spent(by), desk.money.spent(())
        at = desk.money.price(price) if price else None
        if as_json:
            print_json([{**encode(one), "cost": encode(cost)} for one, cost in spent])
        elif not spent:
            say(tr("No model was called yet."))
        else:
            _print_sums(spent, total, by, at)


Sums: TypeAlias = Sequence[tuple[UsageSum, Spent]]


def _print_sums(spent: Sums, total: Sums, by: Sequence[Group], price: Price | None) -> None:
    names = {"day": tr("day"), "server": tr("where"), "model": tr("model"), "purpose": tr("purpose")}
    head = [names[name] for name in by]
    head += [tr("calls"), tr("fresh"), tr("cached"), tr("output"), "H", tr("time"), tr("cost")]
    rows = [_row(one, cost, by, price) for one, cost in spent]
    if len(rows) > 1:
        rows += [[tr("together"), *[""] * (len(by) - 1), *_row(one, cost, [], price)] for one, cost in total]
    print_table(head, rows, right=range(len(by), len(head)))
    if is_stale(price, date.today()) if price else any(cost.stale for _, cost in total):
        say(tr("!: a price that was looked up over 90 days ago."))
    _say_marks([one.usage for one, _ in spent])
    if price is None and any(cost.amounts and cost.unpriced for _, cost in total):
        say(tr("?: calls without a known price: {count}.", count=sum(cost.unpriced for _, cost in total)))


def _say_marks(used: Sequence[Usage]) -> None:
    for estimated in (True, None):
        if any(one.estimated is estimated for one in used):
            say(marks_told(estimated))


def _row(one: UsageSum, spent: Spent, by: Sequence[Group], price: Price | None) -> list[str]:
    hit = hit_ratio(one.usage)
    used = one.usage
    stale = price is not None and is_stale(price, date.today())
    at = price and Spent({price.currency: call_cost(used, price)}, stale=stale, estimated=used.estimated)
    named = [getattr(one, name) or (tr("here") if name == "server" else "") for name in by]
    about = near(used.estimated)
    counts = [f"{one.calls:,}", *(f"{about}{n:,}" for n in (used.fresh, used.cache_read, used.output))]
    shown = "–" if hit is None else f"{about}{hit:.0%}"
    return [*named, *counts, shown, f"{one.seconds:,.1f} s", spent_words(at or spent)]


@usage.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many.")
@click.option("--model", default="", help="Only of this model.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def calls(front: FrontEnds, limit: int, model: str, as_json: bool) -> None:
    """Lists the newest calls, with where their time went."""
    with front.desk("read") as desk:
        found = desk.money.ledger.calls(limit, model)
    if as_json:
        print_json(found)
        return
    head = (tr("began"), tr("purpose"), tr("model"), tr("fresh"), tr("cached"), tr("output"), "TTFT", tr("ms"), "")
    print_table(head, [_call_row(call) for call in found], right=(3, 4, 5, 6, 7))
    _say_marks([call.usage for call in found])


def _call_row(call: Call) -> tuple[str, ...]:
    used = call.usage
    tokens = [f"{near(used.estimated)}{n:,}" for n in (used.fresh, used.cache_read, used.output)]
    ttft = "–" if call.ttft_ms is None else f"{call.ttft_ms:,.0f}"
    phases = " · ".join(f"{phase_name(p.name)} {p.ms:,.0f}" for p in call_phases(call).phases)
    began = f"{call.began.astimezone():%m-%d %H:%M:%S}"
    return began, call.purpose, call.model, *tokens, ttft, f"{call.total_ms:,.0f}", phases


@usage.command()
@click.argument("trace_id", metavar="[TRACE]", default="last")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def waterfall(front: FrontEnds, trace_id: str, as_json: bool) -> None:
    """Shows where a question's time went, by its trace ("last" for the newest); the parts add up to the total."""
    with front.desk("read") as desk:
        parts = trace_phases(desk.trace(trace_id))
    if as_json:
        print_json(parts)
    else:
        print_waterfall(parts)


def print_waterfall(parts: Waterfall) -> None:
    """A line a phase, its bar where it lies in the whole."""
    for line in phase_lines(parts, BAR):
        say(line, newlines=False)


@usage.command()
@click.argument("model")
@click.option("--server", help='The address of its server, "" for here [the only one that has its calls].')
@click.option("--fresh", type=click.IntRange(0), help="Foretell a call of so many tokens that no cache serves…")
@click.option("--output", type=click.IntRange(1), help="…and so many written.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def latency(
    front: FrontEnds, model: str, server: str | None, fresh: int | None, output: int | None, as_json: bool
) -> None:
    """Fits L = L0 + α·fresh + β·output to a model's stored calls, and tests TTFT + (N-1)·TPOT on them."""
    with front.desk("read") as desk:
        ledger = desk.money.ledger
        where = _only_place(ledger.calls(model=model)) if server is None else server
        fit, medians = ledger.fit(model, where), ledger.forecast(model, where)
    if medians is None:
        raise NotFoundError(
            tr("No calls"),
            tr("The ledger has no timed call of “{model}”.", model=model),
            tr("workbench usage lists it."),
        )
    if as_json:
        print_json({"fit": fit, "flaw": fit.flaw if fit else None, "forecast": medians})
        return
    say(forecast_words(medians))
    if fit is None:
        say(tr("Too few calls, or too much alike, to tell α from β."))
        return
    say(fit_words(fit))
    if told := marks_told(fit.estimated):
        say(told)
    if told := flaw_words(fit):
        say(told)
    if fresh is not None and output is not None and (predicted := fit.predict(fresh, output)) is not None:
        ms = f"{near(fit.estimated)}{predicted:,.0f}"
        say(tr("{fresh} fresh and {output} written: {ms} ms", fresh=fresh, output=output, ms=ms))


def _only_place(calls: Sequence[Call]) -> str:
    """The server that all of them went to, "" for here. Raises UsageError when there are several: speeds don't mix."""
    places = sorted({call.server for call in calls})
    if len(places) > 1:
        raise UsageError(
            tr("Which server?"),
            tr(
                "Calls of this model went to {places}.",
                places=", ".join(place or tr("this machine") for place in places),
            ),
            tr("Name one with --server."),
        )
    return places[0] if places else ""


COMMANDS = (usage,)
