"""Models and what is kept beside them, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from tests.screens.fake_records import models
from tests.screens.fake_servers import FakeServers
from workbench.engine.safer import safer
from workbench.errors import EngineCause, EngineError
from workbench.memory.grid import memory_grid
from workbench.memory.room import Room, fit
from workbench.ports import Cancel
from workbench.records.library import HashProgress, ModelNote, Preset
from workbench.records.models import (
    LoadedModel,
    LoadProgress,
    LoadSettings,
    MemoryFit,
    MemoryGrid,
    MemorySplit,
    ModelFile,
    SaferLoad,
)


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


class FakeModels:
    """A library of known files, of which one at a time is loaded; the fake desk is its own.

    ``slow`` is the pause, in seconds, between steps of a load; ``free``: bytes of memory.
    """

    servers: FakeServers
    _chosen: str

    def __init__(self, slow: float) -> None:
        self.slow = slow
        self.free = 23 << 30
        self.model: LoadedModel | None = None
        self.idle_minutes = 0.0
        self.notes, self.presets = FakeNotes(), FakePresets()
        self.cause: EngineCause = "memory"
        self._ended = ""
        self._folders: list[str] = []

    @property
    def library(self) -> Self:
        return self

    def files(self, rescan: bool = False) -> tuple[ModelFile, ...]:
        return () if not self._chosen and not self._folders else tuple(models())

    def add_folder(self, path: str) -> None:
        self._folders.append(path)

    def open_model(
        self, name: str, settings: LoadSettings | None = None, cancel: Cancel | None = None
    ) -> Iterator[LoadProgress]:
        if "://" in name:
            self.model = self.servers.use(name)
            yield LoadProgress(1.0, model=self.model)
        else:
            yield from self.load(name, settings, cancel)

    def load(
        self, path: str, settings: LoadSettings | None = None, cancel: Cancel | None = None
    ) -> Iterator[LoadProgress]:
        file = next(m for m in models() if m.path == path)
        if file.problem:
            raise EngineError(
                "The model did not load",
                "The header names 0 layers.",
                "Get the file anew.",
                log=("llama: bad [block_count]", "exit 134"),
            )
        for step in range(10):
            if cancel and cancel.wait(self.slow):
                return
            yield LoadProgress(step / 10, "reading tensors")
        split = MemorySplit(92 << 20, 90 << 20, 99 << 20, 1 << 18)
        asked = settings or LoadSettings()
        self._ended = ""
        self.model = LoadedModel(file, asked, asked.context, split, 212.0, 4242)
        yield LoadProgress(1.0, model=self.model)

    def memory(self, files: Sequence[ModelFile], settings: LoadSettings) -> tuple[MemoryFit, ...]:
        return tuple(fit(file, settings, Room(self.free)) for file in files)

    def memory_grid(self, file: ModelFile, settings: LoadSettings) -> MemoryGrid:
        return memory_grid(file, settings, Room(self.free))

    def hash_files(self, cancel: Cancel | None = None) -> Iterator[HashProgress]:
        return iter(())

    def safer(self, error: EngineError, path: str, settings: LoadSettings) -> SaferLoad | None:
        return safer(error, settings)

    @property
    def generator(self) -> FakeModels | None:
        return self if self._ended else None

    @property
    def death(self) -> EngineError:
        return EngineError("The language model's process ended", self._ended, log=("last words",), cause=self.cause)

    def unload(self) -> int:
        self.model = None
        return 226 << 20
