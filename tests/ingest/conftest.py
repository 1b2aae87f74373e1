"""A real file, a folder of documents, and an ingest that costs nothing but what it really does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from storage import open_store
from storage.store import Store
from tests.embedders import HashEmbedder
from workbench.corpus.ingest import Ingester
from workbench.ports import Cancel
from workbench.records.corpus import IngestOutcome, IngestProgress, IngestRequest


@dataclass
class Bench:
    """One workbench file and one folder of sources."""

    store: Store
    folder: Path
    embedder: HashEmbedder = field(default_factory=HashEmbedder)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def progresses(self, cancel: Cancel | None = None, **request: object) -> Iterator[IngestProgress]:
        paths = request.pop("paths", (str(self.folder),))
        return Ingester(self.store.corpus, self.embedder).run(IngestRequest(paths, "c", **request), cancel)

    def ingest(self, cancel: Cancel | None = None, **request: object) -> dict[str, IngestOutcome]:
        """Outcomes by source_id; what was embedded in this run alone is in ``embedder.embedded``."""
        self.embedder.embedded.clear()
        found = list(self.progresses(cancel, **request))
        assert [p.finished for p in found] == [False] * (len(found) - 1) + [True]
        return {outcome.source_id: outcome for progress in found for outcome in progress.outcomes}

    def actions(self, **request: object) -> dict[str, str]:
        return {source_id: outcome.action for source_id, outcome in self.ingest(**request).items()}

    def texts(self, source_id: str) -> list[str]:
        corpus = self.store.corpus
        return [c.text for d in corpus.documents("c") if d.source_id == source_id for c in corpus.chunks(d.id)]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    folder = tmp_path / "sources"
    folder.mkdir()
    store = open_store(tmp_path / "w.db")
    yield Bench(store, folder)
    store.close()


def snapshot(store: Store) -> list[object]:
    """Everything that two ingests of the same sources must agree on."""
    corpus = store.corpus
    index = corpus.current_index("c")
    assert index is not None
    found: list[object] = [index.recipe, index.vectors, len(corpus.indexes("c"))]
    for d in corpus.documents("c"):
        chunks = corpus.chunks(d.id)
        assert corpus.embedded_chunks(index.id, d.id) == {c.id for c in chunks}
        found.append((d.id, d.source_id, d.hash, d.metadata_hash, d.title, d.status, d.language, dict(d.metadata)))
        found += [(c.id, c.ordinal, c.start, c.end, c.text, c.heading, c.tokens) for c in chunks]
    return found
