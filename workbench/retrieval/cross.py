"""Reranking by a cross-encoder: pairs scored one by one, best fused first, until they or the time come to an end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from workbench.errors import Cancelled
from workbench.i18n import tr
from workbench.ports import Cancel, Reranker
from workbench.records.rerankers import PairScore
from workbench.records.retrieval import FusedHit, RerankedHit


def rank_pairs(
    reranker: Reranker,
    query: str,
    hits: Sequence[FusedHit],
    texts: Mapping[str, str],
    budget_ms: int,
    cancel: Cancel | None = None,
) -> tuple[tuple[RerankedHit, ...], str]:
    """The hits that were scored, best first, equal scores in their order; and what a person must know of it.

    Args:
        hits: in the fused order.
        texts: by chunk id; hits without one are left where they are, behind those scored.
        budget_ms: 0 is no limit. It counts from when the process is ready, and ends between two pairs: then only the
            hits so far are ranked anew.

    Raises:
        EngineError: the reranker can't be started, or can't score a pair.
        Cancelled: ``cancel`` was set.
    """
    reranker.start()
    known = [hit for hit in hits if hit.chunk_id in texts]
    ends = time.perf_counter() + budget_ms / 1000
    scored: dict[str, PairScore] = {}
    pairs = reranker.score(query, [texts[hit.chunk_id] for hit in known], cancel)
    for hit, pair in zip(known, pairs, strict=False):
        if cancel and cancel.is_set():  # pairs come quicker than a cancel reaches the child
            raise Cancelled
        scored[hit.chunk_id] = pair
        if budget_ms and time.perf_counter() > ends:
            break
    out_of_time = len(scored) < len(known)
    reached = known[len(scored) - 1].rank if out_of_time else len(hits)
    ranked = sorted(hits[:reached], key=lambda hit: (hit.chunk_id not in scored, -_score(scored, hit), hit.rank))
    return tuple(_hit(hit, place, scored.get(hit.chunk_id)) for place, hit in enumerate(ranked, 1)), _note(
        scored, len(known), budget_ms
    )


def _score(scored: Mapping[str, PairScore], hit: FusedHit) -> float:
    return scored[hit.chunk_id].score if hit.chunk_id in scored else 0.0


def _hit(hit: FusedHit, rank: int, pair: PairScore | None) -> RerankedHit:
    if pair is None:
        return RerankedHit(hit.chunk_id, hit.rank, rank, None)
    return RerankedHit(hit.chunk_id, hit.rank, rank, pair.score, truncated=pair.truncated)


def _note(scored: Mapping[str, PairScore], wanted: int, budget_ms: int) -> str:
    cut = sum(pair.truncated for pair in scored.values())
    told = (
        tr("its {ms} ms ended after {done} of {all}", ms=f"{budget_ms:,}", done=len(scored), all=wanted)
        if len(scored) < wanted
        else "",
        tr("{count} of {all} pairs were too long and read only in part", count=cut, all=len(scored)) if cut else "",
    )
    return "; ".join(filter(None, told))
