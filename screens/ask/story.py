"""What a walk through the stages tells of: a trace with its chunks as they are today, read in a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screens.style import place
from workbench.records.answers import Trace
from workbench.records.corpus import Chunk
from workbench.records.retrieval import Analysis, LaneResult
from workbench.traces.stages import evidence_of, stage

if TYPE_CHECKING:
    from workbench.desk import Desk


@dataclass(frozen=True, slots=True)
class Story:
    """A trace, those of its chunks that are still there by id, and the question in the embedder's tokens.

    ``trace.id`` is "" when it was searched and never asked.
    """

    trace: Trace
    chunks: Mapping[str, Chunk]
    tokens: Sequence[str] = ()

    def named(self, chunk_id: str) -> tuple[str, str, str]:
        """Source, place and text of a chunk; its id alone when it is gone."""
        chunk = self.chunks.get(chunk_id)
        if chunk is None:
            return chunk_id, "", ""
        return chunk.source_id, place(chunk.heading, chunk.page_label, chunk.page), chunk.text


def read_story(desk: Desk, trace: Trace) -> Story:
    """Reads what a trace itself doesn't hold. Runs in a worker."""
    found = [stage(trace, lane, LaneResult) for lane in ("lexical", "dense")]
    ids = [hit.chunk_id for lane in found if lane for hit in lane.hits]
    ids += [piece.chunk_id for piece in evidence_of(trace)]
    analysis = stage(trace, "analysis", Analysis)
    tokens = desk.inspector.tokens(analysis.embedded_text) if analysis else ()
    return Story(trace, desk.inspector.chunks(ids), tokens)
