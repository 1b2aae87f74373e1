"""What is kept beside models, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.records.library import ModelNote, Preset
from workbench.records.models import ModelFile


class FakeNotes:
    """Notes by path."""

    def __init__(self) -> None:
        self.kept: dict[str, ModelNote] = {}

    def for_all(self, files: Sequence[ModelFile]) -> dict[str, ModelNote]:
        return self.kept

    def save(self, file: ModelFile, note: ModelNote) -> None:
        self.kept[file.path] = note


class FakePresets:
    """Presets by name."""

    def __init__(self) -> None:
        self.kept: dict[str, Preset] = {}

    def all(self) -> tuple[Preset, ...]:
        return tuple(self.kept.values())

    def save(self, preset: Preset) -> None:
        self.kept[preset.name] = preset
