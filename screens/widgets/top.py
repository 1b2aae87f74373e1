"""The line at the top of every screen: which file, what is loaded, how much memory, what runs, what can be reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from screens.style import Line, Tone, content, gauge, plain, shorten
from workbench.i18n import tr

if TYPE_CHECKING:
    from screens.work import Job
    from workbench.desk import DeskStatus

GIB = 1 << 30


def top_line(status: DeskStatus | None, works: Sequence[Job], width: int) -> Content:
    """The line in at most ``width`` cells: what matters least goes first when there is no room."""
    name: Line = (" WORKBENCH  ", Tone.ACCENT)
    if status is None:
        return content(name, (tr("opening…"), Tone.DIM))
    where: Line = (status.file, (" › ", Tone.DIM), status.collection) if status.collection else status.file
    loaded, running, ram, vram, reach = _loaded(status), _running(works), _ram(status), _vram(status), _reach(status)
    whole, short = (running, ram, vram, reach), (running, ram, reach)
    first = _first(status)
    for middle, end in ((loaded, whole), (loaded, short), (first, short), (first, (running, reach)), ("", short)):
        room = width - _width((name, where, middle, end))
        if room >= 4:
            lead = room // 2
            return content(name, where, " " * lead, middle, " " * (room - lead), end)
    last = short if _width((name, short)) < width else (running, reach)
    place = shorten(plain(where), max(0, width - _width((name, last)) - 1))
    return content(name, place, " " * (width - _width((name, place, last))), last)


def _width(line: Line) -> int:
    return cell_len(plain(line))


def _running(works: Sequence[Job]) -> Line:
    if not works:
        return ""
    first = works[0]
    more = " · " + tr("{count} more", count=len(works) - 1) if len(works) > 1 else ""
    return (f"{shorten(first.title, 20)} {first.detail}{more}".rstrip() + "   ", Tone.ACCENT)


def _first(status: DeskStatus) -> Line:
    """The loaded model alone: the embedder is always the same."""
    return _loaded(replace(status, embedder="")) if status.model or status.ended else ""


def _loaded(status: DeskStatus) -> Line:
    names: list[Line] = []
    if status.ended:
        return (("✗ ", Tone.BAD), ended_words(status))
    if status.model:
        names.append(shorten(status.model.file.name.removesuffix(".gguf"), 32))
    if status.embedder:
        names.append(shorten(status.embedder, 24))
    mark = ("●", Tone.GOOD) if status.model or status.embedder_running else ("◦", Tone.DIM)
    return (mark, " ", " · ".join(map(plain, names))) if names else ("◦ " + tr("no model"), Tone.DIM)


def ended_words(status: DeskStatus) -> str:
    """What ended by itself, in a few words: why is told in a dialog."""
    return tr("the model's process ended") if status.reach == "offline" else tr("the server is gone")


def _ram(status: DeskStatus) -> Line:
    used, total = status.gauges.ram_used / GIB, status.gauges.ram_total / GIB
    return (("RAM ", Tone.DIM), (gauge(used / total if total else 0), Tone.ACCENT), f" {used:.1f}/{total:.1f} G   ")


def _vram(status: DeskStatus) -> Line:
    used, total = status.gauges.vram_used, status.gauges.vram_total
    return (("VRAM ", Tone.DIM), "–" if used is None else f"{used / GIB:.1f}/{(total or 0) / GIB:.1f} G", "   ")


def _reach(status: DeskStatus) -> Line:
    words = tr("offline") if status.reach == "offline" else status.reach
    return (("⌁ " + words + " ", Tone.DIM if status.reach == "offline" else Tone.WARN),)


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
            self.update(line, layout=False)
