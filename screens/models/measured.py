"""What the bench and the ladder have in common: work that fills a report, which is stored, found again, exported."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Protocol, TypeVar, cast

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from screens.ask.words import write_text
from screens.dialogs import ChoiceDialog, ConfirmDialog
from screens.messages import BenchMoved, LadderMoved
from screens.models.room import Room
from screens.style import Line, Tone, content
from screens.widgets.grid import Column, ListPane, Row
from screens.work import Job, Jobs
from workbench.benchmarks.exports import ExportFormat
from workbench.errors import WorkbenchError
from workbench.i18n import tr

if TYPE_CHECKING:
    from screens.app import WorkbenchApp
    from workbench.desk import Desk
    from workbench.ports import Cancel

SUFFIXES: Final[dict[ExportFormat, str]] = {"json": "json", "csv": "csv", "markdown": "md"}


class Stored(Protocol):
    """The desk's part that measures and keeps reports by number."""

    def export(self, number: int, form: ExportFormat, /) -> str:
        """The whole of a report as text."""

    def delete(self, number: int, /) -> None:
        """With all its figures."""


class Progress(Protocol):
    """A step of the work: ``report`` holds the figures so far."""

    @property
    def report(self) -> Any:
        """Of the room's type."""


Report = TypeVar("Report")
Step = TypeVar("Step", bound=Progress)


class MeasuredRoom(Room, Generic[Report, Step]):
    """A table of one report's rows beside a pane, and what can be done with reports.

    Its widgets are called ``{kind}-line``, ``{kind}-rows``, ``{kind}-side`` and in that ``{kind}-drawn``. Subclasses
    give what is declared below.
    """

    kind: ClassVar[str]
    """Begins the names of its widgets and of the files that it writes."""
    moved_by: ClassVar[type[BenchMoved] | type[LadderMoved]]
    """The message that tells of a step."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._report: Report | None = None
        self._job: Job | None = None
        self._progress: Step | None = None
        self._elsewhere = 0

    @property
    @abstractmethod
    def _stored(self) -> Stored: ...

    @abstractmethod
    def _number(self, report: Report) -> int: ...

    @abstractmethod
    def _columns(self) -> list[Column]:
        """Of the table."""

    @abstractmethod
    def _title(self, shown: int, there: int) -> str:
        """Of the table, by how many of its rows are shown."""

    @abstractmethod
    def _read(self, number: int) -> None:
        """Reads a report, and draws it; 0 for the newest."""

    @abstractmethod
    def _draw(self) -> None:
        """All of it, to what is known now."""

    @abstractmethod
    def _draw_side(self) -> None: ...

    @abstractmethod
    def _describe(self, job: Job, step: Step) -> None:
        """Writes into the job how far it is; called by the thread that works."""

    @abstractmethod
    def _forms(self) -> tuple[tuple[ExportFormat, str], ...]:
        """What can be exported, and what is in it."""

    @abstractmethod
    def _farewell(self, report: Report) -> tuple[str, str]:
        """Title and question before a report is deleted."""

    @abstractmethod
    def _wanted(self) -> str:
        """What to do where there is no report."""

    def _beginning(self) -> Content:
        """In place of figures."""
        return content((self._wanted(), Tone.DIM), "\n\n", ("n", Tone.ACCENT), " " + tr("begins one."))

    def _waits(self) -> Line:
        """That another process measures in the file."""
        words = tr("runs elsewhere, or waits: process {pid} measures in this file", pid=self._elsewhere)
        return (f" · ▶ {words}", Tone.ACCENT)

    # -- the panes -------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """The line that tells what runs over table and figures."""
        yield Static(classes="measured-line", id=f"{self.kind}-line")
        with Horizontal(classes="measured-panes"):
            yield ListPane(self._title, self._columns(), id=f"{self.kind}-rows", marks=True)
            with VerticalScroll(id=f"{self.kind}-side", classes="pane measured-side", can_focus=True):
                yield Static(id=f"{self.kind}-drawn")

    def on_mount(self) -> None:
        """The newest report."""
        self._read(0)

    def view(self, number: int) -> None:
        """Brings a stored report into view."""
        self._read(number)

    def entered(self) -> None:
        """The table takes the focus; without one, the pane that says how to begin."""
        self.query_one(f"#{self.kind}-rows-grid" if self._report else f"#{self.kind}-side").focus()
        self._draw_side()

    def on_resize(self, event: events.Resize) -> None:
        """Draws to the new size."""
        self.call_after_refresh(self._draw_side)

    def _show_side(self, *, shown: bool) -> None:
        """On a narrow screen, or where one pane is alone, in place of the table, else beside it."""
        self.set_class(shown, "-side")
        alone = self.screen.maximized is not None
        pane = "side" if shown and (alone or self.screen.has_class("-narrow")) else "rows"
        if alone:
            self.screen.maximized = self.query_one(f"#{self.kind}-{pane}")
        self.query_one(f"#{self.kind}-side" if pane == "side" else f"#{self.kind}-rows-grid").focus()
        self.call_after_refresh(self._draw_side)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Keys go nowhere unseen: a table behind the pane comes back when it, or its search, takes the focus."""
        if self.screen.has_class("-narrow") and self.query_one(ListPane) in event.widget.ancestors:
            self.remove_class("-side")

    # -- the work --------------------------------------------------------------------------------------------------

    def _run(self, title: str, call: Callable[[Cancel], Iterator[Step]]) -> None:
        self._progress = None
        self._job = self.jobs.run(
            self,
            title,
            call,
            each=self.moved_by,
            then=self._ended,
            failed=self._failed,
            describe=self._describe,
        )
        self._draw()

    def _ended(self, last: Step | None) -> None:
        self._job = self._progress = None
        report = last.report if last else self._report
        self._read(self._number(report) if report else 0)

    def _failed(self, error: WorkbenchError) -> None:
        self._ended(None)
        cast("WorkbenchApp", self.app).show_error(error)

    def action_stop(self) -> None:
        """At once; what is measured stays."""
        if self._job:
            self._job.stop()

    # -- done with reports -----------------------------------------------------------------------------------------

    def _choose(self, title: str, choices: Sequence[Row]) -> None:
        """Asks which report is to come into view; a row's key is its number."""
        shown = str(self._number(self._report)) if self._report else ""
        self.app.push_screen(ChoiceDialog(title, choices, shown), lambda key: self._read(int(key)) if key else None)

    def action_export(self) -> None:
        """Asks for the format, writes a file where the workbench was started."""
        choices = [Row(form, (form, words)) for form, words in self._forms()]
        self.app.push_screen(ChoiceDialog(tr("Export as"), choices), self._export)

    def _export(self, form: str | None) -> None:
        if not form or self._report is None:
            return
        number, kind = self._number(self._report), cast(ExportFormat, form)
        path = Path.cwd() / f"{self.kind}-{number}.{SUFFIXES[kind]}"
        self.jobs.read(
            self,
            lambda: write_text(path, self._stored.export(number, kind)),
            lambda _: self.notify(tr("Written: {path}", path=str(path)), timeout=5, markup=False),
        )

    def action_delete(self) -> None:
        """Asks first."""
        if self._report:
            title, question = self._farewell(self._report)
            self.app.push_screen(ConfirmDialog(title, question, tr("Delete"), tr("Keep")), self._delete)

    def _delete(self, yes: bool | None) -> None:
        if yes and self._report:
            number = self._number(self._report)
            self.jobs.read(self, lambda: self._stored.delete(number), lambda _: self._read(0))
