"""Indexes side by side: what each is and how far, build another beside, compare, measure, switch, go back, drop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.corpus.embedders import embedders_told
from screens.corpus.figures import compared, described, measured
from screens.dialogs import HELP, ChoiceDialog, ConfirmDialog, NoteDialog
from screens.messages import Snapshot
from screens.style import Line, Tone, content, count, duration, size
from screens.tools.form import Answers, FormDialog
from screens.tools.form import Line as FormLine
from screens.widgets.grid import Column, Grid, Row
from screens.work import Job, Jobs
from workbench.corpus.chunking import describe_recipe
from workbench.i18n import tr
from workbench.i18n.amounts import questions
from workbench.indexing.catalogue import language_words
from workbench.indexing.forms import FORMS, form_name, stored_bytes
from workbench.records.corpus import VectorForm
from workbench.records.indexes import BuildProgress, IndexComparison, IndexState, InstalledEmbedder, RecallProgress

if TYPE_CHECKING:
    from screens.app import WorkbenchApp
    from workbench.desk import Desk
    from workbench.ports import Cancel

MARKS: Final[dict[str, Line]] = {
    "current": ("✓", Tone.GOOD),
    "kept": ("↶", Tone.ACCENT),
    "ready": ("●", Tone.ACCENT),
    "building": ("◦", Tone.DIM),
}
STORED: Final = "…"
"""The choice of the questions that were asked of the collection; no dataset can be called so."""
_REFRESH_S: Final = 2.0


class Moved(Snapshot):
    """Fires while something runs; carries a line on how far it is."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class IndexesScreen(ModalScreen[None]):
    """A table of indexes over what is known of the one under the cursor. What it starts goes on when it is left."""

    CSS_PATH = ["../dialogs.tcss", "corpus.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "build", "Build", id="indexes.build", tooltip="Another embedder or form, beside this one"),
        Binding("c", "compare", "Compare", id="indexes.compare", tooltip="With the current one, on questions"),
        Binding("m", "measure", "Measure", id="indexes.measure", tooltip="What each form loses against exact search"),
        Binding("s", "switch", "Switch", id="indexes.switch", tooltip="Questions meet this one from now on"),
        Binding("u", "back", "Go back", id="indexes.back", tooltip="To the index that was current before"),
        Binding("e", "embedders", "Embedders", id="indexes.embedders", tooltip="What is installed, and wrong with it"),
        Binding("D,shift+d", "drop", "Drop", id="indexes.drop", tooltip="Removes this index for good"),
        Binding("escape,q", "leave", "Close", id="indexes.leave", tooltip="What runs goes on"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, collection: str) -> None:
        super().__init__()
        self._desk, self._jobs, self._collection = desk, jobs, collection
        self._states: dict[str, IndexState] = {}
        self._told: dict[str, Content] = {}
        self._job: Job | None = None

    def compose(self) -> ComposeResult:
        """A table, and what the row under the cursor is."""
        with Vertical(classes="dialog indexes") as box:
            box.border_title = content(tr("Indexes of {name}", name=self._collection))
            box.border_subtitle = content(tr("b builds another · s switches · u goes back · ? all keys"))
            yield Grid(_columns(), id="indexes-grid")
            with VerticalScroll(id="index-told"):
                yield Static()
            yield Static(id="indexes-progress")

    def on_mount(self) -> None:
        """Reads, and reads again while a build runs."""
        self._reload()
        self.set_interval(_REFRESH_S, self._refresh_running)

    def _refresh_running(self) -> None:
        if self._building:
            self._reload()

    @property
    def _building(self) -> bool:
        return any(job.title == tr("index") for job in self._jobs.works)

    def _reload(self) -> None:
        self._jobs.read(self, lambda: self._desk.indexes.states(self._collection), self._show)

    def _show(self, states: Sequence[IndexState]) -> None:
        self._states = {str(state.index.id): state for state in states}
        grid = self.query_one(Grid)
        grid.show([_row(state) for state in states])
        self._draw(grid.key)

    @on(Grid.Highlighted, "#indexes-grid")
    def chosen(self, event: Grid.Highlighted) -> None:
        """What is known of it."""
        self._draw(event.key)

    def _draw(self, key: str) -> None:
        state = self._states.get(key)
        told = self._told.get(key) or (described(state) if state else Content(""))
        self.query_one("#index-told Static", Static).update(told)

    def _progress(self, words: str) -> None:
        self.query_one("#indexes-progress", Static).update(content((words, Tone.DIM)))

    def on_moved(self, event: Moved) -> None:
        """How far it is."""
        self._progress(event.words)

    @property
    def _state(self) -> IndexState | None:
        return self._states.get(self.query_one(Grid).key)

    @property
    def _current(self) -> IndexState | None:
        return next((state for state in self._states.values() if state.index.status == "current"), None)

    def action_leave(self) -> None:
        """What runs goes on; the top line tells of it."""
        self.dismiss(None)

    # -- building --------------------------------------------------------------------------------------------------

    def action_build(self) -> None:
        """Asks for an embedder, then for a form; an index that isn't whole goes on instead."""
        state = self._state
        if self._busy():
            return
        if state and not state.whole:
            self.run_build(lambda cancel: self._desk.indexes.complete(state.index.id, cancel))
            return
        self._jobs.open(self, self._desk.indexes.embedders, self._ask_embedder)

    def action_embedders(self) -> None:
        """Those installed, with what the lint says."""

        def show(told: Content) -> None:
            self.app.push_screen(NoteDialog(tr("Embedders"), told, wide=True))

        indexes = self._desk.indexes
        self._jobs.open(self, lambda: embedders_told(indexes.embedders(), indexes.lint()), show)

    def _busy(self) -> bool:
        if self._building:
            self.notify(tr("One at a time: ctrl+c stops what runs."), timeout=3)
        return self._building

    def _ask_embedder(self, found: Sequence[InstalledEmbedder]) -> None:
        current = self._current
        rows = [Row(one.name, (one.name, (_about(one), Tone.DIM))) for one in found if not one.problem]
        dialog = ChoiceDialog(tr("Which embedder?"), rows, current.index.embedder.name if current else "")
        cuts = {one.name: one.cuts for one in found}
        self.app.push_screen(dialog, lambda name: self._ask_form(name, cuts[name]) if name else None)

    def _ask_form(self, embedder: str, cuts: Sequence[int]) -> None:
        current = self._current
        if current is None:
            return
        same = current.index.embedder.name == embedder
        cut = [VectorForm(dimension=fewer) for fewer in cuts]
        rows = [_form_row(form, current if same else None) for form in (*FORMS.values(), *cut)]
        self.app.push_screen(
            ChoiceDialog(tr("How shall it store vectors?"), rows, form_name(current.index.form)),
            lambda form: self._build(embedder, form or "") if form else None,
        )

    def _build(self, embedder: str, form: str) -> None:
        self.run_build(lambda cancel: self._desk.indexes.build(self._collection, embedder, None, form, cancel))

    def run_build(self, steps: Callable[[Cancel], Iterator[BuildProgress]]) -> None:
        """In the background; documents are committed one by one, so a stop loses nothing."""
        start_build(self._jobs, self, steps, self._built)

    def _built(self, last: BuildProgress | None) -> None:
        self._progress(built_words(last))
        self._reload()

    # -- judging ---------------------------------------------------------------------------------------------------

    def action_compare(self) -> None:
        """Asks on whose questions."""
        state, current = self._state, self._current
        if state is None or current is None or state is current:
            self.notify(tr("Put the cursor on another index than the current one."), timeout=3)
            return

        def read() -> list[Row]:
            sets = [d for d in self._desk.datasets() if d.collection == self._collection]
            rows = [Row(d.name, (d.name, (questions(d.cases), Tone.DIM))) for d in sets]
            asked = (tr("stored questions"), (tr("no gold: how far the two agree"), Tone.DIM))
            return [*rows, Row(STORED, asked)]

        def ask(rows: list[Row]) -> None:
            dialog = ChoiceDialog(tr("Compare on which questions?"), rows)
            self.app.push_screen(dialog, lambda name: self._compare(current, state, name) if name else None)

        self._jobs.open(self, read, ask)

    def _compare(self, first: IndexState, second: IndexState, name: str) -> None:
        dataset = "" if name == STORED else name
        ids = first.index.id, second.index.id

        def done(found: IndexComparison | None) -> None:
            self._progress("")
            if found and found.finished:
                self._told[str(second.index.id)] = compared(found)
                self._draw(self.query_one(Grid).key)

        self._jobs.run(
            self,
            tr("comparison"),
            lambda cancel: self._desk.indexes.compare(*ids, dataset, cancel),
            each=lambda found: Moved(tr("asked {done}/{total}", done=found.cases, total=found.total)),
            then=done,
            describe=lambda job, found: _describe(job, found.cases, found.total),
        )

    def action_measure(self) -> None:
        """Every form against exact search, with the filter that Ask has unless another is given."""
        state = self._state
        if state is None:
            return
        asked = cast("WorkbenchApp", self.app).ask_settings[0].filter
        lines = [
            FormLine("recall-filter", tr("Filter"), asked, tr("all of it")),
            FormLine(
                "recall-dataset", tr("Dataset"), "", tr("the questions that were asked; chunks where there are few")
            ),
        ]
        dialog = FormDialog(tr("Measure recall against exact search"), lines, lambda answers: answers)
        self.app.push_screen(dialog, lambda answers: self._measure(state, answers) if answers is not None else None)

    def _measure(self, state: IndexState, answers: Answers) -> None:
        on = answers["recall-dataset"], answers["recall-filter"]

        def done(found: RecallProgress | None) -> None:
            self._progress("")
            if found and found.finished:
                self._told[str(state.index.id)] = measured(found.measured, state.index.form)
                self._reload()

        self._jobs.run(
            self,
            tr("recall"),
            lambda cancel: self._desk.indexes.recall(state.index.id, *on, cancel),
            each=lambda found: Moved(tr("measuring {done}/{total}", done=found.done, total=found.total)),
            then=done,
            describe=lambda job, found: _describe(job, found.done, found.total),
        )

    # -- changing --------------------------------------------------------------------------------------------------

    def action_switch(self) -> None:
        """The previous one is kept, so nothing is asked."""
        state = self._state
        if state is None or state.index.status == "current":
            return
        self._jobs.read(self, lambda: self._desk.indexes.switch(state.index.id), lambda _: self._switched())

    def _switched(self) -> None:
        self.notify(tr("Switched. u goes back."), timeout=4)
        self._told.clear()
        self._reload()

    def action_back(self) -> None:
        """One key goes back; documents that came in since are put in first."""
        if not self._busy():
            self.run_build(lambda cancel: self._desk.indexes.back(self._collection, cancel))

    def action_drop(self) -> None:
        """Asks first: it is for good."""
        state = self._state
        if state is None:
            return
        name = f"{state.index.id} · {state.index.embedder.name}"
        question = tr(
            "Index {name} goes for good, with its {count} vectors.", name=name, count=count(state.index.vectors)
        )
        dialog = ConfirmDialog(tr("Drop the index?"), question, tr("Drop"), tr("Keep"))
        self.app.push_screen(dialog, lambda yes: self._drop(state.index.id) if yes else None)

    def _drop(self, index_id: int) -> None:
        self._jobs.read(self, lambda: self._desk.indexes.drop(index_id), lambda _: self._reload())


def start_build(
    jobs: Jobs,
    node: ModalScreen[None],
    steps: Callable[[Cancel], Iterator[BuildProgress]],
    then: Callable[[BuildProgress | None], object],
) -> Job:
    """A build that the top line tells of; it goes on when ``node`` is left."""

    def describe(job: Job, step: BuildProgress) -> None:
        _describe(job, step.done, step.total)

    return jobs.run(node, tr("index"), steps, each=lambda step: Moved(build_words(step)), then=then, describe=describe)


def build_words(step: BuildProgress) -> str:
    """How far it is, how fast, how long it will take."""
    progress = step.progress
    done = tr("index {id}: {done}/{total} documents", id=step.index.id, done=step.done, total=step.total)
    rate = tr("{rate} chunks/s", rate=f"{progress.rate:.{0 if progress.rate >= 10 else 1}f}") if progress.rate else ""
    eta = tr("{time} left", time=duration(progress.eta_s)) if progress.eta_s else ""
    return " · ".join(filter(None, (done, rate, eta)))


def built_words(last: BuildProgress | None) -> str:
    """What came of it."""
    if last is None:
        return tr("Done.")
    if last.progress.cancelled:
        return tr("Stopped; what is done is kept. b on it goes on.")
    failed = sum(outcome.action == "failed" for outcome in last.progress.outcomes)
    return tr("{count} documents failed.", count=failed) if failed else tr("Index {id} is built.", id=last.index.id)


def _describe(job: Job, done: int, total: int) -> None:
    job.detail, job.fraction = f"{done}/{total}", done / total if total else None


def _columns() -> list[Column]:
    return [
        Column("", 1),
        Column("#", 3, "right"),
        Column(tr("embedder"), 0),
        Column(tr("recipe"), 0),
        Column(tr("form"), 11),
        Column(tr("documents"), 11, "right", keep=90),
        Column("N·d·b", 8, "right"),
    ]


def _row(state: IndexState) -> Row:
    index = state.index
    name: Line = index.embedder.name if state.installed else (index.embedder.name, Tone.BAD)
    documents: Line = count(state.complete)
    if not state.whole:
        documents = (f"{count(state.complete)}/{count(state.documents)}", Tone.WARN)
    cells = (
        MARKS[state.standing],
        str(index.id),
        name,
        (describe_recipe(index.recipe), Tone.DIM),
        form_name(index.form),
        documents,
        size(round(state.bytes)),
    )
    return Row(str(index.id), cells)


def _about(one: InstalledEmbedder) -> str:
    known = one.known
    return " · ".join(
        filter(
            None,
            (
                str(one.dimension),
                tr("{count} tokens", count=count(one.max_tokens)),
                language_words(known) if known else "",
                known.licence if known else "",
            ),
        )
    )


def _form_row(form: VectorForm, current: IndexState | None) -> Row:
    """A form with what it takes, and what it was measured to lose where it was."""
    name = form_name(form)
    told = {
        "float32": tr("exact"),
        "int8": tr("a quarter of the bytes"),
        "bit": tr("signs alone: coarse"),
        "bit+int8": tr("signs, then int8"),
        "bit+float32": tr("signs, then exact"),
    }.get(name, tr("its first components alone (Matryoshka)"))
    parts: list[str] = []
    if current:
        found = next((one for one in current.measured if one.form == form), None)
        if found and not found.outdated:
            parts.append(f"Recall_ANN@{found.k} {found.recall.value:.3f}")
        kept = form.dimension or current.index.embedder.dimension
        parts.append(size(round(stored_bytes(form, kept, current.index.vectors))))
    return Row(name, (name, (" · ".join((*parts, told)), Tone.DIM)))
