"""``workbench eval``: read runs: show, compare, report, label."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import click

from workbench.cli.display import print_json, print_table
from workbench.cli.evals.runs import group, run_number
from workbench.cli.evals.text import print_case, print_comparison, print_ladder, print_report, print_results
from workbench.cli.front import FrontEnds
from workbench.errors import UsageError, reason_of
from workbench.evals.lab import ReportForm
from workbench.i18n import tr

VALUES: Final[dict[str, Literal[-1, 0, 1]]] = {"right": 1, "wrong": -1, "undecided": 0}


@group.command()
@click.argument("run_id", metavar="RUN")
@click.option("--case", "case_id", default="", metavar="ID", help="One case: what came out, and where it was lost.")
@click.option("--cases", "every", is_flag=True, help="A line a case.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def show(front: FrontEnds, run_id: str, case_id: str, every: bool, as_json: bool) -> None:
    """Shows a run's figures, its cases, or one of them. RUN is a number, or "last"."""
    with front.desk("read") as desk:
        lab, number = desk.evals, run_number(desk, run_id)
        if case_id:
            result = lab.result(number, case_id)
            if not as_json:
                print_case(lab.case(number, case_id), result, lab.autopsy(number, case_id))
                return
            print_json(result)
        elif every:
            results = lab.results(number)
            print_json(results) if as_json else print_results(results)
        else:
            report = lab.report(number)
            print_json(report) if as_json else print_report(report)


@group.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--markdown", "form", flag_value="markdown", help="Print as Markdown.")
@click.option("--html", "form", flag_value="html", help="Print as HTML.")
@click.pass_obj
def compare(front: FrontEnds, a: str, b: str, as_json: bool, form: Literal["markdown", "html"] | None) -> None:
    """Compares two runs case by case: what B fixed and broke, and whether it is more than chance."""
    with front.desk("read") as desk:
        first, second = run_number(desk, a), run_number(desk, b)
        if form:
            click.echo(desk.evals.export_comparison(first, second, form))
            return
        compared, cases = desk.evals.compare(first, second), desk.evals.run_cases(second)
    if as_json:
        print_json(compared)
    else:
        print_comparison(compared, cases)


@group.command()
@click.argument("runs", metavar="RUN RUN…", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--ranking", "form", type=click.Choice(["markdown", "latex"]), help="A table of them, the best on top.")
@click.pass_obj
def ladder(front: FrontEnds, runs: tuple[str, ...], as_json: bool, form: Literal["markdown", "latex"] | None) -> None:
    """Puts runs in the order given, each against the one before it: what each step of an ablation brings."""
    if len(runs) < 2:
        raise UsageError(tr("No ladder"), tr("A ladder has at least two runs."), tr("List them: workbench eval list"))
    with front.desk("read") as desk:
        numbers = [run_number(desk, run) for run in runs]
        if form:
            click.echo(desk.evals.export_ranking(numbers, form), nl=False)
            return
        steps = desk.evals.ladder(numbers)
    if as_json:
        print_json(steps)
    else:
        print_ladder(steps)


@group.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "html", "latex", "trec"]),
    default="markdown",
    show_default=True,
    help="LaTeX is a table of the dataset's complete runs of its layer, TREC this one's rankings.",
)
@click.option("--against", default="", metavar="RUN", help="Compare with this run, too.")
@click.option("--output", "-o", "file", type=click.Path(path_type=Path), help="Write it here [stdout].")
@click.pass_obj
def report(front: FrontEnds, run_id: str, form: ReportForm, against: str, file: Path | None) -> None:
    """Writes a run's report, with the gates that were locked before it."""
    with front.desk("read") as desk:
        other = run_number(desk, against) if against else 0
        text = desk.evals.export_report(run_number(desk, run_id), form, other)
    write(text, file)


def write(text: str, file: Path | None) -> None:
    """To a file, or to stdout. Raises UsageError when the file can't be written."""
    if file is None:
        click.echo(text)
        return
    try:
        file.write_text(text.rstrip("\n") + "\n", "utf-8")
    except OSError as error:
        raise UsageError(
            tr("The file can't be written"), f"{file}: {reason_of(error)}", tr("Choose another place.")
        ) from error


@group.command()
@click.argument("run_id", metavar="RUN")
@click.argument("case_id", metavar="CASE", default="")
@click.argument("value", type=click.Choice(list(VALUES)), required=False)
@click.option("--note", default="", help="Why.")
@click.option("--undo", is_flag=True, help="Take the run's last label back.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def label(front: FrontEnds, run_id: str, case_id: str, value: str | None, note: str, undo: bool, as_json: bool) -> None:
    """Labels a result, takes the last label back, or shows the labels. Labels never change scores."""
    if note and value is None:
        raise UsageError(tr("No verdict"), tr("A note goes with a verdict."), "eval label RUN CASE right --note '…'")
    with front.desk("change" if undo or value else "read") as desk:
        number = run_number(desk, run_id)
        if undo:
            desk.evals.undo_label(number)
        elif case_id and value:
            desk.evals.label(number, case_id, VALUES[value], note)
        labels = desk.evals.labels(number)
        if case_id and not (undo or value):
            found = desk.evals.result(number, case_id)
            labels = tuple(one for one in labels if one.case_id == found.case_id)
    if as_json:
        print_json(labels)
        return
    sign = {1: "+", 0: "0", -1: "−"}
    rows = [(sign[one.value], one.case_id, f"{one.created:%Y-%m-%d %H:%M}", one.note) for one in labels]
    print_table(("", tr("case"), tr("when"), tr("note")), rows)
