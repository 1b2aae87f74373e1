"""``workbench eval``: run a dataset, go on with it, sweep one variable; list and compare runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from workbench.cli.display import StatusLine, duration, print_json, print_table, say, stoppable
from workbench.cli.evals.text import print_report, print_sweep
from workbench.cli.front import FrontEnds
from workbench.cli.models.files import model_path
from workbench.desk import Desk
from workbench.errors import UsageError, reason_of
from workbench.evals.reporting.naming import run_words
from workbench.evals.running.sweep import VARIABLES, vary, with_variable
from workbench.evals.running.values import check_values
from workbench.i18n import tr
from workbench.records.codec import decode
from workbench.records.evals import RunConfig, RunProgress

F = TypeVar("F", bound=Callable[..., object])


@click.group("eval")
def group() -> None:
    """Measures on a dataset's cases: runs, comparisons, gates, decisions."""


def config_options(command: F) -> F:
    """The options that make a run's configuration; those that aren't given leave ``--config``, or the default."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: Final = (
    click.option("--config", "file", type=click.Path(path_type=Path), help="A JSON file of a run's configuration."),
    click.option(
        "--layer",
        type=click.Choice(["retrieval", "generation", "chain", "model"]),
        help="What is measured: search, answers from the gold, all of it, a model alone [retrieval].",
    ),
    click.option("--collection", "-c", help="Where to search [the dataset's]."),
    click.option("--index", metavar="N", help="An index of the collection, by its number [the current one]."),
    click.option("--lane", type=click.Choice(["lexical", "dense", "both"]), help="Which lanes search [both]."),
    click.option("--fusion", type=click.Choice(["rrf", "weights"]), help="How lanes are fused [rrf]."),
    click.option("--k0", metavar="N", help="Of reciprocal rank fusion [60]."),
    click.option("--candidates", metavar="N", help="Hits taken from each lane [50]."),
    click.option("--rerank", metavar="NAME", help="Of the first hits: none, late, or a reranker [the collection's]."),
    click.option("--rerank-depth", metavar="N", help="First hits of the fusion that are ranked anew [the reranker's]."),
    click.option("--filter", "-f", help="A filter for every case, beside the case's own."),
    click.option("-k", "k", metavar="N", help="The cut of the @k metrics [5]."),
    click.option("--depth", metavar="N", help="Ranks kept and scored [100]."),
    click.option("--model", help="A GGUF file that writes; without one answers are extractive."),
    click.option("--mode", type=click.Choice(["auto", "extractive", "generated"]), help="Who answers [auto]."),
    click.option("--context", metavar="N", help="Tokens of the model's context [4096]."),
    click.option("--kv-type", type=click.Choice(["f16", "q8_0", "q4_0"]), help="Of the KV cache [f16]."),
    click.option("--evidence", metavar="N", help="Chunks put in the context at most [5]."),
    click.option("--threshold", metavar="τ", help="Abstain when the support is below it [the collection's]."),
    click.option("--max-output", metavar="N", help="Tokens reserved for the answer [256]."),
    click.option("--temperature", metavar="T", help="Of sampling; 0 takes the likeliest token [0]."),
    click.option("--seed", metavar="N", help="Of sampling [0]."),
    click.option("--price-input", metavar="P", help="Of a million tokens that the model reads, for cost [0]."),
    click.option("--price-output", metavar="P", help="Of a million tokens that it writes [0]."),
    click.option("--price-hour", metavar="P", help="Of an hour of the machine at work [0]."),
    click.option("--limit", type=click.IntRange(min=1), help="Only the first so many cases."),
    click.option("--segment", metavar="FIELD=VALUE", help="Only cases of this type, language, difficulty or tag."),
    click.option("--exclude-gold", is_flag=True, help="Leave the gold's documents out: every case must abstain."),
    click.option("--title", help="What to call the run."),
)


def configured(desk: Desk, dataset: str, given: dict[str, Any]) -> RunConfig:
    """The configuration that options ask for. Raises UsageError."""
    config = _read(given["file"], dataset) if given["file"] else RunConfig(dataset)
    if given["model"]:
        given = {**given, "model": model_path(desk, given["model"])}
    for name in VARIABLES:
        value = given[name.replace("-", "_")]
        if value is not None:
            config = with_variable(config, name, str(value))
    if given["segment"]:
        field, _, value = given["segment"].partition("=")
        config = replace(config, segment=(field.strip(), value.strip()))
    return replace(
        config,
        limit=given["limit"] or config.limit,
        exclude_gold=given["exclude_gold"] or config.exclude_gold,
        title=given["title"] or config.title,
    )


def _read(path: Path, dataset: str) -> RunConfig:
    try:
        data = json.loads(path.read_text("utf-8"))
        check_values(data)
        return replace(decode(RunConfig, {"dataset": dataset, **data}), dataset=dataset)
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise UsageError(
            tr("The configuration can't be read"),
            f"{path}: {reason_of(error)}",
            tr("Give JSON as workbench eval show RUN --json prints it under “config”."),
        ) from error


@group.command()
@click.argument("dataset")
@config_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def run(front: FrontEnds, /, dataset: str, as_json: bool, **given: Any) -> None:
    """Runs a dataset and reports; each case is stored as it ends. Exit code 1 when it was stopped."""
    with front.desk() as desk, stoppable() as stop:
        finish(desk, desk.evals.run(configured(desk, dataset, given), stop), as_json=as_json)


@group.command()
@click.argument("run_id", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def resume(front: FrontEnds, run_id: str, as_json: bool) -> None:
    """Goes on with a stopped run at its next case."""
    with front.desk() as desk, stoppable() as stop:
        finish(desk, desk.evals.resume(run_number(desk, run_id), stop), as_json=as_json)


@group.command()
@click.argument("dataset")
@config_options
@click.option("--vary", "variable", required=True, metavar="NAME=A,B,…", help="The one variable and its values.")
@click.option("--json", "as_json", is_flag=True, help="Print the reports as JSON.")
@click.pass_obj
def sweep(front: FrontEnds, /, dataset: str, variable: str, as_json: bool, **given: Any) -> None:
    """Runs a dataset once per value of one variable, and puts the runs side by side."""
    name, _, values = variable.partition("=")
    name = name.strip()
    with front.desk() as desk, stoppable() as stop:
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if name == "model":
            listed = [model_path(desk, value) for value in listed]
        configs = vary(configured(desk, dataset, given), name, listed)
        ended = [p for p in _told(desk.evals.sweep(configs, stop)) if p.finished]
        reports = [desk.evals.report(progress.run.id) for progress in ended]
        if as_json:
            print_json(reports)
        else:
            print_sweep(reports)
    if any(progress.cancelled for progress in ended):
        sys.exit(1)


def finish(desk: Desk, steps: Iterator[RunProgress], *, as_json: bool) -> None:
    """Follows a run to its end and prints its report; exits with 1 when it was stopped."""
    *_, last = _told(steps)
    report = desk.evals.report(last.run.id)
    if as_json:
        print_json(report)
    else:
        print_report(report)
    if last.cancelled:
        say(tr("Stopped. Go on with: workbench eval resume {run}", run=last.run.id), err=True)
        sys.exit(1)


def _told(steps: Iterator[RunProgress]) -> Iterator[RunProgress]:
    """The same, each step told on the status line."""
    line = StatusLine()
    for progress in steps:
        every = max(25, progress.run.total // 10)
        line.say(progress_line(progress), matters=bool(progress.results) and progress.run.done % every == 0)
        yield progress
    line.clear()


def progress_line(progress: RunProgress) -> str:
    """ "run 7 · 41/100 · 33 passed · 2.1 cases/s · 0:28 left · q42"; "30.5 s a case" where one takes over a second."""
    run = progress.run
    parts = [
        tr("run {id}", id=run.id),
        f"{run.done:,}/{run.total:,}",
        tr("{count} passed", count=run.passed),
    ]
    if progress.rate:
        slow = tr("{time} a case", time=duration(1 / progress.rate))
        parts.append(slow if progress.rate < 1 else tr("{rate} cases/s", rate=f"{progress.rate:.1f}"))
    if progress.eta_s:
        parts.append(tr("{time} left", time=duration(progress.eta_s)))
    return " · ".join([*parts, progress.current]).rstrip(" ·")


def run_number(desk: Desk, text: str) -> int:
    """The run that a person means: its number, or "last". Raises UsageError, NotFoundError."""
    if text == "last":
        newest = next(iter(desk.evals.runs()), None)
        return newest.id if newest else desk.evals.find_run(0).id  # which says that there is none
    try:
        return int(text.removeprefix("#"))
    except ValueError:
        raise UsageError(
            tr("Not a run"), tr("“{text}” is no run's number.", text=text), tr("List them: workbench eval list")
        ) from None


@group.command("list")
@click.argument("dataset", default="")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def list_runs(front: FrontEnds, dataset: str, as_json: bool) -> None:
    """Lists the runs, newest first; of one dataset when it is named."""
    with front.desk("read") as desk:
        runs = desk.evals.runs(desk.evals.dataset(dataset).name if dataset else "")
    if as_json:
        print_json(runs)
        return
    rows = [
        (
            f"{r.id}{'*' if r.baseline else ''}",
            r.config.dataset,
            r.config.layer,
            tr(r.status),
            f"{r.done:,}/{r.total:,}",
            f"{r.passed:,}",
            f"{r.created:%Y-%m-%d %H:%M}",
            run_words(r),
        )
        for r in runs
    ]
    head = ("#", tr("dataset"), tr("layer"), tr("status"), tr("done"), tr("passed"), tr("when"), tr("title"))
    print_table(head, rows, right=(4, 5))


@group.command()
@click.argument("run_id", metavar="RUN")
@click.pass_obj
def baseline(front: FrontEnds, run_id: str) -> None:
    """Makes a run its dataset's baseline."""
    with front.desk() as desk:
        chosen = desk.evals.set_baseline(run_number(desk, run_id))
    say(tr("Run {id} is the baseline of “{dataset}”.", id=chosen.id, dataset=chosen.config.dataset))


@group.command()
@click.argument("run_id", metavar="RUN")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.pass_obj
def delete(front: FrontEnds, run_id: str, yes: bool) -> None:
    """Deletes a run with its results and labels."""
    with front.desk() as desk:
        found = desk.evals.find_run(run_number(desk, run_id))
        if not yes:
            click.confirm(tr("Delete run {id} with {done} results?", id=found.id, done=found.done), abort=True)
        desk.evals.delete_run(found.id)
