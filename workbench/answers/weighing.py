"""What evidence is weighed with: the question's terms, the units of the evidence, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.answers.extractive import Quote, ranked
from workbench.answers.meaning import Meaning, Vectors
from workbench.answers.support import THRESHOLD, THRESHOLD_SETTING
from workbench.answers.terms import Term, question_terms
from workbench.answers.units import Unit, units
from workbench.corpus.places import Places
from workbench.errors import EngineError
from workbench.ports import Cancel, Store
from workbench.records.answers import Evidence
from workbench.records.corpus import Index
from workbench.records.retrieval import Analysis
from workbench.retrieval.search import Searcher


class Scales:
    """Documents are read once, and texts embedded once, for as long as one is kept.

    Args:
        searcher: with the embedder that the question goes through.
    """

    def __init__(self, store: Store, searcher: Searcher, cancel: Cancel | None = None) -> None:
        self._store = store
        self._searcher = searcher
        self._cancel = cancel
        self._documents: dict[str, Places] = {}
        self._vectors: Vectors | None = None

    def terms(self, analysis: Analysis, index: Index, total: int) -> tuple[Term, ...]:
        """Of the question, by their rarity among the ``total`` chunks of the index."""
        return question_terms(analysis, self._store.search.document_frequency(index, analysis.stems), total)

    def places(self, document_id: str) -> Places:
        """The document's pages and headings. Raises NotFoundError when it is gone."""
        if document_id not in self._documents:
            self._documents[document_id] = Places(self._store.corpus.parsed_document(document_id))
        return self._documents[document_id]

    def units(self, evidence: Evidence) -> Sequence[Unit]:
        """What the piece can be quoted by. Raises NotFoundError when its document is gone."""
        return units(evidence, self.places(evidence.document_id))

    def quotes(self, analysis: Analysis, terms: Sequence[Term], evidence: Sequence[Evidence]) -> tuple[Quote, ...]:
        """The units of the evidence, by meaning too where an embedder works."""
        try:
            return ranked(analysis, terms, evidence, self.units, self.meaning(analysis))
        except EngineError:  # the dense lane has said what is wrong with it
            return ranked(analysis, terms, evidence, self.units)

    def meaning(self, analysis: Analysis) -> Meaning | None:
        """What the index's embedder tells of texts; None without one."""
        embedder = self._searcher.embedder
        if embedder is None or not analysis.query.strip():
            return None
        if self._vectors is None:
            self._vectors = Vectors(lambda texts: embedder.embed_passages(texts, self._cancel, urgent=True))
        vectors = self._vectors

        def cosines(texts: Sequence[str]) -> list[float]:
            question = self._searcher.query_vector(analysis)
            return [float(vector @ question) for vector in vectors.of(texts)]

        return Meaning(embedder.info.name, cosines, vectors.between)


def threshold(store: Store, collection: str) -> float:
    """The collection's calibrated τ, or the one that comes with Workbench."""
    stored = store.settings.get(THRESHOLD_SETTING.format(collection=collection))
    return float(stored) if stored else THRESHOLD
