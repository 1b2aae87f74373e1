"""The re-chunk lab: type another recipe, see at once what it makes of the documents at hand, build it beside."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from statistics import median
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from screens.corpus.indexes import Moved, built_words, start_build
from screens.dialogs import HELP
from screens.style import Line, Tone, content, count
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs, Latest
from workbench.corpus.chunking import describe_recipe, parse_recipe
from workbench.errors import Cancelled, UsageError, WorkbenchError
from workbench.i18n import tr
from workbench.lenses.told import kind_words
from workbench.records.corpus import Document, Recipe
from workbench.records.indexes import BuildProgress, CutPreview, CutShape, SpanFate

if TYPE_CHECKING:
    from workbench.desk import Desk

MOST: Final = 5
"""Documents that are cut anew at every change."""
FATES: Final[dict[SpanFate, Line]] = {
    "same": ("=", Tone.DIM),
    "moved": ("~", Tone.ACCENT),
    "added": ("+", Tone.GOOD),
    "removed": ("−", Tone.BAD),
}
_BINS: Final = 12
_BARS: Final = " ▁▂▃▄▅▆▇█"


class RechunkLab(ModalScreen[None]):
    """A line for the recipe, the spans that change, and both cuts in figures."""

    CSS_PATH = ["../dialogs.tcss", "corpus.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "build", "Build", id="lab.build", tooltip="An index by this recipe, beside the current one"),
        Binding("down", "to_spans", "To the spans", show=False, id="lab.down"),
        Binding("escape", "leave", "Close", id="lab.leave", tooltip="A build goes on"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, collection: str, recipe: Recipe, documents: Sequence[Document]) -> None:
        super().__init__()
        self._desk, self._jobs, self._collection = desk, jobs, collection
        self._before = recipe
        self._documents = list(documents)[:MOST]
        self._recipe: Recipe | None = None
        self._cancel = threading.Event()
        self._latest = Latest(jobs, self, self._read_cuts, self._show, self._broke)

    def compose(self) -> ComposeResult:
        """The recipe over the diff and the figures."""
        names = ", ".join(d.source_id for d in self._documents)
        with Vertical(classes="dialog lab") as box:
            box.border_title = content(tr("Re-chunk lab") + f" · {names}")
            box.border_subtitle = content(tr("ctrl+s builds it beside · esc closes"))
            yield Input(describe_recipe(self._before), id="recipe", classes="pane", placeholder="structure:size=400")
            yield Static(id="recipe-problem")
            with Horizontal(id="lab-panes"):
                yield Grid(_columns(), id="spans")
                with VerticalScroll(id="lab-shape"):
                    yield Static()
            yield Static(id="indexes-progress")

    def on_mount(self) -> None:
        """The current recipe first: nothing differs."""
        self.query_one("#recipe", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Cuts anew as soon as it can be understood."""
        event.stop()
        try:
            self._recipe = parse_recipe(event.value)
        except UsageError as error:
            self._recipe = None
            self._stale(f"{error.message} {error.remedy}")
            return
        self._tell(tr("cutting…"), Tone.DIM)
        self._cancel.set()  # what is still being cut by the recipe before
        self._cancel = threading.Event()
        self._latest.submit(self._recipe)

    def _stale(self, problem: str) -> None:
        """Why what is seen isn't the recipe's that is typed."""
        self._latest.drop()
        self._tell(problem, Tone.WARN)

    def _tell(self, words: str, tone: Tone) -> None:
        """A line under the recipe; while it has words, what is seen below is dim: it is another recipe's."""
        self.query_one("#recipe-problem", Static).update(content((words, tone)))
        self.query_one("#lab-panes").set_class(bool(words), "-stale")

    def _read_cuts(self, recipe: Recipe) -> tuple[CutPreview, ...]:
        wanted = [document.id for document in self._documents]
        with suppress(Cancelled):  # another recipe was typed meanwhile, and is asked for next
            return tuple(self._desk.indexes.preview(self._collection, recipe, wanted, self._cancel))
        return ()

    def _broke(self, error: WorkbenchError) -> None:
        self._stale(error.message)

    def _show(self, _: Recipe, found: tuple[CutPreview, ...]) -> None:
        self._tell("", Tone.DIM)
        self.query_one(Grid).show(_rows(found))
        self.query_one("#lab-shape Static", Static).update(_figures(found))

    def action_to_spans(self) -> None:
        """From the recipe into the list."""
        self.query_one(Grid).focus()

    def action_leave(self) -> None:
        """Forgets the preview."""
        self._cancel.set()
        self.dismiss(None)

    def action_build(self) -> None:
        """The whole collection by this recipe, beside; the indexes' dialog (I) compares and switches."""
        recipe = self._recipe
        if recipe is None or any(job.title == tr("index") for job in self._jobs.works):
            return
        indexes = self._desk.indexes
        start_build(self._jobs, self, lambda c: indexes.build(self._collection, "", recipe, "", c), self._built)

    def on_moved(self, event: Moved) -> None:
        """How far the build is."""
        self.query_one("#indexes-progress", Static).update(content((event.words, Tone.DIM)))

    def _built(self, last: BuildProgress | None) -> None:
        told = built_words(last) + " " + tr("I compares it and switches to it.")
        self.query_one("#indexes-progress", Static).update(content((told, Tone.STRONG)))


def _columns() -> list[Column]:
    return [
        Column("", 1),
        Column(tr("span"), 13, "right", keep=50),
        Column("tok", 5, "right"),
        Column("", 2, fold=True),
        Column(tr("text"), 0),
    ]


def _rows(found: Sequence[CutPreview]) -> list[Row]:
    rows: list[Row] = []
    for preview in found:
        if len(found) > 1 or preview.problem:
            rows.append(Row(preview.document_id, ("", "", "", "", (preview.problem or preview.source_id, Tone.STRONG))))
        for span in preview.spans:
            tone = Tone.DIM if span.fate in ("same", "removed") else Tone.PLAIN
            flag: Line = ("⚑", Tone.WARN) if span.flags else ""
            place = f"{span.start}–{span.end}"
            key = f"{preview.document_id} {span.fate} {place}"
            rows.append(Row(key, (FATES[span.fate], (place, Tone.DIM), str(span.tokens), flag, (span.text, tone))))
    return rows


def _figures(found: Sequence[CutPreview]) -> Content:
    """Both cuts of all documents at hand beside each other."""
    if not found:
        return Content("")
    before, after = _joined([p.before for p in found]), _joined([p.after for p in found])
    fates: list[Line] = [
        (FATES[fate], f" {tr(fate)} {count(sum(p.count(fate) for p in found))}\n")
        for fate in ("same", "moved", "added", "removed")
    ]
    lines: list[Line] = [
        _line(tr("chunks"), count(before.chunks), count(after.chunks)),
        _line(tr("median tok"), _median(before), _median(after)),
        _line(tr("longest"), _most(before), _most(after)),
        _line("✂ " + tr("cut off"), count(before.truncated), count(after.truncated)),
    ]
    for kind in sorted({*before.flags, *after.flags}):
        split = kind_words(kind)  # type: ignore[arg-type]  # the keys are kinds of flags
        lines.append(_line(f"⚑ {split}", count(before.flags.get(kind, 0)), count(after.flags.get(kind, 0))))
    most = max((*before.tokens, *after.tokens, 1))
    plots: list[Line] = [
        ("\n" + tr("tokens of a chunk, 0 to {most}", most=most) + "\n", Tone.DIM),
        (_histogram(before, most) + "  " + tr("now") + "\n", Tone.DIM),
        (_histogram(after, most) + "  " + tr("after") + "\n"),
    ]
    return content(*fates, "\n", *lines, *plots)


def _joined(shapes: Sequence[CutShape]) -> CutShape:
    flags: dict[str, int] = {}
    for shape in shapes:
        for kind, number in shape.flags.items():
            flags[kind] = flags.get(kind, 0) + number
    tokens = tuple(number for shape in shapes for number in shape.tokens)
    return CutShape(sum(s.chunks for s in shapes), tokens, sum(s.truncated for s in shapes), flags)


def _line(name: str, before: str, after: str) -> Line:
    tone = Tone.DIM if before == after else Tone.STRONG
    return ((name[:15].ljust(16), Tone.DIM), f"{before:>5} → ", (f"{after:>5}\n", tone))


def _median(shape: CutShape) -> str:
    return count(round(median(shape.tokens))) if shape.tokens else "–"


def _most(shape: CutShape) -> str:
    return count(max(shape.tokens)) if shape.tokens else "–"


def _histogram(shape: CutShape, most: int) -> str:
    bins = [0] * _BINS
    for tokens in shape.tokens:
        bins[min(_BINS - 1, tokens * _BINS // (most + 1))] += 1
    top = max(bins) or 1
    return "".join(_BARS[-(-number * (len(_BARS) - 1) // top)] for number in bins)
