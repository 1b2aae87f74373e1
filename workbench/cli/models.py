"""Commands about models: the GGUF files there are."""

from __future__ import annotations

import click

from workbench.cli.display import print_json, print_table, size
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.i18n import tr


@click.command()
@click.option("--add", "folder", default="", metavar="FOLDER", help="Look for GGUF files in this folder too.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def models(front: FrontEnds, folder: str, as_json: bool) -> None:
    """Lists the GGUF files, as their headers describe them."""
    with front.desk("create") as desk:
        if folder:
            desk.add_model_folder(folder)
        found = desk.models(rescan=True)
    if as_json:
        print_json(found)
        return
    rows = [
        (f.name, f.quantization, size(f.size), f"{f.parameters / 1e6:.1f} M", f"{f.context:,}", f.problem or f.path)
        for f in found
    ]
    head = (tr("name"), tr("quantization"), tr("size"), tr("parameters"), tr("context"), tr("file"))
    print_table(head, rows, right=(2, 3, 4))


def model_path(desk: Desk, model: str) -> str:
    """The path of a model that a person names by its path, its file's name, or as ``workbench models`` shows it."""
    by_name = {name: f.path for f in desk.models() for name in (f.name, f.path.rsplit("/", 1)[-1])}
    return by_name.get(model, model)


COMMANDS = (models,)
