"""Rerankers: models that read a question and a passage together and say how well they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from workbench.ports.runtimes import Cancel
from workbench.records.rerankers import PairScore, RerankerInfo


class Reranker(Protocol):
    """A cross-encoder; runs in a child process."""

    @property
    def info(self) -> RerankerInfo:
        """What it is."""
        ...

    def start(self) -> None:
        """Starts the child where none runs; returns when it is ready.

        Raises:
            EngineError: it can't be started.
        """
        ...

    def score(self, query: str, passages: Sequence[str], cancel: Cancel | None = None) -> Iterator[PairScore]:
        """One score per passage, in order, as each is ready. Closing the iterator ends the work.

        Raises:
            EngineError: the child died, or the model can't score a pair.
            Cancelled: ``cancel`` was set; a pair under way is finished first.
        """
        ...

    def close(self) -> None:
        """Ends the child process and frees its memory."""
        ...
