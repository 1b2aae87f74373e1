"""Collections on their way out of the file, into it, or to another one: what is asked, what runs, what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from screens.corpus.export import ExportDialog
from screens.dialogs import ChoiceDialog, NoteDialog, PathDialog
from screens.style import Tone, content, count, size
from screens.tools.form import Answers, FormDialog, Line
from screens.widgets.grid import Row
from screens.work import Job
from workbench.i18n import tr
from workbench.records.exchange import Copied, Exported, ExportManifest, ExportRequest, Received

if TYPE_CHECKING:
    from screens.base import ModeScreen
    from workbench.ports import Cancel
    from workbench.records.exchange import ExchangeProgress


def ask_export(screen: ModeScreen, collection: str, marked: Sequence[str]) -> None:
    """Opens the dialog; what it asks for runs in the background."""

    def start(request: ExportRequest | None) -> None:
        if request is not None:
            _follow(screen, tr("export"), lambda cancel: screen.desk.exchange.export(request, cancel))

    screen.app.push_screen(ExportDialog(collection, marked), start)


def ask_import(screen: ModeScreen) -> None:
    """Asks for the folder of an export and for the collection's name here, and brings it in."""

    def start(folder: str, name: str) -> None:
        _follow(screen, tr("import"), lambda cancel: screen.desk.exchange.receive(folder, cancel, collection=name))

    def ask_name(folder: str, manifest: ExportManifest) -> None:
        documents = next(file.rows for file in manifest.files if file.name.startswith("documents."))
        told = tr(
            "{count} documents of “{name}”, exported {when}. What is there with the same text stays as it is.",
            count=count(documents),
            name=manifest.collection,
            when=f"{manifest.created.astimezone():%Y-%m-%d}",
        )
        lines = [Line("import-name", tr("Collection"), manifest.collection, tr("as in the export"))]
        dialog = FormDialog(tr("Import a collection"), lines, lambda answers: answers["import-name"], told)
        screen.app.push_screen(dialog, lambda name: start(folder, name) if name is not None else None)

    def look(folder: str | None) -> None:
        if folder:
            screen.jobs.read(screen, lambda: screen.desk.exchange.look(folder), lambda found: ask_name(folder, found))

    hint = tr("The folder that an export made.")
    screen.app.push_screen(PathDialog(tr("Import a collection"), hint, folder=True), look)


def ask_move(screen: ModeScreen, collection: str) -> None:
    """Asks whether to copy or move it and where to; every table is read back from both files."""

    def start(how: str, file: str) -> None:
        remove, traces = how.startswith("move"), how.endswith("traces")
        title = tr("move") if remove else tr("copy")
        _follow(
            screen,
            title,
            lambda cancel: screen.desk.exchange.copy(collection, file, traces=traces, remove=remove, cancel=cancel),
        )

    def ask_file(how: str | None) -> None:
        if how:
            lines = [Line("move-file", tr("Workbench file"), str(Path.cwd() / f"{collection}.db"))]
            told = tr("Made where there is none. Nothing is removed before everything was read back the same.")
            dialog = FormDialog(_move_title(how, collection), lines, _path, told)
            screen.app.push_screen(dialog, lambda file: start(how, file) if file else None)

    rows = [
        Row("copy", (tr("copy it"), (tr("whole; it stays here too"), Tone.DIM))),
        Row("copy-traces", (tr("copy it"), (tr("with its questions and answers"), Tone.DIM))),
        Row("move", (tr("move it"), (tr("deleted here once read back; datasets stay"), Tone.DIM))),
        Row("move-traces", (tr("move it"), (tr("with its questions and answers"), Tone.DIM))),
    ]
    title = tr("{name} to another file", name=collection)
    screen.app.push_screen(ChoiceDialog(title, rows), ask_file)


def _move_title(how: str, collection: str) -> str:
    return tr("Move {name}", name=collection) if how.startswith("move") else tr("Copy {name}", name=collection)


def _path(answers: Answers) -> str:
    """Raises ValueError with a sentence."""
    if not answers["move-file"]:
        raise ValueError(tr("Name a file."))
    return answers["move-file"]


def _follow(screen: ModeScreen, title: str, work: Callable[[Cancel], Iterator[ExchangeProgress]]) -> None:
    def describe(job: Job, progress: ExchangeProgress) -> None:
        job.detail = f"{tr(progress.stage)} {count(progress.done)}/{count(progress.total)}"
        job.fraction = progress.done / progress.total if progress.total else None

    def ended(progress: ExchangeProgress | None) -> None:
        result = progress.result if progress else None
        if isinstance(result, Exported):
            screen.app.push_screen(NoteDialog(tr("Exported"), _exported(result)))
        elif isinstance(result, Received):
            screen.bench.changed()
            screen.app.push_screen(NoteDialog(tr("Imported"), _received(result)))
        elif isinstance(result, Copied):
            screen.bench.changed()
            title = tr("Moved and checked") if result.removed else tr("Copied and checked")
            screen.app.push_screen(NoteDialog(title, _copied(result)))

    screen.jobs.run(screen, title, work, then=ended, describe=describe)


def _exported(result: Exported) -> Content:
    lines = [f"{file.name:<20}{count(file.rows):>10}{size(file.bytes):>12}\n" for file in result.manifest.files]
    return content(*lines, "\n", (str(result.folder), Tone.DIM))


def _received(result: Received) -> Content:
    told = tr(
        "{collection}: {added} documents came in, {present} were there.",
        collection=result.collection,
        added=count(result.added),
        present=count(result.present),
    )
    sets = ["\n" + tr("Datasets: {names}", names=", ".join(result.datasets))] if result.datasets else []
    beside = ["\n" + tr("Index {id} is new and stands beside the current one.", id=number) for number in result.beside]
    return content(told, *sets, *beside)


def _copied(result: Copied) -> Content:
    """Every table with its rows on both sides; they were the same, or nothing would have been copied."""
    lines = [f"{check.table:<24}{count(check.rows):>10}{count(check.copied_rows):>10}  ✓\n" for check in result.checks]
    head = (f"{tr('table'):<24}{tr('here'):>10}{tr('there'):>10}\n", Tone.DIM)
    return content(head, *lines, "\n", (str(result.file), Tone.DIM))
