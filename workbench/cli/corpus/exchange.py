"""Commands that take collections out of a file and bring them into one, and snapshots of the whole file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, get_args

import click

from workbench.cli.display import StatusLine, duration, print_json, print_table, say, size, stoppable
from workbench.cli.front import FrontEnds
from workbench.i18n import tr
from workbench.records.exchange import (
    Copied,
    ExchangeProgress,
    Exported,
    ExportForm,
    ExportRequest,
    Received,
    Snapshot,
)

R = TypeVar("R", Exported, Received, Copied)


@click.command()
@click.argument("folder")
@click.option("--collection", "-c", default="", help="Which collection [the chosen one].")
@click.option("--format", "form", type=click.Choice(get_args(ExportForm)), default="jsonl", show_default=True)
@click.option("--filter", "-f", "expression", default="", help="Only documents with a chunk that passes.")
@click.option("--document", "-d", "names", multiple=True, metavar="NAME", help="Only this document; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as JSON.")
@click.pass_obj
def export(
    front: FrontEnds,
    folder: str,
    collection: str,
    form: ExportForm,
    expression: str,
    names: tuple[str, ...],
    as_json: bool,
) -> None:
    """Writes a collection into a new folder: documents, chunks with their vectors, cases and qrels.

    Deleted documents are in no export. workbench import reads it back exactly.
    """
    with front.desk("read") as desk, stoppable() as stop:
        name = collection or desk.collection
        ids = tuple(d.id for d in desk.find_documents(names, name)) if names else ()
        done = _follow(desk.exchange.export(ExportRequest(name, folder, form, expression, ids), stop), Exported)
    if as_json:
        print_json(done.manifest)
        return
    for file in done.manifest.files:
        say(f"{file.name:<20} {file.rows:>10,}  {size(file.bytes):>10}", newlines=False)
    told = tr("{bytes} in {folder} ({time}).", bytes=size(done.bytes), folder=done.folder, time=duration(done.seconds))
    say(told, newlines=False)


@click.command("import")
@click.argument("folder")
@click.option("--collection", "-c", default="", help="Its name in this file [that of the export].")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def import_(front: FrontEnds, folder: str, collection: str, as_json: bool) -> None:
    """Brings an export into the file, whole or not at all. What is there with the same text stays as it is."""
    with front.desk("create") as desk, stoppable() as stop:
        done = _follow(desk.exchange.receive(folder, stop, collection=collection), Received)
    if as_json:
        print_json(done)
        return
    say(
        tr(
            "{collection}: {added} documents came in with {chunks} chunks, {present} were there ({time}).",
            collection=done.collection,
            added=f"{done.added:,}",
            chunks=f"{done.chunks:,}",
            present=f"{done.present:,}",
            time=duration(done.seconds),
        ),
        newlines=False,
    )
    if done.datasets:
        say(tr("Datasets: {names}", names=", ".join(done.datasets)), newlines=False)
    for number in done.beside:
        say(tr("Index {id} is new and stands beside the current one: workbench indexes list", id=number))


@click.command()
@click.argument("collection")
@click.argument("file")
@click.option("--remove", is_flag=True, help="Delete it here once every table was read back the same.")
@click.option("--traces", is_flag=True, help="Its questions and answers too.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def move(front: FrontEnds, collection: str, file: str, remove: bool, traces: bool, as_json: bool) -> None:
    """Copies a collection whole into another workbench file; with --remove it is moved.

    Texts, chunks, every index, token vectors and datasets go along, and are read back from both files before anything
    is removed. Datasets stay here as well, since evaluation runs speak of them.
    """
    with front.desk("change" if remove else "read") as desk, stoppable() as stop:
        work = desk.exchange.copy(collection, file, traces=traces, remove=remove, cancel=stop)
        done = _follow(work, Copied)
    if as_json:
        print_json(done)
        return
    rows = [(c.table, f"{c.rows:,}", f"{c.copied_rows:,}", c.copied_sha256[:12]) for c in done.checks]
    print_table((tr("table"), tr("here"), tr("there"), "sha256"), rows, right=(1, 2))
    told = tr("Copied to {file} and checked ({time}).", file=done.file, time=duration(done.seconds))
    if done.removed:
        told = tr("Moved to {file}, checked, and removed here ({time}).", file=done.file, time=duration(done.seconds))
    say(told, newlines=False)


@click.group()
def snapshot() -> None:
    """Copies of the whole file by name: take, list, restore, delete.

    A snapshot keeps what is in the file when it is taken: what is deleted later is still in it, until you delete the
    snapshot.
    """


_FOLDER = click.option("--folder", default="", help="Where they are [beside the file].")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print as JSON.")


@snapshot.command()
@click.argument("name", default="")
@_FOLDER
@click.pass_obj
def take(front: FrontEnds, name: str, folder: str) -> None:
    """Copies the file as it is now, under NAME or the time."""
    with front.desk("read") as desk, stoppable() as stop:
        taken = desk.exchange.take_snapshot(name, folder, stop)
    say(
        tr("“{name}” is in {path} ({bytes}).", name=taken.name, path=taken.path, bytes=size(taken.bytes)),
        newlines=False,
    )


@snapshot.command("list")
@_FOLDER
@_JSON
@click.pass_obj
def list_snapshots(front: FrontEnds, folder: str, as_json: bool) -> None:
    """Lists them, newest first."""
    with front.desk("read") as desk:
        found = desk.exchange.snapshots(folder)
    if as_json:
        print_json(found)
        return
    print_table((tr("when"), tr("bytes"), tr("name")), [_row(one) for one in found], right=(1,))
    if found:
        say(tr("They keep what was deleted after they were taken."), dim=True)


def _row(one: Snapshot) -> tuple[str, str, str]:
    return f"{one.created.astimezone():%Y-%m-%d %H:%M}", size(one.bytes), one.name


@snapshot.command("restore")
@click.argument("name")
@_FOLDER
@click.pass_obj
def restore_snapshot(front: FrontEnds, name: str, folder: str) -> None:
    """Puts the file back to what it was; a snapshot of what it is now is taken first."""
    with front.desk() as desk:
        before = desk.exchange.restore_snapshot(name, folder)
    say(tr("Restored “{name}”. What was until now is “{before}”.", name=name, before=before.name), newlines=False)


@snapshot.command("delete")
@click.argument("name")
@_FOLDER
@click.pass_obj
def delete_snapshot(front: FrontEnds, name: str, folder: str) -> None:
    """Deletes one for good."""
    with front.desk("read") as desk:
        desk.exchange.delete_snapshot(name, folder)
    say(tr("“{name}” is gone.", name=name), newlines=False)


def _follow(work: Iterator[ExchangeProgress], kind: type[R]) -> R:
    """Tells how far it is; returns what came of it."""
    line = StatusLine()
    last: ExchangeProgress | None = None
    try:
        for last in work:
            if last.result is None:
                line.say(f"{tr(last.stage)} {last.done:,}/{last.total:,}")
    finally:
        line.clear()
    assert last is not None  # noqa: S101 -- it ends with a result, or raises
    assert isinstance(last.result, kind)  # noqa: S101 -- as above
    return last.result


COMMANDS = (export, import_, move, snapshot)
