"""What a person writes down: the label of a case, a decision, a report to hand on."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from screens.dialogs import HELP, PassageDialog
from screens.evals.reading import RunView
from screens.evals.words import value_mark
from screens.fields import chosen, field, pick, tell_problem, written
from screens.style import Tone, content
from screens.widgets.grid import Row
from workbench.errors import FileError
from workbench.evals.reporting.markup import without_escapes
from workbench.evals.reporting.naming import label_name, run_words
from workbench.evals.reporting.reports import verdict_title
from workbench.i18n import tr
from workbench.records.evals import Label, Run, Verdict

if TYPE_CHECKING:
    from workbench.desk import Desk

Mark = Literal[-1, 0, 1]
Form = Literal["markdown", "html", "latex"]
FORMS: Final[dict[str, Form]] = {".md": "markdown", ".html": "html", ".tex": "latex"}
"""A file name's ending → what is written."""
VERDICTS: Final[tuple[Verdict, ...]] = ("pass", "stop", "change", "measure_more")


class LabelDialog(ModalScreen[str]):
    """Asks for a note to a verdict; dismisses with it ("" is one too), None when left."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close", id="label.close"), *HELP]

    def __init__(self, case_id: str, value: Mark, before: Label | None) -> None:
        super().__init__()
        self._case_id, self._value, self._before = case_id, value, before

    def compose(self) -> ComposeResult:
        """One line."""
        with Vertical(classes="dialog small") as box:
            box.border_title = content(value_mark(self._value), f" {label_name(self._value)} ── {self._case_id}")
            box.border_subtitle = content(tr("enter labels · esc closes"))
            yield field("note", tr("Note"), self._before.note if self._before else "", tr("why, if you like"))

    @on(Input.Submitted)
    def label(self, event: Input.Submitted) -> None:
        """The note."""
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        """No label."""
        self.dismiss(None)


@dataclass(frozen=True, slots=True)
class Draft:
    """A decision as it is written down."""

    title: str
    verdict: Verdict
    context: str
    options: tuple[str, ...]
    reasons: tuple[str, ...]
    conditions: str
    review: str


class DecisionDialog(ModalScreen[Draft]):
    """Asks what is decided and why; the evidence is taken from the runs themselves."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="decision.close"),
        Binding("ctrl+s", "store", "Store", id="decision.store", priority=True),
        *HELP,
    ]

    def __init__(self, view: RunView) -> None:
        super().__init__()
        self._view = view

    def compose(self) -> ComposeResult:
        """What, why, and what would change it."""
        runs = [run for run in (self._view.run, self._view.other) if run]
        named = ", ".join(f"{run.id} {run_words(run)}" for run in runs)
        with Vertical(classes="dialog wide") as box:
            box.border_title = content(tr("Decide on {runs}", runs=named))
            box.border_subtitle = content(tr("ctrl+s stores · esc closes"))
            yield Static(content((tr("The figures of these runs are written down as evidence."), Tone.DIM)))
            with Container(classes="form halves"):
                yield field("title", tr("Title"), "", tr("what is decided, in a few words"))
                yield pick("verdict", tr("Verdict"), [(v, verdict_title(v)) for v in VERDICTS], "measure_more")
                yield field("context", tr("Context"))
                yield field("options", tr("Options"), "", tr("separated by ;"))
                yield field("conditions", tr("Conditions"), "", tr("what would change it"))
                yield field("review", tr("Review"), "", tr("when to look again"))
            area = TextArea("", id="reasons", classes="lines", tab_behavior="focus")
            area.border_title = content(tr("Reasons, one a line"))
            yield area
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """The title comes first."""
        self.query_one("#title", Input).focus()

    def on_input_submitted(self) -> None:
        """Enter goes on."""
        self.focus_next()

    def action_store(self) -> None:
        """Dismisses with the draft, or says what it lacks."""
        reasons = _parts(self.query_one("#reasons", TextArea).text, "\n")
        title = written(self, "title")
        if not title or not reasons:
            tell_problem(self, ValueError(tr("A decision has a title and at least one reason.")))
            return
        self.dismiss(
            Draft(
                title=title,
                verdict=cast(Verdict, chosen(self, "verdict")),
                context=written(self, "context"),
                options=_parts(written(self, "options"), ";"),
                reasons=reasons,
                conditions=written(self, "conditions"),
                review=written(self, "review"),
            )
        )

    def action_leave(self) -> None:
        """Nothing is stored."""
        self.dismiss(None)


def _parts(words: str, separator: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in words.split(separator) if part.strip())


class DecisionScreen(PassageDialog):
    """A decision record as Markdown; ``export`` is asked to write it to a file."""

    CSS_PATH = "../dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "export", "Write", id="decision.export", tooltip="To a Markdown file"),
        *HELP,
    ]

    def __init__(self, decision_id: int, words: str, export: Callable[[], object]) -> None:
        super().__init__(tr("Decision {id}", id=decision_id), without_escapes(words), subtitle=tr("x writes a file"))
        self._export = export

    def action_export(self) -> None:
        """Asks for the file."""
        self._export()


class ExportDialog(ModalScreen[Path]):
    """Asks for the file that a report, a decision or a table of runs is written to; its ending says how. One that is
    there is replaced only on a second enter."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close", id="report.close"), *HELP]

    def __init__(self, suggestion: str, forms: Collection[str] = FORMS.keys()) -> None:
        """``forms`` are the endings that can be written."""
        super().__init__()
        self._suggestion, self._forms = suggestion, forms
        self._warned = ""

    def compose(self) -> ComposeResult:
        """One line."""
        with Vertical(classes="dialog small") as box:
            box.border_title = content(tr("Write a file"))
            box.border_subtitle = content(tr("enter writes · esc closes"))
            if self._forms == FORMS.keys():
                hint = tr(".md is Markdown, .html a page, .tex a table of all runs of the dataset.")
                yield Static(content((hint, Tone.DIM)))
            yield field("path", tr("File"), self._suggestion)
            yield Static("", classes="problem")

    @on(Input.Submitted)
    def write(self, event: Input.Submitted) -> None:
        """Dismisses with the path when it can be written to."""
        path = Path(event.value.strip()).expanduser()
        problem = ""
        if path.suffix.lower() not in self._forms:
            problem = tr("End the name in {endings}.", endings=", ".join(self._forms))
        elif not path.parent.is_dir():
            problem = tr("There is no such folder.")
        elif path.exists() and self._warned != str(path):
            self._warned = str(path)
            problem = tr("There is a file of that name: enter once more replaces it.")
        if problem:
            tell_problem(self, ValueError(problem))
        else:
            self.dismiss(path)

    def action_leave(self) -> None:
        """Nothing is written."""
        self.dismiss(None)


def write_report(desk: Desk, path: Path, run: Run, other: Run | None) -> Path:
    """Writes the run's report, with the comparison in it when there is one. Raises FileError."""
    return write_file(path, desk.evals.export_report(run.id, FORMS[path.suffix.lower()], other.id if other else 0))


def write_file(path: Path, text: str) -> Path:
    """Raises FileError."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise FileError(
            tr("The file was not written"), f"{path}: {error.strerror}", tr("Choose another place.")
        ) from error
    return path


def read_decisions(desk: Desk) -> list[Row]:
    """A row per decision, newest first."""
    return [
        Row(str(d.id), (d.title, (f"{verdict_title(d.verdict)} · {d.created:%Y-%m-%d}", Tone.DIM)))
        for d in desk.evals.decisions()
    ]
