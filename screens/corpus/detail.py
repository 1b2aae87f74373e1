"""The pane below the chunks: one chunk, seen in as many ways as there are tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import TabbedContent, TabPane

from screens.corpus.boundaries import BoundariesTab
from screens.corpus.like import LikeTab
from screens.corpus.metadata import MetadataTab
from screens.corpus.tab import ChunkTab
from screens.corpus.text import TextTab
from screens.corpus.tokens import TokensTab
from screens.corpus.used import UsedTab
from screens.style import content
from screens.work import Jobs
from workbench.i18n import tr
from workbench.records.corpus import Chunk

if TYPE_CHECKING:
    from workbench.desk import Desk

TABS: Final[tuple[tuple[str, str, type[ChunkTab]], ...]] = (
    ("text", "text", TextTab),
    ("boundaries", "boundaries", BoundariesTab),
    ("tokens", "tokens", TokensTab),
    ("used", "used by", UsedTab),
    ("like", "like this", LikeTab),
    ("metadata", "metadata", MetadataTab),
)
"""The id of each tab, its title (in English, translated where it is drawn), and what is in it; in the strip's order:
text, boundaries, tokens, used by, like this, metadata."""


class Detail(Vertical):
    """The chunk under the cursor; the tab in front stays in front when another chunk comes."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(id="chunk", classes="pane")
        self._desk, self._jobs = desk, jobs
        self._chunk: Chunk | None = None

    def compose(self) -> ComposeResult:
        """A tab each."""
        with TabbedContent(initial=TABS[0][0]):
            for name, title, kind in TABS:
                with TabPane(tr(title), id=name):
                    yield kind(self._desk, self._jobs)

    @property
    def tab(self) -> ChunkTab:
        """The one in front."""
        tabs = self.query_one(TabbedContent)
        return tabs.get_pane(tabs.active or TABS[0][0]).query_one(ChunkTab)

    def show(self, chunk: Chunk | None, nothing: Content | None = None) -> None:
        """Shows ``chunk``; where there is none, the first tab tells ``nothing``."""
        self._chunk = chunk
        self.border_title = content(f"{chunk.source_id} #{chunk.ordinal + 1}" if chunk else tr("Chunk"))
        self.query_one(TextTab).nothing = nothing or Content("")
        self._fill()

    def turn(self, tabs: int) -> None:
        """The tab that many further on comes to the front, and takes the focus where a tab has it."""
        names = [name for name, _, _ in TABS]
        strip = self.query_one(TabbedContent)
        had_focus = self.tab.has_focus_within
        strip.active = names[(names.index(strip.active) + tabs) % len(names)]
        if had_focus:
            self.tab.focus()

    def open(self, name: str) -> None:
        """Brings the tab of that id to the front."""
        self.query_one(TabbedContent).active = name

    def on_tabbed_content_tab_activated(self) -> None:
        """What comes to the front shows the chunk."""
        self._fill()

    def _fill(self) -> None:
        tab = self.tab
        tab.chunk = self._chunk
        tab.show(self._chunk)
        tab.scroll_home(animate=False)
