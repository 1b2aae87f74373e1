"""``workbench eval import``: another system's rankings as a run, to compare ours with."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.display import print_json
from workbench.cli.evals.datasets import print_problems
from workbench.cli.evals.runs import group
from workbench.cli.evals.text import print_report
from workbench.cli.front import FrontEnds
from workbench.records.evals import RunConfig


@group.command("import")
@click.argument("dataset")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-k", "k", default=RunConfig("").k, show_default=True, type=click.IntRange(1), help="The cut of @k.")
@click.option(
    "--depth", default=RunConfig("").depth, show_default=True, type=click.IntRange(1), help="Ranks kept and scored."
)
@click.option("--title", default="", help="What to call the run [the system's own tag].")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def import_run(front: FrontEnds, dataset: str, file: Path, k: int, depth: int, title: str, as_json: bool) -> None:
    """Takes in a TREC run file (topic, Q0, document, rank, score, tag) as a run of the layer retrieval."""
    with front.desk() as desk:
        imported = desk.evals.import_run(dataset, str(file), RunConfig(dataset, k=k, depth=depth, title=title))
        report = desk.evals.report(imported.run.id)
    print_problems(imported.problems)
    if as_json:
        print_json(report)
    else:
        print_report(report)


COMMANDS = (group,)
