"""The ports: what the workbench needs from the file, from embedders and from models, as Protocols.

``storage`` implements the repositories; ``workbench.engine`` implements the runtimes. Every method may be called
from any thread: repositories write through one writer thread and read through a connection per thread.

One module for what runs in child processes, and one for each part of the file. Declarations only: nothing here acts.
"""

from __future__ import annotations

from workbench.ports.benchmarks import BenchRepository
from workbench.ports.browsing import BrowseRepository, ChunkKeys
from workbench.ports.corpus import CorpusRepository, DeleteCheck, DocumentState, SearchRepository, StoredTokens
from workbench.ports.curation import CurationRepository
from workbench.ports.evals import DatasetRepository, ResultSet, RunRepository, SqlRunner, SqlValue
from workbench.ports.exchange import ExchangeReading, ExchangeRepository, ExchangeWriting
from workbench.ports.file import ModelRepository, SettingsRepository, Store, TraceRepository, TraceSummary
from workbench.ports.health import ChunkFact, HealthRepository
from workbench.ports.indexes import IndexRepository
from workbench.ports.keystrokes import KeystrokeRepository
from workbench.ports.ladders import LadderRepository
from workbench.ports.lenses import LensRepository
from workbench.ports.library import LibraryRepository
from workbench.ports.rerankers import Reranker
from workbench.ports.runtimes import (
    Cancel,
    Embedder,
    Embedding,
    Generator,
    PackedTokens,
    Tokenizer,
    TokenVectors,
    Vector,
)
from workbench.ports.servers import ServerRepository
from workbench.ports.sql import SqlReader
from workbench.ports.usage import CallRepository, EntryRepository

__all__ = [
    "BenchRepository",
    "BrowseRepository",
    "CallRepository",
    "Cancel",
    "ChunkFact",
    "ChunkKeys",
    "CorpusRepository",
    "CurationRepository",
    "DatasetRepository",
    "DeleteCheck",
    "DocumentState",
    "Embedder",
    "Embedding",
    "EntryRepository",
    "ExchangeReading",
    "ExchangeRepository",
    "ExchangeWriting",
    "Generator",
    "HealthRepository",
    "IndexRepository",
    "KeystrokeRepository",
    "LadderRepository",
    "LensRepository",
    "LibraryRepository",
    "ModelRepository",
    "PackedTokens",
    "Reranker",
    "ResultSet",
    "RunRepository",
    "SearchRepository",
    "ServerRepository",
    "SettingsRepository",
    "SqlReader",
    "SqlRunner",
    "SqlValue",
    "Store",
    "StoredTokens",
    "TokenVectors",
    "Tokenizer",
    "TraceRepository",
    "TraceSummary",
    "Vector",
]
