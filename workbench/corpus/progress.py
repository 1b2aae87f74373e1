"""The running figures of an ingest: what is done, how fast, how long it will take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import exp
from typing import Final

from workbench.records.corpus import IngestOutcome, IngestProgress

_EVERY_S: Final = 0.5
_MEMORY_S: Final = 5.0  # time constant of the moving average


class Meter:
    """Counts, and makes ``IngestProgress`` of its counts. Chunks that were embedded already don't count.

    Args:
        sizes: of the first sources, in their order, in any one unit; the others are taken to be as large as these are
            on average.
    """

    def __init__(self, collection: str, total: int, sizes: Sequence[int] = ()) -> None:
        self.total = total
        self._sizes = sizes if sum(sizes) else ()
        self.done = 0
        self.current = ""
        self._collection = collection
        self._expected = 0  # sources whose chunks are known
        self._chunks_known = self._chunks_done = self._recent = 0
        self._rate = 0.0
        self._started = self._measured = self._reported = time.monotonic()

    def expect(self, chunks: int) -> None:
        """One more source is cut, and this many of its chunks need embedding."""
        self._expected += 1
        self._chunks_known += chunks

    def embedded(self) -> None:
        """One more chunk."""
        self._chunks_done += 1
        if self._chunks_done == 1:  # what came before it was the model's loading
            self._measured = time.monotonic()
            return
        self._recent += 1
        since = time.monotonic() - self._measured
        if since >= _EVERY_S:
            newest = self._recent / since
            weight = 1 - exp(-since / _MEMORY_S) if self._rate else 1.0
            self._rate += weight * (newest - self._rate)
            self._measured, self._recent = time.monotonic(), 0

    @property
    def due(self) -> bool:
        """Half a second has passed since the last progress."""
        return time.monotonic() - self._reported >= _EVERY_S

    def finished(self, outcome: IngestOutcome) -> IngestProgress:
        """One more source has come to its end."""
        self.done += 1
        return self.progress(outcome)

    def progress(self, *outcomes: IngestOutcome) -> IngestProgress:
        """The figures now."""
        self._reported = time.monotonic()
        return self._figures(outcomes, self._eta())

    def last(self, *, cancelled: bool = False) -> IngestProgress:
        """The final figures; the rate is that of the whole run."""
        self._rate = self._chunks_done / max(time.monotonic() - self._started, 1e-6)
        self.current = ""
        return self._figures((), None if cancelled else 0.0, finished=True, cancelled=cancelled)

    def _figures(
        self, outcomes: tuple[IngestOutcome, ...], eta_s: float | None, finished: bool = False, cancelled: bool = False
    ) -> IngestProgress:
        return IngestProgress(
            collection=self._collection,
            done=self.done,
            total=self.total,
            chunks_done=self._chunks_done,
            chunks_known=self._chunks_known,
            current=self.current,
            rate=self._rate,
            eta_s=eta_s,
            elapsed_s=time.monotonic() - self._started,
            outcomes=outcomes,
            finished=finished,
            cancelled=cancelled,
        )

    def _eta(self) -> float | None:
        """Chunks left ÷ rate, where sources not cut yet have as many chunks for their size as the others."""
        known = self._size(0, self._expected)
        if not self._rate or not known:
            return None
        unknown = self._size(self._expected, self.total) * self._chunks_known / known
        return max(self._chunks_known - self._chunks_done + unknown, 0.0) / self._rate

    def _size(self, first: int, last: int) -> float:
        """Of the sources from ``first`` up to ``last``."""
        told = self._sizes[first:last]
        average = sum(self._sizes) / len(self._sizes) if self._sizes else 1.0
        return sum(told) + average * (max(0, last - first) - len(told))
