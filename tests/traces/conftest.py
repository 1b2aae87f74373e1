"""A file about one library, and a question asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.embedders import HashEmbedder
from tests.library import DOCUMENTS, NAME, open_library
from workbench.answers.ask import Asker
from workbench.ports import Embedder, Generator, Store
from workbench.records.answers import AskOptions, Trace
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher

QUESTION = "How many books may a reader borrow?"
SHELVES = {
    f"shelf{n}.md": f"# Shelf {n}\n\nShelf {n} holds books of kind {n}; a reader may borrow them in room {n}."
    for n in range(1, 13)
}

Ask = Callable[..., Trace]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_library(tmp_path, {**DOCUMENTS, **SHELVES})
    yield opened
    opened.close()


@pytest.fixture
def ask(store: Store) -> Ask:
    def asked(
        query: str = QUESTION,
        options: AskOptions | None = None,
        search: SearchOptions | None = None,
        embedder: Embedder | None = None,
        generator: Generator | None = None,
    ) -> Trace:
        asker = Asker(store, Searcher(store, embedder or HashEmbedder()), lambda: generator)
        *_, last = asker.ask(query, options or AskOptions(threshold=0.0), search or SearchOptions(NAME))
        return last

    return asked
