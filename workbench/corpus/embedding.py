"""Chunks embedded as one index keeps them: a vector each, and packed token vectors where its recipe wants them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from workbench.errors import EngineError
from workbench.i18n import tr
from workbench.ports import Cancel, CorpusRepository, Embedder, PackedTokens, Vector
from workbench.records.corpus import Index
from workbench.retrieval.late import pack_int8, pack_signs

Embedded: TypeAlias = tuple[Vector, PackedTokens | None]


class ChunkEmbedder:
    """Embeds for one index. Token vectors are packed as they come: whole ones of a long book would fill the memory.

    Raises:
        EngineError: the index was made by another embedder.
    """

    def __init__(self, corpus: CorpusRepository, embedder: Embedder, index: Index) -> None:
        if embedder.info.fingerprint != index.embedder.fingerprint:  # vectors of two embedders never meet
            raise EngineError(
                tr("Another embedder"),
                tr(
                    "Index {id} was made by {its}, not by {mine}.",
                    id=index.id,
                    its=index.embedder.name,
                    mine=embedder.info.name,
                ),
                tr("Install its own embedder again, or build an index with this one: workbench indexes build"),
            )
        self._corpus, self._embedder, self._index = corpus, embedder, index

    def embed(self, texts: Sequence[str], cancel: Cancel) -> Iterator[Embedded]:
        """One result per text, in order, as each is ready. Raises as ``Embedder.embed_passages`` does."""
        form = self._index.recipe.token_vectors
        if not texts:
            return
        if form == "none":
            for vector in self._embedder.embed_passages(texts, cancel):
                yield vector, None
            return
        mean = self._mean if form == "bits" else None  # before the texts: the child would embed its sample after them
        for found in self._embedder.embed_passage_tokens(texts, cancel):
            yield found.vector, pack_int8(found.tokens) if mean is None else pack_signs(found.tokens, mean)

    @cached_property
    def _mean(self) -> Vector:
        fixed = self._corpus.token_mean(self._index.id)
        return self._corpus.fix_token_mean(self._index.id, self._embedder.token_mean()) if fixed is None else fixed
