"""Records of browsing: which chunks to list in which order, one line of the list, and where a chunk is indexed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.records.corpus import Document, DocumentStatus, Index

ChunkOrder: TypeAlias = Literal["document", "tokens", "length", "language", "date", "hits"]
"""document: as they came in and as they stand there; date: the document's own ``date``, those without one first."""


@dataclass(frozen=True, slots=True)
class ChunkQuery:
    """Which chunks of a collection's current index are listed, and how.

    Attributes:
        document_id: only this document's; "" for all.
        filter: an expression of the filter language; retired documents pass only one that names ``status``.
        words: only chunks that hold them all in text or heading: beginnings of words, phrases in double quotes.
    """

    collection: str
    document_id: str = ""
    order: ChunkOrder = "document"
    descending: bool = False
    filter: str = ""
    words: str = ""

    @property
    def straight(self) -> bool:
        """Its first rows are known without looking at all of them: nothing is left out, and no chunk is compared."""
        return self.order != "hits" and not (self.filter.strip() or self.words.strip())


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A line of the list.

    Attributes:
        key: the file's number of the chunk.
        characters: length of its span of the source.
        date: of its document, as text, "" for none.
        beginning: of its text, a line long.
        hits: stored questions and cases of evaluation runs that have it in their ranking, as far as ranks are kept.
    """

    key: int
    id: str
    document_id: str
    source_id: str
    status: DocumentStatus
    ordinal: int
    section: str
    page: str
    kind: str
    tokens: int
    tiktoken_tokens: int
    characters: int
    language: str
    truncated: bool
    date: str
    beginning: str
    hits: int = 0


@dataclass(frozen=True, slots=True)
class Placement:
    """An index of the collection, and the chunk in it.

    Attributes:
        there: the chunk is one of the index's.
        norm: length of its stored vector, None where it has none.
    """

    index: Index
    there: bool
    norm: float | None


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """What is known of a chunk besides itself.

    Attributes:
        model, model_tokens: the loaded model and how many tokens its tokenizer makes of the chunk; "" and 0 for none.
    """

    document: Document
    placements: tuple[Placement, ...]
    model: str = ""
    model_tokens: int = 0
