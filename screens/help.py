"""The help: every key that acts on what has the focus, generated from the bindings themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from screens.style import Line, content
from screens.widgets.keys import key_name
from workbench.i18n import tr

def sections(screen: Screen[object]) -> list[tuple[str, list[Binding]]]:
    """Bindings as declared, under the heading of what they belong to: the screen, the app, then the widget in focus."""
    nodes: Iterable[DOMNode] = screen.focused.ancestors_with_self if screen.focused else [screen, screen.app]
    found: dict[str, list[Binding]] = {heading: [] for heading in _headings().values()}
    for node in nodes:
        for kind in type(node).__mro__:
            bindings = found[_headings().get(kind.__name__, tr("Moving about"))]
            bindings += [b for b in declared(kind) if not b.system and b.description and b not in bindings]
    return [(heading, bindings) for heading, bindings in found.items() if bindings]


def declared(kind: type) -> Iterator[Binding]:
    """The bindings that a class itself declares; Textual's own app ones are replaced by ours."""
    if kind is App:
        return
    for entry in kind.__dict__.get("BINDINGS", ()):
        yield entry if isinstance(entry, Binding) else Binding(*entry)


def _headings() -> dict[str, str]:
    """Class → heading, in the order of the help."""
    return {
        "AskScreen": tr("Ask"),
        "ModelsScreen": tr("Models"),
        "CorpusScreen": tr("Corpus"),
        "EvalsScreen": tr("Evals"),
        "WorkbenchApp": tr("Everywhere"),
        "ListPane": tr("In a list"),
        "Grid": tr("In a table"),
        "Passage": tr("In a text"),
        "Input": tr("In a text field"),
        "": tr("Moving about"),
    }


class HelpScreen(ModalScreen[None]):
    """Lists the keys of the screen beneath."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "dismiss", "Close", id="help.close"),
    ]

    def __init__(self, beneath: Screen[object]) -> None:
        super().__init__()
        self._sections = sections(beneath)

    def compose(self) -> ComposeResult:
        """One scrolling text."""
        with VerticalScroll(classes="dialog tall") as box:
            box.border_title = tr("Keys")
            box.border_subtitle = tr("esc closes")
            yield Static(self._text())

    def _text(self) -> Content:
        lines: list[Line] = [(tr("While you type, hold alt: alt+i is the key i."), "dim"), "\n"]
        for heading, bindings in self._sections:
            lines += ["\n", (heading, "accent"), "\n"]
            for binding in bindings:
                keys = "  ".join(map(key_name, binding.key.split(",")))
                more = f" · {tr(binding.tooltip)}" if binding.tooltip else ""
                lines += [("  " + keys.ljust(24), "strong"), tr(binding.description), (more, "dim"), "\n"]
        return content(*lines)

