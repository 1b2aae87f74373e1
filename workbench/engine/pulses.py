"""What a model's process told of itself lately."""

from __future__ import annotations

from collections import deque
from typing import Final

from workbench.engine.protocol import Beat, Event
from workbench.records.playground import Pulse

KEPT: Final = 1_200
"""Three minutes at the child's rate."""


class PulseLog:
    """Keeps the latest pulses. Written by the thread that carries a child's events, read by any."""

    def __init__(self) -> None:
        self._kept: deque[Pulse] = deque(maxlen=KEPT)

    def take(self, event: Event) -> None:
        """One more."""
        if isinstance(event, Beat):
            self._kept.append(event.pulse)

    def kept(self) -> tuple[Pulse, ...]:
        """Oldest first."""
        while True:
            try:
                return tuple(self._kept)
            except RuntimeError:  # one came in between; they are far apart, so the next try succeeds
                continue
