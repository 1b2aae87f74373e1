from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import open_store
from storage.store import FileStore
from tests.storage.builders import embedder
from workbench.records.corpus import Index, Recipe


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    """An open, empty file."""
    opened = open_store(tmp_path / "workbench.db")
    assert isinstance(opened, FileStore)
    yield opened
    opened.close()


@pytest.fixture
def index(store: FileStore) -> Index:
    """The current index of the collection "laws"."""
    store.corpus.create_collection("laws", Recipe())
    return store.corpus.open_index("laws", embedder(), Recipe())
