"""Where the gold of a case is: in the corpus, in its index, behind the filters, in a chunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.ports import Store
from workbench.records.corpus import Chunk, Document, Index
from workbench.records.evals import Case, GoldSpan
from workbench.records.retrieval import Comparison, FilterNode
from workbench.retrieval.filters import combine

CENTRAL = 2
"""The lowest grade that a right answer must cite, when the case doesn't name its citations."""


def relevant(case: Case) -> tuple[GoldSpan, ...]:
    """The gold that counts as found: grade 1 and up."""
    return tuple(span for span in case.gold if span.grade > 0)


def needed(case: Case) -> tuple[GoldSpan, ...]:
    """What a right answer must cite: the case's citations, else its gold of grade ≥ 2, else all that is relevant."""
    central = tuple(span for span in case.gold if span.grade >= CENTRAL)
    return case.citations or central or relevant(case)


def held(chunk: Chunk, gold: Sequence[GoldSpan]) -> tuple[int, ...]:
    """Which of ``gold`` the chunk holds, by position."""
    from workbench.evals.anchors import grade_of

    return tuple(i for i, span in enumerate(gold) if grade_of(chunk, (span,)))


def overlaps(source_id: str, start: int, end: int, span: GoldSpan) -> bool:
    """Whether a span of a source and a gold span share text; a gold span without extent is its whole document."""
    whole = span.start == span.end == 0
    return source_id == span.source_id and (whole or (start < span.end and span.start < end))


def named(span: GoldSpan) -> str:
    """ "faq.md 120–260", "faq.md" for a whole document."""
    return f"{span.source_id} {span.start}–{span.end}" if span.end else span.source_id


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """How far the gold that came furthest could come, before anything was ranked.

    Attributes:
        in_corpus: a document of its name is in the collection; ``retired``: and it is retired.
        indexed: a chunk of the index holds it; ``truncated``: and the embedder doesn't see all of that chunk.
        passing: the filters let its document through.
    """

    in_corpus: bool
    retired: bool
    indexed: bool
    truncated: bool
    passing: bool


class GoldFinder:
    """Finds gold in one index; what it learnt of documents is kept for the run."""

    def __init__(self, store: Store, index: Index) -> None:
        self._store = store
        self._index = index

    @cached_property
    def _documents(self) -> dict[str, Document]:
        return {d.source_id: d for d in self._store.corpus.documents(self._index.collection)}

    def chunks(self, gold: Iterable[GoldSpan]) -> tuple[Chunk, ...]:
        """The chunks that hold any of it, in the order of the gold, then of the text."""
        found: dict[str, Chunk] = {}
        for span in gold:
            document = self._documents.get(span.source_id)
            for chunk in self._store.corpus.chunks(document.id, self._index.id) if document else ():
                if held(chunk, (span,)):
                    found.setdefault(chunk.id, chunk)
        return tuple(found.values())

    def whereabouts(self, gold: Sequence[GoldSpan], where: FilterNode) -> Whereabouts:
        """Of the piece of ``gold`` that comes furthest."""
        each = [self._one(span, where) for span in gold]
        return max(each, key=lambda w: (w.in_corpus, w.indexed, w.passing), default=Whereabouts(*[False] * 5))

    def _one(self, span: GoldSpan, where: FilterNode) -> Whereabouts:
        document = self._documents.get(span.source_id)
        chunks = self.chunks((span,))
        alone = combine(where, Comparison("source_id", "=", span.source_id))
        return Whereabouts(
            in_corpus=document is not None,
            retired=document is not None and document.status == "retired",
            indexed=bool(chunks),
            truncated=any(chunk.truncated for chunk in chunks),
            passing=bool(chunks) and self._store.search.matching(self._index, alone)[0] > 0,
        )
