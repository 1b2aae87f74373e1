"""Datasets with their versions: handed on in any format, and split by a field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Select, Static

from screens.dialogs import HELP
from screens.fields import chosen, field, pick, tell_problem, written
from screens.style import Line, Tone, content, count
from screens.widgets.grid import Column, Grid, Row
from workbench.evals.formats import FORMATS
from workbench.i18n import tr
from workbench.records.cases import Dataset

if TYPE_CHECKING:
    from workbench.desk import Desk

ENDINGS: Final[dict[str, str]] = {
    "jsonl": ".jsonl",
    "csv": ".csv",
    "tsv": ".tsv",
    "squad": ".json",
    "promptfoo": ".yaml",
    "ragas": ".jsonl",
    "beir": "",
    "trec": "",
}
"""Format → how its file's name ends; "" for a folder."""

Act = Literal["open", "export", "split", "import"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What to do, with which version of a dataset (none for an import)."""

    act: Act
    dataset: Dataset | None = None


def read_versions(desk: Desk) -> tuple[Dataset, ...]:
    """Every version of every dataset, the current one of each first."""
    lab = desk.evals
    found: list[Dataset] = []
    for current in lab.datasets():
        found += [current, *(d for d in lab.versions(current.name) if d.hash != current.hash)]
    return tuple(found)


class DatasetsScreen(ModalScreen[Wish]):
    """Lists them; dismisses with what to do, None when left."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="sets.close"),
        Binding("x", "wish('export')", "Export", id="sets.export", tooltip="This version, in any format"),
        Binding(
            "s", "wish('split')", "Split", id="sets.split", tooltip="A dataset of its own for each value of a field"
        ),
        Binding("i", "wish('import')", "Import", id="sets.import", tooltip="A file of cases, or a folder"),
        *HELP,
    ]

    def __init__(self, versions: Sequence[Dataset], dataset: str) -> None:
        super().__init__()
        self._versions, self._dataset = versions, dataset

    def compose(self) -> ComposeResult:
        """One table."""
        with Vertical(classes="dialog gates") as box:
            box.border_title = content(tr("Datasets and their versions"))
            box.border_subtitle = content(tr("enter opens · x export · s split · i import · esc closes"))
            yield Grid(
                [
                    Column(tr("dataset"), share=2),
                    Column(tr("cases"), 6, "right"),
                    Column(tr("answerable"), 10, "right"),
                    Column(tr("date"), 16),
                    Column("sha256", 12),
                    Column(tr("collection"), share=2, keep=92),
                ]
            )
            if not self._versions:
                yield Static(content((tr("No datasets yet."), Tone.DIM)))

    def on_mount(self) -> None:
        """The cursor begins on the dataset of the screen beneath."""
        current = ""
        rows: list[Row] = []
        for place, dataset in enumerate(self._versions):
            rows.append(_row(place, dataset, older=dataset.name == current))
            current = dataset.name
        grid = self.query_one(Grid)
        grid.show(rows)
        grid.go_to(str(next((n for n, d in enumerate(self._versions) if d.name == self._dataset), 0)))

    @on(Grid.Opened)
    def open(self) -> None:
        """Its cases, on the screen beneath."""
        self.action_wish("open")

    def action_wish(self, act: Act) -> None:
        """Dismisses with what to do with the row under the cursor."""
        key = self.query_one(Grid).key
        if key or act == "import":
            self.dismiss(Wish(act, self._versions[int(key)] if key else None))

    def action_leave(self) -> None:
        """Nothing is done."""
        self.dismiss(None)


def _row(place: int, dataset: Dataset, *, older: bool) -> Row:
    name: Line = (f"  {tr('before')}", Tone.DIM) if older else (dataset.name, Tone.STRONG)
    tone = Tone.DIM if older else Tone.PLAIN
    told = (
        count(dataset.cases),
        count(dataset.answerable),
        f"{dataset.created:%Y-%m-%d %H:%M}",
        dataset.hash[:12],
        dataset.collection,
    )
    return Row(str(place), (name, *((words, tone) for words in told)))


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a dataset goes, and how."""

    path: Path
    format: str


class WriteDialog(ModalScreen[Destination]):
    """Asks for a format and a file or folder; what is there is replaced only on a second enter."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="write.close"),
        Binding("ctrl+s", "write", "Write", id="write.write", priority=True),
        *HELP,
    ]

    def __init__(self, dataset: Dataset) -> None:
        super().__init__()
        self._dataset = dataset
        self._warned = ""

    def compose(self) -> ComposeResult:
        """How over where."""
        formats = [(name, f"{name}  {ENDINGS[name] or tr('a folder')}") for name in sorted(FORMATS) if name in ENDINGS]
        with Vertical(classes="dialog small") as box:
            box.border_title = content(tr("Export {name}", name=self._dataset.name), f" ── {self._dataset.hash[:12]}")
            box.border_subtitle = content(tr("enter writes · esc closes"))
            yield pick("format", tr("Format"), formats, "jsonl")
            yield field("path", tr("File or folder"), self._suggestion("jsonl"))
            yield Static(content((tr("jsonl keeps everything; what another can't keep is said."), Tone.DIM)))
            yield Static("", classes="problem")

    def _suggestion(self, format: str) -> str:
        return "".join(c if c.isalnum() or c in "-_." else "-" for c in self._dataset.name) + ENDINGS[format]

    def on_mount(self) -> None:
        """A path can be typed at once."""
        self.query_one("#path", Input).focus()

    @on(Select.Changed, "#format")
    def another(self) -> None:
        """The name that was suggested gets the format's ending; one of the person's own stays."""
        line, form = self.query_one("#path", Input), chosen(self, "format")
        if line.value in {self._suggestion(known) for known in ENDINGS}:
            line.value = self._suggestion(form)

    @on(Input.Submitted)
    def action_write(self) -> None:
        """Dismisses with the destination when it can be written to."""
        words = written(self, "path")
        path = Path(words).expanduser()
        if not words or not path.parent.is_dir():
            tell_problem(self, ValueError(tr("There is no such folder.")))
        elif path.exists() and self._warned != str(path):
            self._warned = str(path)
            tell_problem(self, ValueError(tr("There is a file of that name: enter once more replaces it.")))
        else:
            self.dismiss(Destination(path, chosen(self, "format")))

    def action_leave(self) -> None:
        """Nothing is written."""
        self.dismiss(None)


def split_rows(segments: Sequence[tuple[str, str]]) -> list[Row]:
    """A row per field that cases have values of, with the values and how many cases each has."""
    fields: dict[str, dict[str, int]] = {}
    for name, value in segments:
        values = fields.setdefault(name, {})
        values[value] = values.get(value, 0) + 1
    return [
        Row(name, (tr(name), ("   ".join(f"{value} {count(n)}" for value, n in values.items()), Tone.DIM)))
        for name, values in fields.items()
    ]
