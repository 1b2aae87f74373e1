"""The help: every key that acts on what has the focus, generated from the bindings themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar, Final

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from screens.base import ModeScreen
from screens.style import Line, Tone, content
from screens.widgets.facts import Facts
from screens.widgets.keys import key_name
from workbench.i18n import tr


def sections(screen: Screen[object]) -> list[tuple[str, list[Binding]]]:
    """Bindings as declared, under the heading of what they belong to: the screen, the app, then the widget in focus.

    What Textual itself binds is left out where a key of ours has taken its place, and so is a key of the app that
    the screen has taken.
    """
    nodes: Iterable[DOMNode] = screen.focused.ancestors_with_self if screen.focused else [screen, screen.app]
    found: dict[str, list[Binding]] = {heading: [] for heading in _headings().values()}
    kinds = [kind for node in nodes for kind in type(node).__mro__]
    taken = {key for kind in kinds for binding in declared(kind) if binding.priority for key in binding.key.split(",")}
    nearer: set[str] = set()
    for kind in kinds:
        heading = _headings().get("ModalScreen" if issubclass(kind, ModalScreen) else kind.__name__)
        bindings = [b for b in declared(kind) if b.description]
        if issubclass(kind, App):
            bindings = [free for b in bindings if (free := _free(b, nearer))]
        elif not heading:
            bindings = [b for b in bindings if not taken.intersection(b.key.split(","))]
        found[heading or _headings()[""]] += bindings
        keys = {key for binding in bindings for key in binding.key.split(",")}
        taken |= keys
        nearer |= keys
    return [(heading, bindings) for heading, bindings in found.items() if bindings]


def _free(binding: Binding, nearer: set[str]) -> Binding | None:
    """The binding with the keys that still are its own; None when none is."""
    keys = [key for key in binding.key.split(",") if binding.priority or key not in nearer]
    return replace(binding, key=",".join(keys)) if keys else None


def joined(bindings: Iterable[Binding]) -> list[tuple[Binding, str]]:
    """One entry per action: its first binding, and every key that does it."""
    keys: dict[str, list[str]] = {}
    first: dict[str, Binding] = {}
    for binding in bindings:
        first.setdefault(binding.action, binding)
        keys.setdefault(binding.action, []).extend(map(key_name, binding.key.split(",")))
    return [(binding, "  ".join(dict.fromkeys(keys[action]))) for action, binding in first.items()]


def declared(kind: type) -> Iterator[Binding]:
    """The bindings that a class itself declares; Textual's own app ones are replaced by ours."""
    if kind is App:
        return
    for entry in kind.__dict__.get("BINDINGS", ()):
        yield entry if isinstance(entry, Binding) else Binding(*entry)


def _headings() -> dict[str, str]:
    """Class → heading, in the order of the help."""
    return {
        "ModalScreen": tr("In this dialog"),
        "AskScreen": tr("Ask"),
        "InspectingScreen": tr("Looking closer"),
        "Reader": tr("In a text"),
        "Playground": tr("Playground"),
        "Bench": tr("Bench"),
        "Ladder": tr("Ladder"),
        "ModelsScreen": tr("Models"),
        "CorpusScreen": tr("Corpus"),
        "EvalsScreen": tr("Evals"),
        "ToolsScreen": tr("Tools"),
        "TokensTab": tr("Tokens"),
        "MoneyTab": tr("Money"),
        "DecideTab": tr("Decide"),
        "ServersTab": tr("Servers"),
        "SqlTab": "SQL",
        "InventoryTab": tr("Inventory"),
        "WorkbenchApp": tr("Everywhere"),
        "ModeScreen": tr("Everywhere"),
        "ListPane": tr("In a list"),
        "Grid": tr("In a table"),
        "Passage": tr("In a text"),
        "Input": tr("In a text field"),
        "MessageField": tr("In the message"),
        "": tr("Moving about"),
        "TextArea": tr("In the editor"),
    }


KEYS_WIDTH: Final = 18


class HelpScreen(ModalScreen[None]):
    """Lists the keys of the screen beneath."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "dismiss", "Close", id="help.close"),
    ]

    def __init__(self, beneath: Screen[object]) -> None:
        super().__init__()
        self._sections = sections(beneath)
        self._legend = beneath.legend() if isinstance(beneath, ModeScreen) else []

    def compose(self) -> ComposeResult:
        """One scrolling text."""
        with VerticalScroll(classes="dialog tall") as box:
            box.border_title = tr("Keys")
            box.border_subtitle = tr("esc closes")
            yield Static(content((tr("While you type, hold alt: alt+i is the key i."), Tone.DIM)))
            for heading, bindings in self._sections:
                yield Static(content("\n", (heading, Tone.ACCENT)))
                keys = Facts()
                keys.show([(name, _meaning(binding)) for binding, name in joined(bindings)], label=KEYS_WIDTH)
                yield keys
            if self._legend:
                yield Static(content("\n", (tr("Signs"), Tone.ACCENT)))
                signs = Facts()
                signs.show(self._legend, label=KEYS_WIDTH)
                yield signs


def _meaning(binding: Binding) -> Line:
    more = f" · {tr(binding.tooltip)}" if binding.tooltip else ""
    return (tr(binding.description), (more, Tone.DIM))
