"""Commands about eval datasets: list, import, versions, export, split."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

import click

from workbench.cli.corpus.documents import follow_ingest, report_ingest
from workbench.cli.display import print_json, print_table, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.corpus.chunking import parse_recipe
from workbench.desk import Desk
from workbench.errors import UsageError
from workbench.evals.measuring.segments import FIELDS
from workbench.i18n import tr
from workbench.records.cases import Dataset, Imported, RowProblem
from workbench.records.corpus import IngestRequest

_TOLD: Final = 20  # problems of an import that are printed


@click.command()
@click.option("--import", "path", default="", metavar="PATH", help="A file or folder of cases in any known format.")
@click.option("--format", "form", default="", help="Its format [told from its content].")
@click.option("--name", default="", help="The dataset's name [the file's].")
@click.option("--collection", "-c", default="", help="The collection it asks about [the chosen one].")
@click.option(
    "--ingest",
    "into",
    default="",
    metavar="COLLECTION",
    help="Of --import: ingest the documents that it brings along.",
)
@click.option("--recipe", default="", help="Of --ingest: how to cut, as workbench ingest takes it.")
@click.option("--versions", "history", default="", metavar="NAME", help="List every version of a dataset.")
@click.option("--export", "out", nargs=2, metavar="NAME PATH", help="Write a dataset, as JSON Lines or in --format.")
@click.option("--version", default="", metavar="HASH", help="Of --export: the beginning of a version's hash.")
@click.option("--split", "whole", default="", metavar="NAME", help="Make a dataset of each segment, with --by.")
@click.option("--by", type=click.Choice(FIELDS), default="language", show_default=True, help="Of --split.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def datasets(
    front: FrontEnds,
    path: str,
    form: str,
    name: str,
    collection: str,
    into: str,
    recipe: str,
    history: str,
    out: tuple[str, str] | None,
    version: str,
    whole: str,
    by: str,
    as_json: bool,
) -> None:
    """Lists the eval datasets or one's versions; imports, exports or splits one."""
    if into and not path:
        raise UsageError(tr("Nothing to ingest"), tr("--ingest goes with --import."), tr("Add --import PATH."))
    with front.desk("create" if path else "change" if whole else "read") as desk:
        if into:
            _ingest(desk, path, form, into, recipe)
        if path:
            _print_imported(desk.evals.import_file(path, name, into or collection, form))
        if out:
            lost = desk.evals.export_dataset(*out, form or "jsonl", version)
            say(tr("Written: {path}", path=out[1]), err=True, newlines=False)
            _print_lost(lost)
            return
        found = desk.evals.split_dataset(whole, by) if whole else ()
        found = found or (desk.evals.versions(history) if history else desk.datasets())
        current = desk.evals.dataset(history).hash if history else ""
    if as_json:
        print_json(found)
    else:
        _print_list(found, current)


def _ingest(desk: Desk, path: str, form: str, collection: str, recipe: str) -> None:
    """The documents that the dataset brings along; exits with 1 when that was stopped."""
    unpacked = desk.evals.unpack_documents(path, form)
    print_problems(unpacked.problems)
    told = tr("{count} documents are in {folder} now.", count=f"{unpacked.count:,}", folder=unpacked.folder)
    say(told, err=True, newlines=False)
    request = IngestRequest((str(unpacked.folder),), collection, recipe=parse_recipe(recipe) if recipe else None)
    with stoppable() as stop:
        last, outcomes = follow_ingest(desk, request, stop)
    if last:
        report_ingest(last, outcomes, err=True)
    if last and last.cancelled:
        sys.exit(1)


def _print_list(found: Sequence[Dataset], current: str) -> None:
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
        say(tr("The format couldn't keep: {fields}.", fields=", ".join(fields)), err=True)


def _print_imported(imported: Imported) -> None:
    """On stderr: the rows that stayed out, what others came in without, and how many are in."""
    print_problems(imported.problems)
    skipped = sum(problem.skipped for problem in imported.problems)
    told = tr(
        "{count} cases came in, {skipped} rows stayed out", count=f"{imported.dataset.cases:,}", skipped=f"{skipped:,}"
    )
    say(told, err=True)


def print_problems(problems: Sequence[RowProblem]) -> None:
    """On stderr: what stayed out (✗), and what came in otherwise than it was (·)."""
    for problem in problems[:_TOLD]:
        where = (
            tr("line {line}: {reason}", line=problem.line, reason=problem.reason) if problem.line else problem.reason
        )
        say(f"{'✗' if problem.skipped else '·'} {where}", err=True, newlines=False)
    if len(problems) > _TOLD:
        say(tr("… and {count} more", count=len(problems) - _TOLD), err=True)


COMMANDS = (datasets,)
