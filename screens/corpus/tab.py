"""What the tabs below the chunks have in common: each shows one chunk in its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import VerticalScroll

from screens.work import Jobs
from workbench.records.corpus import Chunk

if TYPE_CHECKING:
    from workbench.desk import Desk


class ChunkTab(VerticalScroll, can_focus=True):
    """A tab of the detail pane. Subclasses compose their own widgets and fill them in ``show``.

    ``show`` is called on the UI thread, and only while the tab is in front: what has to be read is read with
    ``self.jobs.read``, and what arrives after another chunk was shown is dropped (compare with ``self.chunk``).
    """

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__()
        self.desk = desk
        self.jobs = jobs
        self.chunk: Chunk | None = None
        """What the pane shows now; set before ``show`` is called."""

    def show(self, chunk: Chunk | None) -> None:
        """Shows ``chunk``; None where there is none to show."""
