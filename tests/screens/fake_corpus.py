"""The fake desk's browser, doctor and curator: they answer at once, from what the fake desk holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.browsing import Listing
from workbench.errors import FilterError, UsageError
from workbench.records.browsing import ChunkFacts, ChunkQuery, ChunkRow, Placement
from workbench.records.corpus import Chunk, EmbedderInfo, Index, Recipe
from workbench.records.curation import EditPlan, FieldChange, MetadataEdit, MetadataState
from workbench.records.health import Finding, Health, HealthCheck, Histogram, RepairProgress, SpaceItem, SpaceMap

if TYPE_CHECKING:
    from tests.screens.fake_desk import FakeDesk

WHEN = datetime(2026, 3, 1, 12, tzinfo=UTC)
INDEX = Index(
    1, "regulations-2026", EmbedderInfo("e5", "f" * 64, 384, 512, "", "", "mean", True), Recipe(), "current", WHEN
)


class FakeBrowser:
    def __init__(self, desk: FakeDesk) -> None:
        self._desk = desk

    def _numbered(self) -> dict[int, Chunk]:
        return dict(enumerate(self._desk._chunks.values(), 1))

    def open(self, query: ChunkQuery, cancel: Any = None, *, known: int = 0) -> Iterator[Listing]:
        if query.filter and "=" not in query.filter and ">" not in query.filter:
            raise FilterError("Bad filter", "After the field comes a comparison.", "Write: year >= 2026", position=5)
        found = [
            (chunk.tokens if query.order == "tokens" else 0, key)
            for key, chunk in self._numbered().items()
            if query.document_id in ("", chunk.document_id) and query.words.casefold() in chunk.text.casefold()
        ]
        keys = [key for _, key in sorted(found, reverse=query.descending)]
        yield Listing(query, len(keys), np.array(keys, np.int64))

    def rows(self, listing: Listing, start: int, stop: int) -> tuple[ChunkRow, ...]:
        chunks = self._numbered()
        return tuple(self._row(key, chunks[key]) for key in listing.keys[start:stop].tolist() if key in chunks)

    def _row(self, key: int, c: Chunk) -> ChunkRow:
        status = self._desk._documents[c.document_id].status
        size, section = c.end - c.start, " > ".join(c.heading)
        head = (key, c.id, c.document_id, c.source_id, status, c.ordinal, section, c.page_label, c.kind)
        return ChunkRow(*head, c.tokens, c.tiktoken_tokens, size, c.language, c.truncated, "", c.text[:160])

    def chunk(self, chunk_id: str) -> Chunk | None:
        return self._desk._chunks.get(chunk_id)

    def find(self, collection: str, beginning: str, limit: int = 20) -> tuple[Chunk, ...]:
        return tuple(c for c in self._desk._chunks.values() if beginning and c.id.startswith(beginning))[:limit]

    def key(self, collection: str, chunk_id: str) -> int | None:
        return next((key for key, chunk in self._numbered().items() if chunk.id == chunk_id), None)

    def neighbour(self, collection: str, chunk_id: str, step: int) -> Chunk | None:
        chunk = self._desk._chunks[chunk_id]
        mine = [c for c in self._desk._chunks.values() if c.document_id == chunk.document_id]
        place = mine.index(chunk) + step
        return mine[place] if 0 <= place < len(mine) else None

    def facts(self, chunk: Chunk) -> ChunkFacts:
        return ChunkFacts(self._desk._documents[chunk.document_id], (Placement(INDEX, True, 1.0),))


class FakeDoctor:
    """Finds one truncated chunk, until it is asked to mend it."""

    def __init__(self, desk: FakeDesk) -> None:
        self._desk = desk
        self.kept: Health | None = None
        self.mended: list[str] = []

    def examine(self, collection: str, cancel: Any = None) -> Iterator[Health]:
        findings = (
            () if self.mended else (Finding("chunk", "manual/lighthouse#2", "manual/lighthouse.docx #2", "no vector"),)
        )
        checks = (
            HealthCheck("truncated", "Chunks that the embedder cuts", "warning", 0, 20, (), "Cut them smaller."),
            HealthCheck(
                "vectors", "Chunks without a vector", "error", len(findings), 20, findings, "Embed them.", "embed"
            ),
        )
        plot = Histogram("tokens", "Chunk length in tokens", ("0–99", "100–199"), (14, 6))
        yield Health(collection, (), (), 0, 2, "chunks", version=3, at=WHEN)
        yield Health(collection, checks, (plot,), 2, 2, version=3, at=WHEN, duration_ms=1200)

    def keep(self, health: Health) -> None:
        self.kept = health

    def last(self, collection: str) -> Health | None:
        return self.kept

    def repair(self, health: Health, repair: str, cancel: Any = None, *, only: str = "") -> Iterator[RepairProgress]:
        self.mended.append(repair)
        yield RepairProgress("embed", 1, 1, "Chunks embedded: 1.", finished=True)

    def space(self, cancel: Any = None) -> SpaceMap:
        return SpaceMap(9 << 20, 0, 1 << 20, (SpaceItem("chunk", "chunks and their text", 5 << 20, 0, 1280),))

    def compact(self, tell: Callable[[str, int, int], None]) -> int:
        tell("regulations-2026", 20, 20)
        return 1 << 20


class FakeCurator:
    def __init__(self, desk: FakeDesk) -> None:
        self._desk = desk
        self._made: list[MetadataEdit] = []
        self._plans: dict[int, EditPlan] = {}

    def preview(self, document_ids: Sequence[str], asked: Any) -> EditPlan:
        changes, states = [], {}
        for name in document_ids:
            document = self._desk._documents[name]
            after = {**document.metadata, **asked}
            states[name] = (MetadataState(document.metadata, {}), MetadataState(after, asked))
            changes += [FieldChange(name, document.source_id, f, document.metadata.get(f), v) for f, v in asked.items()]
        return EditPlan(asked, tuple(changes), states)

    def apply(self, plan: EditPlan) -> MetadataEdit:
        edit = MetadataEdit(len(self._made) + 1, WHEN, plan.asked, plan.documents)
        self._made.append(edit)
        self._plans[edit.id] = plan
        self._put(plan, 1)
        return edit

    def undo(self, edit_id: int = 0) -> MetadataEdit:
        if not self._made:
            raise UsageError("Nothing to undo", "No edit was made.", "")
        edit = self._made.pop()
        self._put(self._plans[edit.id], 0)
        return replace(edit, undone=True)

    def edits(self) -> tuple[MetadataEdit, ...]:
        return tuple(reversed(self._made))

    def _put(self, plan: EditPlan, side: int) -> None:
        for name, states in plan.states.items():
            self._desk._documents[name] = replace(self._desk._documents[name], metadata=states[side].metadata)
