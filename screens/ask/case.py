"""Saving a question as a case: dataset, answerable or not, gold anchored to the sources, expected answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static, Switch

from screens.dialogs import HELP
from screens.style import Tone, content
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs
from workbench.errors import WorkbenchError
from workbench.evals.collecting.lab import SAVED
from workbench.evals.gold.anchors import CENTRAL
from workbench.i18n import tr
from workbench.records.answers import Trace
from workbench.records.cases import Case, Dataset, GoldSpan
from workbench.records.retrieval import FilterResult
from workbench.traces.stages import evidence_of, stage

if TYPE_CHECKING:
    from workbench.desk import Desk

USEFUL: Final = 2
"""The grade of a passage that was not cited and that a person marks: useful in part."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A trace as a case about to be: every span that may be gold, what it says, and whether it was cited."""

    trace: Trace
    datasets: tuple[str, ...]
    spans: tuple[tuple[GoldSpan, str, bool], ...]


def read_draft(desk: Desk, trace: Trace) -> Draft:
    """The cited spans first, then the whole pieces of evidence. Runs in a worker."""
    cited = {
        (c.source_id, c.start, c.end): c.quote
        for claim in (trace.answer.claims if trace.answer else ())
        for c in claim.citations
        if c.level != "unsupported"
    }
    spans = [(GoldSpan(*where, grade=CENTRAL), quote, True) for where, quote in cited.items()]
    for piece in evidence_of(trace):
        where = (piece.source_id, piece.start, piece.end)
        if where not in cited:
            spans.append((GoldSpan(*where, grade=USEFUL), piece.body, False))
    return Draft(trace, tuple(d.name for d in desk.evals.datasets()), tuple(spans))


class CaseDialog(ModalScreen[None]):
    """Space marks gold; ctrl+s saves."""

    CSS_PATH: ClassVar = ["../dialogs.tcss", "ask.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", id="case.save"),
        Binding("escape", "dismiss", "Close", id="case.close"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, draft: Draft) -> None:
        super().__init__()
        self._desk, self._jobs, self._draft = desk, jobs, draft

    def compose(self) -> ComposeResult:
        """A short form over the passages."""
        draft, answer = self._draft, self._draft.trace.answer
        answerable = bool(answer and answer.spoken) or any(cited for *_, cited in draft.spans)
        with Vertical(classes="dialog full case") as box:
            box.border_title = content(tr("Save as a case ── {query}", query=draft.trace.query))
            box.border_subtitle = content(tr("tab goes on · space marks gold · ctrl+s saves · esc closes"))
            yield _field("dataset", tr("Dataset"), draft.datasets[0] if draft.datasets else tr("asked"), draft.datasets)
            with Horizontal(classes="switch-line"):
                yield Switch(answerable, animate=False)
                off = (tr("off: the right thing is to abstain"), Tone.DIM)
                yield Static(content(tr("The sources answer it"), "\n", off))
            yield _field("expected", tr("Expected answer (may stay empty)"), "", ())
            yield Grid(
                [
                    Column("", 1),
                    Column(tr("source"), 0, tail=True, fit=True),
                    Column(tr("characters"), 13),
                    Column(tr("gold: what answers it"), 0),
                ],
                id="gold",
                marks=True,
            )
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """What was cited is marked."""
        grid = self.query_one("#gold", Grid)
        grid.show([_row(number, span, text) for number, (span, text, _) in enumerate(self._draft.spans)])
        grid.marked = {str(number) for number, (*_, cited) in enumerate(self._draft.spans) if cited}
        self.query_one("#dataset", Input).focus()

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """On to the next field."""
        self.focus_next()

    def action_save(self) -> None:
        """Into the dataset; what is missing is said in the dialog."""
        name = self.query_one("#dataset", Input).value.strip()
        case = self._case()
        if not name:
            self._problem(tr("Name a dataset; a new name makes a new one."))
        elif case.answerable and not (case.gold or case.answers):
            self._problem(tr("Mark what answers it, write the answer, or switch off that the sources answer it."))
        else:
            trace_id = self._draft.trace.id
            self._jobs.read(self, lambda: self._desk.evals.save_case(trace_id, name, case), self._saved, self._failed)

    def _case(self) -> Case:
        draft, answer = self._draft, self._draft.trace.answer
        answerable = self.query_one(Switch).value
        expected = self.query_one("#expected", Input).value.strip()
        marked = self.query_one("#gold", Grid).marked
        found = stage(draft.trace, "filter", FilterResult)
        blank = Case(
            f"ask-{draft.trace.id}",
            draft.trace.query,
            answerable=answerable,
            language=answer.language if answer else "",
            filter=found.expression if found else "",
            tags=(SAVED,),
        )
        if not answerable:
            return blank
        gold = tuple(span for number, (span, *_) in enumerate(draft.spans) if str(number) in marked)
        return replace(blank, gold=gold, answers=(expected,) if expected else ())

    def _saved(self, dataset: Dataset) -> None:
        told = tr("“{name}” has {count} cases now.", name=dataset.name, count=f"{dataset.cases:,}")
        self.app.notify(told, timeout=4, markup=False)
        self.dismiss()

    def _failed(self, error: WorkbenchError) -> None:
        self._problem(f"{error.message} {error.remedy}".strip())

    def _problem(self, words: str) -> None:
        problem = self.query_one(".problem", Static)
        problem.update(content("✗ ", words))
        problem.add_class("-open")


def _field(name: str, label: str, value: str, known: Sequence[str]) -> Input:
    made = Input(value, id=name, classes="pane", suggester=SuggestFromList(known) if known else None)
    made.border_title = content(label)
    return made


def _row(number: int, span: GoldSpan, text: str) -> Row:
    where = f"{span.start:,}–{span.end:,}"
    return Row(str(number), ("", span.source_id, (where, Tone.DIM), (" ".join(text[:200].split()), Tone.DIM)))
