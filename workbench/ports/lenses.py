"""What the lenses need of the file: words as they are indexed, and which rankings hold a chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from workbench.records.corpus import Index
from workbench.records.lenses import AskedWord, CaseUse, IndexedWord, TraceUse
from workbench.records.retrieval import Analysis


class LensRepository(Protocol):
    """Reads about single chunks, and one about all chunks of an index."""

    def home(self, chunk_id: str) -> Index | None:
        """The current index that holds the chunk, None when only others do or none."""
        ...

    def indexed_words(self, index: Index, chunk_id: str) -> tuple[IndexedWord, ...]:
        """Every word of the chunk, cut by the index's own tokenizer, by column and in order of the text."""
        ...

    def asked_words(self, index: Index, chunk_id: str, analysis: Analysis) -> tuple[AskedWord, ...]:
        """Every word that the analysis asks for, in its order; phrases aside."""
        ...

    def trace_uses(self, chunk_id: str) -> tuple[TraceUse, ...]:
        """Stored questions whose ranking holds the chunk, newest first."""
        ...

    def case_uses(self, chunk_id: str) -> tuple[CaseUse, ...]:
        """Results of runs whose ranking holds the chunk, newest run first."""
        ...

    def newest_runs(self, collection: str, dataset: str, case_ids: Sequence[str]) -> Mapping[str, int]:
        """The newest run on the collection that asked each of the dataset's cases, by the case's id."""
        ...

    def occurrences(self, index: Index, k: int) -> tuple[Mapping[str, int], int]:
        """How many different questions have each chunk among their first ``k``, and how many questions were asked.

        A question that was asked several times counts once, as does a case in several runs. Every chunk of the index's
        current documents is there, in the order in which they came in.
        """
        ...
