"""What the tabs have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from screens.help import declared
from screens.style import Line, Tone, content
from screens.tools.found import probe_lines
from screens.widgets.keys import key_name, shown
from screens.work import Job, Jobs
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.inventory import ProbeReport

if TYPE_CHECKING:
    from workbench.desk import Desk


class ToolTab(Vertical):
    """A tab of the Tools screen."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__()
        self.desk, self.jobs = desk, jobs

    def reload(self) -> None:
        """Reads anew, in a worker, what it lists."""

    def entered(self) -> None:
        """The person opened it: what is used first takes the focus."""


class KeyLine(Static):
    """A tab's own keys, where the bar below has no room for them: with their names while those fit, then without."""

    def __init__(self, tab: type[ToolTab]) -> None:
        super().__init__("")
        self._actions = {binding.action for binding in declared(tab) if binding.show}

    def on_mount(self) -> None:
        """Draws whenever the focus or an action's state changes."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.draw())

    def on_resize(self) -> None:
        """Fits the new width."""
        self.draw()

    def draw(self) -> None:
        """As many names as there is room for."""
        keys = [(key_name(b.key), tr(b.description)) for b in shown(self.screen) if b.action in self._actions]
        room = self.size.width - sum(len(key) + 2 for key, _ in keys)
        told: list[Line] = []
        for key, name in keys:
            room -= len(name) + 1
            told += [(key, Tone.ACCENT), f" {name}  " if room >= -2 else "  "]
        self.update(content(*told))


class FindingTab(ToolTab):
    """A tab with a list, and a pane beside it that says what was last found out about a row."""

    pane: ClassVar[str]
    """The pane's id."""
    _job: Job | None = None
    _shown = ""
    """The row whose facts the pane tells."""

    def _say(self, *lines: Line, title: str = "") -> None:
        box = self.query_one(f"#{self.pane}", VerticalScroll)
        box.border_title = content(title)
        self.query_one(f"#{self.pane} Static", Static).update(content(*lines))

    def _ended(self, error: WorkbenchError) -> None:
        self._job = None
        self._say(("✗ ", Tone.BAD), f"{error.title}: {error.message}", f"\n→ {error.remedy}" if error.remedy else "")

    def _probe(self, name: str, title: str) -> None:
        """Layer by layer; ``_probed`` tells what was found."""
        self._say((tr("probing…"), Tone.DIM), title=title)
        self._job = self.jobs.run(
            self,
            tr("probe"),
            lambda cancel: self.desk.inventory.probe(name, cancel),
            then=lambda report: self._probed(report, title),
            failed=self._ended,
        )

    def _probed(self, report: ProbeReport | None, title: str) -> None:
        self._job = None
        if report:
            self._say(*probe_lines(report), title=title)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Stopping is possible while something runs; else the key shuts the tools."""
        return action != "stop" or self._job is not None

    def action_stop(self) -> None:
        """Stops what runs."""
        if self._job:
            self._job.stop()
