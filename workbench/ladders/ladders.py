"""The quantization ladders of a workbench file: previewed, climbed, resumed, reported, decided on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from workbench.benchmarks import Benchmarks
from workbench.benchmarks.conditions import manifest
from workbench.benchmarks.planning import check_plan
from workbench.engine.gguf_header import read_header
from workbench.errors import Cancelled, NotFoundError, UsageError
from workbench.evals.lab import EvalLab
from workbench.i18n import tr
from workbench.ladders import deciding, making, stages
from workbench.ladders.exports import ExportFormat, export
from workbench.ladders.figures import divergence
from workbench.ladders.planning import rungs_of, unusable
from workbench.ladders.report import report
from workbench.ladders.stages import Parts, Step
from workbench.ladders.texts import fitting, passages, text_hash
from workbench.library import Library
from workbench.ports import Cancel, Store
from workbench.records.benchmarks import BenchRow
from workbench.records.evals import CaseResult, DecisionRecord
from workbench.records.ladders import (
    Divergence,
    Ladder,
    LadderPlan,
    LadderProgress,
    LadderReport,
    Preview,
    Rung,
    Stage,
)


class Ladders:
    """Climbs one ladder at a time; every method may be called from any thread."""

    def __init__(self, store: Store, library: Library, benchmarks: Benchmarks, evals: EvalLab) -> None:
        self._store = store
        self._parts = Parts(store, library, benchmarks, evals)
        self._running = threading.Lock()
        self._scored: dict[tuple[int, int, int], Divergence] = {}  # resampling takes a tenth of a second a rung

    def preview(self, source: str, kinds: Sequence[str], cancel: Cancel | None = None) -> tuple[Preview, ...]:
        """What each quantization of ``source`` would be. Raises EngineError, Cancelled."""
        file = read_header(Path(source).expanduser())
        if file.problem:
            raise unusable(file.name, file.problem)
        return making.preview(file.path, kinds, cancel)

    def elsewhere(self) -> int:
        """The process that measures in this file now, unless it is this one; else 0."""
        return self._parts.benchmarks.elsewhere()

    def ladders(self) -> tuple[Ladder, ...]:
        """Newest first."""
        return self._store.ladders.ladders()

    def report(self, ladder_id: int) -> LadderReport:
        """The figures so far. Raises NotFoundError."""
        ladder = self._store.ladders.ladder(ladder_id)
        results = {rung.place: self._results(rung) for rung in ladder.rungs if rung.run_id}
        gone = {rung.place for rung in ladder.rungs if stages.is_gone(rung)}
        left = stages.left(self._parts, ladder)
        return report(ladder, self._benched(ladder), self._scores(ladder), results, left, gone)

    def run(self, plan: LadderPlan, cancel: Cancel | None = None) -> Iterator[LadderProgress]:
        """A new ladder: makes its files, then measures them, storing each step as it ends.

        A rung that can't be made or used has a problem instead of figures, and the others go on. Of a short text there
        are fewer passages than the plan asks for.

        Raises:
            UsageError: a plan that can't be carried out, a file in the way, or a ladder is being climbed.
            NotFoundError: no such collection or dataset.
            FileError: its files can't be written, or there is no room for them.
            EngineError: the source or the reference can't be used.
            Cancelled: ``cancel`` was set; ``resume`` goes on from there.
        """
        if plan.bench:
            check_plan(plan.bench)
        if plan.dataset:
            self._parts.evals.dataset(plan.dataset)
        source = self._parts.library.identified(plan.source)
        if source.problem:
            raise unusable(source.name, source.problem)
        rungs = rungs_of(plan, source, self._parts.library.identified)
        asked = fitting(self._store.corpus, plan.text) if plan.text else None
        text = passages(self._store.corpus, asked) if asked else ()
        with self._alone():
            ladder = self._store.ladders.create(
                replace(plan, source=source.path, text=asked), manifest(), rungs, text_hash(text) if text else ""
            )
            yield from self._climb(ladder.id, text, cancel or threading.Event())

    def resume(self, ladder_id: int, cancel: Cancel | None = None) -> Iterator[LadderProgress]:
        """Does what is missing; rungs that had a problem are tried again.

        Raises:
            UsageError: another machine or engine, other files, another text, or a ladder is being climbed.
            NotFoundError, FileError, EngineError, Cancelled: see ``run``.
        """
        ladder = self._store.ladders.ladder(ladder_id)
        text = passages(self._store.corpus, ladder.plan.text) if ladder.plan.text else ()
        self._check_same(ladder, text_hash(text) if text else "")
        with self._alone():
            for rung in ladder.rungs:
                if rung.problem:
                    self._store.ladders.put_rung(ladder_id, replace(rung, problem=""))
            yield from self._climb(ladder_id, text, cancel or threading.Event())

    def sentence(self, ladder_id: int, place: int, against: int = 0) -> deciding.Sentence:
        """What the decision for a rung would say, to be completed. Raises NotFoundError, UsageError."""
        return deciding.sentence(self.report(ladder_id), place, against)

    def decide(self, ladder_id: int, sentence: deciding.Sentence, because: str) -> DecisionRecord:
        """Stores the decision with the ladder's figures as its evidence.

        Raises:
            UsageError: no reason is given.
        """
        return deciding.decide(self._parts.evals, self.report(ladder_id), sentence, because)

    def export(self, ladder_id: int, form: ExportFormat) -> str:
        """As JSON, CSV or a Markdown table. Raises NotFoundError."""
        return export(self.report(ladder_id), form)

    def delete(self, ladder_id: int) -> None:
        """With its figures; model files, bench, runs and decisions stay. Raises NotFoundError."""
        self._store.ladders.delete(ladder_id)

    # -- behind ----------------------------------------------------------------------------------------------------

    def _climb(self, ladder_id: int, text: Sequence[str], cancel: Cancel) -> Iterator[LadderProgress]:
        works: tuple[tuple[Stage, Callable[[Ladder], Iterator[Step]]], ...] = (
            ("quantize", lambda ladder: stages.quantize(self._parts, ladder, cancel)),
            ("bench", lambda ladder: stages.bench(self._parts, ladder, cancel)),
            ("quality", lambda ladder: stages.quality(self._parts, ladder, text, cancel)),
            ("eval", lambda ladder: stages.evaluate(self._parts, ladder, cancel)),
        )
        current = self.report(ladder_id)
        for stage, work in works:
            for step in work(self._store.ladders.ladder(ladder_id)):
                current = self.report(ladder_id) if step.stored else current
                yield LadderProgress(current, stage, step.now, step.fraction)
                if cancel.is_set():
                    raise Cancelled
        yield LadderProgress(self.report(ladder_id))

    def _check_same(self, ladder: Ladder, text: str) -> None:
        changed = [] if ladder.manifest == manifest() else [tr("another machine, engine or version of the workbench")]
        changed += [] if ladder.text_hash == text else [tr("another text")]
        changed += [
            tr("another file: {path}", path=rung.path)
            for rung in ladder.rungs
            if stages.is_made(rung) and self._parts.library.identified(rung.path).hash != rung.hash
        ]
        if changed:
            raise UsageError(
                tr("This ladder can't go on here"), "; ".join(changed), tr("Start a new one: their figures don't mix.")
            )

    def _benched(self, ladder: Ladder) -> dict[str, BenchRow]:
        try:
            found = self._parts.benchmarks.report(ladder.bench_id) if ladder.bench_id else None
        except NotFoundError:  # somebody deleted it
            return {}
        return {row.model.path: row for row in found.rows} if found else {}

    def _scores(self, ladder: Ladder) -> dict[int, Divergence]:
        """Of every rung that has scores."""
        found: dict[int, Divergence] = {}
        for rung in ladder.rungs[1:]:
            windows = self._store.ladders.scores(ladder.id, rung.place)
            key = (ladder.id, rung.place, len(windows))
            if key not in self._scored and (made := divergence(windows)):
                self._scored[key] = made
            if key in self._scored:
                found[rung.place] = self._scored[key]
        return found

    def _results(self, rung: Rung) -> tuple[CaseResult, ...]:
        try:
            return self._parts.evals.results(rung.run_id)
        except NotFoundError:  # somebody deleted the run
            return ()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._running.acquire(blocking=False):
            raise UsageError(
                tr("A ladder is being climbed"),
                tr("Two at once would measure each other."),
                tr("Wait for it, or stop it first."),
            )
        try:
            with self._parts.benchmarks.alone:
                yield
        finally:
            self._running.release()
