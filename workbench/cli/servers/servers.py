"""``workbench servers``: what answers, what it serves, whether it keeps its word, and how it bears many requests."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Final

import click

from workbench.cli.display import StatusLine, print_json, print_table, say, size, stoppable
from workbench.cli.front import FrontEnds
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.records.codec import encode
from workbench.records.servers import ContractReport, LoadFigure, LoadTest, Server, ServerState, short_name
from workbench.servers.contract import markdown
from workbench.servers.discovery import endpoint_of
from workbench.servers.loads import caveats
from workbench.servers.reports import Reports
from workbench.servers.words import (
    load_lines,
    load_note,
    load_progress,
    load_rows,
    load_title,
    promise_name,
    speed_words,
    state_words,
)
from workbench.usage.words import marks_told

MARKS: Final = {"kept": "✓", "differs": "~", "refused": "◦", "broken": "✗"}


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def servers(context: click.Context, as_json: bool) -> None:
    """Model servers: Ollama, LM Studio, llama-server, vLLM, SGLang, TGI, or any with /v1.

    Without a command it lists what answers on this machine and at the addresses you added. Use one of their models in
    any command that takes --model: http://127.0.0.1:11434#name
    """
    if context.invoked_subcommand is not None:
        return
    front: FrontEnds = context.obj
    with front.glance() as desk, stoppable() as stop:
        found = tuple(desk.servers.discover(stop))
        states = [desk.servers.state(server) for server in found]
    if as_json:
        print_json([{**encode(server), "state": encode(state)} for server, state in zip(found, states, strict=True)])
    elif not found:
        say(tr("No server answers on the usual ports of this machine. Add one: workbench servers add URL"))
    for server, state in () if as_json else zip(found, states, strict=True):
        print_server(server, state)


@servers.command()
@click.argument("url")
@click.option("--key-variable", default="", metavar="NAME", help="The environment variable that holds its key.")
@click.pass_obj
def add(front: FrontEnds, url: str, key_variable: str) -> None:
    """Remembers a server's address, after it has answered."""
    with front.desk("create") as desk:
        print_server(desk.servers.add(url, key_variable))


@servers.command()
@click.argument("url")
@click.pass_obj
def remove(front: FrontEnds, url: str) -> None:
    """Forgets an address."""
    with front.desk() as desk:
        desk.servers.remove(url)
    say(tr("“{url}” is forgotten.", url=url))


@servers.command()
@click.argument("url")
@click.option("--model", default="", help="Which of its models [one that stands ready].")
@click.option("--key-variable", default="", metavar="NAME", help="The environment variable that holds its key.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print as a Markdown table, for an issue.")
@click.pass_obj
def check(front: FrontEnds, url: str, model: str, key_variable: str, as_json: bool, as_markdown: bool) -> None:
    """Holds a server against what its dialect promises. Exits with 1 when a promise is broken."""
    with front.glance() as desk, stoppable() as stop:
        line = StatusLine()
        report: ContractReport | None = None
        for report in desk.servers.examine(url, model, key_variable, stop):
            line.say(promise_name(report.checks[-1].key))
        line.clear()
        if report is None:
            title, why = tr("Nothing was checked"), tr("It was stopped before the first check.")
            raise UsageError(title, why, tr("Run it again."))
        changed = changes_told(desk.servers.reports, report)
    if as_json:
        print_json(report)
    elif as_markdown:
        click.echo(markdown(report), nl=False)
    else:
        print_report(report)
        say(changed)
    if any(c.outcome == "broken" for c in report.checks):
        sys.exit(1)


@servers.command()
@click.argument("url", default="")
@click.option("--show", type=click.IntRange(1), metavar="N", help="Print the report of that number.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the report as a Markdown table.")
@click.pass_obj
def reports(front: FrontEnds, url: str, show: int | None, as_json: bool, as_markdown: bool) -> None:
    """Lists what earlier checks found, newest first, of one address when it is given; or prints one of them."""
    with front.desk("read") as desk:
        kept = desk.servers.reports
        found = kept.all(endpoint_of(url).url if url else "")
        if show is not None and show > len(found):
            why = tr("There are {count} reports.", count=len(found))
            raise NotFoundError(tr("No such report"), why, tr("workbench servers reports lists them."))
        one = found[show - 1] if show else None
        changed = changes_told(kept, one) if one else ""
        counts = [len(kept.changes(report)) for report in found]
    if as_json:
        print_json(one or found)
    elif one and as_markdown:
        click.echo(markdown(one), nl=False)
    elif one:
        print_report(one)
        say(changed)
    elif not found:
        say(tr("None yet. workbench servers check URL makes one."))
    else:
        print_reports(found, counts)


@servers.command()
@click.argument("url", default="")
@click.option("--model", default="", help="Which of its models [the first that embeds].")
@click.option("--key-variable", default="", metavar="NAME", help="The environment variable that holds its key.")
@click.option("--query-prefix", default="", help="What the model's card wants before questions.")
@click.option("--passage-prefix", default="", help="What the model's card wants before passages.")
@click.option("--none", is_flag=True, help="Embed on this machine again, with what is installed.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def embed(
    front: FrontEnds,
    url: str,
    model: str,
    key_variable: str,
    query_prefix: str,
    passage_prefix: str,
    none: bool,
    as_json: bool,
) -> None:
    """Embeds new collections with a server's model from now on; those that exist keep what made their vectors."""
    if bool(url) == none:
        raise UsageError(
            tr("Which embedder?"),
            tr("Give a server's address, or --none, and not both."),
            tr("workbench servers lists what answers."),
        )
    with front.desk("create") as desk:
        if none:
            desk.servers.embed_here()
            say(tr("New collections are embedded on this machine."))
            return
        info = desk.servers.embed_with(url, model, key_variable, query_prefix, passage_prefix)
    if as_json:
        print_json(info)
        return
    shape = {"count": info.dimension, "tokens": info.max_tokens}
    say(tr("{name}: {count} dimensions, texts up to {tokens} tokens.", name=info.name, **shape), newlines=False)
    say(tr("New collections are embedded with it. It tells no token vectors, so there is no late interaction."))


@servers.command()
@click.option("--connect", type=float, help="Seconds to connect.")
@click.option("--reply", type=float, help="Seconds for a short call's reply.")
@click.option("--first", type=float, help="Seconds until the first token, loading the model among it.")
@click.option("--gap", type=float, help="Seconds from one token to the next.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def timeouts(
    front: FrontEnds, connect: float | None, reply: float | None, first: float | None, gap: float | None, as_json: bool
) -> None:
    """Shows how long each phase of a call may take, and changes those that are given."""
    given = {"connect": connect, "reply": reply, "first": first, "gap": gap}
    changed = {phase: seconds for phase, seconds in given.items() if seconds is not None}
    with front.desk("create") if changed else front.glance() as desk:
        if changed:
            desk.servers.timeouts = replace(desk.servers.timeouts, **changed)
        now = desk.servers.timeouts
    if as_json:
        print_json(now)
        return
    names = (tr("connecting"), tr("a short call's reply"), tr("the first token"), tr("the gap after a token"))
    print_table(
        (tr("phase"), tr("seconds")),
        [(name, f"{seconds:g}") for name, seconds in zip(names, astuple(now), strict=True)],
        right=(1,),
    )


@servers.command()
@click.argument("url")
@click.option("--model", default="", help="Which of its models [one that stands ready].")
@click.option("--key-variable", default="", metavar="NAME", help="The environment variable that holds its key.")
@click.option("--rate", type=click.FloatRange(0.01, 1000), default=1.0, show_default=True, help="Requests a second.")
@click.option("--requests", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many in all.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def load(front: FrontEnds, url: str, model: str, key_variable: str, rate: float, requests: int, as_json: bool) -> None:
    """Sends requests at a steady rate, and holds Little's law against what was seen."""
    with front.glance() as desk, stoppable() as stop:
        line = StatusLine()
        for found in desk.servers.load_test(url, model, rate, requests, key_variable, stop):
            line.say(load_progress(found))
        line.clear()
        loads = desk.servers.loads
        before = loads.before(found) if found.sent else None
        figures = loads.figures(before, found) if before else ()
    if as_json:
        print_json(found)
    else:
        print_load(found)
        if before:
            say("")
            print_loads_beside(before, found, figures)
    if found.failed:
        sys.exit(1)


@servers.command()
@click.argument("url", default="")
@click.option("--show", type=click.IntRange(1), metavar="N", help="Print the test of that number.")
@click.option("--against", type=click.IntRange(1), metavar="M", help="Of --show: hold it against test M.")
@click.option("--delete", type=click.IntRange(1), metavar="N", help="Drop the test of that number.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON; with --show also each request.")
@click.pass_obj
def loads(front: FrontEnds, url: str, show: int | None, against: int | None, delete: int | None, as_json: bool) -> None:
    """Lists the load tests that were made, newest first, of one address when it is given; or compares two."""
    if against is not None and show is None:
        raise UsageError(tr("Against what?"), tr("--against compares with --show."), tr("Give both."))
    with front.desk("change" if delete else "read") as desk:
        kept = desk.servers.loads
        found = kept.all(endpoint_of(url).url if url else "")
        one, other, dropped = (_numbered(found, number) for number in (show, against, delete))
        figures = kept.figures(other, one) if one and other else ()
        one = kept.whole(one) if one else None
        if dropped:
            kept.remove(dropped)
    if dropped:
        say(tr("“{name}” is gone.", name=load_title(dropped)))
    elif as_json:
        print_json({"before": other, "now": one, "figures": figures} if other else one or found)
    elif one and other:
        print_loads_beside(other, one, figures)
    elif one:
        say(load_title(one), newlines=False)
        print_load(one)
    elif not found:
        say(tr("None yet. workbench servers load URL makes one."))
    else:
        print_loads(found)


def _numbered(found: Sequence[LoadTest], number: int | None) -> LoadTest | None:
    if number is None:
        return None
    if number > len(found):
        why = tr("There are {count} load tests.", count=len(found))
        raise NotFoundError(tr("No such load test"), why, tr("workbench servers loads lists them."))
    return found[number - 1]


def print_server(server: Server, state: ServerState | None = None) -> None:
    """Its badge, what it does at this moment, then its models."""
    where = {"machine": tr("this machine"), "network": tr("the network"), "cloud": tr("the cloud")}
    facts = [f"{server.kind} {server.version}".strip(), where[server.reach]]
    if server.exposed:
        facts.append("⚠ " + tr("its port listens beyond this machine"))
    say(f"{'✗' if server.problem else '●'} {server.endpoint.url}  {' · '.join(facts)}", newlines=False)
    if server.problem:
        say(f"    {server.problem}", newlines=False)
    if state:
        say(f"   {state_words(state)}", newlines=False)
    rows = [
        (
            "●" if m.loaded else "◦" if m.loaded is False else " ",
            m.name,
            m.quantization or "–",
            size(m.bytes) if m.bytes else "–",
            f"{m.context:,}" if m.context else "–",
            m.kind if m.reach == server.reach else f"{m.kind} · {where[m.reach]}",
        )
        for m in server.models
    ]
    if rows:
        head = ("", tr("model"), tr("quant"), tr("size"), tr("context"), tr("kind"))
        print_table(head, rows, right=(3, 4))


def print_report(report: ContractReport) -> None:
    """A line a promise, and what the marks mean."""
    say(f"{report.kind} {report.version} · {short_name(report.model)} · {report.url}", newlines=False)
    for c in report.checks:
        say(f"{MARKS[c.outcome]} {promise_name(c.key)}: {retold(c.detail)}  ({c.ms:.0f} ms)", newlines=False)
    say("")
    say(
        tr(
            "{kept} of {all} promises kept · ~ differs · ◦ says that it can't · ✗ broken",
            kept=report.kept,
            all=len(report.checks),
        )
    )


def print_reports(found: Sequence[ContractReport], changes: Sequence[int]) -> None:
    """A line a report, with how many promises ended otherwise than in the one before."""
    rows = [
        (
            str(number),
            f"{r.created.astimezone():%Y-%m-%d %H:%M}",
            r.url,
            f"{r.kind} {r.version}".strip(),
            short_name(r.model),
            f"{r.kept}/{len(r.checks)}",
            str(changed or "–"),
        )
        for number, (r, changed) in enumerate(zip(found, changes, strict=True), 1)
    ]
    head = ("", tr("when"), tr("address"), tr("server"), tr("model"), tr("kept"), tr("changed"))
    print_table(head, rows, right=(0, 5, 6))


def changes_told(reports: Reports, report: ContractReport) -> str:
    """What ended otherwise than in the report before."""
    before = reports.before(report)
    if before is None:
        return tr("The first report of this model there.")
    when = f"{before.created.astimezone():%Y-%m-%d %H:%M}, {before.kind} {before.version}".strip()
    changed = reports.changes(report)
    if not changed:
        return tr("As in the report before ({when}).", when=when)
    marks = [f"{MARKS.get(c.before or '', '·')} → {MARKS.get(c.now or '', '·')} {c.name}" for c in changed]
    return "\n".join([tr("Otherwise than in the report before ({when}):", when=when), *marks])


def print_loads(found: Sequence[LoadTest]) -> None:
    """A line a test."""
    rows = [
        (
            str(number),
            f"{test.created.astimezone():%Y-%m-%d %H:%M}",
            test.url,
            short_name(test.model),
            f"{test.rate:g}",
            str(test.sent),
            str(test.failed or "–"),
            f"{test.p50_s:.2f}",
            f"{test.p95_s:.2f}",
            speed_words(test),
        )
        for number, test in enumerate(found, 1)
    ]
    head = ("", tr("when"), tr("address"), tr("model"), "/s", "n", tr("failed"), "p50 s", "p95 s", "tokens/s")
    print_table(head, rows, right=(0, 4, 5, 6, 7, 8, 9))
    for noted in (True, None):
        if any(test.estimated is noted for test in found):
            say(marks_told(noted))


def print_loads_beside(before: LoadTest, now: LoadTest, figures: Sequence[LoadFigure]) -> None:
    """Two tests side by side, and what keeps them from being compared."""
    say(f"A  {load_title(before)}\nB  {load_title(now)}")
    print_table(("", "A", "B", ""), load_rows(before, now, figures), right=(1, 2, 3))
    say(load_note())
    for caveat in caveats(before, now):
        say(f"~ {caveat}")


def print_load(found: LoadTest) -> None:
    """The figures, and the law beside the count."""
    for line in load_lines(found):
        say(line)


COMMANDS = (servers,)
