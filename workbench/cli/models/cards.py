"""``workbench models``: the card of a model, notes, hashes, copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import click

from workbench.cli.display import StatusLine, print_json, print_table, say, size, stoppable
from workbench.cli.front import FrontEnds
from workbench.cli.models.files import header_of, model_path, models
from workbench.cli.numbers import Number
from workbench.desk import Desk
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.library.notes import card_markdown, card_rows
from workbench.library.variants import copies, wasted
from workbench.records.library import ModelNote
from workbench.records.models import ModelFile

NAME_CELLS: Final = 24
"""Of the column of names in a card."""


def known_file(desk: Desk, model: str) -> ModelFile:
    """The listed file that a person names by its name or its path. Raises NotFoundError."""
    if found := _listed(desk, path := model_path(desk, model)):
        return found
    if Path(path).expanduser().is_file():
        raise NotFoundError(
            tr("Not listed"),
            tr("“{name}” lies in no folder that is looked into.", name=model),
            tr("Add its folder: workbench models --add {folder}", folder=Path(path).expanduser().absolute().parent),
        )
    raise NotFoundError(
        tr("No such model"),
        tr("There is no model “{name}”.", name=model),
        tr("workbench models lists the files there are."),
    )


def any_file(desk: Desk, model: str) -> ModelFile:
    """As ``known_file``, or a file that isn't listed, by its path. Raises EngineError for one that can't be used."""
    path = model_path(desk, model)
    unlisted = Path(path).expanduser().is_file() and not _listed(desk, path)
    return header_of(path) if unlisted else known_file(desk, model)


def _listed(desk: Desk, path: str) -> ModelFile | None:
    return next((f for f in desk.library.files() if path in (f.path, *(p.path for p in f.places))), None)


@models.command()
@click.argument("model", metavar="MODEL")
@click.option("--markdown", is_flag=True, help="The card as Markdown, with your notes.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def show(front: FrontEnds, model: str, markdown: bool, as_json: bool) -> None:
    """Shows a model's card: what its header says, where it is kept, its copies and variants, your notes."""
    with front.desk("create") as desk:
        file, files = any_file(desk, model), desk.library.files()
        note = desk.library.notes.of(file)
    if as_json:
        print_json({"file": file, "note": note})
    elif markdown:
        say(card_markdown(file, note, files, date.today()))
    else:
        rows = [row for row in card_rows(file, files) if row[1]]
        _say_rows((*rows, *note_rows(note)))


def _say_rows(rows: Sequence[tuple[str, str]]) -> None:
    """Names beside their values, with a gap after the longest name."""
    width = max(NAME_CELLS, *(len(name) + 2 for name, _ in rows))
    for name, value in rows:
        say(f"{name:<{width}}{value}")


def note_rows(note: ModelNote) -> list[tuple[str, str]]:
    """The parts of a note that are written."""
    overdue = f" ({tr('overdue')})" if note.overdue(date.today()) else ""
    rows = [
        (tr("Chosen for"), note.chosen_for),
        (tr("Discarded alternatives"), note.alternatives),
        (tr("Limits"), note.limits),
        (tr("Next review"), note.review.isoformat() + overdue if note.review else ""),
    ]
    return [row for row in rows if row[1]]


@models.command()
@click.argument("model", default="", metavar="[MODEL]")
@click.option("--for", "chosen_for", metavar="TEXT", help="What it was chosen for.")
@click.option("--discarded", "alternatives", metavar="TEXT", help="What was discarded, and why.")
@click.option("--limits", metavar="TEXT", help="What it isn't good at.")
@click.option("--review", metavar="DATE", help="When to look at the choice again: 2027-01-31.")
@click.option("--clear", is_flag=True, help="Drop the note.")
@click.pass_obj
def note(
    front: FrontEnds,
    model: str,
    chosen_for: str | None,
    alternatives: str | None,
    limits: str | None,
    review: str | None,
    clear: bool,
) -> None:
    """Writes a note about a model; without a text shows it, without a MODEL lists all."""
    given = {"chosen_for": chosen_for, "alternatives": alternatives, "limits": limits}
    changes: dict[str, Any] = {name: text for name, text in given.items() if text is not None}
    if review is not None:
        changes["review"] = read_date(review)
    with front.desk("create") as desk:
        if not model:
            _list_notes(desk)
            return
        file = known_file(desk, model)
        written = ModelNote() if clear else replace(desk.library.notes.of(file), **changes)
        if clear or changes:
            desk.library.notes.save(file, written)
    _say_rows(note_rows(written) or [(file.name, tr("No notes."))])


def read_date(text: str) -> date | None:
    """ "2027-01-31", None for "". Raises UsageError."""
    try:
        return date.fromisoformat(text) if text.strip() else None
    except ValueError:
        raise UsageError(
            tr("Not a date"), tr("“{text}” is no date.", text=text), tr("Write it as {example}.", example="2027-01-31")
        ) from None


def _list_notes(desk: Desk) -> None:
    files = desk.library.files()
    noted = desk.library.notes.for_all(files)
    rows = [
        (
            f.name,
            n.chosen_for,
            (n.review.isoformat() if n.review else "") + (" ✗ " + tr("overdue") if n.overdue(date.today()) else ""),
        )
        for f in files
        if (n := noted.get(f.path))
    ]
    print_table((tr("name"), tr("Chosen for"), tr("Next review")), rows)


@models.command("hash")
@click.argument("names", nargs=-1, metavar="[MODEL]...")
@click.option("--verify", is_flag=True, help="Read those again whose hash is known, and compare.")
@click.pass_obj
def hash_command(front: FrontEnds, names: Sequence[str], verify: bool) -> None:
    """Finds the SHA-256 of model files and remembers it; exit code 1 when one isn't what it should be."""
    status, differing = StatusLine(), 0
    with front.desk("create") as desk, stoppable() as stop:
        wanted = {known_file(desk, name).path for name in names}
        by_path = {f.path: f for f in desk.library.files()}
        for step in desk.library.hash_files(stop, tuple(wanted), verify=verify):
            name = by_path[step.path].name
            if not step.hash:
                status.say(tr("hashing {name}", name=name) + f" {step.fraction:.0%}")
                continue
            status.clear()
            differing += step.differs
            mark = tr("differs from what was known") if step.differs else ""
            say(f"{step.hash}  {name}  {mark}".rstrip())
    if differing:
        raise click.exceptions.Exit(1)


@models.command("copies")
@click.pass_obj
def copies_command(front: FrontEnds) -> None:
    """Lists files that hold the same bytes several times on the disk; those whose hash is known."""
    with front.desk("create") as desk:
        files = desk.library.files()
    rows = [(digest[:12], size(f.size), f.path) for digest, same in copies(files).items() for f in same]
    if rows:
        print_table(("SHA-256", tr("size"), tr("file")), rows, right=(1,))
        say(tr("{size} could be freed.", size=size(wasted(files))), dim=True)
    else:
        say(tr("No file is there twice."))
    if unknown := sum(not f.hash and not f.problem for f in files):
        counted = tr("1 file has no hash yet") if unknown == 1 else tr("{count} files have no hash yet", count=unknown)
        say(f"{counted}: workbench models hash", dim=True)


@models.command()
@click.argument("minutes", type=Number(0), required=False)
@click.pass_obj
def idle(front: FrontEnds, minutes: float | None) -> None:
    """Unloads a model after so many MINUTES without work, 0: never; without MINUTES tells what is set."""
    with front.desk("create") as desk:
        if minutes is not None:
            desk.library.idle_minutes = minutes
        set_to = desk.library.idle_minutes
    say(tr("after {minutes} minutes", minutes=f"{set_to:g}") if set_to else tr("never"))


COMMANDS = (models,)
