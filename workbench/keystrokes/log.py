"""The keystrokes of a session in memory, and how much one ranking differs from another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from workbench.records.keystrokes import Keystroke, KeystrokeStages, LaneTime, RankMove
from workbench.records.rerankers import NONE
from workbench.records.retrieval import HitView, Lane, RerankResult, SearchOptions, SearchResult
from workbench.retrieval.fusion import fuse

MOST: Final = 1000
"""Keystrokes that are remembered; the oldest go first."""
DEPTH: Final = 10
"""Ranks that a change is told by."""


class KeystrokeLog:
    """What each keystroke brought, oldest first, and how much the ranking changed with it."""

    def __init__(self, keystrokes: Sequence[Keystroke] = (), most: int = MOST) -> None:
        self._most = most
        self._keystrokes: list[Keystroke] = []
        self._changes: list[float] = []
        for keystroke in keystrokes:
            self.add(keystroke)

    def __len__(self) -> int:
        return len(self._keystrokes)

    def __getitem__(self, place: int) -> Keystroke:
        return self._keystrokes[place]

    @property
    def keystrokes(self) -> tuple[Keystroke, ...]:
        """All that are remembered."""
        return tuple(self._keystrokes)

    @property
    def changes(self) -> Sequence[float]:
        """By keystroke, how much the ranking differs from the one before; 0 for the first."""
        return self._changes

    def add(self, keystroke: Keystroke) -> int:
        """Enters it; returns how many of the oldest went. What the same question found before it was whole goes too."""
        last = self._keystrokes[-1] if self._keystrokes else None
        if last and _is_start_of(last, keystroke):
            self._keystrokes.pop()
            self._changes.pop()
        before = self._keystrokes[-1] if self._keystrokes else None
        self._keystrokes.append(keystroke)
        self._changes.append(change(_ids(before), _ids(keystroke)) if before else 0.0)
        gone = max(0, len(self._keystrokes) - self._most)
        del self._keystrokes[:gone], self._changes[:gone]
        return gone

    def painted(self, milliseconds: float) -> None:
        """The newest was painted this long after its key."""
        if self._keystrokes:
            self._keystrokes[-1] = replace(self._keystrokes[-1], painted_ms=milliseconds)


def _is_start_of(last: Keystroke, keystroke: Keystroke) -> bool:
    """Both are of one search: ``last`` before it was whole, or of the same key before it was reranked."""
    unranked = last.at == keystroke.at and last.rerank == NONE != keystroke.rerank
    return (not last.whole or unranked) and (last.query, last.filter, last.asked) == _asked(keystroke)


def of_result(result: SearchResult, at: float, asked: tuple[Lane, ...]) -> Keystroke:
    """What is remembered of a search ``at`` seconds into the session."""
    return Keystroke(
        at=at,
        query=result.analysis.query,
        filter=result.filter.expression,
        asked=asked,
        lanes=tuple(LaneTime(lane.lane, lane.duration_ms, lane.skipped) for lane in result.lanes),
        hits=tuple(view.hit for view in result.hits),
        fusion=replace(result.fusion, hits=()),
        duration_ms=result.duration_ms,
        rerank=result.rerank.mode if result.rerank else "none",
        stages=KeystrokeStages(result.analysis, result.filter, result.lanes, _without_words(result.rerank)),
    )


def result_of(keystroke: Keystroke, hits: tuple[HitView, ...]) -> SearchResult | None:
    """The search behind a keystroke, its lanes fused once more; None where its stages weren't saved.

    Args:
        hits: the keystroke's own, as they are known today.
    """
    stages = keystroke.stages
    if stages is None:
        return None
    fusion = replace(fuse(stages.lanes, options_of(keystroke)), duration_ms=keystroke.fusion.duration_ms)
    return SearchResult(
        stages.analysis, stages.filter, stages.lanes, fusion, hits, keystroke.duration_ms, rerank=stages.rerank
    )


def options_of(keystroke: Keystroke, collection: str = "") -> SearchOptions:
    """What a keystroke was searched with."""
    return SearchOptions(
        collection=collection,
        k=max(10, len(keystroke.hits)),
        lanes=keystroke.asked,
        filter=keystroke.filter,
        rerank=keystroke.rerank,
        fusion=keystroke.fusion.method,
        k0=keystroke.fusion.k0,
        weights=keystroke.fusion.weights,
    )


def change(before: Sequence[str], after: Sequence[str]) -> float:
    """1 − the average overlap of two rankings of ids: 0 for the same first ``DEPTH`` in the same order, 1 for none.

    AO = 1/D · Σ_{d=1..D} |A_d ∩ B_d| / d, with the first d of each (Fagin, Kumar and Sivakumar 2003): what happens at
    the top weighs most. D is the length of the longer one where that is shorter than ``DEPTH``.
    """
    depth = min(DEPTH, max(len(before), len(after)))
    if not depth:
        return 0.0
    shared = (len(set(before[:d]) & set(after[:d])) / d for d in range(1, depth + 1))
    return 1.0 - sum(shared) / depth


def moves(before: Keystroke, after: Keystroke) -> tuple[RankMove, ...]:
    """Chunks whose place differs, by the place after, those lost last."""
    was = {hit.chunk_id: hit.rank for hit in before.hits}
    now = {hit.chunk_id: hit.rank for hit in after.hits}
    found = [RankMove(i, was.get(i), rank) for i, rank in now.items() if was.get(i) != rank]
    return (*found, *(RankMove(i, rank, None) for i, rank in was.items() if i not in now))


def _without_words(rerank: RerankResult | None) -> RerankResult | None:
    return rerank and replace(rerank, hits=tuple(replace(hit, matches=()) for hit in rerank.hits))


def _asked(keystroke: Keystroke) -> tuple[str, str, tuple[Lane, ...]]:
    return keystroke.query, keystroke.filter, keystroke.asked


def _ids(keystroke: Keystroke | None) -> list[str]:
    return [hit.chunk_id for hit in keystroke.hits] if keystroke else []
