"""``workbench decide``: sheets, symptoms, the value of information, and decisions that say when to look again."""

from __future__ import annotations

from typing import IO, Literal

import click

from workbench.cli.display import print_json, print_table, say
from workbench.cli.front import FrontEnds
from workbench.decisions.decisions import next_review, overdue
from workbench.decisions.measurements import LINKS
from workbench.decisions.symptoms import find_symptoms
from workbench.decisions.utility import value_of_information
from workbench.decisions.writing import evidence_of, firmness, read_pairs, write_sheet
from workbench.errors import NotFoundError, UsageError
from workbench.evals.reporting.reports import verdict_title
from workbench.i18n import tr
from workbench.records.decisions import Criterion, Scored, Sheet, Value, Verdict


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def decide(context: click.Context, as_json: bool) -> None:
    """Decisions of this file, newest first; overdue reviews are marked."""
    if context.invoked_subcommand is not None:
        return
    with context.obj.desk("read") as desk:
        found = desk.decisions.records()
    if as_json:
        print_json(found)
        return
    if not found:
        say(tr("Nothing was decided yet. Begin a sheet: workbench decide new TITLE"))
        return
    rows = [
        (
            str(d.id),
            f"{d.created:%Y-%m-%d}",
            d.title,
            d.choice or verdict_title(d.verdict),
            d.review + (f" ✗ {tr('overdue')}" if overdue(d) else ""),
        )
        for d in found
    ]
    print_table(("", tr("date"), tr("title"), tr("choice"), tr("review")), rows, right=(0,))
    if first := next_review(found):
        say(tr("Next review: {day}, {title}", day=first.review, title=first.title))


@decide.command()
@click.argument("words", nargs=-1, metavar="[TEXT]...")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def symptoms(words: tuple[str, ...], as_json: bool) -> None:
    """What to try first: symptom → layer → move → metric; only rows that hold every word of TEXT."""
    found = find_symptoms(" ".join(words))
    if as_json:
        print_json(found)
        return
    for row in found:
        say(row.symptom, bold=True)
        say(f"  {row.layer}: {row.move}")
        say(f"  {tr('measure')}: {row.metric}" + (f" · {tr('then')}: {row.otherwise}" if row.otherwise else ""))
    if not found:
        say(tr("No row holds these words; without words all are listed."))


# -- sheets --------------------------------------------------------------------------------------------------------


@decide.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def sheets(front: FrontEnds, as_json: bool) -> None:
    """Lists the decision sheets."""
    with front.desk("read") as desk:
        found = desk.decisions.sheets()
    if as_json:
        print_json(found)
        return
    rows = [(s.title, ", ".join(c.name for c in s.criteria), ", ".join(o.name for o in s.options)) for s in found]
    print_table((tr("title"), tr("criteria"), tr("options")), rows)


@decide.command()
@click.argument("title")
@click.option("--file", type=click.File(encoding="utf-8"), help="Its lines, as workbench decide show prints them.")
@click.pass_obj
def new(front: FrontEnds, title: str, file: IO[str] | None) -> None:
    """Begins a sheet; with a file (- for standard input), writes it, in place of one of that title.

    A criterion a line: name, weight, more or less, >= or <= a bound, worst or best a value, unit a word. An option a
    line: name: criterion=value…
    """
    with front.desk("create") as desk:
        if file is not None:
            desk.decisions.write(title, file.read())
            say(tr("“{name}” is written down.", name=title))
            return
        if any(sheet.title == title for sheet in desk.decisions.sheets()):
            raise UsageError(
                tr("It is there"), tr("There is a sheet “{title}”.", title=title), tr("Take another title.")
            )
        desk.decisions.put(Sheet(title, (), ()))
    say(tr("“{title}” begins. Next: workbench decide criterion", title=title))


@decide.command()
@click.argument("sheet")
@click.argument("name")
@click.option("--weight", type=click.FloatRange(0), default=1.0, show_default=True, help="Its importance.")
@click.option(
    "--better", type=click.Choice(["more", "less"]), default="more", show_default=True, help="Which is better."
)
@click.option("--unit", default="", help="What it is counted in.")
@click.option("--least", type=float, help="A value below this rules an option out.")
@click.option("--most", type=float, help="A value above this rules an option out.")
@click.option("--worst", type=float, help="The value that counts as 0 [the options' worst].")
@click.option("--best", type=float, help="The value that counts as 1 [the options' best].")
@click.pass_obj
def criterion(
    front: FrontEnds,
    sheet: str,
    name: str,
    weight: float,
    better: Literal["more", "less"],
    unit: str,
    least: float | None,
    most: float | None,
    worst: float | None,
    best: float | None,
) -> None:
    """Adds a criterion to a sheet, or changes it."""
    made = Criterion(name, weight, better, unit, least, most, best, worst)
    with front.desk() as desk:
        desk.decisions.set_criterion(sheet, made)
    say(tr("“{name}” is on the sheet.", name=name))


@decide.command()
@click.argument("sheet")
@click.argument("name")
@click.argument("values", nargs=-1, metavar="CRITERION=VALUE…")
@click.option("--penalty", type=click.FloatRange(0), help="Taken off its score, for what no criterion says.")
@click.pass_obj
def option(front: FrontEnds, sheet: str, name: str, values: tuple[str, ...], penalty: float | None) -> None:
    """Adds an option to a sheet, or changes its values.

    A VALUE is a number, or a link to a measurement, whose interval comes along: run:12:recall@5, bench:3:MODEL:tg128,
    ttft or total (ms), calls:MODEL:ttft, tpot or p95 (ms), load:MODEL:p50, p95, ttft or tokens,
    cost:PROVIDER#MODEL:call, input or output
    """
    with front.desk() as desk:
        read = {}
        for text in values:
            key, equals, value = text.partition("=")
            if not equals:
                raise UsageError(tr("Not a value"), tr("“{text}” has no =.", text=text), tr("E.g. quality=0.8"))
            read[key] = desk.decisions.measured(value) if ":" in value else Value(_number(value))
        desk.decisions.set_values(sheet, name, read, penalty)
    say(tr("“{name}” is on the sheet.", name=name))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            tr("Not a number"),
            tr("“{text}” is neither a number nor a link.", text=text),
            tr("E.g. 0.8 or {links}", links=LINKS),
        ) from None


@decide.command()
@click.argument("sheet")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def judge(front: FrontEnds, sheet: str, as_json: bool) -> None:
    """Judges a sheet: requirements, then the weighted sum; which weights would change it; the Pareto front."""
    with front.desk("read") as desk:
        verdict = desk.decisions.judge(sheet)
    if as_json:
        print_json(verdict)
    else:
        print_verdict(verdict)


def print_verdict(verdict: Verdict) -> None:
    """The ranking, then how firm it is."""
    rows = [(str(n), s.option.name, *_scored(s)) for n, s in enumerate(verdict.ranking, 1)]
    print_table(("", tr("option"), tr("score"), "", tr("why")), rows, right=(0, 2))
    for told in firmness(verdict):
        say(told)


def _scored(one: Scored) -> tuple[str, str, str]:
    if one.out:
        return "–", "✗", one.out
    shares = " + ".join(f"{name} {share:.3f}" for name, share in one.shares.items())
    shares += f" − {one.option.penalty:g}" if one.option.penalty else ""
    dominated = tr("dominated by {names}", names=", ".join(one.dominated_by)) + " · " if one.dominated_by else ""
    return f"{one.score:.3f}", "Pareto" if one.on_front else "", dominated + shares


@decide.command()
@click.argument("sheet")
@click.pass_obj
def show(front: FrontEnds, sheet: str) -> None:
    """Prints a sheet's lines; below them, as lines that are passed over when it is read, what was measured."""
    with front.desk("read") as desk:
        found = desk.decisions.sheet(sheet)
    say(write_sheet(found))
    for said in evidence_of(found):
        say(f"# {said}", dim=True)


@decide.command()
@click.argument("sheet")
@click.pass_obj
def drop(front: FrontEnds, sheet: str) -> None:
    """Drops a sheet; decisions that were taken on it stay."""
    with front.desk() as desk:
        desk.decisions.remove(sheet)
    say(tr("“{name}” is gone.", name=sheet))


# -- information and records ---------------------------------------------------------------------------------------


@decide.command()
@click.option("--state", "states", multiple=True, metavar="NAME=P", required=True, help="A state and its probability.")
@click.option(
    "--action",
    "actions",
    multiple=True,
    metavar="NAME:STATE=U,…",
    required=True,
    help="An action and what it is worth in each state.",
)
def voi(states: tuple[str, ...], actions: tuple[str, ...]) -> None:
    """Expected utility of actions, and what it is worth to know the state first."""
    probabilities = read_pairs(",".join(states))
    tables = {name: read_pairs(rest) for name, _, rest in (action.rpartition(":") for action in actions)}
    found = value_of_information(probabilities, tables)
    print_table((tr("action"), "E[U]"), [(a, f"{u:g}") for a, u in found.utilities.items()], right=(1,))
    say(f"VoI = {found.with_evidence:g} − {found.without:g} = {found.value:g}  ({tr('without')}: {found.action})")


@decide.command()
@click.argument("title")
@click.argument("choice")
@click.option("--sheet", default="", help="The sheet it was taken on: options and evidence are written down from it.")
@click.option("--context", "context_", default="", help="What it is about.")
@click.option("--reason", "reasons", multiple=True, required=True, help="Why; may be repeated.")
@click.option("--conditions", default="", help="What would change it.")
@click.option("--review", default="", help="When to look again: a date as 2027-01-31, or words.")
@click.pass_obj
def record(
    front: FrontEnds,
    title: str,
    choice: str,
    sheet: str,
    context_: str,
    reasons: tuple[str, ...],
    conditions: str,
    review: str,
) -> None:
    """Writes a decision down: context, options, evidence, choice, what would change it, when to look again."""
    with front.desk("create") as desk:
        made = desk.decisions.decide(
            title, choice, sheet=sheet, context=context_, reasons=reasons, conditions=conditions, review=review
        )
    say(tr("Decision {id} is written down.", id=made.id))


@decide.command()
@click.argument("number", type=int)
@click.pass_obj
def export(front: FrontEnds, number: int) -> None:
    """Prints a decision as an architecture decision record in Markdown."""
    with front.desk("read") as desk:
        if not any(d.id == number for d in desk.decisions.records()):
            raise NotFoundError(
                tr("No such decision"), tr("There is no decision {id}.", id=number), tr("List them first.")
            )
        text = desk.decisions.export(number)
    say(text)


COMMANDS = (decide,)
