"""Benchmarks without models, for quick tests of the screens; figures are made up and told as measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from workbench.benchmarks.compare import comparison
from workbench.benchmarks.exports import ExportFormat, export
from workbench.benchmarks.planning import samples_of, speed_tests
from workbench.benchmarks.report import report
from workbench.errors import Cancelled, NotFoundError
from workbench.ports import Cancel
from workbench.records.benchmarks import (
    Bench,
    BenchComparison,
    BenchManifest,
    BenchModel,
    BenchPlan,
    BenchProgress,
    BenchReport,
    Conditions,
    Machine,
    Sample,
)
from workbench.records.models import MemorySplit

WHEN = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
MANIFEST = BenchManifest(Machine("Example CPU", 4, 8, 16 << 30, "Linux 6.1 x86_64"), "0.1.0", "llama-cpp-python 0.3.36")


class FakeBenchmarks:
    """Answers like ``workbench.benchmarks.Benchmarks``: the n-th model is half as fast as the one before."""

    def __init__(self, slow: float = 0.0) -> None:
        self.slow = slow
        self.measuring = 0
        self.stored: dict[int, tuple[Bench, list[Sample]]] = {}

    def elsewhere(self) -> int:
        return self.measuring

    def benches(self) -> tuple[Bench, ...]:
        return tuple(_counted(bench, found) for bench, found in reversed(self.stored.values()))

    def report(self, bench_id: int) -> BenchReport:
        if bench_id not in self.stored:
            raise NotFoundError("No such bench", f"There is no bench {bench_id} in this file.", "")
        bench, samples = self.stored[bench_id]
        return report(_counted(bench, samples), samples)

    def run(self, paths: Sequence[str], plan: BenchPlan, cancel: Cancel | None = None) -> Iterator[BenchProgress]:
        names = [path.rsplit("/", 1)[-1].removesuffix(".gguf") for path in paths]
        models = tuple(BenchModel(paths[n], name, str(n) * 64, 98 << 20) for n, name in enumerate(names))
        bench = Bench(max(self.stored, default=0) + 1, WHEN, plan, models, MANIFEST, samples_of(plan) * len(models))
        self.stored[bench.id] = (bench, [])
        yield from self.resume(bench.id, cancel)

    def resume(self, bench_id: int, cancel: Cancel | None = None) -> Iterator[BenchProgress]:
        bench, samples = self.stored[bench_id]
        for sample in list(made(bench))[len(samples) :]:
            if cancel and cancel.wait(self.slow):
                raise Cancelled
            samples.append(sample)
            yield BenchProgress(self.report(bench_id), bench.models[sample.model].name, 4.0)
        yield BenchProgress(self.report(bench_id))

    def compare(self, chosen: Sequence[tuple[int, int]]) -> BenchComparison:
        return comparison([(self.report(bench_id), place) for bench_id, place in chosen])

    def export(self, bench_id: int, form: ExportFormat) -> str:
        return export(self.report(bench_id), self.stored[bench_id][1], form)

    def delete(self, bench_id: int) -> None:
        del self.stored[bench_id]


def _counted(bench: Bench, samples: Sequence[Sample]) -> Bench:
    return replace(bench, done=len(samples), failed=sum(bool(sample.problem) for sample in samples))


def made(bench: Bench) -> Iterator[Sample]:
    """Every sample of a bench; repetitions differ by one per cent."""
    plan = bench.plan
    for repetition in range(plan.repetitions):
        for model in range(len(bench.models)):
            speed = 100 / 2**model * (1 + repetition / 100)
            values = {"load": 200.0, **{test.name: speed * (3 if test.prompt else 1) for test in speed_tests(plan)}}
            rest = samples_of(replace(plan, repetitions=1)) - len(values) if plan.felt and not repetition else 0
            values |= {f"prompt/{n}": 900.0 + n for n in range(rest - 8)}
            if rest:
                values |= {f"json/{n}": 1.0 for n in range(4)} | {f"free/{n}": 0.0 for n in range(4)}
            for test, value in values.items():
                waits = 150.0 if test.startswith("prompt/") else None
                memory = MemorySplit(92 << 20, 90 << 20, 99 << 20, 1 << 18)
                quiet = Conditions(others=0.0)
                yield Sample(
                    bench.id, model, test, repetition, value, WHEN, quiet, waits, (280 << 20) * (model + 1), memory
                )
