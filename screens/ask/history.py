"""Earlier traces: reading one with its ranking, as Ask shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import NotFoundError
from workbench.records.answers import Trace
from workbench.records.retrieval import FusedHit, FusionResult, HitView, RerankResult
from workbench.retrieval.rerank import reordered

if TYPE_CHECKING:
    from workbench.desk import Desk


@dataclass(frozen=True, slots=True)
class PastTrace:
    """A stored trace, its place among the newest (0 is the last asked) and how many there are."""

    trace: Trace
    hits: tuple[HitView, ...]
    fusion: FusionResult | None
    place: int
    of: int


def read_past(desk: Desk, place: int) -> PastTrace | None:
    """The trace at ``place``, kept within what there is; None when nothing was ever asked. Runs in a worker."""
    summaries = desk.traces()
    if not summaries:
        return None
    place = max(0, min(place, len(summaries) - 1))
    return _read_ranking(desk, desk.trace(summaries[place].id), place, len(summaries))


def read_trace(desk: Desk, trace_id: str) -> PastTrace:
    """A trace by its id, wherever it stands among the others. Runs in a worker. Raises NotFoundError."""
    trace = desk.trace(trace_id)
    ids = [summary.id for summary in desk.traces()]
    return _read_ranking(desk, trace, ids.index(trace.id) if trace.id in ids else len(ids), len(ids))


def _read_ranking(desk: Desk, trace: Trace, place: int, of: int) -> PastTrace:
    span = trace.span("fusion")
    fusion = span.output if span and isinstance(span.output, FusionResult) else None
    reranked = trace.span("rerank")
    after = reranked.output if reranked and isinstance(reranked.output, RerankResult) else None
    hits = tuple(view_of(desk, hit) for hit in reordered(fusion, after)[:20]) if fusion else ()
    return PastTrace(trace, hits, fusion, place, of)


def view_of(desk: Desk, hit: FusedHit) -> HitView:
    """What is known today of a chunk that was found then; its id alone when it is gone."""
    try:
        c = desk.chunk(hit.chunk_id)
    except NotFoundError:
        return HitView(hit, hit.chunk_id, "", (), None, "", 0, 0, "")
    return HitView(hit, c.source_id, "", c.heading, c.page, c.page_label, c.start, c.end, c.text, c.header)
