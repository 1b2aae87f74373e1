"""Gates: how a run fares by the locked sets of its dataset, and locking a new set before the next run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from screens.dialogs import HELP
from screens.evals.words import estimate_parts, value_text
from screens.fields import field, tell_problem, written
from screens.style import Line, Tone, content
from screens.widgets.grid import Column, Grid, Row
from workbench.errors import UsageError
from workbench.evals.deciding.gates import GateState, example_gates, gate_state, gate_text, parse_gates, written_late
from workbench.evals.measuring.scoring import describe
from workbench.i18n import tr
from workbench.records.evals import (
    Gate,
    GateResult,
    GateSet,
    Run,
)

if TYPE_CHECKING:
    from workbench.desk import Desk

LOCK: Final = "lock"
"""What the gates' dialog dismisses with when a new set is wanted."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One locked set against the run."""

    gates: GateSet
    results: tuple[GateResult, ...]


def read_gates(desk: Desk, run: Run) -> tuple[Checked, ...]:
    """Every locked set of the run's dataset, newest first, checked."""
    lab = desk.evals
    return tuple(Checked(found, lab.check_gates(run.id, found.name)) for found in lab.gate_sets(run.config.dataset))


class GatesScreen(ModalScreen[str]):
    """One set at a time: each gate with the run's value, its interval and why it passes or not."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="gates.close"),
        Binding("left", "turn(1)", "Older set", id="gates.older"),
        Binding("right", "turn(-1)", "Newer set", id="gates.newer"),
        Binding("l", "lock", "Lock new gates", id="gates.lock"),
        *HELP,
    ]

    def __init__(self, run: Run, checked: Sequence[Checked]) -> None:
        super().__init__()
        self._run, self._checked, self._at = run, checked, 0

    def compose(self) -> ComposeResult:
        """A table over what must be known of it."""
        with Vertical(classes="dialog gates") as box:
            box.border_subtitle = content(tr("l locks new gates · ←→ other sets · esc closes"))
            yield Grid(
                [
                    Column("", 1),
                    Column(tr("gate"), 27),
                    Column(tr("value"), 8, "right"),
                    Column("±", 12, "right"),
                    Column("n", 6, "right"),
                    Column(tr("why"), 0, share=2, keep=90),
                    Column(tr("protects"), 0, keep=110),
                ]
            )
            yield Static("", id="gate-note")

    def on_mount(self) -> None:
        """The newest set."""
        self._draw()

    def _draw(self) -> None:
        box, note = self.query_one(".dialog"), self.query_one("#gate-note", Static)
        if not self._checked:
            box.border_title = content(tr("Gates of {dataset}", dataset=self._run.config.dataset))
            note.update(
                content((tr("No gates are locked. They are written before a run, and never edited."), Tone.DIM))
            )
            return
        checked = self._checked[self._at]
        marks: dict[GateState, Line] = {
            "passed": ("✓", Tone.GOOD),
            "failed": ("✗", Tone.BAD),
            "not judged": (f"◦ {tr('not judged')}:", Tone.DIM),
        }
        mark = marks[gate_state(checked.results)]
        place = f"  {self._at + 1}/{len(self._checked)}" if len(self._checked) > 1 else ""
        locked = tr("locked {when}", when=f"{checked.gates.locked:%Y-%m-%d %H:%M}")
        box.border_title = content(mark, f" {checked.gates.name} ── {locked}", (place, Tone.DIM))
        self.query_one(Grid).show([_row(i, result) for i, result in enumerate(checked.results)])

    def on_grid_highlighted(self, event: Grid.Highlighted) -> None:
        """Why the gate under the cursor passes or not, whole, and what weakens the set."""
        if not event.key:
            return
        checked = self._checked[self._at]
        late = written_late(checked.gates, self._run)
        note: Line = (("\n~ ", Tone.WARN), late)
        if not late:
            note = (
                "\n" + tr("A gate passes only when the interval's bound passes, not when the value does."),
                Tone.DIM,
            )
        self.query_one("#gate-note", Static).update(content(checked.results[int(event.key)].reason, note))

    def action_turn(self, step: int) -> None:
        """Another set."""
        if self._checked:
            self._at = max(0, min(self._at + step, len(self._checked) - 1))
            self._draw()

    def action_lock(self) -> None:
        """Leaves for the dialog that locks."""
        self.dismiss(LOCK)

    def action_leave(self) -> None:
        """Back to the run."""
        self.dismiss("")


def _row(number: int, result: GateResult) -> Row:
    gate, estimate = result.gate, result.estimate
    mark: Line = ("✓", Tone.GOOD) if result.passed else ("✗", Tone.BAD)
    if estimate is None:
        mark = ("◦", Tone.DIM)
    value, margin = estimate_parts(gate.metric, estimate) if estimate else ("–", "")
    sign = "≥" if gate.op == ">=" else "≤"
    rule = f"{describe(gate.metric).title} {sign} {value_text(gate.metric, gate.threshold)}"
    n = f"{estimate.n:,}" if estimate else ""
    return Row(
        str(number), (mark, rule, value, (margin, Tone.DIM), (n, Tone.DIM), result.reason, (gate.protects, Tone.DIM))
    )


@dataclass(frozen=True, slots=True)
class NewGates:
    """A set to lock."""

    name: str
    gates: tuple[Gate, ...]


class LockDialog(ModalScreen[NewGates]):
    """Asks for a name and gates, one a line; begins with the template."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="lock.close"),
        Binding("ctrl+s", "lock", "Lock", id="lock.lock", priority=True),
        *HELP,
    ]

    def __init__(self, dataset: str) -> None:
        super().__init__()
        self._dataset = dataset

    def compose(self) -> ComposeResult:
        """Name over lines."""
        with Vertical(classes="dialog wide") as box:
            box.border_title = content(tr("Lock gates for {dataset}", dataset=self._dataset))
            box.border_subtitle = content(tr("ctrl+s locks · esc closes"))
            hint = tr(
                "Locked gates carry the time and are never edited: a run that began before proves nothing by them."
            )
            yield Static(content((hint, Tone.DIM)))
            yield field("name", tr("Name"), "", tr("for example: release"))
            template = "\n".join(f"{gate_text(gate):<32} # {gate.protects}" for gate in example_gates())
            area = TextArea(template, id="gates", classes="lines", soft_wrap=False, tab_behavior="focus")
            area.border_title = content(tr("One gate a line; after # what it protects"))
            yield area
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """A name comes first."""
        self.query_one("#name", Input).focus()

    @on(Input.Submitted)
    def to_lines(self) -> None:
        """From the name to the gates."""
        self.query_one("#gates", TextArea).focus()

    def action_lock(self) -> None:
        """Dismisses with the set, or says which line is no gate."""
        name = written(self, "name")
        if not name:
            tell_problem(self, ValueError(tr("Give the gates a name.")))
            return
        try:
            self.dismiss(NewGates(name, parse_gates(self.query_one("#gates", TextArea).text)))
        except UsageError as error:
            tell_problem(self, error)

    def action_leave(self) -> None:
        """Nothing is locked."""
        self.dismiss(None)
