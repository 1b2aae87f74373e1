"""``workbench ladder``: quantizes a model, measures what that costs, decides on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast, get_args

import click

from workbench import paths
from workbench.cli.display import StatusLine, print_json, print_table, say, size, stoppable
from workbench.cli.front import FrontEnds
from workbench.cli.models.files import model_path
from workbench.desk import Desk
from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.ladders.exports import (
    ExportFormat,
    front_words,
    gone_words,
    no_interval_words,
    row_name,
    stage_words,
    table,
)
from workbench.ladders.kinds import DEFAULT
from workbench.ladders.planning import origin_words
from workbench.ports import Cancel
from workbench.records.benchmarks import BenchPlan
from workbench.records.ladders import LadderPlan, LadderProgress, LadderReport, Preview, TextPlan
from workbench.records.models import LoadSettings

FORMATS: Final[tuple[ExportFormat, ...]] = get_args(ExportFormat)
PLAN: Final = LadderPlan("", (), "")
TEXT: Final = TextPlan()


@click.group()
def ladder() -> None:
    """Makes quantizations of a model and measures what each saves and what it loses."""


@ladder.command()
@click.argument("file")
@click.option("--kinds", "-k", default=",".join(DEFAULT), show_default=True, help="Quantizations, with commas.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def plan(front: FrontEnds, file: str, kinds: str, as_json: bool) -> None:
    """Tells what each quantization would be, fallbacks included; writes nothing.

    Exits with 1 when one of them can't be made.
    """
    with front.glance() as desk, stoppable() as cancel:
        found = desk.ladders.preview(model_path(desk, file), _kinds(kinds), cancel)
    if as_json:
        print_json(found)
    else:
        rows = [(p.kind, size(p.size) if p.size else "–", _types(p), p.problem or _fallbacks(p)) for p in found]
        print_table((tr("quant"), tr("weights"), tr("tensors"), tr("what falls back")), rows, right=(1,))
    if any(p.problem for p in found):
        sys.exit(1)


@ladder.command()
@click.argument("file")
@click.option(
    "--kinds", "-k", default=",".join(DEFAULT), show_default=True, help="Quantizations, with commas; or none."
)
@click.option("--reference", default="", help="Make this of FILE first (F16), and all others of it [FILE itself].")
@click.option("--with", "others", multiple=True, help="A file that is there, compared too; may be given again.")
@click.option("--folder", type=click.Path(path_type=Path), default=None, help="Where files go [the models folder].")
@click.option("--collection", default="", help="Score on documents of this collection.")
@click.option("--text", "text_file", type=click.Path(path_type=Path), default=None, help="Score on this text file.")
@click.option("--windows", type=click.IntRange(1), default=TEXT.windows, show_default=True, help="Passages at most.")
@click.option("--tokens", type=click.IntRange(64), default=TEXT.tokens, show_default=True, help="Of each passage.")
@click.option(
    "-r", "--repetitions", type=click.IntRange(0), default=3, show_default=True, help="Of the bench; 0: none."
)
@click.option("--dataset", default="", help="Run this dataset of model tasks with each.")
@click.option("--limit", type=click.IntRange(0), default=PLAN.limit, help="Its first so many cases.")
@click.option("--output", type=click.IntRange(1), default=PLAN.output, show_default=True, help="Tokens of an answer.")
@click.option("-t", "--threads", type=click.IntRange(0), default=0, help="0: physical cores − 1.")
@click.option("--as", "form", type=click.Choice(FORMATS), default=None, help="Print as a file of that kind.")
@click.pass_obj
def run(
    front: FrontEnds,
    file: str,
    kinds: str,
    reference: str,
    others: tuple[str, ...],
    folder: Path | None,
    collection: str,
    text_file: Path | None,
    windows: int,
    tokens: int,
    repetitions: int,
    dataset: str,
    limit: int,
    output: int,
    threads: int,
    form: ExportFormat | None,
) -> None:
    """Makes quantizations of FILE, then measures speed, divergence from the reference, and passed cases.

    Every step is stored as it ends: after ctrl+c, workbench ladder resume goes on. Exits with 1 when a rung could not
    be made or measured.
    """
    load = LoadSettings(threads=threads)
    text = TextPlan(collection, str(text_file.absolute()) if text_file else "", windows, tokens)
    with front.desk("create") as desk, stoppable() as cancel:
        asked = LadderPlan(
            model_path(desk, file),
            _kinds(kinds),
            str(folder or paths.gguf_folder()),
            reference.strip().upper(),
            tuple(model_path(desk, other) for other in others),
            text if collection or text_file else None,
            BenchPlan(repetitions=repetitions, load=load) if repetitions else None,
            dataset,
            limit,
            output,
            load,
        )
        _measured(desk, _followed(desk.ladders.run(asked, cancel), cancel), form)


@ladder.command()
@click.argument("ladder_id", type=int)
@click.option("--as", "form", type=click.Choice(FORMATS), default=None, help="Print as a file of that kind.")
@click.pass_obj
def resume(front: FrontEnds, ladder_id: int, form: ExportFormat | None) -> None:
    """Goes on with a ladder that was stopped. Exits with 1 when a rung could not be made or measured."""
    with front.desk("change") as desk, stoppable() as cancel:
        _measured(desk, _followed(desk.ladders.resume(ladder_id, cancel), cancel), form)


@ladder.command()
@click.argument("ladder_id", type=int)
@click.option("--as", "form", type=click.Choice(FORMATS), default=None, help="Print as a file of that kind.")
@click.pass_obj
def show(front: FrontEnds, ladder_id: int, form: ExportFormat | None) -> None:
    """Shows a ladder with its figures so far."""
    with front.desk("read") as desk:
        _print(desk, desk.ladders.report(ladder_id), form)


@ladder.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def list_them(front: FrontEnds, as_json: bool) -> None:
    """Lists the ladders."""
    with front.desk("read") as desk:
        found = desk.ladders.ladders()
    if as_json:
        print_json(found)
        return
    rows = [
        (
            str(one.id),
            f"{one.created.astimezone():%Y-%m-%d %H:%M}",
            one.rungs[0].name,
            " ".join(r.kind for r in one.rungs),
        )
        for one in found
    ]
    print_table(("#", tr("date"), tr("reference"), tr("quantizations")), rows, right=(0,))


@ladder.command()
@click.argument("ladder_id", type=int)
@click.pass_obj
def delete(front: FrontEnds, ladder_id: int) -> None:
    """Deletes a ladder's figures; its model files stay."""
    with front.desk("change") as desk:
        desk.ladders.delete(ladder_id)
    say(tr("Ladder {id} is deleted; its model files stay.", id=ladder_id))


@ladder.command()
@click.argument("ladder_id", type=int)
@click.argument("kind")
@click.option("--against", default="", help="The quantization it replaces [the reference].")
@click.option("--because", default="", help="Why it still pays: what the task tolerates.")
@click.pass_obj
def decide(front: FrontEnds, ladder_id: int, kind: str, against: str, because: str) -> None:
    """Stores the decision for KIND with the ladder's figures as evidence, and prints it as Markdown."""
    with front.desk("change") as desk:
        report = desk.ladders.report(ladder_id)
        place, base = _place(report, kind), _place(report, against) if against else 0
        sentence = desk.ladders.sentence(ladder_id, place, base)
        record = desk.ladders.decide(ladder_id, sentence, because)
        click.echo(desk.evals.export_decision(record.id))


def _kinds(words: str) -> tuple[str, ...]:
    """ "q8_0, Q4_K_M" → ("Q8_0", "Q4_K_M"); "none" → ()."""
    asked = tuple(part.strip().upper() for part in words.split(",") if part.strip())
    return () if asked == ("NONE",) else asked


def _place(report: LadderReport, kind: str) -> int:
    wanted = kind.upper()
    for row in report.rows:
        if wanted in (row.rung.kind.upper(), row.rung.name.upper()):
            return row.rung.place
    raise NotFoundError(
        tr("No such rung"),
        tr("The ladder has no {kind}.", kind=kind),
        tr("There are: {names}.", names=", ".join(map(row_name, report.rows))),
    )


def _types(found: Preview) -> str:
    return ", ".join(f"{count}×{name}" for name, count in found.tensor_types)


def _fallbacks(found: Preview) -> str:
    return ", ".join(f"{f.tensors}×{f.wanted}→{f.got}" for f in found.fallbacks)


def _followed(steps: Iterator[LadderProgress], cancel: Cancel) -> LadderReport:
    """Iterates to the end, a status line telling how far it is; returns the last report."""
    line, last, told = StatusLine(), None, ""
    try:
        for last in steps:
            if last.stage:
                share = f" · {last.fraction:.0%}" if last.fraction is not None else ""
                now = f"{stage_words(last.stage)} · {last.now}"
                line.say(tr("ladder {id}", id=last.report.ladder.id) + f" · {now}{share}", matters=now != told)
                told = now
    finally:
        line.clear()
        if cancel.is_set() and last:
            again = tr("Stopped. Go on with: workbench ladder resume {id}", id=last.report.ladder.id)
            click.echo(again, err=True)
    return cast(LadderProgress, last).report


def _measured(desk: Desk, found: LadderReport, form: ExportFormat | None) -> None:
    """Prints it; exits with 1 when something of it has no figures."""
    _print(desk, found, form)
    if found.failed or found.left:
        sys.exit(1)


def _print(desk: Desk, found: LadderReport, form: ExportFormat | None) -> None:
    if form:
        click.echo(desk.ladders.export(found.ladder.id, form), nl=False)
        return
    head, rows = table(found)
    print_table(head, rows, right=tuple(range(2, len(head))))
    say(tr("ladder {id}", id=found.ladder.id) + (f" · {words}" if (words := front_words(found)) else ""), dim=True)
    if words := no_interval_words(found):
        say(words, err=True)
    remarks: dict[str, list[str]] = {}
    for row in found.rows:
        for words in filter(None, (origin_words(row.rung), gone_words(row))):
            remarks.setdefault(words, []).append(row_name(row))
        if row.rung.problem:
            say(f"✗ {row_name(row)}: {row.rung.problem}", err=True)
    for words, names in remarks.items():
        say(f"~ {', '.join(names)}: {words}", err=True)


COMMANDS = (ladder,)
