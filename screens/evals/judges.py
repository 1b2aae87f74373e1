"""A model as judge of a run: asking for one, and its verdicts case by case beside people's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from screens.dialogs import HELP, NoteDialog
from screens.evals.words import label_mark
from screens.fields import chosen, pick, tell_problem
from screens.style import Line, Tone, content
from screens.widgets.grid import Column, Grid, Row
from workbench.evals.judging.judge import RUBRIC
from workbench.evals.reporting.naming import run_words
from workbench.evals.reporting.reports import judged_text
from workbench.i18n import tr
from workbench.records.evals import (
    JudgedCase,
    JudgementReport,
    Label,
    Run,
)
from workbench.records.models import LoadedModel

ALONE = "0"


@dataclass(frozen=True, slots=True)
class Trial:
    """How to judge: by which rubric, and ``against`` which other run (0: each answer alone)."""

    rubric: str
    against: int


class JudgeDialog(ModalScreen[Trial]):
    """Asks for the rubric; says which model judges, or that none is loaded."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="judge.close"),
        Binding("ctrl+s", "start", "Start", id="judge.start", priority=True),
        *HELP,
    ]

    def __init__(self, run: Run, others: Sequence[Run], model: LoadedModel | None) -> None:
        super().__init__()
        self._run, self._others, self._model = run, others, model

    def compose(self) -> ComposeResult:
        """Who, against what, by which rubric."""
        ways = [(ALONE, tr("each answer alone: right or wrong"))]
        ways += [
            (str(r.id), tr("against run {run}, in both orders", run=f"{r.id} {run_words(r)}")) for r in self._others
        ]
        model: Line = (("✗ ", Tone.WARN), tr("No model is loaded: load one in Models, on 1."))
        if self._model:
            model = (("● ", Tone.ACCENT), tr("{model} judges.", model=self._model.file.name))
        warning = tr("A judge's figure is shown with people's agreement; without labels it proves nothing.")
        with Vertical(classes="dialog lined") as box:
            box.border_title = content(tr("Judge run {run}", run=f"{self._run.id} {run_words(self._run)}"))
            box.border_subtitle = content(tr("ctrl+s starts · esc closes"))
            yield Static(content(model, "\n", (warning, Tone.DIM)))
            yield pick("against", tr("How"), ways, ALONE)
            area = TextArea(RUBRIC, id="rubric", classes="lines", tab_behavior="focus")
            area.border_title = content(tr("Rubric: what makes an answer right"))
            yield area
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """The rubric can be edited at once."""
        self.query_one("#rubric").focus()

    def action_start(self) -> None:
        """Dismisses with how to judge; not without a model."""
        if self._model is None:
            tell_problem(self, ValueError(tr("A judge is a language model.")))
            return
        self.dismiss(Trial(self.query_one("#rubric", TextArea).text, int(chosen(self, "against"))))

    def action_leave(self) -> None:
        """Nothing is judged."""
        self.dismiss(None)


def judgement_rows(found: Sequence[JudgementReport]) -> list[Row]:
    """A row per judgement, newest first: when, and its figures with people's agreement."""
    return [
        Row(str(told.judgement.id), (f"{told.judgement.created:%Y-%m-%d %H:%M}", (judged_text(told), Tone.DIM)))
        for told in found
    ]


class JudgementScreen(ModalScreen[str]):
    """One judgement: its figures over its verdicts; dismisses with a case to go to, None when left."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="judgement.close"),
        Binding("r", "rubric", "Rubric", id="judgement.rubric", tooltip="What it judged by"),
        *HELP,
    ]

    def __init__(self, told: JudgementReport, labels: Mapping[str, Label]) -> None:
        super().__init__()
        self._told, self._labels = told, labels

    def compose(self) -> ComposeResult:
        """Figures, table, the reason of the case under the cursor."""
        with Vertical(classes="dialog gates") as box:
            judgement = self._told.judgement
            box.border_title = content(
                tr("Judged by {model}", model=judgement.model), f" ── {judgement.created:%Y-%m-%d %H:%M}"
            )
            box.border_subtitle = content(tr("enter goes to the case · r rubric · esc closes"))
            yield Static(content(judged_text(self._told)), id="judgement-told")
            columns = [
                Column("", 1),
                Column(tr("verdict"), fit=True),
                Column(tr("label"), 6),
                Column("id", share=1, tail=True),
            ]
            yield Grid([*columns, Column(tr("reason"), share=3)])
            yield Static("", id="gate-note")

    def on_mount(self) -> None:
        """Fills it."""
        rows = [
            Row(
                case.case_id,
                (*verdict_cells(case), label_mark(self._labels.get(case.case_id)), case.case_id, case.reason),
            )
            for case in self._told.judgement.cases
        ]
        self.query_one(Grid).show(rows)

    @on(Grid.Highlighted)
    def chosen(self, event: Grid.Highlighted) -> None:
        """The whole reason."""
        case = next((case for case in self._told.judgement.cases if case.case_id == event.key), None)
        self.query_one("#gate-note", Static).update(content(case.reason if case else ""))

    @on(Grid.Opened)
    def opened(self, event: Grid.Opened) -> None:
        """That case, on the screen beneath."""
        self.dismiss(event.key)

    def action_rubric(self) -> None:
        """The text that the judge was given, as it was stored with its verdicts."""
        self.app.push_screen(NoteDialog(tr("Rubric"), content(self._told.judgement.rubric)))

    def action_leave(self) -> None:
        """Back to the run."""
        self.dismiss(None)


def verdict_cells(case: JudgedCase) -> tuple[Line, Line]:
    """The mark and the word of a verdict; an unscored case has neither right nor wrong."""
    marks: dict[str, tuple[Line, str]] = {
        "right": (("✓", Tone.GOOD), tr("right")),
        "wrong": (("✗", Tone.BAD), tr("wrong")),
        "better": (("▲", Tone.GOOD), tr("better")),
        "worse": (("▼", Tone.BAD), tr("worse")),
        "tie": (("=", Tone.DIM), tr("tie")),
        "": (("◦", Tone.DIM), tr("unscored")),
    }
    found, word = marks[case.verdict]
    return found, (word, Tone.PLAIN if case.verdict else Tone.DIM)


def verdict_lines(judged: Sequence[tuple[str, JudgedCase]]) -> Iterable[Line]:
    """What each judge, by its model's name, said of a case, newest first."""
    for model, case in judged:
        found, word = verdict_cells(case)
        yield (found, " ", word, (f"  {case.reason}" if case.reason else "", Tone.DIM), (f"  {model}", Tone.DIM))
