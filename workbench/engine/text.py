"""Turns the bytes of sampled tokens into text: characters split over tokens are joined, stop strings are cut off."""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class StopScanner:
    """Streams text up to the first stop string.

    A character's bytes may arrive in several tokens, and so may a stop string: what could become one is held back.

    Args:
        stops: the strings that end the text; they are not part of it.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""
        self.stopped = False

    def feed(self, piece: bytes) -> str:
        """The text that ``piece`` makes certain; sets ``stopped`` when a stop string is complete."""
        return self._release(self._decoder.decode(piece))

    def finish(self) -> str:
        """What was held back, now that no more comes. Bytes that never became a character show as U+FFFD."""
        text = self._release(self._decoder.decode(b"", final=True)) + self._held
        self._held = ""
        return text

    def _release(self, new: str) -> str:
        if self.stopped:
            return ""
        text = self._held + new
        found = [at for stop in self._stops if (at := text.find(stop)) >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        hold = max((_overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - hold :]
        return text[: len(text) - hold]


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of ``text`` that is a beginning of ``stop``."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
