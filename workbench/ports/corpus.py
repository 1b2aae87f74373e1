"""The corpus in the file: collections, documents, chunks, indexes, and the two lanes that search them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from workbench.ports.runtimes import Cancel, PackedTokens, Vector
from workbench.records.corpus import (
    Chunk,
    Collection,
    Document,
    DocumentChange,
    DocumentStatus,
    EmbedderInfo,
    Index,
    Metadata,
    ParsedDocument,
    Recipe,
)
from workbench.records.retrieval import Analysis, FilterNode, LaneHit


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

    def revision(self, name: str) -> tuple[int | str, ...]:
        """What changes whenever a search of the collection could find something else. Raises NotFoundError."""
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
        """Makes it current and keeps the previous one beside it. Raises NotFoundError."""
        ...

    def document_states(self, collection: str, index_id: int) -> Mapping[str, DocumentState]:
        """By source_id. ``complete``: every chunk of it has its vector and its full-text row in that index."""
        ...

    def field_kinds(self, collection: str, but: Sequence[str] = ()) -> Mapping[str, tuple[str, ...]]:
        """The types of each field's values in the documents' metadata, the commonest first; ``but``: ids left out."""
        ...

    def document_changes(self, collection: str, since: int, until: int) -> Mapping[str, tuple[DocumentChange, ...]]:
        """What became of documents between two versions of the collection, in order, by source_id."""
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

    def documents(self, collection: str = "") -> tuple[Document, ...]:
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

    def find_chunks(self, prefix: str, limit: int = 20, *, index_id: int | None = None) -> tuple[Chunk, ...]:
        """Chunks whose id starts with ``prefix``, by id; of one index where it is named."""
        ...


class SearchRepository(Protocol):
    """The two lanes. Filters apply before ranking; retired documents never match (unless the filter names status)."""

    def keep(self, index: Index, limit: int) -> bool:
        """Reads the index's vectors into memory, where they take at most ``limit`` bytes, and keeps them up to date.

        From then on both lanes answer out of memory, with the same results; another index takes its place.
        """
        ...

    def lexical(
        self, index: Index, analysis: Analysis, where: FilterNode, k: int, cancel: Cancel | None = None
    ) -> tuple[LaneHit, ...]:
        """BM25 over heading, text, stems and exact accents; terms are OR-ed, phrases required. No terms, no hits.

        Raises:
            Cancelled: it was set.
        """
        ...

    def dense(
        self, index: Index, vector: Vector, where: FilterNode, k: int, cancel: Cancel | None = None
    ) -> tuple[LaneHit, ...]:
        """Nearest neighbours by cosine: exact over float32; over other forms as near as these come.

        Raises:
            Cancelled: it was set.
            EngineError: the vector is zero, not finite or of another dimension than the index.
        """
        ...

    def matching(self, index: Index, where: FilterNode) -> tuple[int, int]:
        """Chunks of the index that pass, and all of them (retired documents excluded from the first only)."""
        ...

    def passing(self, index: Index, chunk_ids: Sequence[str], where: FilterNode) -> frozenset[str]:
        """Those of the chunks that pass; none of a retired document, unless the filter names status."""
        ...

    def fields(self, collection: str) -> Mapping[str, tuple[str, ...]]:
        """Filterable fields and their types ("text", "number", "date", "bool", "list") as the data has them."""
        ...

    def has_language(self, index: Index, language: str) -> bool:
        """Whether some chunk of the index is in that language."""
        ...

    def languages(self, index: Index) -> Mapping[str, int]:
        """How many chunks of the index are in each language, the commonest first; unknown ones left out."""
        ...

    def known_words(self, index: Index, wanted: Sequence[str]) -> Mapping[str, int]:
        """How many chunks hold each of the folded words as written; those that none holds are left out."""
        ...

    def words_like(self, index: Index, beginning: str, shortest: int, longest: int) -> Mapping[str, int]:
        """The folded words of the index that begin so, of that many characters, with their chunks."""
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
