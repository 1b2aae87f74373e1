"""The ports: what the workbench needs from the file, from embedders and from models, as Protocols.

``storage`` implements the repositories; ``workbench.engine`` implements the runtimes. Every method may be called
from any thread: repositories write through one writer thread and read through a connection per thread.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from workbench.errors import EngineError
from workbench.records.answers import Generation, Manifest, Message, Trace
from workbench.records.corpus import (
    Chunk,
    Collection,
    Document,
    DocumentStatus,
    EmbedderInfo,
    Index,
    Metadata,
    ParsedDocument,
    Recipe,
)
from workbench.records.evals import (
    Candidate,
    CandidateState,
    Case,
    CaseResult,
    Dataset,
    DecisionRecord,
    Gate,
    GateSet,
    Judgement,
    Label,
    Run,
    RunConfig,
    RunStatus,
)
from workbench.records.models import Gauges, GenerationSettings, LoadedModel, MemoryMeasurement, ModelFile
from workbench.records.retrieval import Analysis, FilterNode, LaneHit

Vector: TypeAlias = npt.NDArray[np.float32]
TokenVectors: TypeAlias = npt.NDArray[np.float16]
PackedTokens: TypeAlias = npt.NDArray[np.int8 | np.uint8]
Cancel: TypeAlias = threading.Event


class Tokenizer(Protocol):
    """Counts and locates tokens. Special tokens are not included.

    It can be pickled: the process that it is sent to gets one that works there.
    """

    @property
    def name(self) -> str:
        """What to call it in a ledger, e.g. "multilingual-e5-small"."""
        ...

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span (start, end) of each token of ``text``, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Embedding:
    """A text's vector and those of its tokens, from one run of the network.

    Attributes:
        vector: pooled, L2-normalised.
        tokens: (tokens, dimension), each row L2-normalised, without prefix and special tokens; what the network cuts
            off has none, and a network that pools by itself gives none.
    """

    vector: Vector
    tokens: TokenVectors


class Embedder(Protocol):
    """Turns texts into L2-normalised vectors. Adds the prefixes itself; runs in a child process."""

    @property
    def info(self) -> EmbedderInfo:
        """What makes its vectors comparable."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer, which starts the child where none runs: its counts may raise EngineError."""
        ...

    def start(self) -> None:
        """Starts the child where none runs, so that the first text needn't wait; returns when it is ready.

        Raises:
            EngineError: it can't be started.
        """
        ...

    def embed_passages(
        self, texts: Sequence[str], cancel: Cancel | None = None, *, urgent: bool = False
    ) -> Iterator[Vector]:
        """One vector per text, in order, as each is ready.

        Args:
            urgent: somebody waits for these few: they go before what is only queued (a running ingest).

        Raises:
            EngineError: the child died, or a vector is zero or not finite.
            Cancelled: ``cancel`` was set.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """The query's vector."""
        ...

    def embed_passage_tokens(self, texts: Sequence[str], cancel: Cancel | None = None) -> Iterator[Embedding]:
        """As ``embed_passages``, with the vectors of each text's tokens: 2 bytes a component and token to carry."""
        ...

    def embed_query_tokens(self, text: str) -> Embedding:
        """The query's vector and those of its tokens."""
        ...

    def token_mean(self) -> Vector:
        """The mean of its token vectors over passages of many kinds: what signs are centred on."""
        ...

    def close(self) -> None:
        """Ends the child process and frees its memory."""
        ...


class Generator(Protocol):
    """A loaded language model in its own child process."""

    @property
    def model(self) -> LoadedModel:
        """What is loaded."""
        ...

    @property
    def death(self) -> EngineError | None:
        """Why its process ended, None while it runs."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` by the model's own tokenizer, special tokens of the text included."""
        ...

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt through the model's chat template, ready for the assistant's turn.

        Raises:
            EngineError: the template is missing or broken.
        """
        ...

    def generate(self, prompt: str, settings: GenerationSettings, cancel: Cancel | None = None) -> Iterator[Generation]:
        """Streams the growing generation; the last one is complete, cancelled or error.

        A bad grammar is an error, not a crash.

        Raises:
            BudgetError: prompt and ``max_tokens`` don't fit the context.
            EngineError: the child died.
        """
        ...

    def gauges(self) -> Gauges:
        """Memory of the child and the machine now."""
        ...

    def close(self) -> None:
        """Ends the child process; returns when its memory is back."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What ingest must know of a stored document to tell whether anything changed."""

    document_id: str
    source_id: str
    uri: str
    hash: str
    metadata_hash: str
    status: DocumentStatus
    complete: bool
    given: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeleteCheck:
    """Proof of a deletion: rows that still mention the document, by place; all zero when it is gone.

    Attributes:
        quoted: stored traces and evaluation results that keep words of it, as what was asked and answered then.
        redacted: those that its words were taken out of now.
    """

    document_id: str
    source_id: str
    remaining: Mapping[str, int]
    quoted: int = 0
    redacted: int = 0

    @property
    def gone(self) -> bool:
        """Nothing can return it any more."""
        return not any(self.remaining.values())


@dataclass(frozen=True, slots=True)
class StoredTokens:
    """Token vectors as an index keeps them.

    Attributes:
        packed: by chunk id, a row per token: int8 components, or the signs of the centred components as bits (uint8).
        mean: what was subtracted before the signs were taken; None for int8.
    """

    packed: Mapping[str, PackedTokens]
    mean: Vector | None = None


class CorpusRepository(Protocol):
    """Collections, documents, chunks and their indexes."""

    def create_collection(self, name: str, recipe: Recipe, mandatory_filter: str = "") -> Collection:
        """A new empty collection. Raises UsageError when the name is taken or empty."""
        ...

    def collections(self) -> tuple[Collection, ...]:
        """All of them, by name, with document and chunk counts (chunks of the current index)."""
        ...

    def collection_names(self) -> tuple[str, ...]:
        """In order; quick enough to ask many times a second, as nothing is counted."""
        ...

    def collection(self, name: str) -> Collection:
        """Raises NotFoundError, naming those there are."""
        ...

    def set_mandatory_filter(self, name: str, expression: str) -> Collection:
        """Stores it; the caller has checked that it parses."""
        ...

    def set_recipe(self, name: str, recipe: Recipe) -> Collection:
        """The recipe of the collection's next index."""
        ...

    def delete_collection(self, name: str) -> None:
        """With everything in it."""
        ...

    def open_index(self, collection: str, embedder: EmbedderInfo, recipe: Recipe) -> Index:
        """The index of that collection, embedder and recipe: an existing one (any status but retired), else a new one.

        It is ``current`` at once when the collection has no current one, else ``building``.
        """
        ...

    def indexes(self, collection: str) -> tuple[Index, ...]:
        """All of them, newest first."""
        ...

    def current_index(self, collection: str) -> Index | None:
        """The one that queries meet, None before the first ingest."""
        ...

    def switch_index(self, index_id: int) -> None:
        """Makes it current and retires the previous one, with its vectors and its chunks that no index needs."""
        ...

    def document_states(self, collection: str, index_id: int) -> Mapping[str, DocumentState]:
        """By source_id. ``complete``: every chunk of it has its vector and its full-text row in that index."""
        ...

    def field_kinds(self, collection: str) -> Mapping[str, tuple[str, ...]]:
        """The types that the values of each field of the documents' metadata have, the commonest first."""
        ...

    def embedded_chunks(self, index_id: int, document_id: str) -> frozenset[str]:
        """Ids of that document's chunks that have a vector in that index already."""
        ...

    def put_document(
        self,
        index: Index,
        document: Document,
        parsed: ParsedDocument,
        chunks: Sequence[Chunk],
        vectors: Mapping[str, Vector],
        tokens: Mapping[str, PackedTokens] | None = None,
    ) -> None:
        """Stores one document in one transaction: text, structure, metadata, chunks, full-text rows, vectors.

        Chunks are upserted by id; those of the document and index not among ``chunks`` go, with their vectors.
        ``vectors`` holds the chunks not yet in ``embedded_chunks``, and ``tokens`` their token vectors where the
        index's recipe keeps them.

        Raises:
            EngineError: a vector is zero, not finite, or of the wrong dimension (nothing is stored).
        """
        ...

    def token_mean(self, index_id: int) -> Vector | None:
        """The mean token vector that the index's sign bits are centred on, None before it is fixed."""
        ...

    def fix_token_mean(self, index_id: int, mean: Vector) -> Vector:
        """Stores it unless there is one already, and returns the one that holds from now on."""
        ...

    def update_metadata(
        self, document_id: str, metadata: Metadata, metadata_hash: str, given: Metadata | None = None
    ) -> None:
        """Replaces a document's metadata (title, status and language columns follow it)."""
        ...

    def set_status(self, document_ids: Iterable[str], status: DocumentStatus) -> int:
        """Retires or restores; returns how many changed. Retired documents stay listed and are not retrieved."""
        ...

    def delete_documents(self, document_ids: Iterable[str], *, traces: bool = False) -> tuple[DeleteCheck, ...]:
        """Deletes them everywhere and proves it. Traces keep what they quote, unless ``traces`` takes it out."""
        ...

    def documents(self, collection: str = "", limit: int = -1, offset: int = 0) -> tuple[Document, ...]:
        """By source_id; every collection's when ``collection`` is ""."""
        ...

    def document(self, document_id: str) -> Document:
        """By id. Raises NotFoundError."""
        ...

    def document_text(self, document_id: str) -> str:
        """The stored source text."""
        ...

    def parsed_document(self, document_id: str) -> ParsedDocument:
        """The stored text with its structure, for chunking again without the source."""
        ...

    def chunks(
        self, document_id: str, index_id: int | None = None, limit: int = -1, offset: int = 0
    ) -> tuple[Chunk, ...]:
        """In order of the text; of the collection's current index when ``index_id`` is None."""
        ...

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> tuple[Chunk, ...]:
        """In the order asked; unknown ids are left out."""
        ...

    def find_chunks(self, prefix: str, limit: int = 20) -> tuple[Chunk, ...]:
        """Chunks whose id starts with ``prefix``."""
        ...


class SearchRepository(Protocol):
    """The two lanes. Filters apply before ranking; retired documents never match (unless the filter names status)."""

    def lexical(self, index: Index, analysis: Analysis, where: FilterNode, k: int) -> tuple[LaneHit, ...]:
        """BM25 over heading, text, stems and exact accents; terms are OR-ed, phrases required. No terms, no hits."""
        ...

    def dense(self, index: Index, vector: Vector, where: FilterNode, k: int) -> tuple[LaneHit, ...]:
        """Exact nearest neighbours by cosine.

        Raises:
            EngineError: the vector is zero, not finite or of another dimension than the index.
        """
        ...

    def matching(self, index: Index, where: FilterNode) -> tuple[int, int]:
        """Chunks of the index that pass, and all of them (retired documents excluded from the first only)."""
        ...

    def fields(self, collection: str) -> Mapping[str, tuple[str, ...]]:
        """Filterable fields and their types ("text", "number", "date", "bool", "list") as the data has them."""
        ...

    def has_language(self, index: Index, language: str) -> bool:
        """Whether some chunk of the index is in that language."""
        ...

    def document_frequency(self, index: Index, terms: Sequence[str]) -> Mapping[str, int]:
        """How many chunks of the index hold each term, given as stems of ``Analysis.stems``."""
        ...

    def token_vectors(self, index: Index, chunk_ids: Sequence[str]) -> StoredTokens:
        """Of those chunks that have any; of none where the index's recipe keeps none."""
        ...

    def vectors(self, index_id: int, chunk_ids: Sequence[str]) -> Mapping[str, Vector]:
        """The stored unit vectors by chunk id; chunks without one, and all of a retired index, are left out."""
        ...


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


class DatasetRepository(Protocol):
    """Eval datasets in all their versions, and candidates for them."""

    def put(self, name: str, collection: str, cases: Sequence[Case]) -> Dataset:
        """Makes ``cases`` the dataset's current version. Older ones stay; content that was there once is no new one."""
        ...

    def datasets(self) -> tuple[Dataset, ...]:
        """Current versions, by name."""
        ...

    def versions(self, dataset: str) -> tuple[Dataset, ...]:
        """Every version with its hash and the date it first came in, newest first. Raises NotFoundError."""
        ...

    def cases(self, dataset: str, version: str = "") -> tuple[Case, ...]:
        """In order; of the current version, or of the one whose hash is or begins with ``version``.

        Raises:
            NotFoundError: no such dataset or version.
        """
        ...

    def add_candidates(self, dataset: str, candidates: Sequence[tuple[Case, str]]) -> tuple[Candidate, ...]:
        """Stores (case, origin) pairs as waiting. The dataset needn't be there yet."""
        ...

    def candidates(self, dataset: str, state: CandidateState | None = None) -> tuple[Candidate, ...]:
        """In the order they came; of every state when ``state`` is None."""
        ...

    def set_candidate(self, candidate_id: int, state: CandidateState, case: Case | None = None) -> Candidate:
        """Its new state, and its case as a person edited it. Raises NotFoundError."""
        ...


class RunRepository(Protocol):
    """Runs with their results and labels; gates and decisions."""

    def create(self, config: RunConfig, dataset_hash: str, manifest: Manifest, total: int) -> Run:
        """A new run, running, with no result yet."""
        ...

    def run(self, run_id: int) -> Run:
        """Raises NotFoundError."""
        ...

    def runs(self, dataset: str = "") -> tuple[Run, ...]:
        """Newest first; of every dataset when ``dataset`` is ""."""
        ...

    def set_status(self, run_id: int, status: RunStatus) -> Run:
        """Raises NotFoundError."""
        ...

    def put_result(self, result: CaseResult) -> Run:
        """Stores a case's result and the run's counters in one transaction; a second one for the case replaces it.

        Raises:
            NotFoundError: the run is gone.
        """
        ...

    def results(self, run_id: int) -> tuple[CaseResult, ...]:
        """By position. Raises NotFoundError."""
        ...

    def result(self, run_id: int, case_id: str) -> CaseResult:
        """Raises NotFoundError."""
        ...

    def set_baseline(self, run_id: int) -> Run:
        """Makes it its dataset's one baseline. Raises NotFoundError."""
        ...

    def delete(self, run_id: int) -> None:
        """With its results and labels. Raises NotFoundError."""
        ...

    def put_label(self, label: Label) -> None:
        """Adds it; the case's earlier labels are kept for undo. Raises NotFoundError when there is no such result."""
        ...

    def labels(self, run_id: int) -> tuple[Label, ...]:
        """The latest one of each case, in the order they were given."""
        ...

    def undo_label(self, run_id: int) -> Label | None:
        """Removes the run's latest label and returns it, None when there is none; the one before counts again."""
        ...

    def put_judgement(self, judgement: Judgement) -> Judgement:
        """Stores it and returns it with its id. Raises NotFoundError when the run is gone."""
        ...

    def judgements(self, run_id: int) -> tuple[Judgement, ...]:
        """Of a run, newest first."""
        ...

    def lock_gates(self, dataset: str, name: str, gates: Sequence[Gate]) -> GateSet:
        """Stores them with the time, for good. Raises UsageError when the dataset has gates of that name."""
        ...

    def gate_sets(self, dataset: str = "") -> tuple[GateSet, ...]:
        """Newest first; of every dataset when ``dataset`` is ""."""
        ...

    def put_decision(self, record: DecisionRecord) -> DecisionRecord:
        """Stores it and returns it with its id."""
        ...

    def decisions(self) -> tuple[DecisionRecord, ...]:
        """Newest first."""
        ...


SqlValue: TypeAlias = str | int | float | bytes | None


@dataclass(frozen=True, slots=True)
class ResultSet:
    """What a query gave: column names, and rows of as many values."""

    columns: tuple[str, ...]
    rows: tuple[tuple[SqlValue, ...], ...]


class SqlRunner(Protocol):
    """Runs a model's SQL on a fixture, which it can't change, leave, or keep busy."""

    def run(self, fixture: Path, sql: str) -> ResultSet:
        """The result set of one SELECT.

        Raises:
            NotFoundError: there is no such file.
            FileError: it isn't a database.
            QueryError: ``sql`` gave no result set.
        """
        ...


class SettingsRepository(Protocol):
    """Small remembered choices: theme, last collection, language. Keys are dotted names."""

    def get(self, key: str, default: str = "") -> str:
        """The stored value, or ``default``."""
        ...

    def set(self, key: str, value: str) -> None:
        """Stores it."""
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
    def traces(self) -> TraceRepository:
        """Traces."""
        ...

    @property
    def models(self) -> ModelRepository:
        """Model files."""
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
    def settings(self) -> SettingsRepository:
        """Remembered choices."""
        ...

    def close(self) -> None:
        """Checkpoints and closes, leaving one file. Calling it twice is harmless."""
        ...
