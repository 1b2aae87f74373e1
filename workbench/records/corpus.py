"""Records of the corpus: collections, documents, their structure, recipes, chunks, indexes and ingest reports.

All offsets are character (code point) offsets into the document's stored source text, end exclusive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final, Literal, TypeAlias

MetaValue: TypeAlias = str | int | float | bool | date | tuple[str, ...]
Metadata: TypeAlias = Mapping[str, MetaValue]

BlockKind: TypeAlias = Literal["heading", "paragraph", "list", "quote", "table", "row", "code", "definition", "record"]
DocumentStatus: TypeAlias = Literal["current", "retired"]
DocumentChange: TypeAlias = Literal["added", "changed", "gone", "retired", "restored", "metadata"]
RecipeName: TypeAlias = Literal["structure", "window", "sentence", "semantic", "parent"]
TokenForm: TypeAlias = Literal["none", "bits", "int8"]
IndexStatus: TypeAlias = Literal["building", "current", "kept", "retired"]
"""``kept``: it was current, and one switch goes back to it; ``retired``: it was dropped, and only its row is left."""
Component: TypeAlias = Literal["float32", "int8", "bit"]
Rescore: TypeAlias = Literal["none", "int8", "float32"]
IngestAction: TypeAlias = Literal["added", "updated", "unchanged", "metadata", "failed", "retired", "deleted"]


@dataclass(frozen=True, slots=True)
class Block:
    """A structural unit of the source text that chunking prefers not to cut.

    Attributes:
        start, end: span in the source text.
        kind: what it is; a ``row`` belongs to the table whose ``header`` it carries.
        level: heading level 1–6 for headings, nesting depth for lists, else 0.
        label: a definition's name, a code fence's language, a heading's plain text.
        header: text repeated before every chunk cut from this block (a table's header row), "" for none.
    """

    start: int
    end: int
    kind: BlockKind
    level: int = 0
    label: str = ""
    header: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a paginated source: ``number`` counts from 1, ``label`` is what is printed on it ("iv")."""

    number: int
    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a parser makes of one source.

    Attributes:
        text: the source text that is stored and cited; line ends are ``\\n``.
        blocks: in order, not overlapping; text between blocks is white space.
        pages: empty when the format has none.
        metadata: what the source says about itself (front matter, document properties).
        warnings: what was lost or guessed, for the ingest report.
    """

    text: str
    title: str
    media_type: str
    blocks: tuple[Block, ...]
    pages: tuple[Page, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How documents are cut into chunks. Sizes are tokens of the embedder's own tokenizer.

    Attributes:
        name: which splitter.
        size: token budget of a chunk (w for ``window``).
        overlap: tokens shared by neighbours (o for ``window``), 0 elsewhere unless asked.
        threshold: ``semantic``: cut where neighbouring sentences' cosine falls below this percentile (0–100).
        parent_size: ``parent``: token budget of the delivered section.
        token_vectors: how the index keeps each token's own vector, for late interaction: centred sign bits (dimension /
            8 bytes a token), int8 components (dimension bytes), or not at all.
    """

    name: RecipeName = "structure"
    size: int = 400
    overlap: int = 0
    threshold: float = 20.0
    parent_size: int = 1200
    token_vectors: TokenForm = "bits"  # noqa: S105 -- not a password

    @property
    def keeps_tokens(self) -> bool:
        """An index by it has a table of token vectors."""
        return self.token_vectors != "none"  # noqa: S105 -- not a password


@dataclass(frozen=True, slots=True)
class Span:
    """One piece cut by a recipe, before it becomes a chunk.

    Attributes:
        start, end: what is indexed.
        header: repeated text put before it when it is indexed and delivered.
        parent_start, parent_end: what is delivered to the model when it is more than what is indexed.
    """

    start: int
    end: int
    header: str = ""
    kind: BlockKind = "paragraph"
    parent_start: int | None = None
    parent_end: int | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of documents with one current index.

    Attributes:
        mandatory_filter: a filter expression that no query can drop, "" for none.
        version: grows by one with every committed change of its content.
    """

    id: int
    name: str
    recipe: Recipe
    mandatory_filter: str
    version: int
    created: datetime
    documents: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """A source in a collection, with version and validity.

    Attributes:
        id: deterministic from collection and source_id.
        source_id: the name a person knows it by (relative path, or given by metadata).
        uri: where it was read from, "" when it came without a file.
        hash: SHA-256 of the source bytes; ``metadata_hash`` of the metadata given with them.
        characters: length of the stored text.
        metadata: typed; holds title, date, version, valid_from, valid_to, owner, roles, tags and free keys.
        given: the part of it that a person gave at ingest; it stays until it is given anew.
    """

    id: str
    collection: str
    source_id: str
    uri: str
    title: str
    media_type: str
    language: str
    status: DocumentStatus
    hash: str
    metadata_hash: str
    characters: int
    metadata: Metadata
    ingested: datetime
    warnings: tuple[str, ...] = ()
    chunks: int = 0
    given: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit that is found, put in context and cited: ``source_text[start:end] == text``.

    Attributes:
        id: deterministic from source, heading and text hash; stable across re-ingest.
        header: repeated text (a table's header row) indexed and delivered before ``text``; "" for none.
        heading: the path of headings it stands under, outermost first.
        page, page_end: the pages on which it starts and ends, when the source has pages.
        page_label: what is printed on them, "iv–v" when there are several.
        tokens: by the embedder's tokenizer, prefix and special tokens included; ``tiktoken_tokens`` by o200k_base
            (0 when its rank file is absent).
        truncated: the embedder doesn't see all of it.
        parent_start, parent_end: the larger span delivered to the model, else None.
        hash: SHA-256 of header and text.
    """

    id: str
    document_id: str
    source_id: str
    ordinal: int
    start: int
    end: int
    text: str
    header: str
    heading: tuple[str, ...]
    kind: BlockKind
    page: int | None
    page_label: str
    language: str
    tokens: int
    tiktoken_tokens: int
    truncated: bool
    hash: str
    parent_start: int | None = None
    parent_end: int | None = None
    metadata: Metadata = field(default_factory=dict)
    page_end: int | None = None

    @property
    def indexed_text(self) -> str:
        """What is embedded and full-text indexed: the header, then the text."""
        return f"{self.header}\n{self.text}" if self.header else self.text


SERVER_POOLING: Final = "server"
"""``EmbedderInfo.pooling`` of a model behind HTTP, which tells a text's vector and those of no token."""


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """What makes vectors comparable: two indexes whose ``fingerprint`` differs never meet.

    Attributes:
        fingerprint: SHA-256 over weights and tokenizer files, prefixes, pooling and normalisation.
        max_tokens: longest input, special tokens included; the rest is cut by the model.
        query_prefix, passage_prefix: put before every text by us.
        matryoshka: dimensions that it was trained to be cut to, where its own files say it.
    """

    name: str
    fingerprint: str
    dimension: int
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    pooling: str
    normalised: bool
    matryoshka: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class VectorForm:
    """How an index stores its vectors. They are L2-normalised; only the direction matters.

    Attributes:
        component: ``int8``: each vector scaled by 127 / max|x|; ``bit``: the signs, after the index's mean vector was
            taken off.
        dimension: components kept, the vector renormalised (for models trained so that its beginning is a vector of
            its own: Matryoshka); 0 for all.
        rescore: ``bit`` only: ten times as many candidates are found by their signs and ranked by vectors that are
            kept beside them in this form.
    """

    component: Component = "float32"
    dimension: int = 0
    rescore: Rescore = "none"


@dataclass(frozen=True, slots=True)
class Index:
    """A vector and full-text index over one collection: one embedder, one recipe, one form of storage."""

    id: int
    collection: str
    embedder: EmbedderInfo
    recipe: Recipe
    status: IndexStatus
    created: datetime
    vectors: int = 0
    form: VectorForm = VectorForm()

    @property
    def dimension(self) -> int:
        """Components of a stored vector."""
        return self.form.dimension or self.embedder.dimension


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What to ingest and how.

    Attributes:
        metadata: given by the person for all sources; wins over sidecar and front matter. What was given before and
            isn't named now stays; a key with an empty text is given no more.
        on_missing: what happens to documents of this collection that came from these paths and are gone now.
        rechunk: apply ``recipe`` to the whole collection when it differs from the collection's own.
    """

    paths: tuple[str, ...]
    collection: str
    metadata: Metadata = field(default_factory=dict)
    recipe: Recipe | None = None
    on_missing: Literal["keep", "retire", "delete"] = "keep"
    rechunk: bool = False


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """What became of one source; ``reason`` and ``remedy`` are filled when it failed or lost something."""

    source_id: str
    action: IngestAction
    chunks: int = 0
    embedded: int = 0
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """A running ingest. The last one of a run has ``finished``.

    Attributes:
        done, total: sources.
        chunks_done, chunks_known: chunks embedded, and known so far to need it.
        rate: chunks embedded per second, 0 until measured.
        eta_s: seconds left, None until it can be told.
        outcomes: of the sources finished since the previous progress.
    """

    collection: str
    done: int
    total: int
    chunks_done: int
    chunks_known: int
    current: str
    rate: float
    eta_s: float | None
    elapsed_s: float
    outcomes: tuple[IngestOutcome, ...] = ()
    finished: bool = False
    cancelled: bool = False
