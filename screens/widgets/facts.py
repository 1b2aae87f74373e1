"""Names and values in two columns, long values wrapped under themselves, and a text below."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from screens.style import Line, content

Fact = tuple[str, Line]


def lay_out(facts: Sequence[Fact], width: int, label: int = 0) -> Content:
    """Facts in at most ``width`` cells, one under the other; those whose value is empty are left out.

    ``label`` is the width of the names, as wide as the widest when 0.
    """
    told = [(name, content(value)) for name, value in facts if content(value).plain]
    label = label or max((len(name) for name, _ in told), default=0) + 2
    lines: list[Content] = []
    for name, value in told:
        for number, part in enumerate(value.wrap(max(8, width - label))):
            lead = name if number == 0 else ""
            lines.append(Content.assemble((lead.ljust(label), "$quiet"), part))
    return Content("\n").join(lines)


class Facts(Static):
    """Keeps to its width."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id)
        self._facts: Sequence[Fact] = ()
        self._before = Content("")
        self._label = 0

    def show(self, facts: Sequence[Fact], *, before: Content | None = None, label: int = 0) -> None:
        """Facts, under a text if there is one."""
        self._facts, self._before, self._label = facts, before or Content(""), label
        self._draw()

    def on_resize(self) -> None:
        """Wraps anew."""
        self._draw()

    def _draw(self) -> None:
        parts = [self._before, lay_out(self._facts, self.size.width or 60, self._label)]
        self.update(Content("\n\n").join([part for part in parts if part.plain]))
