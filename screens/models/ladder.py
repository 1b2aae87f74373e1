"""One model in several quantizations."""

from __future__ import annotations

from screens.models.room import Room
from workbench.i18n import tr


class Ladder(Room):
    """One model in several quantizations."""

    def empty(self) -> str:
        """How to begin."""
        return tr("Choose an F16 or Q8_0 file, then make its smaller quantizations here.")
