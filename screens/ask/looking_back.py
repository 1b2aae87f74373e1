"""Looking back at what each keystroke found: scrub, pin and compare, save, replay."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.timer import Timer

from screens.ask.history import view_of
from screens.ask.timeline import Entry, Timeline
from screens.ask.words import Request
from screens.base import ModeScreen
from screens.dialogs import ChoiceDialog
from screens.style import Tone, duration, shorten
from screens.widgets.grid import Row
from screens.widgets.keys import with_alt
from workbench.i18n import tr
from workbench.keystrokes import of_result, result_of
from workbench.records.keystrokes import KeystrokeSession, Replayed, SessionSummary
from workbench.records.retrieval import HitView, SearchResult

if TYPE_CHECKING:
    from screens.work import Jobs
    from workbench.desk import Desk

LOST: Final = 5
"""Hits of the ranking before that are told although they are gone."""
_SEEN: Final = 5000
_LONGEST_WAIT: Final = 3.0


class LookingBackScreen(ModeScreen):
    """The keys over the strip of keystrokes. Ask gives ``show_entry`` and ``show_now``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+left", "scrub(-1)", "Keystroke before", key_display="alt+←", id="keys.before", priority=True,
                show=False, tooltip="What the keystroke before found, with the question as it stood"),
        Binding("alt+right", "scrub(1)", "Keystroke after", key_display="alt+→", id="keys.after", priority=True,
                show=False, tooltip="Towards now; escape returns at once"),
        *with_alt("m", "pin", "Pin", id="keys.pin", show=False,
                  tooltip="Marks this ranking; moves are then told against it, until m again"),
        *with_alt("s", "save_keys", "Save keys", id="keys.save", typing="ctrl+s", show=False,
                  tooltip="The session's keystrokes with times and rankings, to the file"),
        *with_alt("o", "saved_keys", "Saved keys", id="keys.saved", show=False,
                  tooltip="Saved sessions of keystrokes: open one, step through it"),
        *with_alt("p", "play", "Play", id="keys.play", show=False,
                  tooltip="A saved session at the pace it was typed, or stops it"),
        *with_alt("d", "today", "Against today", id="keys.today", show=False,
                  tooltip="A saved session searched again: the strip shows where today's index differs"),
    ]  # fmt: skip

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._began = 0.0
        self._last_key = 0.0
        self._key_waits = False
        self._known: dict[str, HitView] = {}
        self._playing: Timer | None = None

    @property
    def timeline(self) -> Timeline:
        """The strip."""
        return self.query_one(Timeline)

    @abstractmethod
    def show_entry(self, entry: Entry) -> None:
        """Shows an earlier keystroke, and how its ranking differs from ``timeline.before`` or the pin."""

    @abstractmethod
    def show_now(self) -> None:
        """Shows what was being typed again."""

    # -- what was typed --------------------------------------------------------------------------------------------

    def key_typed(self, at: float) -> None:
        """A key changed the question ``at`` this time (monotonic); whoever types looks back no more."""
        self._last_key, self._key_waits = at, True
        self._began = self._began or at
        self._stop_playing()
        if self.timeline.at is not None:
            self.timeline.return_()

    def remember(self, request: Request, result: SearchResult) -> None:
        """Enters what the newest keystroke found, and how long after its key it is painted.

        What was asked by no key (another lane, back from looking back) has no such time, and is no keystroke unless
        another question was asked by it.
        """
        at = self._last_key - self._began
        entry = Entry(of_result(result, at, request.options.lanes), result.hits, result)
        whole = entry.keystroke.whole and not result.pending
        by_key, self._key_waits = self._key_waits, self._key_waits and not whole
        last = self.timeline.newest
        if last and last.keystroke.whole and _same(last, entry):
            return  # asked once more, and nothing is new
        if last and not by_key and (not whole or (last.keystroke.whole and _asks_the_same(last, entry))):
            return
        if len(self._known) > _SEEN:
            self._known.clear()
        self._known |= {view.hit.chunk_id: view for view in result.hits}
        self.timeline.add(entry)
        if entry.keystroke.whole:
            self.timeline.draw()
        if whole and by_key:
            began = self._last_key
            self.call_after_refresh(lambda: self.timeline.painted((time.monotonic() - began) * 1000))

    def lost(self, before: Mapping[str, int], hits: Sequence[HitView]) -> list[tuple[HitView, int]]:
        """Hits of ``before`` (chunk id → rank) that are not among ``hits``, the best first."""
        there = {view.hit.chunk_id for view in hits}
        gone = sorted((rank, i) for i, rank in before.items() if i not in there and i in self._known)
        return [(self._known[i], rank) for rank, i in gone[:LOST]]

    # -- looking back ----------------------------------------------------------------------------------------------

    def action_scrub(self, steps: int) -> None:
        """An earlier or a later keystroke."""
        self._stop_playing()
        self._step(steps)

    def _step(self, steps: int) -> bool:
        if not self.timeline.step(steps):
            return False
        self._key_waits = False  # the time until one looks again is not the key's
        entry = self.timeline.at
        if entry:
            self.show_entry(entry)
        else:
            self.show_now()
        return True

    def look_away(self) -> bool:
        """Back to now; False when one looks at it already."""
        self._stop_playing()
        if self.timeline.at is None:
            return False
        self.timeline.return_()
        self.show_now()
        return True

    def action_pin(self) -> None:
        """Pins the ranking in sight."""
        timeline = self.timeline
        if timeline.toggle_pin() and timeline.pin:
            query = shorten(timeline.pin.keystroke.query, 40)
            self.notify(tr("Pinned: moves are told against “{query}”.", query=query), timeout=3, markup=False)
        if timeline.at:
            self.show_entry(timeline.at)
        else:
            self.show_now()

    # -- saving and replaying --------------------------------------------------------------------------------------

    def action_save_keys(self) -> None:
        """Stores the session."""
        keystrokes = self.timeline.keystrokes

        def saved(session: KeystrokeSession) -> None:
            saved_as = {"id": session.id[:6], "count": len(session.keystrokes)}
            one = len(session.keystrokes) == 1
            told = tr("1 keystroke saved as {id}." if one else "{count} keystrokes saved as {id}.", **saved_as)
            self.notify(told, timeout=4, markup=False)

        self.jobs.read(self, lambda: self.desk.keystrokes.save(keystrokes, self.desk.collection), saved)

    def action_saved_keys(self) -> None:
        """Lists the saved ones."""
        self.jobs.open(self, self.desk.keystrokes.sessions, self._list_saved)

    def _list_saved(self, sessions: tuple[SessionSummary, ...]) -> None:
        if not sessions:
            self.notify(tr("No session is saved yet: s saves this one, ctrl+s while typing."), timeout=4)
            return
        told = {s.id: f"{s.created[:16].replace('T', ' ')}  {s.keystrokes} · {duration(s.seconds)}" for s in sessions}
        rows = [Row(s.id, (shorten(s.question, 28), (told[s.id], Tone.DIM))) for s in sessions]
        self.app.push_screen(ChoiceDialog(tr("Saved keystrokes"), rows), self._chosen)

    def _chosen(self, session_id: str | None) -> None:
        if session_id:
            self.jobs.read(self, lambda: _read_session(self.desk, session_id), self._opened)

    def _opened(self, read: tuple[KeystrokeSession, list[Entry]]) -> None:
        session, entries = read
        for entry in entries:
            self._known |= {view.hit.chunk_id: view for view in entry.hits}
        self.timeline.open(session.id, entries)
        self.show_entry(entries[0])

    def action_play(self) -> None:
        """Steps through the saved session at the pace at which it was typed; again stops it."""
        if self._playing is not None:
            self._stop_playing()
        elif not self.timeline.saved:
            self.notify(tr("Only a saved session plays: o opens one."), severity="warning", timeout=3)
        else:
            if self.timeline.place == len(self.timeline.entries) - 1:
                self._step(-len(self.timeline.entries) + 1)
            self._play_on()

    def _play_on(self) -> None:
        place, entries = self.timeline.place, self.timeline.entries
        if place is None or place + 1 >= len(entries):
            self._playing = None
            return
        wait = entries[place + 1].keystroke.at - entries[place].keystroke.at

        def next_() -> None:
            self._step(1)
            self._play_on()

        self._playing = self.set_timer(max(0.01, min(wait, _LONGEST_WAIT)), next_)

    def _stop_playing(self) -> None:
        playing, self._playing = self._playing, None
        if playing:
            playing.stop()

    def action_today(self) -> None:
        """Searches the saved session again."""
        name = self.timeline.saved
        if not name:
            self.notify(tr("Only a saved session is compared with today: o opens one."), severity="warning", timeout=3)
            return
        self.jobs.run(
            self,
            tr("replaying"),
            lambda cancel: _collected(self.desk.keystrokes.replay(name, cancel)),
            then=lambda all_: self._compared(name, all_ or []),
        )

    def _compared(self, name: str, replayed: list[Replayed]) -> None:
        if self.timeline.saved != name or len(replayed) != len(self.timeline.entries):
            return
        self.timeline.differ([one.change for one in replayed])
        differ = [one for one in replayed if one.moves]
        told = tr("The same rankings as then, {count} of {count}.", count=len(replayed))
        if differ:
            most = max(differ, key=lambda one: one.change)
            told = tr(
                "{count} of {all} rank differently today, most of all “{query}”: {moves} chunks moved.",
                count=len(differ),
                all=len(replayed),
                query=shorten(most.keystroke.query, 40),
                moves=len(most.moves),
            )
        self.notify(told, timeout=8, markup=False)


def _same(a: Entry, b: Entry) -> bool:
    asked = (a.keystroke.query, a.keystroke.filter, a.keystroke.asked)
    return asked == (b.keystroke.query, b.keystroke.filter, b.keystroke.asked) and a.ranks == b.ranks


def _asks_the_same(a: Entry, b: Entry) -> bool:
    """The same question with the same settings."""
    return _asked(a) == _asked(b)


def _asked(entry: Entry) -> tuple[object, ...]:
    k = entry.keystroke
    return k.query, k.filter, k.asked, k.rerank, k.fusion.method, k.fusion.k0, k.fusion.weights


def _collected(replayed: Iterator[Replayed]) -> Iterator[list[Replayed]]:
    """The list as it grows; the last one is whole."""
    found: list[Replayed] = []
    for one in replayed:
        found.append(one)
        yield found


def _read_session(desk: Desk, session_id: str) -> tuple[KeystrokeSession, list[Entry]]:
    """A saved session with its hits as they are known today. Runs in a worker."""
    session = desk.keystrokes.session(session_id)
    known: dict[str, HitView] = {}
    entries: list[Entry] = []
    for keystroke in session.keystrokes:
        for hit in keystroke.hits:
            if hit.chunk_id not in known:
                known[hit.chunk_id] = view_of(desk, hit)
        hits = tuple(replace(known[hit.chunk_id], hit=hit) for hit in keystroke.hits)
        found = result_of(keystroke, hits)
        entries.append(Entry(keystroke, hits, found, session.collection, session.revision))
    return session, entries
