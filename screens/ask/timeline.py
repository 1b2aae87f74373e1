"""The strip of keystrokes: when the ranking changed and how much, where one looks back to, and what is pinned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from textual.widgets import Static

from screens.style import Line, Tone, content, gauge
from workbench.i18n import tr
from workbench.keystrokes import KeystrokeLog
from workbench.records.keystrokes import Keystroke
from workbench.records.retrieval import HitView, SearchResult

_ROOM: Final = 34
"""Cells beside the strip."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A keystroke with what is shown of it: its hits, and the whole search unless a saved session lacks its stages.

    Attributes:
        collection, revision: of a saved session; "" and empty for the chosen one as it is today.
    """

    keystroke: Keystroke
    hits: tuple[HitView, ...]
    result: SearchResult | None
    collection: str = ""
    revision: tuple[int | str, ...] = ()

    @property
    def ranks(self) -> dict[str, int]:
        """Chunk id → rank."""
        return {hit.chunk_id: hit.rank for hit in self.keystroke.hits}


class Timeline(Static):
    """One line. It stands at the newest keystroke, or looks back to an earlier one or at a saved session."""

    def __init__(self) -> None:
        super().__init__("", id="timeline")
        self._log = KeystrokeLog()
        self._entries: list[Entry] = []
        self._saved: tuple[str, list[Entry], list[float]] | None = None
        self._place: int | None = None
        self.pin: Entry | None = None

    @property
    def entries(self) -> Sequence[Entry]:
        """Those of the saved session that is open, else of this one; oldest first."""
        return self._saved[1] if self._saved else self._entries

    @property
    def keystrokes(self) -> tuple[Keystroke, ...]:
        """Of this session."""
        return self._log.keystrokes

    @property
    def newest(self) -> Entry | None:
        """Of this session."""
        return self._entries[-1] if self._entries else None

    @property
    def at(self) -> Entry | None:
        """The keystroke that is looked at; None at the newest of this session."""
        return None if self._place is None else self.entries[self._place]

    @property
    def place(self) -> int | None:
        """Of ``at`` among the entries."""
        return self._place

    @property
    def before(self) -> Entry | None:
        """The one that ``at`` is compared with when nothing is pinned."""
        return self.entries[self._place - 1] if self._place else None

    @property
    def saved(self) -> str:
        """Id of the saved session that is open, "" for none."""
        return self._saved[0] if self._saved else ""

    def add(self, entry: Entry) -> None:
        """What the newest keystroke found; once more when all of it is there. Drawing it is left to the caller."""
        gone = self._log.add(entry.keystroke)
        self._entries = [*self._entries[: len(self._log) + gone - 1], entry][gone:]
        if self._place is not None and not self._saved:
            self._place = max(0, self._place - gone)

    def painted(self, milliseconds: float) -> None:
        """How long after its key the newest stood on the screen."""
        self._log.painted(milliseconds)

    def step(self, steps: int) -> bool:
        """Towards the newest or away from it; False where there is nothing further. Past the newest is now."""
        last = len(self.entries) - 1
        place = (last if self._place is None else self._place) + steps
        if place < 0 or (self._place is None and steps > 0) or (self._saved and place > last):
            return False
        self._place = place if place < last or self._saved else None
        self.draw()
        return True

    def return_(self) -> None:
        """To now, and out of a saved session."""
        self._saved = self._place = None
        self.draw()

    def open(self, name: str, entries: list[Entry]) -> None:
        """A saved session, from its first keystroke."""
        changes = KeystrokeLog([entry.keystroke for entry in entries], len(entries)).changes
        self._saved, self._place = (name, entries, list(changes)), 0
        self.draw()

    def differ(self, changes: list[float]) -> None:
        """Draws, in place of how much each keystroke changed, how much it differs from today."""
        if self._saved:
            self._saved = (self._saved[0], self._saved[1], changes)
            self.draw()

    def toggle_pin(self) -> bool:
        """Pins what is looked at, or takes the pin off; whether one is pinned now."""
        here = self.at or (self.entries[-1] if self.entries else None)
        self.pin = None if here is None or here is self.pin else here
        self.draw()
        return self.pin is not None

    def on_resize(self) -> None:
        """Fits the strip."""
        self.draw()

    def draw(self) -> None:
        """Lays out the strip: the newest at the right, or what is looked at in view."""
        entries = self.entries
        self.set_class(len(entries) > 0, "-open")
        if not entries:
            return
        changes = self._saved[2] if self._saved else self._log.changes
        room = max(8, self.size.width - _ROOM)
        place = len(entries) - 1 if self._place is None else self._place
        start = max(0, min(place - room // 2, len(entries) - room))
        cells = [self._cell(n, changes[n]) for n in range(start, min(len(entries), start + room))]
        self.update(content((tr("keys") + " ", Tone.DIM), *cells, (self._told(place), Tone.DIM)), layout=False)

    def _cell(self, place: int, changed: float) -> Line:
        mark = "◆" if self.entries[place] is self.pin else gauge(changed)
        if place == self._place:
            return (f"[{mark}]", Tone.ACCENT)
        return (mark, Tone.WARN if mark == "◆" else Tone.DIM if changed < 0.05 else Tone.PLAIN)

    def _told(self, place: int) -> str:
        where = f"  {place + 1}/{len(self.entries)}"
        if self._saved:
            return tr("{where} saved {id} · esc now", where=where, id=self._saved[0][:6])
        if self._place is not None:
            return tr("{where} · m pins · esc now", where=where)
        return tr("{where} · alt+←/→ back", where=where)
