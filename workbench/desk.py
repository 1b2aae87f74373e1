"""The desk: the one object that every front end holds. Screens and the command line ask it; it asks the rooms behind it.

Long work is an iterator of frozen records, made for a worker thread: iterate it there and post what it yields. Every
method may be called from any thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.ports import Cancel, DeleteCheck, TraceSummary
from workbench.records.answers import AskOptions, Trace
from workbench.records.corpus import (
    Chunk,
    Collection,
    Document,
    DocumentStatus,
    EmbedderInfo,
    IngestProgress,
    IngestRequest,
)
from workbench.records.evals import Case, Dataset
from workbench.records.models import Gauges, LoadedModel, LoadProgress, LoadSettings, ModelFile
from workbench.records.retrieval import SearchOptions, SearchResult


@dataclass(frozen=True, slots=True)
class DeskStatus:
    """What the top line tells.

    Attributes:
        embedder: name of the embedder that is or will be used, "" when none is installed.
        embedder_running: its child process is up.
        engine: "" when the engine can be imported, else why it can't.
        reach: "offline", or the addresses that may be talked to.
    """

    file: str
    collection: str
    embedder: str
    embedder_running: bool
    model: LoadedModel | None
    engine: str
    gauges: Gauges
    reach: str = "offline"


class Desk:
    """One workbench file with its runtimes."""

    # -- status and settings ---------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The file."""

    def status(self) -> DeskStatus:
        """Cheap enough to call five times a second from a worker."""

    @property
    def collection(self) -> str:
        """The collection that searches and questions go to, "" when there is none. Remembered in the file."""

    def choose_collection(self, name: str) -> None:
        """Raises NotFoundError."""

    def setting(self, key: str, default: str = "") -> str:
        """A remembered choice."""

    def remember(self, key: str, value: str) -> None:
        """Stores a choice."""

    # -- corpus ----------------------------------------------------------------------------------------------------

    def collections(self) -> tuple[Collection, ...]:
        """By name."""

    def documents(self, collection: str = "") -> tuple[Document, ...]:
        """By source_id; of the chosen collection when "" is given."""

    def document(self, document_id: str) -> Document:
        """Raises NotFoundError."""

    def document_text(self, document_id: str) -> str:
        """The stored source text."""

    def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """Of the current index, in order."""

    def chunk(self, chunk_id: str) -> Chunk:
        """By id or unambiguous prefix. Raises NotFoundError."""

    def ingest(self, request: IngestRequest, cancel: Cancel | None = None) -> Iterator[IngestProgress]:
        """Commits per document; the last progress is ``finished``. Raises UsageError, MissingModelError, EngineError."""

    def set_mandatory_filter(self, collection: str, expression: str) -> Collection:
        """Raises FilterError when it doesn't parse."""

    def set_status(self, document_ids: Sequence[str], status: DocumentStatus) -> int:
        """Retires or restores documents."""

    def delete_documents(self, document_ids: Sequence[str]) -> tuple[DeleteCheck, ...]:
        """Deletes, and proves it."""

    def delete_collection(self, name: str) -> None:
        """With everything in it."""

    def filter_fields(self, collection: str = "") -> dict[str, str]:
        """Fields a filter may name, with their types."""

    # -- ask -------------------------------------------------------------------------------------------------------

    def search(self, query: str, options: SearchOptions | None = None) -> SearchResult:
        """Both lanes and their fusion; leaves no trace. Raises FilterError, NotFoundError."""

    def ask(
        self,
        query: str,
        options: AskOptions | None = None,
        search: SearchOptions | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[Trace]:
        """The trace, growing stage by stage; the last one is complete and stored. Raises FilterError, NotFoundError."""

    def trace(self, trace_id: str) -> Trace:
        """By id, unambiguous prefix, or "last"."""

    def traces(self, limit: int = 50) -> tuple[TraceSummary, ...]:
        """Newest first."""

    # -- models ----------------------------------------------------------------------------------------------------

    def models(self, rescan: bool = False) -> tuple[ModelFile, ...]:
        """GGUF files in the models folder and the folders the person added, by name."""

    def add_model_folder(self, path: str) -> None:
        """Raises UsageError when it isn't a folder."""

    def load_model(
        self, path: str, settings: LoadSettings | None = None, cancel: Cancel | None = None
    ) -> Iterator[LoadProgress]:
        """Loads in a child process, replacing the loaded one; the last progress has the model. Raises EngineError."""

    def unload_model(self) -> int:
        """Ends the child; returns the bytes that came back."""

    @property
    def model(self) -> LoadedModel | None:
        """What is loaded."""

    def embedder(self) -> EmbedderInfo | None:
        """The embedder in use, None when none is installed."""

    # -- evals -----------------------------------------------------------------------------------------------------

    def datasets(self) -> tuple[Dataset, ...]:
        """By name."""

    def cases(self, dataset: str) -> tuple[Case, ...]:
        """Raises NotFoundError."""

    def import_dataset(self, path: str, name: str = "", collection: str = "") -> Dataset:
        """From JSONL (our fields) or SQuAD-style JSON. Raises UsageError naming the bad line."""

    def close(self) -> None:
        """Ends the children, checkpoints and closes the file."""
