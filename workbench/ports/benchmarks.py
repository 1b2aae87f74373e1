"""The repository of benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from workbench.records.benchmarks import Bench, BenchManifest, BenchModel, BenchPlan, Sample


class BenchRepository(Protocol):
    """Benchmarks and each of their repetitions."""

    def create(self, plan: BenchPlan, models: Sequence[BenchModel], manifest: BenchManifest, total: int) -> Bench:
        """A new bench with no sample yet."""
        ...

    def bench(self, bench_id: int) -> Bench:
        """Raises NotFoundError."""
        ...

    def benches(self) -> tuple[Bench, ...]:
        """Newest first."""
        ...

    def add_sample(self, sample: Sample) -> None:
        """In a transaction of its own; a second one of the same test, model and repetition replaces the first.

        Raises NotFoundError when the bench is gone.
        """
        ...

    def samples(self, bench_id: int) -> tuple[Sample, ...]:
        """In the order they were measured. Raises NotFoundError."""
        ...

    def take_back(self, samples: Sequence[Sample]) -> None:
        """Removes samples, so that they are measured again."""
        ...

    def delete(self, bench_id: int) -> None:
        """With its samples. Raises NotFoundError."""
        ...
