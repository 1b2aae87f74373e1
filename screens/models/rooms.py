"""The tabs below the library: playground, bench and ladder. Shut they are one line, open they take half the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import TabbedContent, TabPane

from screens.models.bench import Bench
from screens.models.ladder import Ladder
from screens.models.playground import Playground
from screens.models.room import Room
from screens.style import Tone, content
from screens.widgets.facts import Fact
from screens.work import Jobs
from workbench.i18n import tr

if TYPE_CHECKING:
    from workbench.desk import Desk, DeskStatus
    from workbench.records.models import ModelFile

ROOMS: Final[tuple[tuple[str, str, str, type[Room]], ...]] = (
    ("playground", "p", "Playground", Playground),
    ("bench", "b", "Bench", Bench),
    ("ladder", "L", "Ladder", Ladder),
)
"""The id of each tab, the screen's key for it, its title, and what is in it."""


class Rooms(Vertical):
    """The three rooms, one of them in front."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(id="rooms")
        self._desk, self._jobs = desk, jobs

    def compose(self) -> ComposeResult:
        """A tab each."""
        with TabbedContent():
            for name, key, title, room in ROOMS:
                with TabPane(content((key, Tone.ACCENT), f" {tr(title)}"), id=name):
                    yield room(self._desk, self._jobs)

    @property
    def opened(self) -> str:
        """The room that is open, "" while they are shut."""
        return self.query_one(TabbedContent).active if self.screen.has_class("-room") else ""

    def legend(self) -> list[Fact]:
        """The signs of the room that is open."""
        return self.query_one(f"#{self.opened}", TabPane).query_one(Room).legend() if self.opened else []

    def open(self, name: str) -> None:
        """Opens a room and puts the focus into it."""
        self.screen.add_class("-room")
        self.query_one(TabbedContent).active = name
        self.query_one(f"#{name}", TabPane).query_one(Room).entered()

    def shut(self) -> None:
        """One line again."""
        self.screen.remove_class("-room")

    def on_tabbed_content_tab_activated(self, event: TabbedContent.TabActivated) -> None:
        """A click on a tab opens its room; the first activation is the mount's own."""
        if event.tabbed_content.query_one("ContentTabs").has_focus:
            self.screen.add_class("-room")

    def file_changed(self, file: ModelFile | None) -> None:
        """The library's cursor stands on another file."""
        for room in self.query(Room):
            room.file_changed(file)

    def status_changed(self, status: DeskStatus) -> None:
        """Several times a second: what is loaded, and the gauges."""
        for room in self.query(Room):
            room.status_changed(status)
