"""The bar at the bottom: the four screens, the keys that act on what has the focus, the palette and the help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.keys import format_key
from textual.screen import Screen
from textual.widgets import Input, Static

from workbench.i18n import tr

MODE_GROUP = Binding.Group("mode", compact=True)
"""Bindings of this group are the four screens; they stand first."""
EDGE_GROUP = Binding.Group("edge", compact=True)
"""Bindings of this group stand at the right edge and are never left out."""


ROOMY: Final = 100
"""From this width on, the whole edge is shown; below it only the help."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the bar, the key that a click on it presses ("" for none), and the cells left free after it."""

    words: Content
    key: str = ""
    gap: int = 2


def key_label(binding: Binding, *, typing: bool) -> str:
    """How a binding is shown: the first of its keys, or the first that is no character while an input has the focus."""
    keys = binding.key.split(",")
    usable = [k for k in keys if "+" in k or (k[0] == "f" and k[1:].isdigit())] if typing else []
    return key_name((usable or keys)[0])


def key_name(key: str) -> str:
    """A key as people write it: "f1" → "F1", "ctrl+p" → "^p", "question_mark" → "?", "alt+f" as it is."""
    if key[0] == "f" and key[1:].isdigit():
        return key.upper()
    lead, _, last = key.rpartition("+")
    last = {"escape": "esc", "left": "←", "right": "→", "up": "↑", "down": "↓"}.get(last, format_key(last))
    return "^" + last if lead == "ctrl" else f"{lead}+{last}" if lead else last


def shown(screen: Screen[object]) -> list[Binding]:
    """Bindings that act now, each action once, the screen's own before those of the widget in focus."""
    found: dict[str, Binding] = {}
    for active in sorted(screen.active_bindings.values(), key=lambda a: a.node is not screen):
        if active.binding.show and active.enabled:
            found.setdefault(f"{id(active.node)}.{active.binding.action}", _whole(active.node, active.binding))
    return list(found.values())


def _whole(node: object, binding: Binding) -> Binding:
    """The binding as it was declared, with all its keys (Textual splits "i,alt+i" in two)."""
    for kind in type(node).__mro__:
        for declared in kind.__dict__.get("BINDINGS", ()):
            if isinstance(declared, Binding) and declared.id and declared.id == binding.id:
                return declared
    return binding


class KeyBar(Static):
    """Follows the focus; what doesn't fit is in the help."""

    DEFAULT_CSS = "KeyBar { height: 1; background: $panel; }"

    def __init__(self) -> None:
        super().__init__("")
        self._parts: list[Part] = []

    def on_mount(self) -> None:
        """Draws whenever the focus or an action's state changes."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.draw())
        self.draw()

    def on_resize(self) -> None:
        """Fits the bar to the new width."""
        self.draw()

    def draw(self) -> None:
        """Lays out modes, context keys and the edge."""
        typing = isinstance(self.screen.focused, Input)
        width = self.size.width or 80
        groups: dict[str, list[Part]] = {"mode": [], "edge": [], "": []}
        for binding in shown(cast("Screen[object]", self.screen)):
            group = binding.group.description if binding.group else ""
            groups[group].append(self._part(binding, typing))
        edge = groups["edge"] if width >= ROOMY else groups["edge"][-1:]
        modes = groups["mode"] if width >= ROOMY else [replace(part, gap=1) for part in groups["mode"]]
        lead, divider = Part(Content(" ")), Part(Content.styled("│", "$line"))
        room = width - _width([lead, *modes, divider, Part(Content("")), *edge]) + 1
        middle = list(_fitting(groups[""], room))
        gap = Part(Content(" " * max(0, room - _width(middle))))
        self._parts = [lead, *modes, divider, *middle, gap, *edge]
        self.update(Content.assemble(*(piece for part in self._parts for piece in (part.words, " " * part.gap))))

    def _part(self, binding: Binding, typing: bool) -> Part:
        here = binding.action == f"app.mode('{self.app.current_mode}')"
        label, words = key_label(binding, typing=typing), tr(binding.description)
        drawn = Content.assemble((label, "$accent bold"), " ", (words, "$foreground bold" if here else "$quiet"))
        return Part(drawn, binding.key.split(",")[-1 if typing else 0])

    def on_click(self, event: events.Click) -> None:
        """A click on a key is the key."""
        start = 0
        for part in self._parts:
            if part.key and start <= event.x < start + part.words.cell_length:
                self.app.simulate_key(part.key)
            start += part.words.cell_length + part.gap


def _width(parts: Sequence[Part]) -> int:
    return sum(part.words.cell_length + part.gap for part in parts)


def _fitting(parts: Sequence[Part], room: int) -> Iterable[Part]:
    for part in parts:
        room -= part.words.cell_length + part.gap
        if room < 0:
            return
        yield part
