"""A models folder with both kinds of rerankers, and a desk on a small file that has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embedders import HashEmbedder
from tests.library import open_library
from tests.rerankers.models import overlap_encoder, ranking_gguf
from workbench.desk import Desk
from workbench.ports import Embedder, Store


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: nothing writes into it."""
    folder = tmp_path_factory.mktemp("models")
    overlap_encoder(folder / "rerankers" / "overlap")
    overlap_encoder(folder / "rerankers" / "classifier", classes=3)
    ranking_gguf(folder / "gguf" / "bookish.gguf")
    broken = folder / "rerankers" / "broken"
    broken.mkdir()
    (broken / "model.onnx").write_bytes(b"no network")
    return folder


@pytest.fixture
def store(tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("WORKBENCH_MODELS", str(models))
    opened = open_library(tmp_path)
    yield opened
    opened.close()


class LibraryDesk(Desk):
    """A desk whose embedder is the one that the small file was made with."""

    def _open_embedder(self) -> Embedder | None:
        return HashEmbedder()


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    made = LibraryDesk(store)
    yield made
    made.rerankers.close()
