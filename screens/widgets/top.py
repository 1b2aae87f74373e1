"""The line at the top of every screen: which file, what is loaded, how much memory, what runs, what can be reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from screens.style import Line, content, gauge, plain, shorten
from workbench.i18n import tr

if TYPE_CHECKING:
    from screens.work import Job
    from workbench.desk import DeskStatus

GIB = 1 << 30


def top_line(status: DeskStatus | None, works: Sequence[Job], width: int) -> Content:
    """The line in at most ``width`` cells: what matters least goes first when there is no room."""
    name: Line = (" WORKBENCH", "accent")
    if status is None:
        return content(name, "  ", (tr("opening…"), "dim"))
    where = (status.file, (" › ", "dim"), status.collection) if status.collection else (status.file,)
    left = [name, ("  ", *where)]
    right = [*_running(works), *_memory(status), _reach(status)]
    loaded = _loaded(status)
    for middle, end in ((loaded, right), (loaded, _short(right)), ((), right), ((), _short(right))):
        room = width - sum(map(_width, [*left, *end])) - _width(middle)
        if room >= 4:
            lead = max(2, room // 2)
            return content(*left, " " * lead, *_spread(middle), " " * (room - lead), *_spread(*end))
    fixed = sum(map(_width, [name, *_short(right)])) + 3
    place = shorten("".join(map(plain, where)), max(0, width - fixed))
    gap = " " * max(1, width - fixed - len(place) + 1)
    return content(name, "  ", place, gap, *_spread(*_short(right)))


def _width(line: Line) -> int:
    return len(plain(line))


def _spread(*lines: Line) -> tuple[Line, ...]:
    return tuple(line for line in lines if line)


def _short(right: Sequence[Line]) -> list[Line]:
    """Without the graphics memory, the last thing that an 80-column terminal has room for."""
    return [line for line in right if not plain(line).startswith("VRAM")]


def _running(works: Sequence[Job]) -> list[Line]:
    if not works:
        return []
    first = works[0]
    more = f" +{len(works) - 1}" if len(works) > 1 else ""
    return [(f"{first.title} {first.detail}{more}".rstrip(), "accent"), "   "]


def _loaded(status: DeskStatus) -> Line:
    names: list[Line] = []
    if status.model:
        names.append(shorten(status.model.file.name.removesuffix(".gguf"), 32))
    if status.embedder:
        names.append(shorten(status.embedder, 24))
    mark = ("●", "good") if status.model or status.embedder_running else ("◦", "dim")
    return (mark, " ", " · ".join(map(plain, names))) if names else ("◦ " + tr("no model"), "dim")


def _memory(status: DeskStatus) -> list[Line]:
    gauges = status.gauges
    used, total = gauges.ram_used / GIB, gauges.ram_total / GIB
    ram: Line = (("RAM ", "dim"), (gauge(used / total if total else 0), "accent"), f" {used:.1f}/{total:.1f} G")
    vram = "–" if gauges.vram_used is None else f"{gauges.vram_used / GIB:.1f}/{(gauges.vram_total or 0) / GIB:.1f} G"
    return [ram, "   ", (("VRAM ", "dim"), vram, "   ")]


def _reach(status: DeskStatus) -> Line:
    words = tr("offline") if status.reach == "offline" else status.reach
    return (("⌁ " + words + " ", "dim" if status.reach == "offline" else "warn"),)


class TopLine(Static):
    """Follows the app's ``status`` and running works."""

    DEFAULT_CSS = "TopLine { height: 1; background: $panel; }"

    def __init__(self) -> None:
        super().__init__("")
        self._status: DeskStatus | None = None
        self._works: tuple[Job, ...] = ()

    def show(self, status: DeskStatus | None, works: tuple[Job, ...]) -> None:
        """Draws anew when something that is seen changed."""
        self._status, self._works = status, works
        self._draw()

    def on_resize(self) -> None:
        """Fits the line to the new width."""
        self._draw()

    def _draw(self) -> None:
        line = top_line(self._status, self._works, self.size.width or 80)
        if str(line) != str(self.content):
            self.update(line)
