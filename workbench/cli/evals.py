"""Commands about eval datasets: import and list."""

from __future__ import annotations

import click

from workbench.cli.display import print_json, print_table
from workbench.cli.front import FrontEnds
from workbench.i18n import tr


@click.command()
@click.option("--import", "path", default="", metavar="FILE", help="A JSONL file of cases, or SQuAD-style JSON.")
@click.option("--name", default="", help="The dataset's name [the file's].")
@click.option("--collection", "-c", default="", help="The collection it asks about [the chosen one].")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def datasets(front: FrontEnds, path: str, name: str, collection: str, as_json: bool) -> None:
    """Lists the eval datasets; imports one."""
    with front.desk() as desk:
        if path:
            desk.import_dataset(path, name, collection)
        found = desk.datasets()
    if as_json:
        print_json(found)
        return
    rows = [(d.name, d.collection, f"{d.cases:,}", f"{d.answerable:,}", d.hash[:12]) for d in found]
    print_table((tr("name"), tr("collection"), tr("cases"), tr("answerable"), "sha256"), rows, right=(2, 3))


COMMANDS = (datasets,)
