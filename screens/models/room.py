"""What the rooms below the library have in common: each is a tab in which something is done with a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical

from screens.widgets.facts import Fact
from screens.work import Jobs

if TYPE_CHECKING:
    from workbench.desk import Desk, DeskStatus
    from workbench.records.models import ModelFile


class Room(Vertical, can_focus=True):
    """A tab of the Models screen."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__()
        self.desk = desk
        self.jobs = jobs

    def legend(self) -> list[Fact]:
        """Its signs, for the help."""
        return []

    def entered(self) -> None:
        """The person opened the room: what is used first in it takes the focus."""
        self.focus()

    def file_changed(self, file: ModelFile | None) -> None:
        """The library's cursor stands on another file."""

    def status_changed(self, status: DeskStatus) -> None:
        """Several times a second: what is loaded, and the gauges."""
