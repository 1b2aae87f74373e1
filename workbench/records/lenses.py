"""Records of the lenses: what is cut between chunks, what the indexes hold of one, who found it, what is near it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

from workbench.records.corpus import Chunk

FlagKind: TypeAlias = Literal["sentence", "code", "table", "header", "list", "heading"]
Weight: TypeAlias = Literal["warning", "note"]

FLAG_KINDS: Final[tuple[FlagKind, ...]] = ("sentence", "code", "header", "table", "list", "heading")
"""In the order in which they are told."""


@dataclass(frozen=True, slots=True)
class Flag:
    """What the cut after a chunk takes apart.

    Attributes:
        kind: a sentence, code block, table or list that goes on behind the cut; "header": rows without their table's
            header row; "heading": one that stands at the chunk's end, away from its text.
        chunk_id, ordinal: of the chunk before the cut; ``next_id`` of the one behind it.
        start, end: the span in the source of what is taken apart.
        weight: "note" for what no chunk could hold whole and was cut where it loses least, between its rows or items.
    """

    kind: FlagKind
    chunk_id: str
    next_id: str
    document_id: str
    source_id: str
    ordinal: int
    start: int
    end: int
    weight: Weight = "warning"


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A chunk among its neighbours in the source.

    Attributes:
        chunks: in order of the text; the one that was asked for is at ``at``.
        overlaps: for each, how many characters at its beginning the chunk before it has too.
        flags: of the cuts between them, and of the cut before the first one and after the last one.
    """

    chunks: tuple[Chunk, ...]
    at: int
    overlaps: tuple[int, ...]
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True)
class DocumentFlags:
    """What is taken apart in one document, in order of the text."""

    document_id: str
    source_id: str
    chunks: int
    flags: tuple[Flag, ...]

    @property
    def warnings(self) -> tuple[Flag, ...]:
        """Those that could be better."""
        return tuple(flag for flag in self.flags if flag.weight == "warning")


@dataclass(frozen=True, slots=True)
class IndexedWord:
    """A word of a chunk as the full-text index holds it.

    Attributes:
        column: "heading", "text" (both folded), "stems", or "exact" (accented words, spelled so that accents tell).
        count: times in this chunk; ``chunks``: of the index that hold it in that column.
        idf: ln((N − n + 0.5)/(n + 0.5)) as FTS5 has it, at least 10⁻⁶.
    """

    column: str
    word: str
    count: int
    chunks: int
    idf: float


@dataclass(frozen=True, slots=True)
class AskedWord:
    """A word that a query asks of the full-text index, and what it finds in one chunk.

    Attributes:
        columns: where it is looked for.
        chunks, idf: as of ``IndexedWord``, over those columns together.
        score: its part of the chunk's BM25; 0 when the chunk hasn't got it.
    """

    columns: str
    word: str
    chunks: int
    idf: float
    score: float


@dataclass(frozen=True, slots=True)
class WordLens:
    """A chunk's words, and a query's beside them.

    Attributes:
        total: chunks of the index.
        asked: of ``query``, in its order; ``dropped``: its words that aren't asked for.
    """

    chunk_id: str
    total: int
    words: tuple[IndexedWord, ...]
    query: str = ""
    asked: tuple[AskedWord, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """BM25 of the chunk for the query: the sum over its words."""
        return sum(word.score for word in self.asked)


@dataclass(frozen=True, slots=True)
class TokenCount:
    """How many tokens one tokenizer makes of a chunk; ``note`` says what kind of count it is."""

    tokenizer: str
    tokens: int
    note: str


@dataclass(frozen=True, slots=True)
class PieceLens:
    """A chunk as its embedder reads it.

    Attributes:
        text: header and text; ``pieces``: spans in it, in order.
        added: tokens that the embedder puts around it (prefix and special ones); ``limit``: tokens that it reads.
        counts: by every tokenizer at hand.
        reason: why there are no pieces, "" when there are.
    """

    chunk_id: str
    text: str
    pieces: tuple[tuple[int, int], ...]
    added: int
    limit: int
    counts: tuple[TokenCount, ...]
    reason: str = ""

    @property
    def read(self) -> int:
        """How many of the pieces the embedder reads."""
        return min(len(self.pieces), max(0, self.limit - self.added))

    @property
    def cut(self) -> int | None:
        """Where in ``text`` it stops reading, None when it reads all of it."""
        return self.pieces[self.read][0] if self.read < len(self.pieces) else None


@dataclass(frozen=True, slots=True)
class TraceUse:
    """A stored question that found the chunk, and at which rank."""

    trace_id: str
    question: str
    rank: int
    created: datetime


@dataclass(frozen=True, slots=True)
class CaseUse:
    """A case of an evaluation run that found the chunk, and at which rank."""

    run_id: int
    dataset: str
    case_id: str
    rank: int


@dataclass(frozen=True, slots=True)
class GoldUse:
    """A case whose gold the chunk holds: what should find it; ``rank`` in the newest run that has the case, if any."""

    dataset: str
    case_id: str
    question: str
    grade: int
    run_id: int | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Who found a chunk, and who should have. Ranks below ``depth`` aren't kept."""

    chunk_id: str
    traces: tuple[TraceUse, ...]
    cases: tuple[CaseUse, ...]
    gold: tuple[GoldUse, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A chunk and how many different questions have it among their first k: N_k."""

    chunk: Chunk
    questions: int


@dataclass(frozen=True, slots=True)
class Exposure:
    """How a collection's questions spread over its chunks.

    Attributes:
        questions: different ones that were asked of it, by traces and evaluation cases.
        chunks: of the index; ``never``: those that no question has among its first ``k``.
        hubs: the most often found, most first; ``unfound``: the first of those never found, as they came in.
        skewness: of N_k over all chunks, None where all are alike; ``most``: the highest N_k.
        counts: N_k of every chunk by its id.
    """

    collection: str
    k: int
    questions: int
    chunks: int
    never: int
    hubs: tuple[Occurrence, ...]
    unfound: tuple[Chunk, ...]
    skewness: float | None
    most: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Near:
    """A chunk near another one by their vectors.

    Attributes:
        cosine: of the two stored vectors.
        group: chunks with the same number (from 1) are near-duplicates of each other, 0 for none; the chunk that was
            asked for may be one of them: its number is that of ``Likeness``.
        copy: it has the very same text.
    """

    chunk: Chunk
    cosine: float
    group: int = 0
    copy: bool = False


@dataclass(frozen=True, slots=True)
class Likeness:
    """The nearest chunks, nearest first; ``reason`` says why there are none, "" when there are."""

    chunk: Chunk
    near: tuple[Near, ...]
    group: int = 0
    reason: str = ""
