"""What the four screens have in common: the top line, the bar of keys, and reading anew when the file changed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from screens.widgets.facts import Fact
from screens.widgets.keys import KeyBar, with_alt
from screens.widgets.top import TopLine
from screens.work import Jobs

if TYPE_CHECKING:
    from screens.app import WorkbenchApp
    from workbench.desk import Desk, DeskStatus


class ModeScreen(Screen[None]):
    """One of the four screens. Subclasses give ``body`` and ``reload``."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 -- Textual declares it as an instance variable
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]  # noqa: RUF012 -- as above
    ALLOW_IN_MAXIMIZED_VIEW = "TopLine, KeyBar"
    BINDINGS: ClassVar[list[BindingType]] = [
        *with_alt("z", "zoom", "Zoom", id="mode.zoom", show=False, tooltip="The pane alone, and back"),
    ]
    mode: ClassVar[str]
    """The name of the mode it belongs to."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__()
        self.desk = desk
        self.jobs = jobs
        self._seen = -1

    @property
    def bench(self) -> WorkbenchApp:
        """The app, with what it offers to screens."""
        return cast("WorkbenchApp", self.app)

    def compose(self) -> ComposeResult:
        """The top line, the screen's own, the keys."""
        yield TopLine()
        yield from self.body()
        yield KeyBar()

    @abstractmethod
    def body(self) -> Iterable[Widget]:
        """What is between the top line and the bar of keys."""

    @abstractmethod
    def reload(self) -> None:
        """Reads anew, in a worker, what the screen lists."""

    def legend(self) -> list[Fact]:
        """Signs that the screen writes, each with what it means; for the help."""
        return []

    def arrive(self) -> None:
        """The person came here by its key or from another screen; not called when a dialog over it closes."""

    def action_zoom(self) -> None:
        """The pane in focus fills the screen; again, or escape, and all is back."""
        nodes = self.focused.ancestors_with_self if self.focused else ()
        pane = next((node for node in nodes if isinstance(node, Widget) and node.has_class("pane")), None)
        self.maximized = None if self.maximized else pane

    def on_mount(self) -> None:
        """Follows the app's status and the file's changes."""
        self.watch(self.app, "status", self._on_status)
        self.watch(self.app, "revision", self._on_revision, init=False)
        self.watch(self, "focused", self._end_zoom, init=False)

    def _end_zoom(self, focused: Widget | None) -> None:
        """What is typed is seen: a pane alone makes room for a field behind it that takes the focus."""
        if self.maximized and focused and self.maximized not in focused.ancestors_with_self:
            self.maximized = None

    def on_screen_resume(self) -> None:
        """Reads what changed while another screen was in front."""
        self._on_status(self.bench.status)
        self._on_revision()

    def _on_status(self, status: DeskStatus | None) -> None:
        self.show_works()
        if status is not None and self.is_current:
            self.status_changed(status)

    def show_works(self) -> None:
        """Draws the top line."""
        self.query_one(TopLine).show(self.bench.status, self.jobs.works)

    def status_changed(self, status: DeskStatus) -> None:
        """Something in memory changed; screens that show it override this."""

    def _on_revision(self) -> None:
        if self.is_current and self._seen != self.bench.revision:
            self._seen = self.bench.revision
            self.reload()
