"""The bar at the bottom: the four screens, the keys that act on what has the focus, the palette and the help."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.keys import format_key
from textual.screen import Screen
from textual.widgets import Static

from workbench.i18n import tr

MODE_GROUP = Binding.Group("mode", compact=True)
"""Bindings of this group are the four screens; they stand first."""
EDGE_GROUP = Binding.Group("edge", compact=True)
"""Bindings of this group stand at the right edge and are never left out."""


ROOMY: Final = 100
"""From this width on, the whole edge is shown; below it only the help."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the bar.

    Attributes:
        key: that a click on it presses, "" for none.
        gap: cells left free after it.
        name: cells of the key's name, with which it begins.
        here: it is the screen that is shown.
    """

    words: Content
    key: str = ""
    gap: int = 2
    name: int = 0
    here: bool = False


def with_alt(
    keys: str,
    action: str,
    description: str,
    *,
    id: str,
    tooltip: str = "",
    show: bool = True,
    group: Binding.Group | None = None,
    typing: str = "",
) -> tuple[Binding, Binding]:
    """A binding on ``keys``, and one that acts while an input has the focus: on ``typing``, else on alt with the key.

    The second has priority because a terminal's alt+f reaches an input as the character f.
    """
    common = Binding(keys, action, description, show, tooltip=tooltip, id=id, group=group)
    return common, replace(common, key=typing or f"alt+{keys}", priority=True, id=f"{id}.typing")


def key_name(key: str) -> str:
    """A key as people write it: "f1" → "F1", "ctrl+p" → "^p", "question_mark" → "?", "alt+f" as it is."""
    if key[0] == "f" and key[1:].isdigit():
        return key.upper()
    lead, _, last = key.rpartition("+")
    if lead == "shift" and len(last) == 1:
        return last.upper()
    last = {"escape": "esc", "left": "←", "right": "→", "up": "↑", "down": "↓"}.get(last, format_key(last))
    return "^" + last if lead == "ctrl" else f"{lead}+{last}" if lead else last


def shown(screen: Screen[object]) -> list[Binding]:
    """Bindings that act now, each action once, the screen's own before those of the widget in focus."""
    found: dict[tuple[object, str], Binding] = {}
    for active in sorted(screen.active_bindings.values(), key=lambda a: a.node is not screen):
        if active.binding.show and active.enabled and not _is_typed(screen, active.binding.key):
            found.setdefault((active.node, active.binding.action), active.binding)
    return list(found.values())


def _is_typed(screen: Screen[object], key: str) -> bool:
    """Whether the input in focus takes it as a letter; Textual knows that of "R", and not of "shift+r"."""
    lead, _, letter = key.rpartition("+")
    return lead == "shift" and bool(screen.focused and screen.focused.check_consume_key(key, letter.upper()))


class KeyBar(Static):
    """Follows the focus, into a dialog too: it shows what acts there. What doesn't fit is in the help."""

    DEFAULT_CSS = "KeyBar { height: 1; background: $panel; }"

    def __init__(self) -> None:
        super().__init__("")
        self._parts: list[Part] = []
        self._followed: weakref.WeakSet[Screen[Any]] = weakref.WeakSet()
        self._front: Screen[Any] | None = None

    def on_mount(self) -> None:
        """Draws whenever the focus or an action's state changes, or a dialog comes or goes."""
        self.app.screen_change_signal.subscribe(self, lambda _: self._follow())
        self._follow()

    def _follow(self) -> None:
        """Another screen is in front; where it is none over this one, this one's keys stay."""
        stack = self.app.screen_stack
        self._front = front = stack[-1] if self.screen in stack else self.screen
        if front not in self._followed:
            self._followed.add(front)
            front.bindings_updated_signal.subscribe(self, lambda _: self.draw())
        self.draw()

    def on_resize(self) -> None:
        """Fits the bar to the new width."""
        self.draw()

    def draw(self) -> None:
        """Lays out modes, context keys and the edge."""
        width = self.size.width or 80
        groups: dict[str, list[Part]] = {"mode": [], "edge": [], "": []}
        for binding in shown(self._front or self.screen):
            group = binding.group.description if binding.group else ""
            groups[group].append(self._part(binding))
        edge = groups["edge"] if width >= ROOMY else groups["edge"][-1:]
        lead, divider = Part(Content(" ")), [Part(Content.styled("│", "$line"))] if groups["mode"] else []
        around = [lead, *divider, Part(Content("")), *edge]
        modes = groups["mode"] if width >= ROOMY else [replace(part, gap=1) for part in groups["mode"]]
        if width < ROOMY and _width([*around, *modes, *groups[""]]) - 1 > width:
            # What acts here matters more than the names of elsewhere.
            modes = [part if part.here else replace(part, words=part.words[: part.name]) for part in modes]
        room = width - _width([*around, *modes]) + 1
        middle = list(_fitting(groups[""], room))
        gap = Part(Content(" " * max(0, room - _width(middle))))
        self._parts = [lead, *modes, *divider, *middle, gap, *edge]
        self.update(Content.assemble(*(piece for part in self._parts for piece in (part.words, " " * part.gap))))

    def _part(self, binding: Binding) -> Part:
        here = binding.action == f"app.mode('{self.app.current_mode}')"
        words = tr(binding.description)
        key = Content.styled(key_name(binding.key), "$accent bold")
        drawn = Content.assemble(key, " ", (words, "$foreground bold" if here else "$quiet"))
        return Part(drawn, binding.key, name=len(key), here=here)

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
