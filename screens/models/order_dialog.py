"""What the dialogs of a new bench and a new ladder share: a list to mark over a form, read when it is started."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Static

from screens.dialogs import HELP
from screens.fields import tell_problem
from screens.style import content
from screens.widgets.grid import Column, Grid
from workbench.i18n import tr

Asked = TypeVar("Asked")


class OrderDialog(ModalScreen[Asked]):
    """Dismisses with what ``_read`` makes of list and form, with None when it is left.

    Subclasses fill the list when they are mounted, and give what is declared below.
    """

    CSS_PATH = ["measured.tcss", "../evals/evals.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="order.close"),
        Binding("ctrl+s", "start", "Start", id="order.start"),
        *HELP,
    ]

    @abstractmethod
    def _heading(self) -> str: ...

    def _told(self) -> Iterable[Widget]:
        """What stands above the list."""
        return ()

    @abstractmethod
    def _columns(self) -> Sequence[Column]: ...

    @abstractmethod
    def _fields(self) -> Iterable[Widget]: ...

    @abstractmethod
    def _read(self) -> Asked:
        """Raises ValueError with a sentence."""

    def compose(self) -> ComposeResult:
        """The list over a form in columns."""
        with Vertical(classes="dialog order") as box:
            box.border_title = content(self._heading())
            box.border_subtitle = content(tr("space marks · ctrl+s starts · esc closes"))
            yield from self._told()
            yield Grid(self._columns(), marks=True)
            with Container(classes="form"):
                yield from self._fields()
            yield Static("", classes="problem")
            with Horizontal(classes="buttons"):
                yield Button(content(tr("Start")), id="start")

    def on_resize(self, event: events.Resize) -> None:
        """No taller than its list needs."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        box, grid = self.query_one(".dialog"), self.query_one(Grid)
        others = [child for child in box.children if child is not grid and child.display]
        rest = box.gutter.height + sum(child.outer_size.height + child.styles.margin.height for child in others)
        box.styles.max_height = rest + max(3, len(grid.rows) + 1)

    def on_grid_opened(self) -> None:
        """Enter in the list goes on to the form."""
        self.query(".form > *").first(Widget).focus()

    def on_input_submitted(self) -> None:
        """Enter goes on."""
        self.focus_next()

    @on(Button.Pressed)
    def action_start(self) -> None:
        """Dismisses with the order, or says what is wrong with it."""
        try:
            self.dismiss(self._read())
        except ValueError as error:
            tell_problem(self, error)
            self.call_after_refresh(self._fit)

    def action_leave(self) -> None:
        """Nothing is begun."""
        self.dismiss(None)
