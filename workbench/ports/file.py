"""The workbench file as a whole, and its smaller repositories: traces, models, settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from workbench.ports.benchmarks import BenchRepository
from workbench.ports.browsing import BrowseRepository
from workbench.ports.corpus import CorpusRepository, SearchRepository
from workbench.ports.curation import CurationRepository
from workbench.ports.evals import DatasetRepository, RunRepository, SqlRunner
from workbench.ports.exchange import ExchangeRepository
from workbench.ports.health import HealthRepository
from workbench.ports.indexes import IndexRepository
from workbench.ports.keystrokes import KeystrokeRepository
from workbench.ports.ladders import LadderRepository
from workbench.ports.lenses import LensRepository
from workbench.ports.library import LibraryRepository
from workbench.ports.servers import ServerRepository
from workbench.ports.sql import SqlReader
from workbench.ports.usage import CallRepository, EntryRepository
from workbench.records.answers import Trace
from workbench.records.models import MemoryMeasurement, ModelFile


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """A line of the list of traces."""

    id: str
    created: str
    query: str
    collection: str
    outcome: str
    duration_ms: float


class TraceRepository(Protocol):
    """Questions asked and their whole story."""

    def save(self, trace: Trace) -> None:
        """In one transaction. Saving an id again replaces it."""
        ...

    def trace(self, trace_id: str) -> Trace:
        """By id or unambiguous prefix ("last" for the newest). Raises NotFoundError."""
        ...

    def delete(self, trace_id: str) -> None:
        """With its spans; the whole id. Raises NotFoundError."""
        ...

    def recent(self, limit: int = 50, text: str = "") -> tuple[TraceSummary, ...]:
        """Newest first; only questions that hold every word of ``text``, in any case."""
        ...


class ModelRepository(Protocol):
    """Model files that were seen, and folders to look in."""

    def save_file(self, file: ModelFile) -> None:
        """Upsert by path."""
        ...

    def files(self) -> tuple[ModelFile, ...]:
        """By name."""
        ...

    def forget(self, path: str) -> None:
        """Drops one that is gone from disk."""
        ...

    def folders(self) -> tuple[str, ...]:
        """Folders the person added."""
        ...

    def add_folder(self, path: str) -> None:
        """Remembers a folder."""
        ...

    def add_measurement(self, measurement: MemoryMeasurement) -> None:
        """Enters a load in the ledger of memory."""
        ...

    def measurements(self) -> tuple[MemoryMeasurement, ...]:
        """The latest loads, newest first."""
        ...


class SettingsRepository(Protocol):
    """Small remembered choices: theme, last collection, language. Keys are dotted names."""

    def get(self, key: str, default: str = "") -> str:
        """The stored value, or ``default``."""
        ...

    def set(self, key: str, value: str) -> None:
        """Stores it."""
        ...

    def claim(self, work: str) -> int:
        """Makes ``work`` this process's and returns 0, or the id of the living process on this machine that has it."""
        ...

    def claimed(self, work: str) -> int:
        """The living process that claimed it, unless it is this one; else 0."""
        ...

    def release(self, work: str) -> None:
        """It is free again, where this process held it."""
        ...


class Store(Protocol):
    """One workbench file, open."""

    @property
    def path(self) -> Path:
        """Where it is."""
        ...

    @property
    def corpus(self) -> CorpusRepository:
        """Collections, documents, chunks."""
        ...

    @property
    def search(self) -> SearchRepository:
        """The lanes."""
        ...

    @property
    def browsing(self) -> BrowseRepository:
        """Lists of chunks."""
        ...

    @property
    def curation(self) -> CurationRepository:
        """Edits of metadata."""
        ...

    @property
    def indexes(self) -> IndexRepository:
        """Indexes beside the current ones."""
        ...

    @property
    def exchange(self) -> ExchangeRepository:
        """Whole collections and whole files, out and in."""
        ...

    @property
    def health(self) -> HealthRepository:
        """Reads and repairs of whole indexes."""
        ...

    @property
    def lenses(self) -> LensRepository:
        """What the indexes hold of single chunks, and who found them."""
        ...

    @property
    def traces(self) -> TraceRepository:
        """Traces."""
        ...

    @property
    def keystrokes(self) -> KeystrokeRepository:
        """Saved sessions of typing."""
        ...

    @property
    def models(self) -> ModelRepository:
        """Model files."""
        ...

    @property
    def library(self) -> LibraryRepository:
        """Notes about models, and presets."""
        ...

    @property
    def benchmarks(self) -> BenchRepository:
        """Benchmarks of models."""
        ...

    @property
    def ladders(self) -> LadderRepository:
        """Quantization ladders."""
        ...

    @property
    def datasets(self) -> DatasetRepository:
        """Eval datasets."""
        ...

    @property
    def runs(self) -> RunRepository:
        """Eval runs, labels, gates, decisions."""
        ...

    @property
    def fixtures(self) -> SqlRunner:
        """SQL on read-only files beside the workbench's own."""
        ...

    @property
    def sql(self) -> SqlReader:
        """SQL that reads this file and others."""
        ...

    @property
    def servers(self) -> ServerRepository:
        """Addresses of model servers."""
        ...

    @property
    def calls(self) -> CallRepository:
        """Calls of language models."""
        ...

    @property
    def entries(self) -> EntryRepository:
        """Prices, models on offer, decision sheets."""
        ...

    @property
    def settings(self) -> SettingsRepository:
        """Remembered choices."""
        ...

    def foreign_changes(self) -> int:
        """Grows when another process changes the file; never waits."""
        ...

    def close(self) -> None:
        """Checkpoints and closes, leaving one file. Calling it twice is harmless."""
        ...
