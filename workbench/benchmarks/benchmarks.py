"""The benchmarks of a workbench file: run, resumed, reported, compared."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from workbench.benchmarks.alone import Alone
from workbench.benchmarks.compare import comparison, machine_differences
from workbench.benchmarks.conditions import manifest
from workbench.benchmarks.exports import ExportFormat, export
from workbench.benchmarks.planning import LOAD_TEST, check_plan, samples_of, visit_tests
from workbench.benchmarks.quality import judged
from workbench.benchmarks.report import report
from workbench.benchmarks.served import carry_out_served, is_served
from workbench.benchmarks.visits import Visit, carry_out
from workbench.errors import Cancelled, EngineError, UsageError
from workbench.i18n import tr
from workbench.library import Library
from workbench.ports import Cancel, Generator, Store
from workbench.records.benchmarks import (
    Bench,
    BenchComparison,
    BenchModel,
    BenchPlan,
    BenchProgress,
    BenchReport,
    Sample,
)
from workbench.records.models import ModelFile


class Benchmarks:
    """Runs one bench at a time; every method may be called from any thread.

    Args:
        serve: opens a server's model, by URL#NAME.
        watch: wraps a model before it answers prompts, so that these calls are counted.
    """

    def __init__(
        self,
        store: Store,
        library: Library,
        serve: Callable[[str], Generator],
        watch: Callable[[Generator], Generator] = lambda generator: generator,
    ) -> None:
        self._store = store
        self._library = library
        self._serve = serve
        self._watch = watch
        self._running = threading.Lock()
        self._alone_in_file = Alone(store)

    @property
    def alone(self) -> Alone:
        """Held while a bench or a ladder of the file runs, in whichever process."""
        return self._alone_in_file

    def elsewhere(self) -> int:
        """The process that measures in this file now, unless it is this one; else 0."""
        return self.alone.elsewhere()

    def benches(self) -> tuple[Bench, ...]:
        """Newest first."""
        return self._store.benchmarks.benches()

    def report(self, bench_id: int) -> BenchReport:
        """The figures of its samples so far. Raises NotFoundError."""
        bench = self._store.benchmarks.bench(bench_id)
        return report(bench, self._store.benchmarks.samples(bench_id), judged(bench.models, self._store.runs.runs()))

    def run(self, paths: Sequence[str], plan: BenchPlan, cancel: Cancel | None = None) -> Iterator[BenchProgress]:
        """A new bench of these files; each sample is stored as it ends.

        A model that fails has a problem instead of figures, and the others go on.

        Raises:
            UsageError: no file, one twice, a plan that can't be carried out, or a bench is running.
            EngineError: a file can't be used.
            Cancelled: ``cancel`` was set; ``resume`` goes on from there.
        """
        check_plan(plan)
        models = [self._model(path) for path in paths]
        if not models or len({m.path for m in models}) < len(models):
            raise UsageError(
                tr("Nothing to measure"),
                tr("Name one model file or more, each once."),
                tr("workbench models lists them."),
            )
        with self._alone():
            total = samples_of(plan) * len(models)
            bench = self._store.benchmarks.create(plan, models, manifest(), total)
            yield from self._carry_on(bench, cancel or threading.Event())

    def resume(self, bench_id: int, cancel: Cancel | None = None) -> Iterator[BenchProgress]:
        """Measures what the bench still lacks, and again what has a problem instead of a value.

        Raises:
            NotFoundError: there is no such bench.
            UsageError: nothing is left, the machine, the engine or a file is another one, or a bench is running.
            Cancelled: ``cancel`` was set.
        """
        bench = self._store.benchmarks.bench(bench_id)
        failed = self._failed(bench)
        self._check_same(bench, failed)
        with self._alone():
            self._store.benchmarks.take_back(failed)
            yield from self._carry_on(self._store.benchmarks.bench(bench_id), cancel or threading.Event())

    def compare(self, chosen: Sequence[tuple[int, int]]) -> BenchComparison:
        """Two rows or more, each named by its bench and its place there. Raises NotFoundError, UsageError."""
        if len(chosen) < 2:
            raise UsageError(
                tr("Nothing to compare"), tr("A comparison needs two rows or more."), tr("Mark them with space.")
            )
        return comparison([(self.report(bench_id), place) for bench_id, place in chosen])

    def export(self, bench_id: int, form: ExportFormat) -> str:
        """As JSON (with every sample), CSV or a Markdown table. Raises NotFoundError."""
        return export(self.report(bench_id), self._store.benchmarks.samples(bench_id), form)

    def delete(self, bench_id: int) -> None:
        """With its samples. Raises NotFoundError."""
        self._store.benchmarks.delete(bench_id)

    # -- behind ----------------------------------------------------------------------------------------------------

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Holds the one place for a running bench. Raises UsageError when it is taken, here or in another process."""
        if not self._running.acquire(blocking=False):
            raise UsageError(
                tr("A bench is running"),
                tr("Two at once would measure each other."),
                tr("Wait for it, or stop it first."),
            )
        try:
            with self.alone:
                yield
        finally:
            self._running.release()

    def _model(self, path: str) -> BenchModel:
        file = self._identified(path)
        if file.problem:
            raise EngineError(
                tr("{name} can't be used", name=file.name),
                file.problem,
                tr("workbench models lists the files there are."),
            )
        return BenchModel(file.path, file.name, file.hash, file.size, file.quantization)

    def _failed(self, bench: Bench) -> list[Sample]:
        """What has no value; of a server's model nothing, which can't give all."""
        paths = [model.path for model in bench.models]
        samples = self._store.benchmarks.samples(bench.id)
        return [sample for sample in samples if sample.problem and not is_served(paths[sample.model])]

    def _check_same(self, bench: Bench, failed: Sequence[Sample]) -> None:
        if bench.complete and not failed:
            raise UsageError(
                tr("Nothing is left to measure"),
                tr("Bench {id} is complete.", id=bench.id),
                tr("Run a new one."),
            )
        here = Bench(bench.id, bench.created, bench.plan, bench.models, manifest(), bench.total)
        changed = [*machine_differences(bench, here)]
        found = {m.path: self._identified(m.path).hash for m in bench.models}
        changed += [tr("another file: {path}", path=m.path) for m in bench.models if found[m.path] != m.hash]
        if changed:
            raise UsageError(
                tr("This bench can't go on here"), "; ".join(changed), tr("Run a new one: their figures don't mix.")
            )

    def _carry_on(self, bench: Bench, cancel: Cancel) -> Iterator[BenchProgress]:
        began, before, now = time.monotonic(), bench.done, ""

        def progress() -> BenchProgress:
            current = self.report(bench.id)
            done = current.bench.done - before
            left = (time.monotonic() - began) / done * (bench.total - current.bench.done) if done else None
            return BenchProgress(current, now, left)

        for visit in self._visits(bench, cancel):
            now = f"{bench.models[visit.model].name} · {visit.repetition + 1}/{bench.plan.repetitions}"
            yield progress()
            for sample in self._samples(visit, cancel):
                self._store.benchmarks.add_sample(sample)
                yield progress()
        now = ""
        yield progress()

    def _visits(self, bench: Bench, cancel: Cancel) -> Iterator[Visit]:
        """Round robin: each repetition begins with another model. What is stored already is left out."""
        known = {(s.model, s.test, s.repetition) for s in self._store.benchmarks.samples(bench.id)}
        count, paused = len(bench.models), False
        for repetition in range(bench.plan.repetitions):
            for turn in range(count):
                model = (turn + repetition) % count
                load_known = (model, LOAD_TEST, repetition) in known
                tests = [t for t in visit_tests(bench.plan, repetition) if (model, t.name, repetition) not in known]
                if not tests and load_known:
                    continue
                if cancel.is_set() or (paused and cancel.wait(bench.plan.cooldown_s)):
                    raise Cancelled
                paused = True
                file = self._identified(bench.models[model].path)
                yield Visit(bench, model, repetition, file, tests, load_known, self._watch)

    def _samples(self, visit: Visit, cancel: Cancel) -> Iterator[Sample]:
        """The visit's samples; when the model fails, a problem for each that is missing."""
        missing = dict.fromkeys(visit.names)
        try:
            for sample in self._carried_out(visit, cancel):
                missing.pop(sample.test, None)
                yield sample
        except EngineError as error:
            for test in missing:
                yield visit.failed(test, f"{error.title}: {error.message}")

    def _carried_out(self, visit: Visit, cancel: Cancel) -> Iterator[Sample]:
        path = visit.file.path
        return carry_out_served(visit, self._serve(path), cancel) if is_served(path) else carry_out(visit, cancel)

    def _identified(self, path: str) -> ModelFile:
        return self._serve(path).model.file if is_served(path) else self._library.identified(path)
