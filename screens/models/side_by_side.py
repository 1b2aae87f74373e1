"""Figures side by side: a line per figure, a column per model of a bench or rung of a ladder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.dialogs import HELP
from screens.style import Line, Tone, content, plain
from workbench.i18n import tr


def beside(figures: Iterable[tuple[str, Sequence[Line]]]) -> list[Line]:
    """Each figure's name before its cells; every column as wide as its widest cell."""
    told: list[list[Line]] = [[(name, Tone.DIM), *cells] for name, cells in figures]
    widths = [max(cell_len(plain(cell)) for cell in column) + 2 for column in zip(*told, strict=True)]

    def padded(cell: Line, width: int) -> Line:
        return (cell, " " * (width - cell_len(plain(cell))))

    return [tuple(map(padded, row, widths)) for row in told]


class SideBySideDialog(ModalScreen[None]):
    """The lines, to be scrolled in both directions.

    Args:
        legend: what its signs mean.
    """

    CSS_PATH = "measured.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Close", id="beside.close"),
        *HELP,
    ]

    def __init__(self, lines: Sequence[Line], legend: str = "") -> None:
        super().__init__()
        self._lines, self._legend = lines, legend

    def compose(self) -> ComposeResult:
        """All of them."""
        with ScrollableContainer(classes="dialog beside", can_focus=True) as box:
            box.border_title = content(tr("Side by side"))
            box.border_subtitle = content(" · ".join(filter(None, [self._legend, tr("esc closes")])))
            yield Static(Content("\n").join(content(line) for line in self._lines))
