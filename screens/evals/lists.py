"""The rows of the left side: datasets with their runs, and the cases of the chosen one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import cast

from screens.evals.items import EVERYTHING, CaseItem, Narrow, View
from screens.evals.reading import Lists, RunView
from screens.evals.words import label_mark, result_mark, short_stage
from screens.style import Line, Tone, count
from screens.widgets.grid import Column, Row
from workbench.evals.deciding.gates import GateState
from workbench.evals.reporting.naming import run_words
from workbench.i18n import tr
from workbench.records.cases import Dataset
from workbench.records.evals import FailureStage, Run


@dataclass(frozen=True, slots=True)
class Place:
    """What a row of the runs' table stands for: a dataset (run 0) or a run."""

    dataset: str
    run: int = 0

    @property
    def key(self) -> str:
        """The row's key: what the dataset is called can't be taken for a number."""
        return f"{self.run}/{self.dataset}"

    @staticmethod
    def of(key: str) -> Place:
        """From a row's key."""
        run, _, dataset = key.partition("/")
        return Place(dataset, int(run))


def run_columns() -> list[Column]:
    """Headings in the interface's language."""
    mark = Column("", fit=True, keep=38)
    return [
        Column("", whole=True, align="right"),
        Column(tr("run")),
        Column(tr("passed"), whole=True, align="right"),
        mark,
    ]


def run_rows(
    lists: Lists, folded: Set[str], marks: Mapping[int, GateState], live: Mapping[int, Run], against: int
) -> list[Row]:
    """A row per dataset, its runs under it unless it is folded; ``against`` is the run compared with."""
    rows: list[Row] = []
    for dataset in lists.datasets:
        runs = [live.get(r.id, r) for r in lists.runs if r.config.dataset == dataset.name]
        closed = dataset.name in folded and runs
        lead = "▸" if closed else "▾" if runs else "◦"
        waiting = lists.waiting.get(dataset.name, 0)
        queue: Line = (tr("{count} wait", count=count(waiting)), Tone.WARN) if waiting else ""
        rows.append(
            Row(
                Place(dataset.name).key,
                ((lead, Tone.ACCENT), (dataset.name, Tone.STRONG), (f"n={count(dataset.cases)}", Tone.DIM), queue),
            )
        )
        rows += [_run_row(dataset, run, marks.get(run.id), run.id == against) for run in runs if not closed]
    return rows


def _run_row(dataset: Dataset, run: Run, gate: GateState | None, against: bool) -> Row:
    words: Line = (run_words(run), (" ⇄", Tone.ACCENT) if against else "")
    return Row(Place(dataset.name, run.id).key, (str(run.id), words, _passed(run), _mark(run, gate)))


def _passed(run: Run) -> Line:
    if run.status == "running":
        return (f"{count(run.done)}/{count(run.total)}", Tone.ACCENT)
    if run.status == "stopped":
        return (f"‖ {count(run.done)}/{count(run.total)}", Tone.WARN)
    if run.status == "interrupted":
        return (f"╳ {count(run.done)}/{count(run.total)}", Tone.BAD)
    return f"{100 * run.passed / run.scored:.1f} %" if run.scored else "–"


def _mark(run: Run, gate: GateState | None) -> Line:
    if run.baseline:
        return (tr("baseline"), Tone.ACCENT)
    if gate is None:
        return ""
    marks: dict[GateState, Line] = {
        "passed": (tr("gate ✓"), Tone.GOOD),
        "failed": (tr("gate ✗"), Tone.BAD),
        "not judged": (tr("not judged"), Tone.DIM),
    }
    return marks[gate]


def case_columns() -> list[Column]:
    """Headings in the interface's language."""
    return [
        Column("", 1),
        Column("", 2, fold=True),
        Column("id", share=3, tail=True),
        Column(tr("lost at"), fit=True, fold=True),
        Column(tr("question"), share=4, keep=52),
    ]


def case_row(item: CaseItem) -> Row:
    """Mark, flip and label, id, where it was lost, question."""
    flips: dict[str, Line] = {"": " ", "fixed": ("▲", Tone.GOOD), "broken": ("▼", Tone.BAD)}
    failure = item.result.failure if item.result else ""
    stage = short_stage(failure) if failure else ""
    flags: Line = (flips[item.flip], label_mark(item.label)) if item.flip or item.label else ""
    return Row(item.case.id, (result_mark(item.result), flags, (item.case.id, Tone.DIM), stage, item.case.question))


def view_name(view: View) -> str:
    """A view of the cases in the interface's language."""
    names: dict[View, str] = {
        "failing": tr("failing"),
        "flips": tr("flips"),
        "unlabelled": tr("unlabelled"),
        "disagreements": tr("disagreements"),
        "all": tr("all cases"),
    }
    return names[view]


def narrow_name(narrow: Narrow) -> str:
    """A failure stage or segment as the list's title and the choice show it."""
    if narrow == EVERYTHING:
        return tr("everything")
    return f"{tr(narrow[0])}: {stage_words(narrow[1]) if narrow[0] == 'stage' else narrow[1]}"


def stage_words(stage: str) -> str:
    """A stored failure stage in the interface's language; as it is when this version doesn't know it."""
    try:
        return short_stage(cast(FailureStage, stage))
    except KeyError:
        return stage


def why_empty(view: RunView | None, chosen: View) -> Sequence[Line]:
    """What to say where no case is shown."""
    if view is None:
        return [
            (tr("No datasets yet."), Tone.STRONG),
            "\n\n",
            ("i", Tone.ACCENT),
            " " + tr("imports a file of questions with what is expected of each."),
        ]
    if view.run and not view.run.done:
        return [(tr("No case has a result yet."), Tone.DIM)]
    words = {
        "failing": tr("Nothing fails here."),
        "flips": tr("No case flipped between the two runs.") if view.other else tr("Nothing is compared."),
        "unlabelled": tr("Every case is labelled."),
        "disagreements": tr("Nobody disagrees here."),
        "all": tr("No case is left by this choice."),
    }
    compare: tuple[Line, ...] = ("\n\n", ("c", Tone.ACCENT), " " + tr("chooses the run to compare with."))
    return [
        (words[chosen], Tone.STRONG),
        "\n\n",
        ("f", Tone.ACCENT),
        " " + tr("shows other cases."),
        *(compare if chosen == "flips" and not view.other else ()),
    ]
