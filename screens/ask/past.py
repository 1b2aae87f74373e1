"""The history of questions: searched as it is typed; a question is opened, compared, asked again or deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from screens.dialogs import HELP, ConfirmDialog
from screens.style import NO_ANSWER, OUTCOMES, Line, Tone, content, milliseconds
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.ports import TraceSummary
from workbench.traces.outcomes import outcome_name

if TYPE_CHECKING:
    from workbench.desk import Desk

_LISTED: Final = 200
"""Questions shown at most; more words find the others."""


@dataclass(frozen=True, slots=True)
class PastWish:
    """What is to be done with which traces: one of them to open or replay, two to compare."""

    what: Literal["open", "replay", "compare"]
    ids: tuple[str, ...]


class PastDialog(ModalScreen[PastWish]):
    """Newest first. With ``against``, enter compares with that trace.

    Args:
        comparing: it was opened to compare, so enter doesn't open.
    """

    CSS_PATH: ClassVar = ["../dialogs.tcss", "ask.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "list", "To the questions", show=False, id="past.list"),
        Binding("slash", "search", "Search", key_display="/", show=False, id="past.search"),
        Binding(
            "equals_sign",
            "compare",
            "Compare",
            id="past.compare",
            tooltip="The two marked ones; else this one with the one in front, or with the one asked before it",
        ),
        Binding(
            "r",
            "replay",
            "Replay",
            id="past.replay",
            tooltip="Asks it again of today's index, and says what differs and why",
        ),
        Binding("d,delete", "delete", "Delete", id="past.delete", tooltip="For good"),
        Binding("escape", "leave", "Close", id="past.close"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, *, against: str = "", comparing: bool = False) -> None:
        super().__init__()
        self._desk, self._jobs, self._against, self._comparing = desk, jobs, against, comparing
        self._latest: Latest[str, tuple[TraceSummary, ...]] = Latest(jobs, self, self._call, self._list, self._failed)

    def compose(self) -> ComposeResult:
        """The words sought over the questions."""
        with Vertical(classes="dialog full past") as box:
            box.border_title = content(tr("Compare with…") if self._comparing else tr("Questions asked"))
            does = tr("enter compares") if self._comparing else tr("enter opens · = compares")
            keys = tr("r replays · d deletes · space marks · esc")
            box.border_subtitle = content(f"{does} · {keys}")
            yield Input(placeholder=tr("Words of the question"), classes="pane")
            yield Grid(
                [
                    Column("", 1),
                    Column(tr("when"), 16),
                    Column("", 1),
                    Column(tr("outcome"), 18, keep=70),
                    Column(tr("ms"), 6, "right", keep=70),
                    Column(tr("question"), 0),
                ],
                id="questions",
                marks=True,
            )

    def on_mount(self) -> None:
        """All of them."""
        self.query_one(Input).focus()
        self._latest.submit("")

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        """Those that hold every word."""
        self._latest.submit(event.value)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """The first of them."""
        self._chosen()

    @on(Grid.Opened)
    def opened(self, event: Grid.Opened) -> None:
        """The one under the cursor."""
        self._chosen()

    def _chosen(self) -> None:
        if self._comparing:
            self.action_compare()
        elif self._key:
            self.dismiss(PastWish("open", (self._key,)))

    @property
    def _key(self) -> str:
        return self.query_one("#questions", Grid).key

    def _call(self, words: str) -> tuple[TraceSummary, ...]:
        return self._desk.inspector.history(words, _LISTED)

    def _list(self, words: str, found: tuple[TraceSummary, ...]) -> None:
        nothing = tr("none holds these words") if words.strip() else tr("none yet: enter on Ask answers one")
        self.query_one(Input).border_subtitle = "" if found else content(nothing)
        self.query_one("#questions", Grid).show([_row(summary, self._against) for summary in found])

    def _failed(self, error: WorkbenchError) -> None:
        self.notify(error.message, severity="error", timeout=5, markup=False)

    # -- keys ------------------------------------------------------------------------------------------------------

    def action_list(self) -> None:
        """To the questions."""
        self.query_one("#questions", Grid).focus()

    def action_search(self) -> None:
        """To the words."""
        self.query_one(Input).focus()

    def action_compare(self) -> None:
        """Two marked; this one with the one in front; else this one with the one asked before it."""
        grid = self.query_one("#questions", Grid)
        if len(grid.marked) == 2:
            pair = tuple(grid.marked)
        elif self._against and self._against != self._key:
            pair = (self._against, self._key)
        else:
            keys = [row.key for row in grid.rows]
            pair = tuple(keys[grid.cursor : grid.cursor + 2])
        if len(pair) == 2 and all(pair):
            self.dismiss(PastWish("compare", pair))
        else:
            self.notify(tr("There is no other question to compare it with."), severity="warning", timeout=3)

    def action_replay(self) -> None:
        """Asks it again."""
        if self._key:
            self.dismiss(PastWish("replay", (self._key,)))

    def action_delete(self) -> None:
        """The marked ones or this one, when the person says yes."""
        grid = self.query_one("#questions", Grid)
        ids = sorted(grid.marked) or [self._key]
        if not ids[0]:
            return
        many = tr("{count} questions go for good, with every stage of them.", count=len(ids))
        question = tr("It goes for good, with every stage of it.") if len(ids) == 1 else many
        dialog = ConfirmDialog(tr("Delete from the history?"), question, tr("Delete"), tr("Keep"))
        self.app.push_screen(dialog, lambda yes: self._delete(ids) if yes else None)

    def _delete(self, ids: list[str]) -> None:
        def work() -> None:
            for trace_id in ids:
                self._desk.inspector.delete(trace_id)

        words = self.query_one(Input)
        self._jobs.read(self, work, lambda _: self._latest.submit(words.value + ""))

    def action_leave(self) -> None:
        """Nothing."""
        self.dismiss(None)


def _row(summary: TraceSummary, against: str) -> Row:
    mark = ("●", Tone.ACCENT) if summary.id == against else ""
    when = summary.created[:16].replace("T", " ")
    sign, outcome = OUTCOMES.get(summary.outcome, NO_ANSWER), outcome_name(summary.outcome)
    of_tables = "SQL " if summary.outcome.startswith("sql_") else ""  # a small terminal has no room for the outcome
    query: Line = ((of_tables, Tone.ACCENT), (summary.query, Tone.PLAIN))
    return Row(summary.id, (mark, (when, Tone.DIM), sign, outcome, milliseconds(summary.duration_ms), query))
