"""Commands about eval datasets: list, import, versions, export."""

from __future__ import annotations

from typing import Final

import click

from workbench.cli.display import print_json, print_table
from workbench.cli.front import FrontEnds
from workbench.i18n import tr
from workbench.records.evals import Imported
from workbench.text.clean import printable

_TOLD: Final = 20  # problems of an import that are printed


@click.command()
@click.option("--import", "path", default="", metavar="PATH", help="A file or folder of cases in any known format.")
@click.option("--format", "form", default="", help="Its format [told from its content].")
@click.option("--name", default="", help="The dataset's name [the file's].")
@click.option("--collection", "-c", default="", help="The collection it asks about [the chosen one].")
@click.option("--versions", "history", default="", metavar="NAME", help="List every version of a dataset.")
@click.option("--export", "out", nargs=2, metavar="NAME PATH", help="Write a dataset, as JSON Lines or in --format.")
@click.option("--version", default="", metavar="HASH", help="Of --export: the beginning of a version's hash.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def datasets(
    front: FrontEnds,
    path: str,
    form: str,
    name: str,
    collection: str,
    history: str,
    out: tuple[str, str] | None,
    version: str,
    as_json: bool,
) -> None:
    """Lists the eval datasets or one's versions; imports one; exports one."""
    with front.desk("create" if path else "read") as desk:
        if path:
            _print_imported(desk.evals.import_file(path, name, collection, form))
        if out:
            _print_lost(desk.evals.export_dataset(*out, form or "jsonl", version))
            return
        found = desk.evals.versions(history) if history else desk.datasets()
        current = desk.evals.dataset(history).hash if history else ""
    if as_json:
        print_json(found)
        return
    rows = [
        (
            d.name,
            d.collection,
            f"{d.cases:,}",
            f"{d.answerable:,}",
            f"{d.created:%Y-%m-%d %H:%M}",
            d.hash[:12],
            tr("current") if d.hash == current else "",
        )
        for d in found
    ]
    head = (tr("name"), tr("collection"), tr("cases"), tr("answerable"), tr("when"), "sha256", "")
    print_table(head, rows, right=(2, 3))


def _print_lost(fields: tuple[str, ...]) -> None:
    if fields:
        click.echo(tr("The format couldn't keep: {fields}.", fields=", ".join(fields)), err=True)


def _print_imported(imported: Imported) -> None:
    """On stderr: the rows that stayed out, what others came in without, and how many are in."""
    for problem in imported.problems[:_TOLD]:
        where = (
            tr("line {line}: {reason}", line=problem.line, reason=problem.reason) if problem.line else problem.reason
        )
        click.echo(f"{'✗' if problem.skipped else '·'} {printable(where, newlines=False)}", err=True)
    if len(imported.problems) > _TOLD:
        click.echo(tr("… and {count} more", count=len(imported.problems) - _TOLD), err=True)
    skipped = sum(problem.skipped for problem in imported.problems)
    told = tr(
        "{count} cases came in, {skipped} rows stayed out", count=f"{imported.dataset.cases:,}", skipped=f"{skipped:,}"
    )
    click.echo(told, err=True)


COMMANDS = (datasets,)
