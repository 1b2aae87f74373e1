"""A small real collection with everything that an exchange must carry: metadata, vectors, token vectors, a dataset."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from storage import open_store
from tests.embedders import INFO, HashEmbedder
from tests.library import NAME, open_library
from workbench.exchange import Exchange
from workbench.ports import Store
from workbench.records.cases import Case, GoldSpan
from workbench.records.exchange import Copied, ExchangeProgress, Exported, ExportForm, ExportRequest, Received

R = TypeVar("R")


class Bench:
    """A workbench file with the library in it, and the folder for what is exported of it."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder, self.store = folder, store
        self.exchange = Exchange(store)
        self._opened: list[Store] = []

    def other(self, name: str = "other.db") -> Store:
        """Another file, empty where it wasn't there."""
        store = open_store(self.folder / name)
        self._opened.append(store)
        return store

    def export(self, name: str = "out", form: ExportForm = "jsonl", **chosen: object) -> Exported:
        request = ExportRequest(NAME, str(self.folder / name), form, **chosen)
        return last(self.exchange.export(request), Exported)

    def close(self) -> None:
        for store in (self.store, *self._opened):
            store.close()


def last(progress: Iterator[ExchangeProgress], kind: type[R]) -> R:
    *_, end = progress
    assert isinstance(end.result, kind)
    return end.result


def receive(store: Store, folder: Path) -> Received:
    return last(Exchange(store).receive(str(folder)), Received)


def copy(bench: Bench, file: str = "moved.db", **options: bool) -> Copied:
    return last(bench.exchange.copy(NAME, str(bench.folder / file), **options), Copied)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a closed file that every test gets a copy of: to ingest takes longer than any of them."""
    folder = tmp_path_factory.mktemp("library")
    store = open_library(folder, embedder=HashEmbedder(INFO))
    gold = GoldSpan("borrowing.md", 60, 130, 3)
    cases = [
        Case("1", "How many books?", gold=(gold, GoldSpan("gone.md", 0, 5)), answers=("six",)),
        Case("2", "¿Cuánto cuesta el menú?", gold=(GoldSpan("coffee.md"),)),
        Case("3", "Who is the rector?", answerable=False),
    ]
    store.datasets.put("loans", NAME, cases)
    store.close()
    return folder


@pytest.fixture
def bench(library: Path, tmp_path: Path) -> Iterator[Bench]:
    folder = tmp_path / "bench"
    shutil.copytree(library, folder)
    bench = Bench(folder, open_store(folder / "library.db"))
    yield bench
    bench.close()
