"""Saved sessions of typing. The desk hands them to every front end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from workbench.errors import Cancelled, UsageError
from workbench.i18n import tr
from workbench.keystrokes.log import change, moves, of_result, options_of
from workbench.ports import Cancel, Store
from workbench.records.keystrokes import Keystroke, KeystrokeSession, Replayed, SessionSummary
from workbench.retrieval.search import Searcher


class Keystrokes:
    """Sessions of one file, named by id, unambiguous prefix, or "last".

    Args:
        searcher: gives the searcher with today's embedder.
    """

    def __init__(self, store: Store, searcher: Callable[[], Searcher]) -> None:
        self._store = store
        self._searcher = searcher

    def save(self, keystrokes: Sequence[Keystroke], collection: str) -> KeystrokeSession:
        """Stores them, their times counted from the first. Raises UsageError when there is none."""
        if not keystrokes:
            raise UsageError(
                tr("Nothing to save"), tr("Nothing was typed yet."), tr("Type a question, then save the session.")
            )
        began = keystrokes[0].at
        shifted = tuple(replace(keystroke, at=keystroke.at - began) for keystroke in keystrokes)
        revision = self._store.corpus.revision(collection)
        session = KeystrokeSession(uuid4().hex[:12], datetime.now(UTC), collection, shifted, revision)
        self._store.keystrokes.save(session)
        return session

    def session(self, session_id: str) -> KeystrokeSession:
        """Raises NotFoundError."""
        return self._store.keystrokes.session(session_id)

    def sessions(self) -> tuple[SessionSummary, ...]:
        """The last 50, newest first."""
        return self._store.keystrokes.recent(50)

    def delete(self, session_id: str) -> None:
        """Raises NotFoundError."""
        self._store.keystrokes.delete(self.session(session_id).id)

    def replay(self, session_id: str, cancel: Cancel | None = None) -> Iterator[Replayed]:
        """Each keystroke searched again in today's index, in order, and how what it finds differs.

        A keystroke that the next one overtook is searched in the lanes that had answered by then.

        Raises:
            Cancelled: it was set.
            FilterError, NotFoundError: its filter or its collection is no more.
        """
        session = self.session(session_id)
        searcher = self._searcher()
        for keystroke in session.keystrokes:
            if cancel and cancel.is_set():
                raise Cancelled
            lanes = keystroke.answered or keystroke.asked
            options = replace(options_of(keystroke, session.collection), lanes=lanes)
            now = of_result(searcher.search(keystroke.query, options), keystroke.at, lanes)
            different = change([h.chunk_id for h in keystroke.hits], [h.chunk_id for h in now.hits])
            yield Replayed(keystroke, now, different, moves(keystroke, now))
