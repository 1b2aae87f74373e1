"""The fake desk's inspector: a search as a trace, its chunks, the history. What-ifs are computed on real files only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.screens.fake_records import context
from workbench.ports import TraceSummary
from workbench.records.answers import AskOptions, Manifest, Stage, Trace, TraceSpan
from workbench.records.corpus import Chunk
from workbench.records.retrieval import SearchOptions, SearchResult

if TYPE_CHECKING:
    from datetime import datetime

    from tests.screens.fake_desk import FakeDesk


class FakeInspector:
    """As ``workbench.traces.inspector.Inspector``."""

    def __init__(self, desk: FakeDesk, when: datetime) -> None:
        self._desk, self._when = desk, when

    def searched(
        self, result: SearchResult, ask: AskOptions, options: SearchOptions, revision: tuple[int | str, ...] = ()
    ) -> Trace:
        manifest = Manifest(
            "0.1.0", "regulations-2026", 3, 1, "multilingual-e5-small", "f" * 64, "structure/400", "", ""
        )
        trace = Trace("", self._when, result.analysis.query, manifest)
        stages: list[tuple[str, Stage, float]] = [("analysis", result.analysis, 0.0), ("filter", result.filter, 0.0)]
        stages += [(lane.lane, lane, lane.duration_ms) for lane in result.lanes]
        for name, stage, ms in stages:
            trace = trace.grow(TraceSpan(name, 0.0, ms, stage))
        trace = trace.grow(TraceSpan("fusion", 0.0, result.fusion.duration_ms, result.fusion))
        ids = [hit.chunk_id for hit in result.fusion.hits]
        kept = [self._desk.chunk(chunk_id) for chunk_id in ids[:2]]
        return trace.grow(TraceSpan("context", 0.0, 0.3, context(kept, ids[2:])))

    def chunks(self, chunk_ids: Iterable[str]) -> dict[str, Chunk]:
        return {chunk_id: self._desk.chunk(chunk_id) for chunk_id in chunk_ids}

    def tokens(self, text: str) -> tuple[str, ...]:
        return tuple(text.split())

    def history(self, text: str = "", limit: int = 50) -> tuple[TraceSummary, ...]:
        wanted = text.casefold().split()
        known = (replace(t, created="2026-03-02T10:00:00") for t in self._desk.traces())
        return tuple(t for t in known if all(word in t.query.casefold() for word in wanted))[:limit]

    def delete(self, trace_id: str) -> None:
        self._desk.forget(self._desk.trace(trace_id))
