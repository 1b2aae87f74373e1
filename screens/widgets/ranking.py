"""The fused ranking as rows, with how each chunk moved since the ranking before and why it stands where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from screens.style import Line, Tone, place
from screens.widgets.grid import Column, Row
from workbench.i18n import tr
from workbench.records.retrieval import FusedHit, FusionResult, HitView
from workbench.traces.telling import stage_name


def columns() -> list[Column]:
    """Headings in the interface's language."""
    return [
        Column("#", 2, "right"),
        Column("", 5, fold=True),
        Column(tr("lex"), 3, "right"),
        Column(tr("dense"), 5, "right"),
        Column(tr("source"), 0, tail=True, fit=True),
        Column("§", 0, keep=100, fold=True),
        Column(tr("why"), 13, keep=92),
        Column(tr("text"), 0, share=2),
    ]


NEW: Final = "new"


def moves(hits: Sequence[HitView], before: Mapping[str, int]) -> dict[str, int | str]:
    """Chunk id → places gained (negative: lost) since ``before`` (chunk id → rank), or ``NEW``."""
    return {h.hit.chunk_id: before[h.hit.chunk_id] - h.hit.rank if h.hit.chunk_id in before else NEW for h in hits}


def why(hit: FusedHit, fusion: FusionResult) -> str:
    """The sum that the score is: "1/61 + 1/63" for RRF, the contributions themselves for weights.

    Of a reranked hit, the rank that fusion gave it and what the reranker made of it: "12. → 0.565".
    """
    if hit.rerank_score is not None:
        return f"{hit.fused_rank}. → {hit.rerank_score:.3f}"
    if fusion.method == "rrf":
        ranks = [r for r in (hit.lexical_rank, hit.dense_rank) if r is not None]
        return " + ".join(f"1/{fusion.k0 + r}" for r in ranks)
    return " + ".join(f"{value:.3f}" for _, value in hit.contributions)


def arithmetic(hit: FusedHit, fusion: FusionResult) -> str:
    """How the hit came by its score, and what its lanes measured: "1/(60+1) + 1/(60+5) = 0.0318 · BM25 12.35 · …".

    Short enough for half of 120 columns: the ranks themselves stand in the row.
    """
    ranks = {"lexical": hit.lexical_rank, "dense": hit.dense_rank}
    terms = [_term(share, ranks.get(lane), fusion) for lane, share in hit.contributions]
    lanes = [
        f"{name} {score:.{digits}f}"
        for name, score, digits in (("BM25", hit.lexical_score, 2), ("cos", hit.dense_score, 3))
        if score is not None
    ]
    if hit.rerank_score is not None:
        lanes.append(f"{stage_name('rerank')} {hit.fused_rank} → {hit.rank} ({hit.rerank_score:.3f})")
    return " · ".join([f"{' + '.join(terms)} = {hit.score:.4f}", *lanes])


def _term(share: float, rank: int | None, fusion: FusionResult) -> str:
    if fusion.method != "rrf" or rank is None:
        return f"{share:.3f}"
    return f"{share * (fusion.k0 + rank):.3g}/({fusion.k0}+{rank})"


def lost_rows(lost: Sequence[tuple[HitView, int]]) -> list[Row]:
    """Hits that were there before, each with the place it had."""
    return [
        Row(
            view.hit.chunk_id,
            (
                ("–", Tone.DIM),
                (tr("out"), Tone.DIM),
                "",
                "",
                (view.source_id, Tone.DIM),
                (place(view.heading, view.page_label, view.page), Tone.DIM),
                (tr("was {rank}", rank=rank), Tone.DIM),
                (" ".join(view.text[:200].split()), Tone.DIM),
            ),
        )
        for view, rank in lost
    ]


def rows(hits: Sequence[HitView], fusion: FusionResult, before: Mapping[str, int]) -> list[Row]:
    """One row per hit; no move is shown when there is no ranking before."""
    moved = moves(hits, before) if before else {}
    return [
        Row(
            view.hit.chunk_id,
            (
                str(view.hit.rank),
                _arrow(moved.get(view.hit.chunk_id, 0)),
                _rank(view.hit.lexical_rank),
                _rank(view.hit.dense_rank),
                view.source_id,
                place(view.heading, view.page_label, view.page),
                (why(view.hit, fusion), Tone.DIM),
                (" ".join(view.text[:200].split()), Tone.DIM),
            ),
        )
        for view in hits
    ]


def _arrow(moved: int | str) -> Line:
    if moved == NEW:
        return (tr("new"), Tone.ACCENT)
    places = int(moved)
    if places == 0:
        return ""
    return (f"▲{places}", Tone.GOOD) if places > 0 else (f"▼{-places}", Tone.WARN)


def _rank(rank: int | None) -> Line:
    return ("–", Tone.DIM) if rank is None else str(rank)
