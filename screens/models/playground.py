"""Messages to the loaded model, and its answers as they come."""

from __future__ import annotations

from screens.models.room import Room
from workbench.i18n import tr


class Playground(Room):
    """Messages to the loaded model, and its answers as they come."""

    def empty(self) -> str:
        """How to begin."""
        return tr("Load a model with enter, then write to it here.")
