"""The library: the model files on this machine, what each would take in memory, and the one that is loaded."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from workbench import paths
from workbench.engine import gauges
from workbench.engine.client import ChildGenerator, load_generator
from workbench.engine.failures import check_load
from workbench.engine.gguf_header import READER, file_hash, read_header
from workbench.engine.safer import safer
from workbench.errors import EngineError, UsageError, WorkbenchError
from workbench.i18n import tr
from workbench.library.hashing import hash_files
from workbench.library.keepers import all_kept
from workbench.library.notes import Notes
from workbench.library.presets import Presets
from workbench.library.scanning import scan
from workbench.memory.estimate import estimate
from workbench.memory.grid import memory_grid
from workbench.memory.ledger import measurement
from workbench.memory.room import Room, fit, room
from workbench.ports import Cancel, Generator, Store
from workbench.records.library import HashProgress
from workbench.records.models import (
    LoadedModel,
    LoadProgress,
    LoadSettings,
    MemoryFit,
    MemoryGrid,
    ModelFile,
    SaferLoad,
)

IDLE_SETTING, READER_SETTING = "library.idle_minutes", "library.reader"
IDLE_CHECK_S = 1.0


class Library:
    """Model files and at most one loaded model, in a child process. Every method may be called from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._generator: Generator | None = None
        self._files: tuple[ModelFile, ...] | None = None
        self._notes = Notes(store.library)
        self._presets = Presets(store.library)
        self._released = 0

    @property
    def notes(self) -> Notes:
        """What the person wrote about models."""
        return self._notes

    @property
    def presets(self) -> Presets:
        """Ways to load and ask models."""
        return self._presets

    def files(self, rescan: bool = False) -> tuple[ModelFile, ...]:
        """GGUF files in the models folder, in those the person added, and in what other tools keep, by name."""
        with self._lock:
            if self._files is None or rescan:
                folders = [paths.gguf_folder(), *map(Path, self._store.models.folders())]
                self._files = self._with_known_hashes(scan(folders, all_kept(), self._known_files()))
                self._remember_files(self._files)
            return self._files

    def hash_files(
        self, cancel: Cancel | None = None, paths: Sequence[str] = (), *, verify: bool = False
    ) -> Iterator[HashProgress]:
        """Finds the SHA-256 of the files that have none yet and remembers it for each path, size and time of change.

        Args:
            paths: only of these; of all when empty.
            verify: of those whose hash is known too. One that is another than its name or an earlier reading claims is
                told as such, and the hash that was read counts from then on.
        """
        wanted = [f for f in self.files() if (not paths or f.path in paths) and not f.problem]
        known = {f.path: f for f in wanted}
        for progress in hash_files([f for f in wanted if verify or not f.hash], cancel):
            if progress.hash:
                self._keep_hash(replace(known[progress.path], hash=progress.hash))
            yield progress

    def _keep_hash(self, file: ModelFile) -> None:
        """Remembers it; a note that was kept by the path is kept by the hash from now on."""
        self._store.models.save_file(file)
        if not (note := self._notes.of(file)).empty:
            self._notes.save(file, note)
        with self._lock:
            self._files = self._files and tuple(file if f.path == file.path else f for f in self._files)

    def identified(self, path: str) -> ModelFile:
        """The file as its header describes it, with its SHA-256, computed once and remembered; listed or not."""
        return self._hashed(self._described(Path(path).expanduser().absolute()), lambda _: None)

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
        """Loads in a child process, replacing the loaded one; the last progress has the model.

        Raises:
            UsageError, EngineError: what can't work leaves the loaded one where it is; what fails later has ended it.
        """
        file, wanted = self._described(Path(path).expanduser()), settings or LoadSettings()
        check_load(file, wanted)
        self.unload()
        steps: queue.SimpleQueue[LoadProgress | WorkbenchError | ChildGenerator] = queue.SimpleQueue()

        def load() -> None:
            try:
                known = self._hashed(file, steps.put)
                steps.put(load_generator(known, wanted, steps.put, cancel))
            except WorkbenchError as error:
                steps.put(error)

        threading.Thread(target=load, name="load model", daemon=True).start()
        while isinstance(step := steps.get(), LoadProgress):
            yield replace(step, model=None)
        if isinstance(step, WorkbenchError):
            raise step
        with self._lock:
            self._generator = step
        threading.Thread(target=self._end_when_idle, args=(step,), name="idle model", daemon=True).start()
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
        return room(gauges.measure(model.pid or None if model else None), loaded=model is not None)

    def safer(self, error: EngineError, path: str, settings: LoadSettings) -> SaferLoad | None:
        """What to try after ``error`` ended a load or a process with these settings; None when nothing would help."""
        (expected,) = self.memory([self._described(Path(path))], settings)
        return safer(error, settings, expected.largest_context)

    @property
    def idle_minutes(self) -> float:
        """After how long without work the model is unloaded; 0: never. Remembered in the file."""
        try:
            return max(0.0, float(self._store.settings.get(IDLE_SETTING, "0")))
        except ValueError:
            return 0.0

    @idle_minutes.setter
    def idle_minutes(self, minutes: float) -> None:
        self._store.settings.set(IDLE_SETTING, f"{minutes:g}")

    @property
    def released(self) -> int:
        """Bytes that came back when the last model was unloaded for having nothing to do; 0 when it wasn't."""
        return self._released

    def _end_when_idle(self, generator: ChildGenerator) -> None:
        """Unloads it once it has been idle for long enough, if it is still the loaded one."""
        pause = threading.Event()
        while self._generator is generator and not generator.death:
            minutes = self.idle_minutes
            if minutes and generator.idle_s >= minutes * 60:
                self._released = self.unload()
                return
            pause.wait(IDLE_CHECK_S)

    def adopt(self, generator: Generator) -> None:
        """Puts a model that runs elsewhere in the place of the loaded one, which is unloaded."""
        self.unload()
        with self._lock:
            self._generator = generator

    def unload(self) -> int:
        """Ends the child, or leaves the server; returns the bytes that came back."""
        with self._lock:
            generator, self._generator = self._generator, None
            self._released = 0
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
        return tuple(replace(f, hash=known.get((f.path, f.size, f.modified)) or f.hash) for f in files)

    def _described(self, path: Path) -> ModelFile:
        """The file as its header describes it now, named as the list names it."""
        (file,) = self._with_known_hashes([read_header(path)])
        listed = next((f for f in self._files or () if f.path == file.path), None)
        return replace(file, name=listed.name, places=listed.places) if listed else file

    def _hashed(self, file: ModelFile, tell: Callable[[LoadProgress], None]) -> ModelFile:
        """The file with its SHA-256, which traces and benchmarks name it by; computed once and remembered."""
        if file.hash or file.problem:
            return file
        tell(LoadProgress(0.0, tr("hashing {name}", name=file.name)))
        try:
            file = replace(file, hash=file_hash(Path(file.path)))
        except OSError:
            return file  # loading it will say what is wrong
        self._keep_hash(file)
        return file

    def _known_files(self) -> dict[str, ModelFile]:
        """By path, those that this version of the header's reader described."""
        same = self._store.settings.get(READER_SETTING, "") == str(READER)
        return {file.path: file for file in self._store.models.files()} if same else {}

    def _remember_files(self, files: tuple[ModelFile, ...]) -> None:
        found, known = {f.path for f in files}, {f.path: f for f in self._store.models.files()}
        for path in known.keys() - found:
            self._store.models.forget(path)
        for file in files:
            if known.get(file.path) != file:
                self._store.models.save_file(file)
        if self._store.settings.get(READER_SETTING, "") != str(READER):
            self._store.settings.set(READER_SETTING, str(READER))
