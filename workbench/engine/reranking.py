"""The workbench's side of a reranker: the port ``Reranker`` over a child process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from workbench.engine import protocol
from workbench.engine.process import ChildProcess
from workbench.errors import Cancelled, EngineError
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.rerankers import PairScore, RerankerInfo


class ChildReranker:
    """A reranker in a child process, which starts with the first pair, and again after it died or was closed.

    See ``workbench.ports.Reranker``.
    """

    def __init__(self, info: RerankerInfo) -> None:
        self._info = info
        self._lock = threading.Lock()
        self._child: ChildProcess | None = None
        self._refused: tuple[str, tuple[str, ...]] | None = None

    @property
    def info(self) -> RerankerInfo:
        """See ``workbench.ports.Reranker``."""
        return self._info

    @property
    def pid(self) -> int | None:
        """Of its child, None when none runs."""
        child = self._child
        return child.pid if child and child.alive else None

    @property
    def refused(self) -> bool:
        """Its files can't be loaded: it says so at once, and doesn't try again."""
        return self._refused is not None

    @property
    def idle_s(self) -> float:
        """Seconds since it last scored anything; 0 while it does."""
        child = self._child
        return child.idle_s if child else 0.0

    def start(self) -> None:
        """See ``workbench.ports.Reranker``."""
        self._running()

    def score(self, query: str, passages: Sequence[str], cancel: Cancel | None = None) -> Iterator[PairScore]:
        """See ``workbench.ports.Reranker``."""
        child, done = self._running(), 0
        for event in child.ask(lambda id_: protocol.Score(id_, query, tuple(passages)), cancel):
            match event:
                case protocol.Scored():
                    done += 1
                    yield PairScore(event.score, event.truncated)
                case protocol.Failed():
                    raise self._error(event.detail, child.log)
        if done < len(passages):
            raise Cancelled

    def close(self) -> None:
        """See ``workbench.ports.Reranker``."""
        with self._lock:
            child, self._child = self._child, None
        if child:
            child.close()

    def _running(self) -> ChildProcess:
        """The child, started when there is none."""
        with self._lock:
            if self._child and self._child.alive:
                return self._child
            if self._child:
                self._child.close()
            if self._refused:
                raise self._error(*self._refused)
            child = self._child = ChildProcess("rerank")
            for event in child.ask(lambda id_: protocol.LoadReranker(id_, self._info.path, self._info.model_file)):
                if isinstance(event, protocol.Failed):
                    child.close()
                    self._refused = (event.detail, child.log)
                    raise self._error(*self._refused)
            return child

    def _error(self, detail: str, log: tuple[str, ...]) -> EngineError:
        return EngineError(
            tr("{name} can't rerank", name=self._info.name),
            tr("The reranker says: {reason}", reason=detail),
            tr("Download it again, or choose another reranker."),
            log=log,
        )
