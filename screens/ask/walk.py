"""The walk: the pipeline of one question, stage by stage. A rail of all of them, and the page of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeAlias

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen

from screens.ask.page import Reader
from screens.ask.stagelist import WalkStage, walk_stages
from screens.ask.story import Story
from screens.dialogs import HELP
from screens.style import Line, Tone, content
from screens.widgets.grid import Column, Grid, Row
from workbench.i18n import tr
from workbench.records.answers import Trace

Look: TypeAlias = Callable[[Trace], object]
"""Opens what looks at a trace."""


class WalkScreen(ModalScreen[None]):
    """Stages on the left, the page of the chosen one on the right; on a narrow terminal the rail is one line."""

    CSS_PATH: ClassVar = ["../dialogs.tcss", "ask.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,right,l", "step(1)", "Next stage", key_display="tab →", id="walk.next", priority=False),
        Binding("shift+tab,left,h", "step(-1)", "Stage before", show=False, id="walk.before"),
        Binding("w", "what_if", "What if", id="walk.whatif", tooltip="Other settings, without searching again"),
        Binding("a", "autopsy", "Autopsy", id="walk.autopsy", tooltip="Why was a chunk not found or not shown?"),
        Binding("escape,q", "dismiss", "Back", id="walk.close"),
        *HELP,
    ]

    def __init__(self, story: Story, what_if: Look, autopsy: Look) -> None:
        """Begins at the question; ``what_if`` and ``autopsy`` open theirs of the trace, over the stages."""
        super().__init__()
        self._trace, self._what_if, self._autopsy = story.trace, what_if, autopsy
        self._stages = walk_stages(story)
        self._live = not story.trace.id
        self._at = 0

    def compose(self) -> ComposeResult:
        """The rail beside the page."""
        with Vertical(classes="dialog full walk") as box:
            box.border_subtitle = content(
                tr("tab next stage · shift+tab before · w what if · a autopsy · / find · esc back")
            )
            with Horizontal():
                yield Grid(
                    [Column(tr("stage"), 16), Column(tr("in → out"), 12), Column(tr("ms"), 6, "right")], id="rail"
                )
                yield Reader()

    def on_mount(self) -> None:
        """The page has the keys; the rail follows."""
        rail = self.query_one("#rail", Grid)
        rail.can_focus = False
        rail.show([_row(number, stage) for number, stage in enumerate(self._stages)])
        rail.go_to(str(self._at))
        self.query_one(Reader).page.focus()
        self._draw()

    def action_step(self, step: int) -> None:
        """The next stage or the one before; before the first, back to the screen."""
        if self._at + step < 0:
            self.dismiss()
            return
        self._at = min(self._at + step, len(self._stages) - 1)
        self.query_one("#rail", Grid).go_to(str(self._at))
        self._draw()

    def action_what_if(self) -> None:
        """Other settings, where the question for them comes up."""
        self._what_if(self._trace)

    def action_autopsy(self) -> None:
        """What became of a chunk on its way through these stages."""
        self._autopsy(self._trace)

    @on(Grid.Highlighted, "#rail")
    def chosen(self, event: Grid.Highlighted) -> None:
        """The rail was clicked, or follows a step."""
        if int(event.key) != self._at:
            self._at = int(event.key)
            self._draw()

    def _draw(self) -> None:
        stage = self._stages[self._at]
        self.query_one(Reader).show(stage.page)
        of = tr("{name} · stage {number} of {all}", name=stage.name, number=self._at + 1, all=len(self._stages))
        whose = tr("as you type") if self._live else tr("of the answer")
        took = f" · {stage.ms} ms" if stage.ms else ""
        self.query_one(".dialog").border_title = content(f"{tr('Stage by stage')} ── {of}{took} ── {whose}")


def _row(number: int, stage: WalkStage) -> Row:
    tone = Tone.PLAIN if stage.ran else Tone.DIM
    cells: tuple[Line, ...] = ((stage.name, tone), (stage.flow, tone), (stage.ms, Tone.DIM))
    return Row(str(number), cells)
