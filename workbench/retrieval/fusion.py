"""Fusion: one ranking out of the lanes', with each lane's share of every score kept."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.retrieval import FusedHit, FusionResult, LaneHit, LaneResult, SearchOptions

_LAST: Final = 1 << 30  # the rank of a chunk that a lane didn't find, for ordering ties


def fuse(lanes: Sequence[LaneResult], options: SearchOptions) -> FusionResult:
    """The fused ranking of everything the lanes found, best first; variants of the question are lanes of their own.

    Equal scores are ordered by dense rank, then lexical rank, then chunk id: same input, same order.

    Raises:
        UsageError: ``k0`` or a weight is negative.
    """
    started = time.perf_counter()
    if options.k0 < 0 or any(weight < 0 for _, weight in options.weights):
        raise UsageError(
            tr("Fusion not possible"), tr("k0 and the weights may not be negative."), tr("The usual k0 is 60.")
        )
    ran = {contributor(lane): lane for lane in lanes if not lane.skipped}
    if options.fusion == "rrf":
        shares = {name: reciprocal_ranks(lane.hits, options.k0, lane.weight) for name, lane in ran.items()}
    else:
        weights = dict(options.weights)
        shares = {
            name: weighted_scores(lane.hits, weights.get(lane.lane, 0.0) * (lane.weight if lane.variant else 1.0))
            for name, lane in ran.items()
        }
    hits = _ranked({name: {hit.chunk_id: hit for hit in lane.hits} for name, lane in ran.items()}, shares)
    elapsed = (time.perf_counter() - started) * 1000
    return FusionResult(options.fusion, options.k0, options.weights, hits, elapsed)


def weightless(options: SearchOptions) -> bool:
    """Whether scores are weighed and no lane that is asked has a weight, so that all hits are equal."""
    weights = dict(options.weights)
    return options.fusion == "weights" and not any(weights.get(lane) for lane in options.lanes)


def contributor(lane: LaneResult) -> str:
    """What a lane is called in a hit's contributions: "dense", or "multi 2 dense" for a variant of the question."""
    return f"{lane.variant} {lane.lane}" if lane.variant else lane.lane


def reciprocal_ranks(hits: Sequence[LaneHit], k0: int, weight: float = 1.0) -> dict[str, float]:
    """w / (k0 + rank) by chunk id: a lane's term of RRF(d) = Σ w/(k0 + rank(d)).

    Of Cormack, Clarke and Büttcher (2009), whose w is 1.
    """
    return {hit.chunk_id: weight / (k0 + hit.rank) for hit in hits}


def weighted_scores(hits: Sequence[LaneHit], weight: float) -> dict[str, float]:
    """w · (score − min)/(max − min) by chunk id; w for every hit where all scores are equal."""
    if not hits:
        return {}
    low, high = min(hit.score for hit in hits), max(hit.score for hit in hits)
    width = high - low
    return {hit.chunk_id: weight * ((hit.score - low) / width if width else 1.0) for hit in hits}


def _ranked(
    found: Mapping[str, Mapping[str, LaneHit]], shares: Mapping[str, Mapping[str, float]]
) -> tuple[FusedHit, ...]:
    lexical, dense = found.get("lexical", {}), found.get("dense", {})
    hits = [
        _fused(
            chunk_id,
            tuple((lane, by_id[chunk_id]) for lane, by_id in shares.items() if chunk_id in by_id),
            lexical.get(chunk_id),
            dense.get(chunk_id),
        )
        for chunk_id in {chunk_id for by_id in shares.values() for chunk_id in by_id}
    ]
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(sorted(hits, key=_order), start=1))


def _order(hit: FusedHit) -> tuple[float, int, int, str]:
    return (-hit.score, hit.dense_rank or _LAST, hit.lexical_rank or _LAST, hit.chunk_id)


def _fused(
    chunk_id: str, contributions: tuple[tuple[str, float], ...], lexical: LaneHit | None, dense: LaneHit | None
) -> FusedHit:
    return FusedHit(
        chunk_id=chunk_id,
        rank=0,
        score=sum(share for _, share in contributions),
        lexical_rank=lexical.rank if lexical else None,
        lexical_score=lexical.score if lexical else None,
        dense_rank=dense.rank if dense else None,
        dense_score=dense.score if dense else None,
        contributions=contributions,
    )
