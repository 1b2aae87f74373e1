"""The library: the model files on this machine, what each would take in memory, and the one that is loaded."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from workbench import paths
from workbench.engine import gauges
from workbench.engine.client import load_generator
from workbench.engine.gguf_header import file_hash, read_header
from workbench.errors import UsageError, WorkbenchError
from workbench.i18n import tr
from workbench.library.scanning import scan
from workbench.memory.estimate import estimate
from workbench.memory.grid import memory_grid
from workbench.memory.ledger import measurement
from workbench.memory.room import Room, fit, room
from workbench.ports import Cancel, Generator, Store
from workbench.records.models import LoadedModel, LoadProgress, LoadSettings, MemoryFit, MemoryGrid, ModelFile


class Library:
    """Model files and at most one loaded model, in a child process. Every method may be called from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._generator: Generator | None = None
        self._files: tuple[ModelFile, ...] | None = None

    def files(self, rescan: bool = False) -> tuple[ModelFile, ...]:
        """GGUF files in the models folder and the folders the person added, by name."""
        with self._lock:
            if self._files is None or rescan:
                folders = [paths.gguf_folder(), *map(Path, self._store.models.folders())]
                self._files = self._with_known_hashes(scan(folders))
                self._remember_files(self._files)
            return self._files

    def identified(self, path: str) -> ModelFile:
        """The file as its header describes it, with its SHA-256, computed once and remembered; listed or not."""
        (file,) = self._with_known_hashes([read_header(Path(path).expanduser().absolute())])
        return self._hashed(file, lambda _: None)

    def add_folder(self, path: str) -> None:
        """Raises UsageError when it isn't a folder."""
        folder = Path(path).expanduser()
        if not folder.is_dir():
            raise UsageError(
                tr("Not a folder"),
                tr("“{path}” is not a folder.", path=path),
                tr("Give a folder that holds GGUF files."),
            )
        self._store.models.add_folder(str(folder.resolve()))
        with self._lock:
            self._files = None

    def load(
        self, path: str, settings: LoadSettings | None = None, cancel: Cancel | None = None
    ) -> Iterator[LoadProgress]:
        """Loads in a child process, replacing the loaded one; the last progress has the model. Raises EngineError."""
        (file,) = self._with_known_hashes([read_header(Path(path).expanduser())])
        self.unload()
        steps: queue.SimpleQueue[LoadProgress | WorkbenchError | Generator] = queue.SimpleQueue()

        def load() -> None:
            try:
                known = self._hashed(file, steps.put)
                steps.put(load_generator(known, settings or LoadSettings(), steps.put, cancel))
            except WorkbenchError as error:
                steps.put(error)

        threading.Thread(target=load, name="load model", daemon=True).start()
        while isinstance(step := steps.get(), LoadProgress):
            yield replace(step, model=None)
        if isinstance(step, WorkbenchError):
            raise step
        with self._lock:
            self._generator = step
        if taken := measurement(step.model, estimate(file, step.model.settings)):
            self._store.models.add_measurement(taken)
        yield LoadProgress(1.0, model=step.model)

    def memory(self, files: Sequence[ModelFile], settings: LoadSettings | None = None) -> tuple[MemoryFit, ...]:
        """What loading each file would take, and whether that fits into what is free now, in the order of ``files``.

        Estimates are corrected by what earlier loads took.
        """
        free, measured = self._room(), self._store.models.measurements()
        return tuple(fit(file, settings or LoadSettings(), free, measured) for file in files)

    def memory_grid(self, file: ModelFile, settings: LoadSettings | None = None) -> MemoryGrid:
        """What the model would take in other quantizations and at other contexts."""
        return memory_grid(file, settings or LoadSettings(), self._room(), self._store.models.measurements())

    def _room(self) -> Room:
        model = self.model
        return room(gauges.measure(model.pid if model else None), loaded=model is not None)

    def unload(self) -> int:
        """Ends the child; returns the bytes that came back."""
        with self._lock:
            generator, self._generator = self._generator, None
        if generator is None:
            return 0
        freed = generator.gauges().rss
        generator.close()
        return freed

    @property
    def model(self) -> LoadedModel | None:
        """What is loaded; one whose process ended by itself is not."""
        generator = self._generator
        return generator.model if generator and not generator.death else None

    @property
    def generator(self) -> Generator | None:
        """What runs the loaded model; still there, with its ``death``, when its process ended by itself."""
        return self._generator

    def _with_known_hashes(self, files: Iterable[ModelFile]) -> tuple[ModelFile, ...]:
        """The files with the hashes they had when they were last loaded, where they are still the same files."""
        known = {(f.path, f.size, f.modified): f.hash for f in self._store.models.files()}
        return tuple(replace(f, hash=known.get((f.path, f.size, f.modified), "")) for f in files)

    def _hashed(self, file: ModelFile, tell: Callable[[LoadProgress], None]) -> ModelFile:
        """The file with its SHA-256, which traces and benchmarks name it by; computed once and remembered."""
        if file.hash or file.problem:
            return file
        tell(LoadProgress(0.0, tr("hashing {name}", name=file.name)))
        try:
            file = replace(file, hash=file_hash(Path(file.path)))
        except OSError:
            return file  # loading it will say what is wrong
        self._store.models.save_file(file)
        return file

    def _remember_files(self, files: tuple[ModelFile, ...]) -> None:
        found = {f.path for f in files}
        for known in self._store.models.files():
            if known.path not in found:
                self._store.models.forget(known.path)
        for file in files:
            self._store.models.save_file(file)
