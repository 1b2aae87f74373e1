"""The Tools screen: six tabs, each with its keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import TabbedContent, TabPane

from screens.base import ModeScreen
from screens.style import Tone, content
from screens.tools.decide import DecideTab
from screens.tools.inventory import InventoryTab
from screens.tools.money import MoneyTab
from screens.tools.servers import ServersTab
from screens.tools.sql import SqlTab
from screens.tools.tab import KeyLine, ToolTab
from screens.tools.tokens import TokensTab
from screens.widgets.facts import Fact
from screens.widgets.keys import with_alt
from screens.work import Jobs
from workbench.i18n import tr

if TYPE_CHECKING:
    from workbench.desk import Desk

TABS: Final[tuple[tuple[str, str, str, type[ToolTab]], ...]] = (
    ("tokens", "t", "Tokens", TokensTab),
    ("money", "m", "Money", MoneyTab),
    ("decide", "d", "Decide", DecideTab),
    ("servers", "s", "Servers", ServersTab),
    ("sql", "q", "SQL", SqlTab),
    ("inventory", "i", "Inventory", InventoryTab),
)
"""The id of each tab, its key, its title, and what is in it."""


class ToolsScreen(ModeScreen):
    """Tokens │ Money │ Decide │ Servers │ SQL │ Inventory, over the screen that it was opened from."""

    CSS_PATH = "tools.tcss"
    AUTO_FOCUS = None
    mode = "tools"
    BINDINGS: ClassVar[list[BindingType]] = [
        *with_alt(
            "t",
            "tab('tokens')",
            "Tokens",
            id="tools.tokens",
            show=False,
            tooltip="Texts cut, windows budgeted, prompts compared",
        ),
        *with_alt(
            "m", "tab('money')", "Money", id="tools.money", show=False, tooltip="What was used and what it costs"
        ),
        *with_alt(
            "d",
            "tab('decide')",
            "Decide",
            id="tools.decide",
            show=False,
            tooltip="Sheets, decisions, what to try first",
        ),
        *with_alt(
            "s",
            "tab('servers')",
            "Servers",
            id="tools.servers",
            show=False,
            tooltip="What answers; use, examine, load it",
        ),
        *with_alt(
            "q",
            "tab('sql')",
            "SQL",
            id="tools.sql",
            show=False,
            tooltip="A query that reads, and what is doubtful about it",
        ),
        *with_alt(
            "i",
            "tab('inventory')",
            "Inventory",
            id="tools.inventory",
            show=False,
            tooltip="Models here and elsewhere; the four filters",
        ),
        Binding("escape", "back", "Back", id="tools.back", tooltip="To the screen one came from"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs, first: str = "tokens") -> None:
        super().__init__(desk, jobs)
        self._first = first

    def body(self) -> Iterable[Widget]:
        """The tabs."""
        with TabbedContent(initial=self._first, id="tools"):
            for name, key, title, tab in TABS:
                with TabPane(content((key, Tone.ACCENT), f" {tr(title)}"), id=name):
                    yield tab(self.desk, self.jobs)
                    yield KeyLine(tab)

    def on_mount(self) -> None:
        """The first tab's own first place has the focus."""
        self.call_after_refresh(self._tab(self._first).entered)

    def _tab(self, name: str) -> ToolTab:
        return self.query_one(f"#{name}", TabPane).query_one(ToolTab)

    def action_tab(self, name: str) -> None:
        """Opens a tab and puts the focus into it."""
        self.query_one("#tools", TabbedContent).active = name
        self._tab(name).reload()
        self._tab(name).entered()

    def action_back(self) -> None:
        """Shuts the tools."""
        self.dismiss(None)

    def reload(self) -> None:
        """The tab that is open."""
        self._tab(self.query_one("#tools", TabbedContent).active or self._first).reload()

    def legend(self) -> list[Fact]:
        """The marks of the lists."""
        return [
            ("▦ ● →", tr("sheet, decision, symptom with its first move")),
            ("⚠", tr("a price or facts over 90 days old; a port that listens beyond this machine")),
            ("● ◦ ✗", tr("a server or model that stands ready, one that doesn't, one that fails")),
        ]
