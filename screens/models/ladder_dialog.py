"""The dialogs of the Ladder tab: what a new ladder makes and measures, and the decision."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from screens.dialogs import HELP
from screens.fields import chosen, field, pick, tell_problem, whole, written
from screens.models.order_dialog import OrderDialog
from screens.style import Line, Tone, content, size
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs
from workbench.i18n import tr
from workbench.ladders.deciding import Sentence
from workbench.ladders.kinds import DEFAULT, KINDS, NEED_IMATRIX, imatrix_reason
from workbench.ports import Cancel
from workbench.records.benchmarks import BenchPlan
from workbench.records.ladders import LadderPlan, Preview, TextPlan
from workbench.records.models import ModelFile

FILE: Final = "file:"
Previewed = Callable[[Cancel], tuple[Preview, ...]]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a ladder can be made of: the file, others to compare, collections, datasets, and where files go."""

    source: ModelFile
    files: tuple[ModelFile, ...]
    collections: tuple[str, ...]
    datasets: tuple[str, ...]
    folder: str


class LadderDialog(OrderDialog[LadderPlan]):
    """Asks what to make of a file and what to measure of it; sizes and fallbacks come from a dry run.

    Args:
        preview: the dry run of every kind.
    """

    def __init__(self, offer: Offer, jobs: Jobs, preview: Previewed) -> None:
        super().__init__()
        self._offer, self._jobs, self._preview = offer, jobs, preview
        self._left = threading.Event()

    def _heading(self) -> str:
        return tr("Ladder of {name}", name=self._offer.source.name)

    def _told(self) -> Iterable[Widget]:
        others = ", ".join(file.name for file in self._offer.files)
        compared = tr("Compared too: {names}.", names=others) if others else tr("Marked models are compared too.")
        yield Static(content((compared, Tone.DIM)), id="told")

    def _columns(self) -> Sequence[Column]:
        return [
            Column("", 1),
            Column(tr("quant"), 8),
            Column(tr("weights"), 8, "right"),
            Column(tr("what falls back"), 0),
        ]

    def _fields(self) -> Iterable[Widget]:
        offer, text = self._offer, TextPlan()
        source = offer.source.quantization or offer.source.name
        references = [("", tr("the file itself ({kind})", kind=source)), ("F16", tr("an F16 made of it"))]
        texts = [("", tr("none: no KL")), *((name, name) for name in offer.collections), (FILE, tr("a file"))]
        datasets = [("", tr("none")), *((name, name) for name in offer.datasets)]
        yield pick("reference", tr("Reference"), references, "")
        yield pick("text", tr("Text to score"), texts, offer.collections[0] if offer.collections else "")
        yield field("path", tr("Text file"), "", tr("where “a file” is chosen"))
        yield field("windows", tr("Passages at most"), str(text.windows))
        yield field("repetitions", tr("Bench, 0 = none"), "3")
        yield pick("dataset", tr("Eval dataset"), datasets, "")
        yield field("limit", tr("Cases, 0 = all"), "0")
        yield field("folder", tr("Files go to"), offer.folder)

    def on_mount(self) -> None:
        """The kinds come first; their sizes as soon as the dry run tells them."""
        grid = self.query_one(Grid)
        self._show({})
        there = {file.quantization for file in (self._offer.source, *self._offer.files)}
        grid.marked = set(DEFAULT) - there
        grid.go_to(DEFAULT[0])
        grid.focus()
        self._jobs.read(self, lambda: self._preview(self._left), self._previewed)

    def on_unmount(self) -> None:
        """Nobody waits for the dry run any more."""
        self._left.set()

    def _previewed(self, found: tuple[Preview, ...]) -> None:
        self._show({one.kind: one for one in found})

    def _show(self, known: dict[str, Preview]) -> None:
        self.query_one(Grid).show([_row(kind, known.get(kind)) for kind in (*KINDS, *sorted(NEED_IMATRIX))])

    def _read(self) -> LadderPlan:
        marked = self.query_one(Grid).marked
        if refused := sorted(marked & NEED_IMATRIX):
            raise ValueError(f"{', '.join(refused)}: {imatrix_reason()}")
        reference = chosen(self, "reference")
        kinds = tuple(kind for kind in KINDS if kind in marked and kind != reference)
        if not kinds and not self._offer.files:
            raise ValueError(tr("Mark at least one quantization."))
        repetitions = whole(self, "repetitions", tr("Bench, 0 = none"), 0)
        return LadderPlan(
            self._offer.source.path,
            kinds,
            written(self, "folder"),
            reference,
            tuple(file.path for file in self._offer.files),
            self._text(),
            BenchPlan(repetitions=repetitions) if repetitions else None,
            chosen(self, "dataset"),
            whole(self, "limit", tr("Cases, 0 = all"), 0),
        )

    def _text(self) -> TextPlan | None:
        source, path = chosen(self, "text"), written(self, "path")
        windows = whole(self, "windows", tr("Passages at most"), 1)
        if source == FILE:
            if not path:
                raise ValueError(tr("Name the text file, or choose another text."))
            return TextPlan(path=path, windows=windows)
        return TextPlan(collection=source, windows=windows) if source else None


def _row(kind: str, known: Preview | None) -> Row:
    refused = imatrix_reason() if kind in NEED_IMATRIX else known.problem if known else ""
    if refused:
        return Row(kind, (("✗", Tone.BAD), kind, "–", (refused, Tone.DIM)))
    falls = ", ".join(f"{f.tensors} {f.wanted} → {f.got}" for f in known.fallbacks) if known else ""
    return Row(kind, (("◦", Tone.DIM), kind, size(known.size) if known else "…", (falls, Tone.WARN)))


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision as it is written down."""

    sentence: Sentence
    because: str


class LadderDecisionDialog(ModalScreen[Decided]):
    """The sentence that a decision completes: its parts as measured, to be edited, and why it still pays.

    Args:
        sentences: one for each rung that it can be held against.
    """

    CSS_PATH = ["measured.tcss", "../evals/evals.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="ladderdecision.close"),
        Binding("ctrl+s", "store", "Store", id="ladderdecision.store", priority=True),
        *HELP,
    ]

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        super().__init__()
        self._sentences = {str(one.against): one for one in sentences}

    def compose(self) -> ComposeResult:
        """What it is held against, the parts, and the whole as it will read."""
        first = next(iter(self._sentences.values()))
        against = [(key, one.base) for key, one in self._sentences.items()]
        with VerticalScroll(classes="dialog") as box:
            box.border_title = content(tr("Decide on {kind}", kind=first.kind))
            box.border_subtitle = content(tr("ctrl+s stores · esc closes"))
            yield pick("against", tr("Against"), against, str(first.against))
            yield field("saves", tr("It saves"), first.saves)
            yield field("keeps", tr("It keeps"), first.keeps)
            yield field("loses", tr("It loses"), first.loses)
            yield field("because", tr("It still pays because"), "", tr("what the task tolerates"))
            yield Static("", classes="problem")
            yield Static("", id="sentence")
            yield Static(content((tr("The ladder's figures are stored with it as evidence."), Tone.DIM)))

    def on_mount(self) -> None:
        """The reason is what is missing."""
        self.query_one("#because", Input).focus()

    def on_select_changed(self) -> None:
        """Another baseline: its own figures."""
        one = self._sentences[chosen(self, "against")]
        for name in ("saves", "keeps", "loses"):
            self.query_one(f"#{name}", Input).value = getattr(one, name)
        self._draw()

    def on_input_changed(self) -> None:
        """The sentence follows."""
        self._draw()

    def _written(self) -> Sentence:
        one = self._sentences[chosen(self, "against")]
        return replace(one, saves=written(self, "saves"), keeps=written(self, "keeps"), loses=written(self, "loses"))

    def _draw(self) -> None:
        sentence = self._written()
        missing = tr("No figure tells of its quality: the verdict will be “measure more”.")
        warning: Line = "" if sentence.judged else (f"\n~ {missing}", Tone.WARN)
        words = sentence.words(written(self, "because") or "…")
        self.query_one("#sentence", Static).update(content(words, warning))

    def on_input_submitted(self) -> None:
        """Enter goes on."""
        self.focus_next()

    def action_store(self) -> None:
        """Dismisses with the decision, or says what it lacks."""
        because = written(self, "because")
        if not because:
            tell_problem(self, ValueError(tr("It lacks why this pays all the same.")))
            return
        self.dismiss(Decided(self._written(), because))

    def action_leave(self) -> None:
        """Nothing is stored."""
        self.dismiss(None)
