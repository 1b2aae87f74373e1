"""Benchmarks of the marked models."""

from __future__ import annotations

from screens.models.room import Room
from workbench.i18n import tr


class Bench(Room):
    """Benchmarks of the marked models."""

    def empty(self) -> str:
        """How to begin."""
        return tr("Mark models with space, then measure them side by side here.")
