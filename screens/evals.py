"""Evals: the datasets in the file, their cases, and what each case expects."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget

from screens.base import ModeScreen
from screens.dialogs import PathDialog
from screens.style import Line, Tone, content, count
from screens.widgets.facts import Fact, Facts
from screens.widgets.grid import Column, Grid, ListPane, Row
from screens.work import Jobs
from workbench.i18n import tr
from workbench.records.evals import Case, Dataset, GoldSpan

if TYPE_CHECKING:
    from workbench.desk import Desk


class EvalsScreen(ModeScreen):
    """Datasets on the left, cases on the right, the case under the cursor below."""

    CSS_PATH = "evals.tcss"
    AUTO_FOCUS = "#datasets-grid"
    mode = "evals"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "import", "Import", id="evals.import", tooltip="A JSONL file of cases, or SQuAD's JSON"),
        Binding("escape", "back", "To the datasets", show=False, id="evals.back"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._datasets: dict[str, Dataset] = {}
        self._cases: dict[str, Case] = {}

    def body(self) -> Iterable[Widget]:
        """Datasets, cases, case."""
        with Horizontal(id="evals"):
            yield ListPane(
                lambda shown, there: f"{tr('Datasets')} ── {there}",
                [Column(tr("dataset"), 0), Column(tr("cases"), 7, "right")],
                id="datasets",
            )
            with Vertical(id="cases-side"):
                yield ListPane(_cases_title, _case_columns(), id="cases")
                with VerticalScroll(id="case", classes="pane", can_focus=True):
                    yield Facts(id="case-text")

    def reload(self) -> None:
        """The datasets."""
        self.jobs.read(self, self.desk.datasets, self._show_datasets)

    def _show_datasets(self, datasets: tuple[Dataset, ...]) -> None:
        self._datasets = {d.name: d for d in datasets}
        self.query_one("#datasets", ListPane).show([Row(d.name, (d.name, count(d.cases))) for d in datasets])
        if not datasets:
            self._show_cases("", ((), []))

    @on(Grid.Highlighted, "#datasets-grid")
    def dataset_chosen(self, event: Grid.Highlighted) -> None:
        """Its cases."""
        name = event.key
        if name:
            self.jobs.read(self, lambda: self._read_cases(name), lambda cases: self._show_cases(name, cases))

    def _read_cases(self, name: str) -> tuple[tuple[Case, ...], list[Row]]:
        cases = self.desk.cases(name)
        return cases, [_case_row(c) for c in cases]

    def _show_cases(self, name: str, found: tuple[tuple[Case, ...], list[Row]]) -> None:
        if name != self.query_one("#datasets-grid", Grid).key:
            return
        cases, rows = found
        self._cases = {c.id: c for c in cases}
        self.query_one("#cases", ListPane).show(rows)
        self._draw_case(self.query_one("#cases-grid", Grid).key)

    @on(Grid.Highlighted, "#cases-grid")
    def case_chosen(self, event: Grid.Highlighted) -> None:
        """What it expects."""
        self._draw_case(event.key)

    def _draw_case(self, case_id: str) -> None:
        pane, case = self.query_one("#case"), self._cases.get(case_id)
        dataset = self._datasets.get(self.query_one("#datasets-grid", Grid).key)
        pane.border_title = content(case.id if case else tr("Case"))
        if case and dataset:
            self.query_one(Facts).show(case_facts(case, dataset), before=content((case.question, Tone.STRONG)))
        else:
            self.query_one(Facts).show([], before=_nothing())
        pane.scroll_home(animate=False)

    @on(Grid.Opened, "#datasets-grid")
    def to_cases(self) -> None:
        """Enter goes one level in."""
        self.query_one("#cases-grid", Grid).focus()

    def action_back(self) -> None:
        """One level out."""
        self.query_one("#datasets-grid", Grid).focus()

    def action_import(self) -> None:
        """Asks for a file of cases."""
        hint = tr("JSON Lines (id, question, gold, answers, …) or SQuAD's JSON; the file's name becomes the dataset's.")
        self.app.push_screen(PathDialog(tr("Import a dataset"), hint), self._import)

    def _import(self, path: str | None) -> None:
        if path:
            self.jobs.read(self, lambda: self.desk.import_dataset(path, Path(path).stem), self._imported)

    def _imported(self, dataset: Dataset) -> None:
        self.notify(tr("{name}: {count} cases.", name=dataset.name, count=count(dataset.cases)), markup=False)
        self.bench.changed()


def _cases_title(shown: int, there: int) -> str:
    return f"{tr('Cases')} ── {count(there) if shown == there else f'{count(shown)}/{count(there)}'}"


def _case_columns() -> list[Column]:
    return [
        Column("", 1),
        Column("id", 10),
        Column(tr("type"), 9, keep=62),
        Column(tr("lang"), 4, keep=52),
        Column(tr("question"), 0),
    ]


def _case_row(case: Case) -> Row:
    mark: Line = ("✓", Tone.GOOD) if case.answerable else ("✗", Tone.WARN)
    return Row(case.id, (mark, (case.id, Tone.DIM), case.type, (case.language, Tone.DIM), case.question))


def case_facts(case: Case, dataset: Dataset) -> list[Fact]:
    """Answers, gold passages, and where the case comes from."""
    answerable = tr("{answerable} of {all} answerable", answerable=count(dataset.answerable), all=count(dataset.cases))
    return [
        *([] if case.answerable else [("✗", (tr("no answer in the collection: abstaining is right"), Tone.WARN))]),
        *((tr("answer"), answer) for answer in case.answers),
        *((tr("gold"), _gold(gold)) for gold in case.gold),
        (tr("type"), case.type),
        (tr("difficulty"), case.difficulty),
        (tr("language"), case.language),
        (tr("notes"), case.notes),
        (tr("collection"), dataset.collection),
        (tr("dataset"), (f"{dataset.name} · {answerable} · sha {dataset.hash[:8]}", Tone.DIM)),
    ]


def _gold(gold: GoldSpan) -> Line:
    span = f"{count(gold.start)}–{count(gold.end)}" if gold.end else tr("the whole document")
    return (gold.source_id, (f"   {span}   {tr('grade {grade}', grade=gold.grade)}", Tone.DIM))


def _nothing() -> Content:
    return content(
        (tr("No datasets yet."), Tone.STRONG),
        "\n\n",
        ("i", Tone.ACCENT),
        " " + tr("imports a file of questions with what is expected of each."),
    )
