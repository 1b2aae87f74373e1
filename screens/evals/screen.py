"""Evals: step through a run case by case, compare it with another, label, and decide.

``CaseBrowser`` shows; ``CaseWork`` acts on a case, ``RunWork`` on a run, ``RunSetWork`` on several or beside one,
``SetWork`` on datasets; here are the keys, and moving about.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from screens.dialogs import ChoiceDialog
from screens.evals.case import CasePane
from screens.evals.casework import CaseWork
from screens.evals.items import EVERYTHING, narrowings
from screens.evals.lists import narrow_name
from screens.evals.runsetwork import RunSetWork
from screens.evals.setwork import SetWork
from screens.style import Tone, count
from screens.widgets.grid import Grid, Row
from workbench.i18n import tr


class EvalsScreen(CaseWork, RunSetWork, SetWork):
    """The keys of the screen."""

    CSS_PATH = "evals.tcss"
    AUTO_FOCUS = "#cases-grid"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide"), (150, "-roomy")]  # noqa: RUF012 -- as in ModeScreen
    mode = "evals"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "failure(1)", "Failure", id="evals.next", tooltip="The next case that failed"),
        Binding("p", "failure(-1)", "Failure before", show=False, id="evals.previous"),
        Binding("j", "case(1)", "Next case", show=False, id="evals.down", tooltip="From any pane but the list of runs"),
        Binding(
            "k", "case(-1)", "Case before", show=False, id="evals.up", tooltip="From any pane but the list of runs"
        ),
        Binding("full_stop", "flip", "Flip", show=False, id="evals.flip", tooltip="The next case fixed or broken"),
        Binding("u", "unlabelled", "Unlabelled", show=False, id="evals.unlabelled", tooltip="The next case to judge"),
        Binding(
            "d",
            "disagreement",
            "Disagreement",
            show=False,
            id="evals.disagreement",
            tooltip="Score, you or a judge say otherwise",
        ),
        Binding("f", "view", "Show", id="evals.view", tooltip="Failing, flips, unlabelled, disagreements, all"),
        Binding("F", "narrow", "Narrow", show=False, id="evals.narrow", tooltip="To a failure stage or a segment"),
        Binding("plus", "label(1)", "Right", id="evals.right", tooltip="Your verdict, with a note"),
        Binding("minus", "label(-1)", "Wrong", id="evals.wrong", tooltip="Your verdict, with a note"),
        Binding("0", "label(0)", "Undecided", show=False, id="evals.undecided", tooltip="Your verdict, with a note"),
        Binding("ctrl+z", "undo", "Undo", show=False, id="evals.undo", tooltip="Takes the last label back"),
        Binding("c", "compare", "Compare", id="evals.compare", tooltip="The run to compare with"),
        Binding("R", "run", "Run", id="evals.run", tooltip="Starts a run, or stops the one under way"),
        Binding("r", "rerun", "Rerun", id="evals.rerun", tooltip="The case once more, with other settings"),
        Binding("a", "autopsy", "Autopsy", id="evals.autopsy", tooltip="The gold's rank at each stage"),
        Binding("t", "trace", "Trace", id="evals.trace", tooltip="The case in Ask"),
        Binding("P", "prompt", "Prompt", show=False, id="evals.prompt", tooltip="As it was sent to the model, whole"),
        Binding("s", "source", "Source", show=False, id="evals.source", tooltip="The gold passage in its document"),
        Binding("g", "gates", "Gates", id="evals.gates", tooltip="Check the run by the locked gates; lock new ones"),
        Binding("o", "plots", "Plots", id="evals.plots", tooltip="Risk over coverage, metrics with intervals"),
        Binding("b", "baseline", "Baseline", id="evals.baseline", tooltip="Other runs are compared with it"),
        Binding("i", "import", "Import", id="evals.import", tooltip="A file of cases, or a BEIR folder"),
        Binding("x", "export", "Export", id="evals.export", tooltip="The report as Markdown, HTML or LaTeX"),
        Binding("D", "decide", "Decide", id="evals.decide", tooltip="A decision record; earlier ones"),
        Binding("v", "review", "Review", id="evals.review", tooltip="Candidates that wait for your yes; new ones"),
        Binding("S", "sweep", "Sweep", id="evals.sweep", tooltip="One variable, several values, side by side"),
        Binding("L", "ladder", "Side by side", show=False, id="evals.ladder", tooltip="Several runs, and as a ladder"),
        Binding(
            "J", "judge", "Judge", show=False, id="evals.judge", tooltip="The loaded model judges; what judges said"
        ),
        Binding("e", "datasets", "Datasets", show=False, id="evals.datasets", tooltip="Versions, export, split"),
        Binding("delete", "delete", "Delete run", show=False, id="evals.delete", tooltip="With its results and labels"),
        Binding("escape", "back", "Back", show=False, id="evals.back", tooltip="From case to cases to runs"),
    ]

    def action_view(self) -> None:
        """The next view that has cases."""
        self.cycle_view()

    def action_narrow(self) -> None:
        """Asks for a failure stage or a segment."""
        found = narrowings(self.shown.items) if self.shown else []
        rows = [Row(str(n), (narrow_name(narrow), (count(k), Tone.DIM))) for n, (narrow, k) in enumerate(found)]
        rows.insert(0, Row("", (narrow_name(EVERYTHING), (count(len(self.items)), Tone.DIM))))
        keys = {str(n): narrow for n, (narrow, _) in enumerate(found)}
        self.app.push_screen(
            ChoiceDialog(tr("Only cases of"), rows), lambda key: self.narrow_to(keys.get(key or "", EVERYTHING))
        )

    @on(Grid.Opened, "#cases-grid")
    def to_case(self) -> None:
        """Enter goes one level in."""
        self.query_one(CasePane).focus()

    def action_back(self) -> None:
        """One level out."""
        inner = self.query_one(CasePane).has_focus
        self.query_one("#cases-grid" if inner else "#runs-grid", Grid).focus()
