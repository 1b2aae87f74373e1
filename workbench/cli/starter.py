"""Commands that set things up: the starter models, and the demo collection."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workbench import demo as demo_data
from workbench import paths
from workbench import starter as starter_models
from workbench.cli.ask.answers import print_answer
from workbench.cli.corpus.documents import progress_line
from workbench.cli.display import StatusLine, say
from workbench.cli.front import FrontEnds, open_screens
from workbench.desk import Desk
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.corpus import IngestRequest


@click.command()
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, readable=False),
    help="Take the packages from this folder; no network.",
)
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, readable=False),
    help="Fill this folder for a machine without a network.",
)
@click.option("--use", is_flag=True, help="Also a second embedder: USE multilingual (32 MB).")
def starter(source: Path | None, target: Path | None, use: bool) -> None:
    """Brings the starter models: a small language model, an embedder, and tiktoken's ranks. This uses the network."""
    if source and target:
        raise UsageError(tr("Two directions"), tr("--from and --to exclude each other."), tr("Give one of them."))
    extra = ("use",) if use else ()
    folder = paths.models_folder()
    steps = (
        starter_models.prepare(target, extra) if target else starter_models.install(folder, source=source, extra=extra)
    )
    line = StatusLine()
    told = ""
    for progress in steps:
        if progress.finished:
            line.clear()
            say(progress.message)
        else:
            line.say(progress.message, matters=progress.step != told)
        told = progress.step


@click.command()
@click.pass_obj
def demo(front: FrontEnds) -> None:
    """Fills the file with the demo collection, then opens the screens; on a pipe it asks one question and ends."""
    with front.desk("create") as desk:
        _fill(desk)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            question = demo_data.DEMO_QUESTION
            say(f"? {question}\n")
            *_, last = desk.ask(question)
            print_answer(last)
            return
    open_screens(front)


def _fill(desk: Desk) -> None:
    line = StatusLine()
    request = IngestRequest((str(demo_data.demo_folder()),), demo_data.DEMO_COLLECTION)
    for progress in desk.ingest(request):
        line.say(progress_line(progress), matters=progress.finished)
    line.clear()
    desk.choose_collection(demo_data.DEMO_COLLECTION)
    if all(d.name != demo_data.DEMO_COLLECTION for d in desk.datasets()):
        desk.import_dataset(str(demo_data.cases_file()), demo_data.DEMO_COLLECTION, demo_data.DEMO_COLLECTION)


COMMANDS = (starter, demo)
