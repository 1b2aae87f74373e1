"""Rerankers as the desk hands them out."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from workbench import paths
from workbench.engine.reranking import ChildReranker
from workbench.errors import EngineError, MissingModelError, NotFoundError, UsageError
from workbench.evals.running.rerank import measure_rerank
from workbench.i18n import tr
from workbench.ports import Cancel, Reranker, Store
from workbench.records.cases import Dataset
from workbench.records.codec import encode
from workbench.records.models import ModelFile
from workbench.records.rerankers import LATE, RerankerInfo
from workbench.records.retrieval import RerankGain
from workbench.rerankers.installed import installed
from workbench.retrieval.rerank import (
    DEPTH_SETTING,
    GAINS_SETTING,
    MS_SETTING,
    RERANK_SETTING,
    stored_gain,
    stored_gains,
)
from workbench.retrieval.search import Searcher

IDLE_S: Final = 60.0
"""A reranker unused for so long ends when another one starts."""


class Rerankers:
    """What is installed, what it brings, and where it is on. Every method may be called from any thread.

    Args:
        searcher: makes one that searches the file.
        files: the GGUF files there are.
        dataset: by its name; raises NotFoundError.
        collection: the chosen one.
    """

    def __init__(
        self,
        store: Store,
        searcher: Callable[[], Searcher],
        files: Callable[[], Sequence[ModelFile]],
        dataset: Callable[[str], Dataset],
        collection: Callable[[], str],
    ) -> None:
        self._store = store
        self._searcher = searcher
        self._files = files
        self._dataset = dataset
        self._collection = collection
        self._lock = threading.Lock()
        self._running: dict[str, ChildReranker] = {}

    def installed(self) -> tuple[RerankerInfo, ...]:
        """Late interaction, and what is in the models folder, usable or not."""
        return installed(paths.rerankers_folder(), self._files())

    def open(self, name: str) -> Reranker:
        """A cross-encoder; its process starts with the first pair.

        Raises:
            NotFoundError: there is none of that name.
            MissingModelError: it can't be used.
        """
        with self._lock:
            if name in self._running:
                return self._running[name]
            info = self._usable(name)
            for other in [n for n, reranker in self._running.items() if reranker.idle_s > IDLE_S]:
                self._running.pop(other).close()
            self._running[name] = ChildReranker(info)
            return self._running[name]

    def warm(self) -> None:
        """Starts the chosen collection's own reranker; where it can't, searches say why."""
        gain = self.gain()
        if gain and gain.mode != LATE:
            try:
                self.open(gain.mode).start()
            except (EngineError, MissingModelError, NotFoundError):
                return

    def measure(self, dataset: str, name: str = LATE, cancel: Cancel | None = None) -> Iterator[RerankGain]:
        """What the reranker does to the dataset's questions; the last gain is remembered.

        Raises:
            UsageError, NotFoundError, MissingModelError, Cancelled.
        """
        if name != LATE:
            self._retry(name)
            self.open(name)
        gain: RerankGain | None = None
        for gain in measure_rerank(self._store, self._searcher(), self._dataset(dataset), name, cancel):
            yield gain
        if gain:
            self._keep(gain)

    def gains(self, collection: str = "") -> tuple[RerankGain, ...]:
        """The last measurement of each reranker on each dataset of the collection, the newest last."""
        return stored_gains(self._store.settings, collection or self._collection())

    def use(self, gain: RerankGain) -> None:
        """Reranks the collection's searches from now on. Raises UsageError when nothing was gained."""
        if not gain.gained:
            raise UsageError(
                tr("No gain"),
                tr("On “{name}” the reranker brings nothing, so it stays off.", name=gain.dataset),
                tr("Ask for it search by search: workbench search --rerank {mode}", mode=gain.mode),
            )
        self._store.settings.set(RERANK_SETTING.format(collection=gain.collection), json.dumps(encode(gain)))

    def stop(self, collection: str = "") -> None:
        """The collection's searches are as fused again. Raises NotFoundError."""
        name = self._store.corpus.collection(collection or self._collection()).name
        self._store.settings.set(RERANK_SETTING.format(collection=name), "")

    def gain(self, collection: str = "") -> RerankGain | None:
        """What was measured when the collection's reranker was turned on, None when it is off."""
        return stored_gain(self._store.settings, collection or self._collection())

    def limit(self, depth: int | None = None, milliseconds: int | None = None) -> None:
        """From now on: how many of the first hits are ranked anew, and for how long at most (0: for any time)."""
        for key, value in ((DEPTH_SETTING, depth), (MS_SETTING, milliseconds)):
            if value is not None:
                self._store.settings.set(key, str(value))

    def close(self) -> None:
        """Ends the children."""
        with self._lock:
            running, self._running = list(self._running.values()), {}
        for reranker in running:
            reranker.close()

    def _retry(self, name: str) -> None:
        """Its files may be others now."""
        with self._lock:
            if name in self._running and self._running[name].refused:
                self._running.pop(name).close()

    def _usable(self, name: str) -> RerankerInfo:
        known = {info.name: info for info in self.installed() if info.kind != "late"}
        if name not in known:
            raise NotFoundError(
                tr("No such reranker"),
                tr("There is no reranker “{name}”.", name=name),
                tr("workbench rerank --list shows those there are."),
            )
        if problem := known[name].problem:
            raise MissingModelError(
                tr("{name} can't rerank", name=name),
                tr("{path}: {problem}.", path=known[name].path, problem=problem),
                tr("Download it again, or choose another reranker."),
            )
        return known[name]

    def _keep(self, gain: RerankGain) -> None:
        others = [g for g in self.gains(gain.collection) if (g.mode, g.dataset) != (gain.mode, gain.dataset)]
        key = GAINS_SETTING.format(collection=gain.collection)
        self._store.settings.set(key, json.dumps(encode((*others, gain))))
