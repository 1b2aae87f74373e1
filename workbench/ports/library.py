"""What a person keeps about models in the file: notes and presets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from workbench.records.library import ModelNote, Preset


class LibraryRepository(Protocol):
    """Notes by the hash or the path of a model file, presets by name."""

    def notes(self) -> Mapping[str, ModelNote]:
        """All notes by their keys."""
        ...

    def put_note(self, key: str, note: ModelNote) -> None:
        """Stores it in place of the one that was there."""
        ...

    def delete_note(self, key: str) -> None:
        """Drops it; one that isn't there is dropped already."""
        ...

    def presets(self) -> tuple[Preset, ...]:
        """By name."""
        ...

    def put_preset(self, preset: Preset) -> None:
        """Stores it in place of the one of its name."""
        ...

    def delete_preset(self, name: str) -> None:
        """Drops it; one that isn't there is dropped already."""
        ...
