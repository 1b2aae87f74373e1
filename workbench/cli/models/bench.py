"""``workbench bench``: measures models, shows and exports what was measured."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast, get_args

import click

from workbench.benchmarks.exports import ExportFormat, felt_table, speed_table
from workbench.benchmarks.planning import load_settings
from workbench.benchmarks.served import is_served
from workbench.cli.display import StatusLine, duration, print_json, print_table, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.cli.models.files import KV_TYPES, model_path
from workbench.cli.numbers import Number
from workbench.desk import Desk
from workbench.engine.gguf_header import read_header
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.memory.words import trained_words
from workbench.ports import Cancel
from workbench.records.benchmarks import BenchPlan, BenchProgress, BenchReport
from workbench.records.models import KvType, LoadSettings

FORMATS: Final[tuple[ExportFormat, ...]] = get_args(ExportFormat)
PLAN: Final = BenchPlan()


@dataclass(frozen=True, slots=True)
class What:
    """Which of the command's five things is asked for."""

    resume: int
    show: int
    delete: int
    list: bool


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]…")
@click.option("-p", "--prompt", type=click.IntRange(0), default=PLAN.prompt, help="Tokens evaluated at once (pp).")
@click.option("-n", "--generate", type=click.IntRange(0), default=PLAN.generate, help="Tokens one by one (tg).")
@click.option(
    "-d", "--depth", "depths", type=click.IntRange(0), multiple=True, help="Tokens before them; may be given again."
)
@click.option("-r", "--repetitions", type=click.IntRange(1), default=PLAN.repetitions, help="Of each test.")
@click.option("--speed-only", is_flag=True, help="Leave out prompts and answers as JSON.")
@click.option("--cooldown", type=Number(0), default=PLAN.cooldown_s, help="Seconds between two processes.")
@click.option("-t", "--threads", type=click.IntRange(0), default=0, help="0: physical cores − 1.")
@click.option("--ctx", "context", type=click.IntRange(1), default=LoadSettings().context, help="Tokens of context.")
@click.option("--batch", type=click.IntRange(1), default=LoadSettings().batch, help="Tokens evaluated together.")
@click.option("--kv", "kv_type", type=click.Choice(KV_TYPES), default=KV_TYPES[0], help="How keys and values are kept.")
@click.option("--resume", type=int, default=0, metavar="ID", help="Go on with a bench that was stopped.")
@click.option("--show", type=int, default=0, metavar="ID", help="Show a bench that was run.")
@click.option("--delete", type=int, default=0, metavar="ID", help="Delete a bench.")
@click.option("--list", "list_them", is_flag=True, help="List the benches.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--as", "form", type=click.Choice(FORMATS), default=None, help="Print as a file of that kind.")
@click.pass_obj
def bench(
    front: FrontEnds,
    files: tuple[str, ...],
    prompt: int,
    generate: int,
    depths: tuple[int, ...],
    repetitions: int,
    speed_only: bool,
    cooldown: float,
    threads: int,
    context: int,
    batch: int,
    kv_type: KvType,
    resume: int,
    show: int,
    delete: int,
    list_them: bool,
    as_json: bool,
    form: ExportFormat | None,
) -> None:
    """Measures how fast models are, by llama-bench's tests and by prompts that people write.

    Models take turns, a fresh process each; every repetition is stored as it ends, so ctrl+c loses nothing.
    """
    load = replace(LoadSettings(), context=context, batch=batch, threads=threads, kv_type=kv_type)
    plan = BenchPlan(prompt, generate, depths or (0,), repetitions, not speed_only, cooldown, load)
    what = What(resume, show, delete, list_them)
    if sum(map(bool, (files, resume, show, delete, list_them))) != 1:
        raise UsageError(
            tr("What shall be measured?"),
            tr("Give model files, or one of --resume, --show, --delete and --list."),
            tr("workbench models lists the files there are."),
        )
    shape: ExportFormat | None = "json" if as_json else form
    if show or list_them:
        with front.desk("read") as desk:
            _read(desk, what, shape)
        return
    with front.desk("create" if files else "change") as desk:
        if delete:
            desk.benchmarks.delete(delete)
            say(tr("Bench {id} is deleted.", id=delete))
            return
        with stoppable() as cancel:
            paths = [model_path(desk, name) for name in files]
            _say_beyond(paths, plan)
            steps = desk.benchmarks.resume(resume, cancel) if resume else desk.benchmarks.run(paths, plan, cancel)
            measured = _followed(steps, cancel)
            _print(desk, measured, shape)
    if measured.failed:
        sys.exit(1)


def _say_beyond(paths: Sequence[str], plan: BenchPlan) -> None:
    """Says which models the longest test asks for more context than they know from training."""
    asked = load_settings(plan)
    for path in paths:
        if not is_served(path) and (trained := trained_words(read_header(Path(path).expanduser()), asked)):
            told = tr("the tests reach {count}", count=f"{asked.context:,}")
            say(f"~ {Path(path).name}: {trained}; {told}", err=True)


def _read(desk: Desk, what: What, form: ExportFormat | None) -> None:
    if what.show:
        _print(desk, desk.benchmarks.report(what.show), form)
        return
    benches = desk.benchmarks.benches()
    if form == "json":
        print_json(benches)
        return
    rows = []
    for one in benches:
        names = ", ".join(model.name for model in one.models)
        known, failed = f"{one.measured}/{one.total}", str(one.failed or "")
        rows.append((str(one.id), f"{one.created.astimezone():%Y-%m-%d %H:%M}", known, failed, names))
    print_table(("#", tr("date"), tr("measured"), tr("without value"), tr("models")), rows, right=(0, 2, 3))


def _followed(steps: Iterator[BenchProgress], cancel: Cancel) -> BenchReport:
    """Iterates to the end, a status line telling how far it is; returns the last report."""
    line, last = StatusLine(), None
    try:
        for last in steps:
            done = last.report.bench
            left = f" · {tr('{time} left', time=duration(last.left_s))}" if last.left_s and last.now else ""
            line.say(tr("bench {id}", id=done.id) + f" · {done.done}/{done.total} · {last.now}{left}")
    finally:
        line.clear()
        if cancel.is_set() and last:
            told = tr("Stopped. Go on with: workbench bench --resume {id}", id=last.report.bench.id)
            click.echo(told, err=True)
    return cast(BenchProgress, last).report


def _print(desk: Desk, found: BenchReport, form: ExportFormat | None) -> None:
    if form:
        click.echo(desk.benchmarks.export(found.bench.id, form), nl=False)
        return
    head, rows = speed_table(found)
    print_table(head, rows, right=tuple(range(1, len(head) - 1)))
    if found.bench.plan.felt:
        head, rows = felt_table(found)
        print_table(head, rows, right=tuple(range(1, len(head))))
    for row in found.rows:
        if row.problem:
            say(f"✗ {row.model.name}: {row.problem}", err=True)


COMMANDS = (bench,)
