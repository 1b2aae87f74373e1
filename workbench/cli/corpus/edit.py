"""Commands that change documents' metadata, and take it back."""

from __future__ import annotations

import click

from workbench.cli.display import print_json, print_table, say
from workbench.cli.front import FrontEnds
from workbench.corpus.metadata import parse_assignments
from workbench.i18n import tr
from workbench.records.corpus import MetaValue
from workbench.records.curation import EditPlan


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--collection", "-c", default="", help="Of which collection [the chosen one].")
@click.option(
    "--meta", "-m", multiple=True, required=True, metavar="KEY=VALUE", help="What to set; KEY= takes a value back."
)
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def edit(
    front: FrontEnds, names: tuple[str, ...], collection: str, meta: tuple[str, ...], dry_run: bool, as_json: bool
) -> None:
    """Changes documents' metadata, which filters, answers and health read. Nothing is embedded again."""
    asked = parse_assignments(meta)
    with front.desk("read" if dry_run else "change") as desk:
        ids = [document.id for document in desk.find_documents(names, collection)]
        plan = desk.curator.preview(ids, asked)
        done = None if dry_run else desk.curator.apply(plan)
    for warning in plan.warnings:
        say(f"~ {warning}", err=True)
    if as_json:
        print_json(done or plan.changes)
        return
    _show(plan)
    if done:
        say(tr("Edit {id}, documents changed: {count}. Take it back: workbench undo", id=done.id, count=done.documents))
    else:
        say(tr("Documents that would change: {count}.", count=plan.documents))


def _show(plan: EditPlan) -> None:
    head = (tr("document"), tr("field"), tr("before"), tr("after"))
    print_table(head, [(c.source_id, c.field, shown(c.before), shown(c.after)) for c in plan.changes])


def shown(value: MetaValue | None) -> str:
    """A value as a person writes it, "–" for none."""
    if value is None:
        return "–"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


@click.command()
@click.argument("edit_id", type=int, default=0)
@click.pass_obj
def undo(front: FrontEnds, edit_id: int) -> None:
    """Takes back the last edit of metadata, or the one with that number."""
    with front.desk() as desk:
        done = desk.curator.undo(edit_id)
    say(tr("Edit {id} was taken back.", id=done.id))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def edits(front: FrontEnds, as_json: bool) -> None:
    """Lists the edits of metadata."""
    with front.desk("read") as desk:
        found = desk.curator.edits()
    if as_json:
        print_json(found)
        return
    rows = [
        (
            str(e.id),
            f"{e.created:%Y-%m-%d %H:%M}",
            str(e.documents),
            tr("undone") if e.undone else "",
            ", ".join(f"{field}={shown(value)}" for field, value in e.asked.items()),
        )
        for e in found
    ]
    print_table(("id", tr("when"), tr("documents"), "", tr("what")), rows, right=(0, 2))


COMMANDS = (edit, undo, edits)
