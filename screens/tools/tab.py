"""What the tabs have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical

from screens.work import Jobs

if TYPE_CHECKING:
    from workbench.desk import Desk


class ToolTab(Vertical):
    """A tab of the Tools screen."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__()
        self.desk, self.jobs = desk, jobs

    def reload(self) -> None:
        """Reads anew, in a worker, what it lists."""
        raise NotImplementedError

    def entered(self) -> None:
        """The person opened it: what is used first takes the focus."""
        raise NotImplementedError
