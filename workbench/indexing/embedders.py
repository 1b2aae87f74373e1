"""The embedders that are installed, opened when they are asked for: one for each index, as its vectors came from it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from workbench import paths
from workbench.engine.embedding import list_embedders, open_embedder
from workbench.errors import EngineError, MissingModelError
from workbench.i18n import tr
from workbench.ports import Embedder, Store
from workbench.records.corpus import EmbedderInfo, Index
from workbench.servers.embedders import ServedEmbedders

EMBEDDER_SETTING: Final = "desk.embedder"


class Embedders:
    """Opens embedders by name or by index and keeps them; each runs in a child process of its own once it embeds.

    Args:
        collection: names the chosen one, "" when there is none.
        served: those that run on a server.
    """

    def __init__(self, store: Store, collection: Callable[[], str], served: ServedEmbedders) -> None:
        self._store = store
        self._served = served
        self._collection = collection
        self._lock = threading.RLock()
        self._open: dict[str, Embedder] = {}
        self._used = False

    @property
    def used(self) -> bool:
        """One was asked for."""
        return self._used

    def names(self) -> tuple[str, ...]:
        """Of those that are installed, then of those on servers."""
        return (*list_embedders(paths.embedders_folder()), *self._served.names())

    def default(self) -> str:
        """Name of the one that new collections get: the chosen one, else the starter's; "" when none is installed."""
        chosen, installed = self._store.settings.get(EMBEDDER_SETTING), self.names()
        if chosen in installed:
            return chosen
        return paths.STARTER_EMBEDDER if paths.STARTER_EMBEDDER in installed else next(iter(installed), "")

    def choose(self, name: str) -> None:
        """New collections get that one from now on."""
        self._store.settings.set(EMBEDDER_SETTING, name)

    def name(self) -> str:
        """Of the one that questions to the chosen collection go through, or would."""
        made = self._store.indexes.embedder(self._collection())
        return made.name if made else self.default()

    def named(self, name: str) -> Embedder:
        """Raises MissingModelError, EngineError for a folder that can't be understood."""
        if served := self._served.open(name):
            return served
        with self._lock:
            if name not in self._open:
                self._open[name] = open_embedder(paths.embedders_folder() / name)
            return self._open[name]

    def of(self, index: Index) -> Embedder | None:
        """The one that the index's vectors came from, None when it isn't installed."""
        return self._like(index.embedder)

    def _like(self, made: EmbedderInfo) -> Embedder | None:
        """The one of that fingerprint; the one of that name is tried first."""
        for name in sorted(self.names(), key=lambda name: name != made.name):
            with suppress(MissingModelError, EngineError):
                found = self.named(name)
                if found.info.fingerprint == made.fingerprint:
                    self._used = True
                    return found
        return None

    def current(self, collection: str = "") -> Embedder | None:
        """That of the collection's current index (the chosen one's when "" is given), else the default."""
        made = self._store.indexes.embedder(collection or self._collection())
        found = self._like(made) if made else None
        if found is None and (default := self.default()):
            found = self.named(default)
        return found

    def require(self, collection: str = "") -> Embedder:
        """As ``current``. Raises MissingModelError where none is installed."""
        found = self.current(collection)
        if found is None:
            raise MissingModelError(
                tr("No embedder"),
                tr("There is no embedding model in {folder}.", folder=paths.embedders_folder()),
                tr("Run: workbench starter"),
            )
        self._used = True
        return found

    def rest(self, name: str) -> None:
        """Ends the child of one that nothing asks any more; it starts again when it is asked."""
        with self._lock:
            found = self._open.get(name)
        if found:
            found.close()

    def close(self) -> None:
        """Ends all children."""
        with self._lock:
            found, self._open = list(self._open.values()), {}
        for embedder in found:
            embedder.close()
