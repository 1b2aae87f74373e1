"""Ingest: the dialog that asks what to read, and the one that shows how far it is and what went wrong."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, cast, get_args

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, DirectoryTree, Input, Select, Static

from screens import fields
from screens.dialogs import HELP, FolderTree, NoteDialog
from screens.style import Line, Tone, bar, content, count, duration
from screens.widgets.grid import Column, Grid, Row
from screens.work import Job
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.corpus import (
    Collection,
    IngestAction,
    IngestOutcome,
    IngestProgress,
    IngestRequest,
    Metadata,
    Recipe,
    RecipeName,
)

AS_IT_IS: Final = "as-it-is"
"""The recipe choice that keeps the collection's own."""


@dataclass
class IngestRun:
    """One ingest as the screens follow it; the worker thread writes it, the UI thread reads it."""

    collection: str
    job: Job | None = None
    progress: IngestProgress | None = None
    done: bool = False
    counts: Counter[IngestAction] = field(default_factory=Counter)
    told: list[IngestOutcome] = field(default_factory=list)

    def take(self, job: Job, progress: IngestProgress) -> None:
        """Adds what is new; writes the job's detail for the top line."""
        self.progress = progress
        for outcome in progress.outcomes:
            self.counts[outcome.action] += 1
            if outcome.reason:
                self.told.append(outcome)
        left = " · " + tr("{time} left", time=duration(progress.eta_s)) if progress.eta_s is not None else ""
        job.detail = f"{count(progress.done)}/{count(progress.total)}{left}"
        job.fraction = share(progress)


class IngestDialog(ModalScreen[IngestRequest]):
    """Asks for paths, collection, recipe and metadata; dismisses with a request that can be run, None when left."""

    CSS_PATH = "ingest.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="ingest.close"),
        Binding("ctrl+s", "start", "Start", id="ingest.start"),
        *HELP,
    ]

    def __init__(self, collections: Sequence[Collection], chosen: str) -> None:
        super().__init__()
        self._collections = {c.name: c for c in collections}
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        """The tree beside the form."""
        names = sorted(self._collections)
        recipes = [(content(recipe_name(name)), name) for name in (AS_IT_IS, *get_args(RecipeName))]
        with Vertical(classes="dialog ingest") as box:
            box.border_title = content(tr("Ingest"))
            box.border_subtitle = content(tr("enter picks · ⌫ in the tree: folder above · ctrl+s starts · esc closes"))
            with Horizontal(id="ingest-form"):
                yield FolderTree(Path.cwd(), id="ingest-tree")
                with Vertical(id="ingest-fields"):
                    yield _field("paths", tr("Files or folders"), placeholder=tr("several: separated by spaces"))
                    yield _field("collection", tr("Collection"), self._chosen or "documents", names)
                    yield Select(recipes, value=AS_IT_IS, allow_blank=False, id="recipe", compact=True)
                    yield _field("meta", tr("Metadata"), placeholder="year=2026 owner=registry")
                    yield Static("", classes="problem")
                    with Horizontal(classes="buttons"):
                        yield Button(content(tr("Start")), id="start")

    def on_mount(self) -> None:
        """A path can be typed at once."""
        self.query_one("#recipe").border_title = content(tr("Recipe"))
        self.query_one("#paths", Input).focus()

    @on(DirectoryTree.FileSelected)
    @on(DirectoryTree.DirectorySelected)
    def picked(self, event: DirectoryTree.FileSelected | DirectoryTree.DirectorySelected) -> None:
        """What is picked in the tree becomes the path."""
        self.query_one("#paths", Input).value = shlex.quote(str(event.path))

    def on_input_submitted(self) -> None:
        """Enter goes on to the next field, and starts from the last."""
        if self.focused is self.query_one("#meta"):
            self.action_start()
        else:
            self.focus_next()

    @on(Button.Pressed)
    def action_start(self) -> None:
        """Dismisses with the request, or says what is wrong with it."""
        try:
            request = self._request()
        except (WorkbenchError, ValueError) as error:
            fields.tell_problem(self, error)
        else:
            self.dismiss(request)

    def _request(self) -> IngestRequest:
        paths = existing_paths(self.query_one("#paths", Input).value)
        name = self.query_one("#collection", Input).value.strip()
        if not name:
            raise ValueError(tr("Give the collection a name."))
        metadata = read_metadata(self.query_one("#meta", Input).value)
        recipe = self.query_one("#recipe", Select).value
        chosen = None if recipe == AS_IT_IS else Recipe(cast(RecipeName, recipe))
        return IngestRequest(paths, name, metadata, chosen, rechunk=chosen is not None and name in self._collections)

    def action_leave(self) -> None:
        """No request."""
        self.dismiss(None)


def _field(name: str, label: str, value: str = "", suggestions: Sequence[str] = (), *, placeholder: str = "") -> Input:
    made = fields.field(name, label, value, placeholder)
    made.suggester = SuggestFromList(suggestions, case_sensitive=False) if suggestions else None
    return made


def recipe_name(name: str) -> str:
    """What a recipe does, in a few words."""
    names = {
        AS_IT_IS: tr("the collection's own"),
        "structure": tr("structure: headings and paragraphs"),
        "window": tr("window: fixed size, overlapping"),
        "sentence": tr("sentence: whole sentences"),
        "semantic": tr("semantic: where the subject changes"),
        "parent": tr("parent: found small, delivered whole"),
    }
    return names[name]


def existing_paths(written: str) -> tuple[str, ...]:
    """The paths of a line, quoted as in a shell. Raises ValueError for none, or for one that isn't there."""
    try:
        names = shlex.split(written)
    except ValueError as error:
        raise ValueError(tr("A quotation mark is missing its pair.")) from error
    paths = [Path(name).expanduser() for name in names]
    if not paths:
        raise ValueError(tr("Give a file or a folder."))
    for path in paths:
        if not path.exists():
            raise ValueError(tr("There is no “{path}”.", path=path))
    return tuple(map(str, paths))


def read_metadata(written: str) -> Metadata:
    """``key=value`` pairs of a line, typed as on the command line. Raises UsageError, ValueError."""
    from workbench.corpus.metadata import parse_assignments

    return parse_assignments(shlex.split(written))


class IngestScreen(ModalScreen[None]):
    """Follows a run: bar, rate, time left, and every document that failed or lost something, with the reason."""

    CSS_PATH = "ingest.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Hide", id="run.hide"),
        Binding("x", "stop", "Stop", id="run.stop"),
        *HELP,
    ]

    def __init__(self, run: IngestRun) -> None:
        super().__init__()
        self._run = run
        self._rows = -1

    def compose(self) -> ComposeResult:
        """Figures over the list of what went wrong."""
        with Vertical(classes="dialog ingest") as box:
            box.border_title = content(tr("Ingest into {collection}", collection=self._run.collection))
            yield Static("", id="run-figures")
            yield Grid([Column("", 1), Column(tr("document"), 0), Column(tr("reason"), 0)])

    def on_mount(self) -> None:
        """Draws five times a second."""
        self.set_interval(0.2, self._draw)
        self._draw()

    def _draw(self) -> None:
        run = self._run
        self.query_one("#run-figures", Static).update(figures(run))
        box = self.query_one(".dialog")
        box.border_subtitle = content(
            tr("enter tells all of a row · esc closes") if run.done else tr("x stops · esc hides, and it goes on")
        )
        if len(run.told) != self._rows:
            self._rows = len(run.told)
            self.query_one(Grid).show([_told(i, o) for i, o in enumerate(run.told)])

    @on(Grid.Opened)
    def open_reason(self, event: Grid.Opened) -> None:
        """The whole reason, and what to do."""
        outcome = self._run.told[int(event.key)]
        remedy: Line = (("\n\n→ ", Tone.ACCENT), outcome.remedy) if outcome.remedy else ""
        self.app.push_screen(NoteDialog(outcome.source_id, content(outcome.reason, remedy)))

    def action_stop(self) -> None:
        """What was committed stays."""
        if self._run.job:
            self._run.job.stop()


def _told(number: int, outcome: IngestOutcome) -> Row:
    mark: Line = ("✗", Tone.BAD) if outcome.action == "failed" else ("~", Tone.WARN)
    return Row(str(number), (mark, outcome.source_id, f"{outcome.reason} {outcome.remedy}".strip()))


def share(progress: IngestProgress) -> float:
    """How much of the work is done, 0–1: of the time it takes when that can be told, else of the sources."""
    if progress.eta_s is not None and not progress.finished:
        return progress.elapsed_s / ((progress.elapsed_s + progress.eta_s) or 1.0)
    return progress.done / progress.total if progress.total else 0.0


def figures(run: IngestRun) -> Content:
    """How far it is, in four lines."""
    p = run.progress
    if p is None:
        return content((tr("starting…") if not run.done else tr("Nothing was done."), Tone.DIM))
    eta = tr("{time} left", time=duration(p.eta_s)) if p.eta_s is not None else ""
    if run.done:
        eta = (
            tr("stopped after {time}", time=duration(p.elapsed_s))
            if p.cancelled
            else tr("finished in {time}", time=duration(p.elapsed_s))
        )
    names: dict[IngestAction, str] = {
        "added": tr("added"),
        "updated": tr("updated"),
        "unchanged": tr("unchanged"),
        "metadata": tr("metadata only"),
        "failed": tr("failed"),
        "retired": tr("retired"),
        "deleted": tr("deleted"),
    }
    outcomes: list[Line] = [
        (f"{count(run.counts[a])} {n}   ", Tone.BAD if a == "failed" else Tone.PLAIN)
        for a, n in names.items()
        if run.counts[a]
    ]
    rate = tr("{rate} chunks/s", rate=f"{p.rate:.1f}") if p.rate else ""
    return content(
        (bar(share(p), 40), Tone.ACCENT),
        f" {count(p.done)}/{count(p.total)}   {eta}\n",
        (
            tr("{done} of {known} chunks embedded", done=count(p.chunks_done), known=count(p.chunks_known))
            + f"   {rate}\n",
            Tone.DIM,
        ),
        (p.current if not run.done else "", Tone.DIM),
        "\n",
        *outcomes,
    )
