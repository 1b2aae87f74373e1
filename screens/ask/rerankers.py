"""Rerankers of a collection: what each brings on a dataset; measure, choose for now, turn on for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.dialogs import HELP
from screens.messages import Snapshot
from screens.style import Line, Tone, content, count
from screens.widgets.grid import Column, Grid, Row
from screens.work import Job, Jobs
from workbench.errors import WorkbenchError
from workbench.evals.gold.anchors import left_out_told
from workbench.evals.measuring.compare import p_text
from workbench.i18n import tr
from workbench.records.cases import Dataset
from workbench.records.rerankers import NONE, RerankerInfo
from workbench.records.retrieval import RerankGain

if TYPE_CHECKING:
    from workbench.desk import Desk


class RerankMeasured(Snapshot):
    """Fires after each question that is measured; carries the gain so far."""

    def __init__(self, gain: RerankGain) -> None:
        super().__init__()
        self.gain = gain


@dataclass(frozen=True, slots=True)
class Known:
    """What the dialog shows: the rerankers, the collection's datasets, what was measured, and which one is on."""

    collection: str
    found: tuple[RerankerInfo, ...]
    datasets: tuple[Dataset, ...]
    gains: tuple[RerankGain, ...]
    on: RerankGain | None

    def gain(self, reranker: str, dataset: str) -> RerankGain | None:
        """Its last measurement on the dataset."""
        return next((g for g in self.gains if (g.mode, g.dataset) == (reranker, dataset)), None)


def read_known(desk: Desk) -> Known:
    """For the chosen collection."""
    name = desk.collection
    datasets = tuple(d for d in desk.datasets() if d.collection == name)
    rerankers = desk.rerankers
    return Known(name, rerankers.installed(), datasets, rerankers.gains(name), rerankers.gain(name))


class RerankersScreen(ModalScreen[str]):
    """Dismisses with the reranker of the questions that follow ("none" for none), "" when nothing was chosen.

    Args:
        chosen: that they have now, "" for the collection's own.
    """

    CSS_PATH: ClassVar = ["../dialogs.tcss", "ask.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "measure", "Measure", id="rerankers.measure", tooltip="Searches the dataset with it and without"),
        Binding(
            "o",
            "switch",
            "On or off",
            id="rerankers.switch",
            tooltip="For all searches of the collection; on only where it was measured to gain",
        ),
        Binding("d", "dataset", "Dataset", id="rerankers.dataset", tooltip="The next one of the collection"),
        Binding("s", "stop", "Stop", id="rerankers.stop", tooltip="Stops measuring; what was measured so far goes"),
        Binding("escape,q", "leave", "Close", id="rerankers.close"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, known: Known, chosen: str = "") -> None:
        super().__init__()
        self._desk, self._jobs, self._known, self._chosen = desk, jobs, known, chosen
        measured = known.gains[-1].dataset if known.gains else ""
        names = [d.name for d in known.datasets]
        self._place = names.index(measured) if measured in names else 0
        self._job: Job | None = None
        self._growing: RerankGain | None = None

    def compose(self) -> ComposeResult:
        """The rerankers over what the one under the cursor brings."""
        with Vertical(classes="dialog full rerankers") as box:
            keys = tr("enter uses · m measures · o on or off · d dataset · esc")
            box.border_subtitle = content(keys)
            yield Grid(
                [
                    Column("", 2),
                    Column(tr("reranker"), 0, fit=True),
                    Column(tr("kind"), 6, keep=70),
                    Column("R@1", 13, keep=90),
                    Column(tr("change (95 %)"), 22),
                    Column(tr("ms"), 6, "right"),
                    Column(tr("state"), 0),
                ],
                id="rerankers",
            )
            yield Static("", id="reranker-told")

    def on_mount(self) -> None:
        """What is known, the cursor on what is in force."""
        grid = self.query_one("#rerankers", Grid)
        self._draw()
        grid.focus()
        grid.go_to(self._chosen or (self._known.on.mode if self._known.on else NONE))
        self._tell()

    @property
    def _dataset(self) -> str:
        return self._known.datasets[self._place].name if self._known.datasets else ""

    @property
    def _key(self) -> str:
        return self.query_one("#rerankers", Grid).key

    # -- drawing ---------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        dataset = self._dataset or tr("no dataset")
        title = tr("Rerankers of {collection} ── {dataset}", collection=self._known.collection, dataset=dataset)
        self.query_one(".dialog").border_title = content(title)
        none = Row(NONE, (self._mark(NONE), tr("no reranker"), *[""] * 5))
        self.query_one("#rerankers", Grid).show([none, *(self._row(info) for info in self._known.found)])
        self._tell()

    def _mark(self, name: str) -> Line:
        own = self._known.on.mode if self._known.on else NONE
        on: Line = ("●", Tone.GOOD) if name == own else " "
        chosen: Line = ("◆", Tone.ACCENT) if name == self._chosen else " "
        return on, chosen

    def _row(self, info: RerankerInfo) -> Row:
        gain = self._gain(info.name)
        if info.problem:
            state: Line = (info.problem, Tone.BAD)
        elif self._growing and self._growing.mode == info.name:
            done, every = count(self._growing.cases), count(self._growing.total)
            state = (tr("measuring {done} of {all}", done=done, all=every), Tone.ACCENT)
        elif gain is None:
            state = (tr("not measured"), Tone.DIM)
        else:
            state = _verdict(gain)
        figures = _figures(gain) if gain else ("", "", "")
        return Row(info.name, (self._mark(info.name), info.name, info.kind, *figures, state))

    def _gain(self, name: str) -> RerankGain | None:
        growing = self._growing
        if growing and (growing.mode, growing.dataset) == (name, self._dataset):
            return growing
        return self._known.gain(name, self._dataset)

    @on(Grid.Highlighted)
    def highlighted(self) -> None:
        """Another reranker."""
        self._tell()

    def _tell(self) -> None:
        info = next((known for known in self._known.found if known.name == self._key), None)
        kind: list[Line] = [(f"{_does(info)}\n", Tone.PLAIN)] if info else []
        self.query_one("#reranker-told", Static).update(content(*kind, *self._told()))

    def _told(self) -> Sequence[Line]:
        """Of the one under the cursor: what its figures say, or what to do for them."""
        gain = self._gain(self._key)
        if self._key in (NONE, ""):
            return [(tr("Hits stay as fused. ● on for the collection · ◆ chosen for the next questions"), Tone.DIM)]
        if problem := self._problem(self._key):
            return [(problem, Tone.BAD)]
        if not self._known.datasets:
            return [(tr("The collection has no dataset: press e on a good answer to begin one."), Tone.WARN)]
        if gain is None:
            return [(tr("m measures what it brings to the questions of {dataset}.", dataset=self._dataset), Tone.DIM)]
        told = tr(
            "n = {n}: {fixed} questions better, {broken} worse (McNemar {p}); R@1 {first}, MRR@10 {before} → {after}.",
            n=count(gain.cases),
            first=_figures(gain)[0],
            fixed=gain.fixed,
            broken=gain.broken,
            p=p_text(gain.p_value),
            before=_short(gain.mrr_10[0]),
            after=_short(gain.mrr_10[1]),
        )
        late = tr("Its time ended at {count} questions.", count=count(gain.unfinished)) if gain.unfinished else ""
        gone = left_out_told(gain.left_out) + "." if gain.left_out else ""
        return [told, *((f" {words}", Tone.WARN) for words in (gone, late) if words)]

    # -- keys ------------------------------------------------------------------------------------------------------

    @on(Grid.Opened)
    def opened(self, event: Grid.Opened) -> None:
        """For the questions that follow."""
        if problem := self._problem(event.key):
            self._warn(problem)
        else:
            self.dismiss(event.key)

    def action_measure(self) -> None:
        """Searches every question of the dataset."""
        name = self._key
        refusal = (
            tr("Choose a reranker.")
            if name in (NONE, "")
            else tr("The collection has no dataset: press e on a good answer to begin one.")
            if not self._dataset
            else tr("One is being measured: s stops it.")
            if self._job
            else self._problem(name)
        )
        if refusal:
            self._warn(refusal)
            return
        dataset = self._dataset
        self._job = self._jobs.run(
            self,
            tr("measuring {name}", name=name),
            lambda cancel: self._desk.rerankers.measure(dataset, name, cancel),
            each=RerankMeasured,
            describe=_describe,
            then=lambda _: self._ended(),
            failed=self._failed,
        )

    @on(RerankMeasured)
    def measured(self, event: RerankMeasured) -> None:
        """The figures so far."""
        if self._job:
            self._growing = event.gain
            self._draw()

    def _ended(self) -> None:
        self._job = self._growing = None
        self._read()

    def _failed(self, error: WorkbenchError) -> None:
        self._ended()
        self._warn(f"{error.message} {error.remedy}")

    def action_stop(self) -> None:
        """Stops measuring."""
        if self._job:
            self._job.stop()

    def action_dataset(self) -> None:
        """The next dataset."""
        if self._known.datasets:
            self._place = (self._place + 1) % len(self._known.datasets)
            self._draw()

    def action_switch(self) -> None:
        """On for the collection where it gained on the dataset shown; off where it is on."""
        name, gain, own = self._key, self._gain(self._key), self._known.on
        rerankers, collection = self._desk.rerankers, self._known.collection
        if name == NONE or (own and own.mode == name):
            self._jobs.read(self, lambda: rerankers.stop(collection), lambda _: self._read())
        elif gain is None or gain.cases < gain.total:
            self._warn(tr("m measures it first: it goes on only where it gains."))
        else:
            self._jobs.read(self, lambda: rerankers.use(gain), lambda _: self._read(), lambda e: self._warn(e.message))

    def action_leave(self) -> None:
        """Nothing was chosen; what is being measured stops."""
        self.action_stop()
        self.dismiss("")

    def _problem(self, name: str) -> str:
        return next((info.problem for info in self._known.found if info.name == name), "")

    def _read(self) -> None:
        self._jobs.read(self, lambda: read_known(self._desk), self._show)

    def _show(self, known: Known) -> None:
        self._known = known
        self._draw()

    def _warn(self, words: str) -> None:
        self.notify(words, severity="warning", timeout=5, markup=False)


def _describe(job: Job, gain: RerankGain) -> None:
    job.detail = f"{count(gain.cases)}/{count(gain.total)}"
    job.fraction = gain.cases / gain.total


def _verdict(gain: RerankGain) -> Line:
    if not gain.gained:
        return (tr("brings nothing"), Tone.WARN)
    return (tr("gains"), Tone.GOOD) if gain.certain else (tr("gains, may be chance"), Tone.WARN)


def _does(info: RerankerInfo) -> str:
    """How it ranks, in a sentence."""
    if info.kind == "late":
        return tr("late interaction: each token of the question meets its nearest in the passage; no further model.")
    return tr("a cross-encoder: a model of its own reads the question with each passage.")


def _figures(gain: RerankGain) -> tuple[str, Line, str]:
    before, after = gain.recall_1
    change = _signed(after - before)
    if gain.interval:
        low, high = gain.interval
        change += f" [{_signed(low)}, {_signed(high)}]"
    tone = Tone.GOOD if gain.gained and gain.certain else Tone.PLAIN
    return f"{_short(before)} → {_short(after)}", (change, tone), f"{gain.milliseconds:,.0f}"


def _signed(value: float) -> str:
    return ("+" if value > 0 else "−" if value < 0 else "±") + _short(abs(value))


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")
