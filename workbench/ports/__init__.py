"""The ports: what the workbench needs from the file, from embedders and from models, as Protocols.

``storage`` implements the repositories; ``workbench.engine`` implements the runtimes. Every method may be called
from any thread: repositories write through one writer thread and read through a connection per thread.

One module for what runs in child processes, and one for each part of the file. Declarations only: nothing here acts.
"""

from __future__ import annotations

from workbench.ports.benchmarks import BenchRepository
from workbench.ports.corpus import CorpusRepository, DeleteCheck, DocumentState, SearchRepository, StoredTokens
from workbench.ports.curation import CurationRepository
from workbench.ports.evals import DatasetRepository, ResultSet, RunRepository, SqlRunner, SqlValue
from workbench.ports.file import ModelRepository, SettingsRepository, Store, TraceRepository, TraceSummary
from workbench.ports.health import ChunkFact, HealthRepository
from workbench.ports.keystrokes import KeystrokeRepository
from workbench.ports.ladders import LadderRepository
from workbench.ports.library import LibraryRepository
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

__all__ = [
    "BenchRepository",
    "Cancel",
    "ChunkFact",
    "CorpusRepository",
    "CurationRepository",
    "DatasetRepository",
    "DeleteCheck",
    "DocumentState",
    "Embedder",
    "Embedding",
    "Generator",
    "HealthRepository",
    "KeystrokeRepository",
    "LadderRepository",
    "LibraryRepository",
    "ModelRepository",
    "PackedTokens",
    "ResultSet",
    "RunRepository",
    "SearchRepository",
    "ServerRepository",
    "SettingsRepository",
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
