"""Where the gold of a case is: in the corpus, in its index, behind the filters, in a chunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.evals.gold.anchors import Anchors, is_whole
from workbench.ports import Store
from workbench.records.cases import Case, GoldSpan
from workbench.records.corpus import Chunk, Index
from workbench.records.retrieval import FilterNode

CENTRAL = 2
"""The lowest grade that a right answer must cite, when the case doesn't name its citations."""


def relevant(case: Case) -> tuple[GoldSpan, ...]:
    """The gold that counts as found: grade 1 and up."""
    return tuple(span for span in case.gold if span.grade > 0)


def needed(case: Case) -> tuple[GoldSpan, ...]:
    """What a right answer must cite: the case's citations, else its gold of grade ≥ 2, else all that is relevant."""
    central = tuple(span for span in case.gold if span.grade >= CENTRAL)
    return case.citations or central or relevant(case)


def carries(source_id: str, start: int, end: int, span: GoldSpan) -> bool:
    """Whether delivered text carries a gold span: half of one of them is the other's (see ``anchors``), or it is whole.

    Args:
        start, end: of the delivered text in its source.
    """
    if source_id != span.source_id:
        return False
    inside = min(end, span.end) - max(start, span.start)
    return is_whole(span) or (inside > 0 and 2 * inside >= min(span.end - span.start, end - start))


def named(span: GoldSpan) -> str:
    """ "faq.md 120–260", "faq.md" for a whole document."""
    return f"{span.source_id} {span.start}–{span.end}" if span.end else span.source_id


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """How far the gold that came furthest could come, before anything was ranked.

    Attributes:
        in_corpus: a document of its name is in the collection; ``retired``: and it is retired.
        indexed: a chunk of the index holds it; ``truncated``: and the embedder doesn't see all of that chunk.
        passing: the filters let a chunk that holds it through; other chunks of its document don't count.
    """

    in_corpus: bool
    retired: bool
    indexed: bool
    truncated: bool
    passing: bool


class GoldFinder(Anchors):
    """The gold of a dataset in one index, and how far it could come; what it learnt is kept while a run lasts."""

    def __init__(self, store: Store, index: Index) -> None:
        super().__init__(store.corpus, index)
        self._search = store.search

    def chunks(self, gold: Iterable[GoldSpan]) -> tuple[Chunk, ...]:
        """The chunks that hold any of it, in the order of the gold, then of the text."""
        return tuple({chunk.id: chunk for span in gold for chunk in self.holders(span)}.values())

    def whereabouts(self, gold: Sequence[GoldSpan], where: FilterNode) -> Whereabouts:
        """Of the piece of ``gold`` that comes furthest."""
        each = [self._one(span, where) for span in gold]
        return max(each, key=lambda w: (w.in_corpus, w.indexed, w.passing), default=Whereabouts(*[False] * 5))

    def _one(self, span: GoldSpan, where: FilterNode) -> Whereabouts:
        document = self._documents.get(span.source_id)
        chunks = self.holders(span)
        passing = self._search.passing(self._index, [chunk.id for chunk in chunks], where) if chunks else frozenset()
        return Whereabouts(
            in_corpus=document is not None,
            retired=document is not None and document.status == "retired",
            indexed=bool(chunks),
            truncated=any(chunk.truncated for chunk in chunks),
            passing=bool(passing),
        )
