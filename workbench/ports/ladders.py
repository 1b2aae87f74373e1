"""The repository of quantization ladders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from workbench.records.benchmarks import BenchManifest
from workbench.records.ladders import Ladder, LadderPlan, Rung, WindowScores


class LadderRepository(Protocol):
    """Ladders, their rungs, and what was scored of each passage."""

    def create(self, plan: LadderPlan, manifest: BenchManifest, rungs: Sequence[Rung], text_hash: str) -> Ladder:
        """A new ladder; nothing is measured yet."""
        ...

    def ladder(self, ladder_id: int) -> Ladder:
        """Raises NotFoundError."""
        ...

    def ladders(self) -> tuple[Ladder, ...]:
        """Newest first."""
        ...

    def put_rung(self, ladder_id: int, rung: Rung) -> None:
        """In place of the one that stood there. Raises NotFoundError."""
        ...

    def set_bench(self, ladder_id: int, bench_id: int) -> None:
        """Which bench measures it. Raises NotFoundError."""
        ...

    def put_scores(self, ladder_id: int, place: int, scores: WindowScores) -> None:
        """Of one passage, in a transaction of its own. Raises NotFoundError."""
        ...

    def scores(self, ladder_id: int, place: int) -> tuple[WindowScores, ...]:
        """Of a rung, by passage."""
        ...

    def delete(self, ladder_id: int) -> None:
        """With its rungs and scores; files stay. Raises NotFoundError."""
        ...
