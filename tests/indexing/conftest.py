"""A real file with a few documents, and embedders that cost nothing: several of them, as if they were installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from storage import open_store
from tests.embedders import INFO, HashEmbedder
from workbench.corpus.ingest import Ingester
from workbench.indexing.embedders import Embedders
from workbench.indexing.indexes import Indexes
from workbench.ports import Embedding, Store
from workbench.records.corpus import IngestRequest
from workbench.records.indexes import BuildProgress
from workbench.servers.embedders import ServedEmbedders

NAME = "c"


class OtherEmbedder(HashEmbedder):
    """Another model, whose tokens have no vectors."""

    def __init__(self) -> None:
        super().__init__(replace(INFO, name="other", fingerprint="other-1", query_prefix="", passage_prefix=""))

    def embed_passage_tokens(self, texts: object, cancel: object = None) -> Iterator[Embedding]:
        for found in super().embed_passage_tokens(texts, cancel):  # type: ignore[arg-type]  # passed on as it came
            yield Embedding(found.vector, found.tokens[:0])


class FakeEmbedders(Embedders):
    """Those of ``installed``."""

    def __init__(self, store: Store, installed: dict[str, HashEmbedder]) -> None:
        super().__init__(store, lambda: NAME, ServedEmbedders(store.settings))
        self.installed = installed

    def names(self) -> tuple[str, ...]:
        return tuple(self.installed)

    def named(self, name: str) -> HashEmbedder:
        return self.installed[name]


@dataclass
class Lab:
    """One file, its indexes, and the embedders by name."""

    store: Store
    folder: Path
    installed: dict[str, HashEmbedder] = field(
        default_factory=lambda: {"hash": HashEmbedder(), "other": OtherEmbedder()}
    )

    def __post_init__(self) -> None:
        self.embedders = FakeEmbedders(self.store, self.installed)
        self.indexes = Indexes(self.store, self.embedders)

    def write(self, name: str, text: str) -> None:
        self.folder.joinpath(name).write_text(text, "utf-8")

    def ingest(self) -> None:
        for _ in Ingester(self.store.corpus, self.embedders.require(NAME)).run(
            IngestRequest((str(self.folder),), NAME)
        ):
            pass

    def build(self, **options: object) -> BuildProgress:
        for embedder in self.installed.values():
            embedder.embedded.clear()
        *_, last = self.indexes.build(NAME, **options)  # type: ignore[arg-type]  # options of ``build``
        return last

    def statuses(self) -> dict[int, str]:
        return {state.index.id: state.index.status for state in self.indexes.states(NAME)}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    folder = tmp_path / "sources"
    folder.mkdir()
    store = open_store(tmp_path / "w.db")
    made = Lab(store, folder)
    for number in range(6):
        made.write(
            f"{number}.md", f"# Title {number}\n\nThe pump of hall {number} is red. It was built in {1990 + number}."
        )
    made.ingest()
    yield made
    store.close()
