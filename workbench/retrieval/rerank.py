"""The rerank stage: late interaction over the token vectors that the index keeps. No further model, no SQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from workbench.i18n import tr
from workbench.ports import Embedder, SettingsRepository, Store, StoredTokens, Tokenizer, TokenVectors
from workbench.records.codec import decode
from workbench.records.corpus import Chunk
from workbench.records.retrieval import (
    FusedHit,
    FusionResult,
    RerankedHit,
    RerankGain,
    RerankMode,
    RerankResult,
    TokenMatch,
)
from workbench.retrieval.late import Similarities, maxsim, similarities

DEPTH: Final = 20
"""First hits of the fusion that are ranked anew."""

TOLD: Final = 3
"""Hits whose matched tokens a search tells: naming them asks the embedder's tokenizer for each passage. A question that
is answered tells them of all."""

MILLISECONDS: Final = 2000
"""That a cross-encoder may take for a search."""

GAINS_SETTING: Final = "rerank.gains.{collection}"
"""Where the last measurement of each reranker on each dataset is remembered."""

DEPTH_SETTING: Final = "rerank.depth"
MS_SETTING: Final = "rerank.milliseconds"
RERANK_SETTING: Final = "rerank.{collection}"
"""Where it is remembered that a collection's searches are reranked, and the gain that spoke for it."""


def rerank(hits: Sequence[FusedHit], query: TokenVectors, stored: StoredTokens) -> tuple[RerankedHit, ...]:
    """``hits`` by MaxSim, best first; equal scores, and chunks without token vectors at the end, keep their order.

    The matches hold no words yet, see ``told``. Nothing when the query or all of the chunks have no token vectors.
    """
    known = [hit for hit in hits if hit.chunk_id in stored.packed]
    if not known or not len(query):
        return ()
    packed = [stored.packed[hit.chunk_id] for hit in known]
    scores = maxsim(similarities(query, np.concatenate(packed), stored.mean), [len(rows) for rows in packed])
    of = {hit.chunk_id: float(score) for hit, score in zip(known, scores, strict=True)}
    best_first = sorted(hits, key=lambda hit: (-of.get(hit.chunk_id, -np.inf), hit.rank))
    return tuple(
        RerankedHit(hit.chunk_id, hit.rank, rank, of.get(hit.chunk_id)) for rank, hit in enumerate(best_first, start=1)
    )


def reordered(fusion: FusionResult, result: RerankResult | None) -> tuple[FusedHit, ...]:
    """The fused hits in their final order: reranked ones first, then those that were below its depth."""
    if result is None or result.skipped:
        return fusion.hits
    fused = {hit.chunk_id: hit for hit in fusion.hits}
    first = tuple(
        replace(fused[hit.chunk_id], rank=hit.rank, fused_rank=hit.before, rerank_score=hit.score)
        for hit in result.hits
    )
    return first + fusion.hits[len(first) :]


def stored_gain(settings: SettingsRepository, collection: str) -> RerankGain | None:
    """What was measured when the collection's reranker was turned on, None when it is off."""
    stored = settings.get(RERANK_SETTING.format(collection=collection))
    return decode(RerankGain, json.loads(stored)) if stored else None


def stored_gains(settings: SettingsRepository, collection: str) -> tuple[RerankGain, ...]:
    """The last measurement of each reranker on each dataset of the collection, the newest last."""
    stored = settings.get(GAINS_SETTING.format(collection=collection))
    return tuple(decode(RerankGain, told) for told in json.loads(stored)) if stored else ()


def known_gain(settings: SettingsRepository, collection: str, mode: RerankMode) -> RerankGain | None:
    """Of this reranker: what it was turned on for, else what was measured last; None when it never was."""
    on = stored_gain(settings, collection)
    if on and on.mode == mode:
        return on
    return next((gain for gain in reversed(stored_gains(settings, collection)) if gain.mode == mode), None)


def limits(settings: SettingsRepository) -> tuple[int, int]:
    """Hits ranked anew, and milliseconds that it may take, as set for the file."""
    depth, milliseconds = settings.get(DEPTH_SETTING), settings.get(MS_SETTING)
    return int(depth) if depth.isdigit() else DEPTH, int(milliseconds) if milliseconds.isdigit() else MILLISECONDS


def describe_gain(gain: RerankGain) -> str:
    """ "+.007 R@1 on xquad-es (n = 1,190)"."""
    change = f"{gain.recall_1[1] - gain.recall_1[0]:+.3f}".replace("0.", ".", 1)
    return tr("{change} R@1 on {dataset} (n = {n})", change=change, dataset=gain.dataset, n=f"{gain.cases:,}")


class Matcher:
    """Says which token of the question met which of a passage."""

    def __init__(
        self, store: Store, embedder: Embedder, query: str, tokens: TokenVectors, stored: StoredTokens
    ) -> None:
        self._store, self._embedder = store, embedder
        self._query, self._tokens, self._stored = query, tokens, stored

    def told(self, hits: Sequence[RerankedHit], count: int = TOLD) -> tuple[RerankedHit, ...]:
        """``hits``, the first ``count`` with their matches. Raises EngineError when the tokenizer's process died."""
        info, tokenizer = self._embedder.info, self._embedder.tokenizer
        words = token_texts(tokenizer, info.query_prefix, self._query)
        chunks = {chunk.id: chunk for chunk in self._store.corpus.chunks_by_id([hit.chunk_id for hit in hits[:count]])}
        return tuple(
            replace(hit, matches=self._matches(words, chunks[hit.chunk_id]))
            if place < count and hit.chunk_id in chunks and hit.score is not None
            else hit
            for place, hit in enumerate(hits)
        )

    def _matches(self, words: Sequence[str], chunk: Chunk) -> tuple[TokenMatch, ...]:
        cosines: Similarities = similarities(self._tokens, self._stored.packed[chunk.id], self._stored.mean)
        passage = token_texts(self._embedder.tokenizer, self._embedder.info.passage_prefix, chunk.indexed_text)
        nearest = cosines.argmax(axis=1)
        # A long question has words that the network has cut off, and so no vectors of theirs.
        return tuple(
            TokenMatch(word, passage[column], float(row[column]))
            for word, row, column in zip(words, cosines, nearest, strict=False)
        )


def token_texts(tokenizer: Tokenizer, prefix: str, text: str) -> list[str]:
    """The tokens of ``text`` as written, cut as the network sees them behind ``prefix``."""
    whole = prefix + text
    return [whole[max(start, len(prefix)) : end] for start, end in tokenizer.offsets(whole) if end > len(prefix)]
