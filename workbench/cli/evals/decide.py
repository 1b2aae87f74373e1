"""``workbench eval``: decide: gates, the threshold τ, decision records."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workbench.cli.display import print_json, print_table, say
from workbench.cli.evals import read
from workbench.cli.evals.runs import group, run_number
from workbench.cli.evals.text import print_warnings
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.errors import UsageError, reason_of
from workbench.evals.deciding.gates import (
    all_passed,
    example_gates,
    gate_state,
    gate_text,
    parse_gate,
    parse_gates,
    written_late,
)
from workbench.evals.deciding.threshold import choose_threshold, nearest_threshold, risk_bound, threshold_text
from workbench.evals.measuring.statistics import wilson
from workbench.i18n import tr
from workbench.records.evals import (
    Gate,
    GateResult,
    GateSet,
    Run,
    ThresholdPoint,
    Verdict,
)

CURVE_ROWS = 20
"""Points of the risk–coverage curve that a terminal is shown at most."""


@group.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--gates",
    "-g",
    "asked",
    multiple=True,
    metavar="NAME|RULE",
    help="A locked set by its name, or a rule as 'recall@5 >= 0.85'; may be repeated [the newest locked set].",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def gate(front: FrontEnds, run_id: str, asked: tuple[str, ...], as_json: bool) -> None:
    """Holds a run against gates; exit code 1 unless every one passes with its interval's bound."""
    with front.desk("read") as desk:
        run = desk.evals.find_run(run_number(desk, run_id))
        rules, sets, warnings = _gates(desk, run, asked)
        results = desk.evals.check_gates(run.id, rules) if rules else ()
        for one in sets:
            results += desk.evals.check_gates(run.id, one.name)
    if as_json:
        print_json(results)
    else:
        _print_gates(results)
    print_warnings(warnings)
    if not all_passed(results):
        sys.exit(1)


def _gates(desk: Desk, run: Run, asked: tuple[str, ...]) -> tuple[list[Gate], list[GateSet], list[str]]:
    """The rules and locked sets that are meant, and what weakens their verdict. Raises UsageError, NotFoundError."""
    dataset = run.config.dataset
    gates = [parse_gate(text) for text in asked if _is_rule(text)]
    sets = [desk.evals.gate_set(dataset, name) for name in asked if not _is_rule(name)]
    if not asked:
        sets = list(desk.evals.gate_sets(dataset)[:1])
    if not gates and not sets:
        raise UsageError(
            tr("No gates"),
            tr("“{dataset}” has no locked gates.", dataset=dataset),
            tr("Lock some with workbench eval gates lock, or give a rule: --gates 'recall@5 >= 0.85'"),
        )
    warnings = [late for one in sets if (late := written_late(one, run))]
    if run.status != "complete":
        warnings.append(tr("The run isn't complete: {done} of {total} cases.", done=run.done, total=run.total))
    if gates:
        warnings.append(tr("Rules given with the command weren't locked before the run: {count}.", count=len(gates)))
    return gates, sets, warnings


def _is_rule(text: str) -> bool:
    return any(sign in text for sign in "<>≤≥=")


def _print_gates(results: tuple[GateResult, ...]) -> None:
    rows = [
        ("✓" if r.passed else "✗" if r.estimate else "◦", gate_text(r.gate), r.reason, r.gate.protects) for r in results
    ]
    print_table(("", tr("gate"), tr("result"), tr("protects")), rows)
    if gate_state(results) == "not judged":
        say(tr("The gates don't judge this run: one can't be measured on it, or was written too late."), err=True)


@group.group()
def gates() -> None:
    """Rules of release, locked before the run that they judge."""


@gates.command()
@click.argument("dataset")
@click.argument("name")
@click.argument("rules", nargs=-1)
@click.option("--file", type=click.Path(path_type=Path), help="A rule a line; what follows # says what it protects.")
@click.option("--example", is_flag=True, help="A set to start from.")
@click.pass_obj
def lock(front: FrontEnds, dataset: str, name: str, rules: tuple[str, ...], file: Path | None, example: bool) -> None:
    """Locks rules such as 'recall@5 >= 0.85' under a name, with the time; they can't be edited afterwards."""
    asked = tuple(parse_gate(rule) for rule in rules) + (example_gates() if example else ())
    if file is not None:
        try:
            asked += parse_gates(file.read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                tr("The gates can't be read"), f"{file}: {reason_of(error)}", tr("Give a text file.")
            ) from error
    with front.desk() as desk:
        locked = desk.evals.lock_gates(dataset, name, asked)
    say(tr("{count} gates locked at {time}.", count=len(locked.gates), time=f"{locked.locked:%Y-%m-%d %H:%M}"))


@gates.command("list")
@click.argument("dataset", default="")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def list_gates(front: FrontEnds, dataset: str, as_json: bool) -> None:
    """Lists the locked gates."""
    with front.desk("read") as desk:
        found = desk.evals.gate_sets(dataset)
    if as_json:
        print_json(found)
        return
    rows = [(s.dataset, s.name, f"{s.locked:%Y-%m-%d %H:%M}", gate_text(g), g.protects) for s in found for g in s.gates]
    print_table((tr("dataset"), tr("name"), tr("locked"), tr("gate"), tr("protects")), rows)


@group.command()
@click.argument("run_id", metavar="RUN")
@click.option("--choose", type=float, metavar="τ", help="Store this τ for the run's collection.")
@click.option(
    "--risk",
    type=click.FloatRange(0, 1),
    metavar="R",
    help="Mark the τ of most coverage with a risk bounded by R.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the curve as JSON.")
@click.pass_obj
def threshold(front: FrontEnds, run_id: str, choose: float | None, risk: float | None, as_json: bool) -> None:
    """Shows coverage and risk at each τ, from a run of the generation or chain layer, best run with --threshold 0."""
    with front.desk("read" if choose is None else "change") as desk:
        run = desk.evals.find_run(run_number(desk, run_id))
        collection = run.manifest.collection
        curve = desk.evals.threshold_curve(run.id)
        if choose is not None:
            desk.evals.choose_threshold(collection, choose)
        stored = desk.evals.threshold(collection)
    if as_json:
        print_json(curve)
        return
    _print_curve(curve, risk)
    say(tr("τ of “{collection}” is {value} now.", collection=collection, value=stored), err=True)


def _print_curve(curve: tuple[ThresholdPoint, ...], risk: float | None) -> None:
    """At most ``CURVE_ROWS`` of its points, and the one whose bound a person's risk allows; why there is none."""
    if not curve:
        say(tr("The run answered nothing, so there is no curve: run the chain or generation layer."), err=True)
        return
    best = choose_threshold(curve, risk) if risk is not None else None
    step = max(1, -(-len(curve) // CURVE_ROWS))
    names = tr("coverage"), tr("risk"), tr("correct abstention"), tr("unsupported")
    rows = [
        (
            "★" if point is best else "",
            threshold_text(point.threshold),
            _share(point.coverage, point.cases),
            _share(point.risk, point.answered),
            _share(point.correct_abstention, point.unanswerable),
            _share(point.unsupported, point.unanswerable),
        )
        for number, point in enumerate(curve)
        if number % step == 0 or point is best
    ]
    print_table(("", "τ", *(f"{name} [95 %]" for name in names)), rows, right=(1, 2, 3, 4, 5))
    if best:
        say(tr("★ is chosen on the cases that it was measured on: check it on others."), err=True)
    elif risk is not None:
        near = nearest_threshold(curve)
        told = {"threshold": threshold_text(near.threshold), "bound": f"{risk_bound(near):.3f}", "n": near.answered}
        lacking = tr(
            "No τ is shown to have a risk of at most {risk}: nearest is τ {threshold}, whose interval ends at {bound} "
            "(n = {n}).",
            risk=risk,
            **told,
        )
        say(lacking, err=True)


def _share(value: float | None, n: int) -> str:
    """With Wilson's interval and its n: "0.750 [0.301, 0.954] n=4"."""
    if value is None:
        return "–"
    found = wilson(value, n)
    return f"{value:.3f} [{found.low:.3f}, {found.high:.3f}] n={n:,}"


@group.command()
@click.argument("title")
@click.option(
    "--verdict",
    required=True,
    type=click.Choice(["pass", "stop", "change", "measure_more"]),
    help="What follows from it.",
)
@click.option("--run", "-r", "runs", multiple=True, metavar="RUN", help="A run it rests on; may be repeated.")
@click.option("--reason", "reasons", multiple=True, required=True, help="Why; may be repeated.")
@click.option("--option", "options", multiple=True, help="What was weighed; may be repeated.")
@click.option("--context", default="", help="What it was about.")
@click.option("--conditions", default="", help="What would change it.")
@click.option("--review", default="", help="When to look again.")
@click.option("--output", "-o", "file", type=click.Path(path_type=Path), help="Write it here [stdout].")
@click.pass_obj
def decide(
    front: FrontEnds,
    title: str,
    verdict: Verdict,
    runs: tuple[str, ...],
    reasons: tuple[str, ...],
    options: tuple[str, ...],
    context: str,
    conditions: str,
    review: str,
    file: Path | None,
) -> None:
    """Records a decision with the figures of its runs, and prints it as Markdown."""
    with front.desk() as desk:
        record = desk.evals.decide(
            title,
            verdict,
            [run_number(desk, run) for run in runs],
            context=context,
            options=options,
            reasons=reasons,
            conditions=conditions,
            review=review,
        )
        text = desk.evals.export_decision(record.id)
    read.write(text, file)


@group.command()
@click.argument("decision_id", metavar="ID", type=int, default=0)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def decisions(front: FrontEnds, decision_id: int, as_json: bool) -> None:
    """Lists the decisions; prints one as Markdown by its number."""
    with front.desk("read") as desk:
        if decision_id:
            click.echo(desk.evals.export_decision(decision_id))
            return
        found = desk.evals.decisions()
    if as_json:
        print_json(found)
        return
    rows = [(str(d.id), f"{d.created:%Y-%m-%d}", d.verdict, " ".join(f"#{r}" for r in d.runs), d.title) for d in found]
    print_table(("#", tr("when"), tr("verdict"), tr("runs"), tr("title")), rows)


COMMANDS = (group,)
