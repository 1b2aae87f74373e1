"""The open file as one object that hands out the repositories."""

from __future__ import annotations

import os
from pathlib import Path

from storage.benchmarks import FileBenchmarks
from storage.browsing import FileBrowsing
from storage.connections import Connections
from storage.corpus import FileCorpus
from storage.curation import FileCuration
from storage.datasets import FileDatasets
from storage.driver import BUSY_SECONDS
from storage.exchange import FileExchange
from storage.fixture import FixtureRunner
from storage.health import FileHealth
from storage.index_rows import FileIndexes
from storage.keystrokes import FileKeystrokes
from storage.ladders import FileLadders
from storage.lenses import FileLenses
from storage.library import FileLibrary
from storage.models import FileModels
from storage.opening import prepare
from storage.runs import FileRuns
from storage.search import FileSearch
from storage.servers import FileServers
from storage.settings import FileSettings
from storage.sql_reader import FileSqlReader
from storage.traces import FileTraces
from storage.usage import FileCalls, FileEntries
from workbench.ports import Store


class FileStore:
    """A workbench file, open. Implements ``workbench.ports.Store``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._corpus = FileCorpus(connections)
        self._search = FileSearch(connections)
        self._browsing = FileBrowsing(connections)
        self._curation = FileCuration(connections)
        self._indexes = FileIndexes(connections)
        self._exchange = FileExchange(connections)
        self._health = FileHealth(connections)
        self._lenses = FileLenses(connections)
        self._traces = FileTraces(connections)
        self._keystrokes = FileKeystrokes(connections)
        self._models = FileModels(connections)
        self._library = FileLibrary(connections)
        self._benchmarks = FileBenchmarks(connections)
        self._ladders = FileLadders(connections)
        self._datasets = FileDatasets(connections)
        self._runs = FileRuns(connections)
        self._fixtures = FixtureRunner()
        self._sql = FileSqlReader(connections.path)
        self._servers = FileServers(connections)
        self._calls = FileCalls(connections)
        self._entries = FileEntries(connections)
        self._settings = FileSettings(connections)

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._connections.path

    @property
    def corpus(self) -> FileCorpus:
        """Collections, documents, chunks."""
        return self._corpus

    @property
    def search(self) -> FileSearch:
        """The lanes."""
        return self._search

    @property
    def browsing(self) -> FileBrowsing:
        """Lists of chunks."""
        return self._browsing

    @property
    def curation(self) -> FileCuration:
        """Edits of metadata."""
        return self._curation

    @property
    def indexes(self) -> FileIndexes:
        """Indexes beside the current ones."""
        return self._indexes

    @property
    def exchange(self) -> FileExchange:
        """Whole collections and whole files, out and in."""
        return self._exchange

    @property
    def health(self) -> FileHealth:
        """Reads and repairs of whole indexes."""
        return self._health

    @property
    def lenses(self) -> FileLenses:
        """What the indexes hold of single chunks, and who found them."""
        return self._lenses

    @property
    def traces(self) -> FileTraces:
        """Traces."""
        return self._traces

    @property
    def keystrokes(self) -> FileKeystrokes:
        """Saved sessions of typing."""
        return self._keystrokes

    @property
    def models(self) -> FileModels:
        """Model files."""
        return self._models

    @property
    def library(self) -> FileLibrary:
        """Notes about models, and presets."""
        return self._library

    @property
    def benchmarks(self) -> FileBenchmarks:
        """Benchmarks of models."""
        return self._benchmarks

    @property
    def ladders(self) -> FileLadders:
        """Quantization ladders."""
        return self._ladders

    @property
    def datasets(self) -> FileDatasets:
        """Eval datasets."""
        return self._datasets

    @property
    def runs(self) -> FileRuns:
        """Eval runs."""
        return self._runs

    @property
    def fixtures(self) -> FixtureRunner:
        """SQL on read-only files beside the workbench's own."""
        return self._fixtures

    @property
    def sql(self) -> FileSqlReader:
        """SQL that reads this file and others."""
        return self._sql

    @property
    def servers(self) -> FileServers:
        """Addresses of model servers."""
        return self._servers

    @property
    def calls(self) -> FileCalls:
        """Calls of language models."""
        return self._calls

    @property
    def entries(self) -> FileEntries:
        """Prices, models on offer, decision sheets."""
        return self._entries

    @property
    def settings(self) -> FileSettings:
        """Remembered choices."""
        return self._settings

    def foreign_changes(self) -> int:
        """Grows when another process changes the file; never waits."""
        return self._connections.foreign_changes()

    def close(self) -> None:
        """Checkpoints and closes, leaving one file. Calling it twice is harmless."""
        self._connections.close()


def open_store(path: Path, *, read_only: bool = False, create: bool = True, timeout: float = BUSY_SECONDS) -> Store:
    """Opens a workbench file, creating it when there is none (or an empty one).

    Args:
        create: make the file when it isn't there; otherwise that is an error.
        timeout: seconds to wait for another program's lock.

    Raises:
        FileError: it can't be opened: not a workbench file, from a newer version, damaged, locked, not writable. The
            file is left as it was.
    """
    path = Path(os.path.realpath(path))  # later connections must find it when the working folder has changed
    access = prepare(path, read_only=read_only, create=create, timeout=timeout)
    return FileStore(Connections(path, access, timeout))
