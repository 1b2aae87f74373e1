"""What ingest and the child that reads and cuts for it say to each other: frozen tasks and their results.

The first message is a ``Setup``, answered by ``Ready``. Then each ``Task`` gets one ``Result``, in order; before that,
the child may ask for vectors with ``Wanted`` and gets them in ``Vectors``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from workbench.ports import DocumentState, Tokenizer, Vector
from workbench.records.corpus import Chunk, Document, EmbedderInfo, Metadata, ParsedDocument, Recipe


@dataclass(frozen=True, slots=True)
class Setup:
    """What holds for every task of one ingest.

    Attributes:
        given: metadata from the person, for every file; a key with an empty text is no longer given.
        language: of the interface, for what the child has to say.
        time_limit_s: for one task; the child ends when it takes longer.
    """

    collection: str
    recipe: Recipe
    embedder: EmbedderInfo
    tokenizer: Tokenizer
    given: Metadata
    language: str
    time_limit_s: float


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file to read and cut, unless it is as it was.

    Attributes:
        uri: where it is, absolute.
        source_id: what it is known by, unless its metadata say otherwise.
        stored: what the collection holds of that file.
        given: metadata that a person gave for it before.
    """

    path: Path
    uri: str
    source_id: str
    stored: tuple[DocumentState, ...] = ()
    given: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CutStored:
    """A document of the file to cut again from its stored text."""

    document: Document
    parsed: ParsedDocument

    @property
    def source_id(self) -> str:
        """What it is known by."""
        return self.document.source_id


@dataclass(frozen=True, slots=True)
class Vectors:
    """The passages' vectors that ``Wanted`` asked for, in its order."""

    vectors: tuple[Vector, ...]


@dataclass(frozen=True, slots=True)
class Ready:
    """The child works: if it dies from now on, a document made it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The semantic recipe needs the vectors of these passages."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The file and its metadata are as they were."""

    state: DocumentState


@dataclass(frozen=True, slots=True)
class Described:
    """The file is as it was, and its metadata have changed."""

    state: DocumentState
    metadata: Metadata
    metadata_hash: str
    given: Metadata


@dataclass(frozen=True, slots=True)
class Cut:
    """A document with its chunks.

    Attributes:
        told: what the report says of chunks that the embedder doesn't read whole and of damaged letters. It is no
            warning of the document: the health checks find both by themselves.
    """

    document: Document
    parsed: ParsedDocument
    chunks: tuple[Chunk, ...]
    told: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """It can't be read: why, and what to do."""

    reason: str
    remedy: str


Task: TypeAlias = ReadFile | CutStored
Result: TypeAlias = Unchanged | Described | Cut | Refused
Request: TypeAlias = Setup | Task | Vectors
Event: TypeAlias = Ready | Wanted | Result
