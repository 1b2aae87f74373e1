"""The runs' side of the lab: run, resume, import, rerun a case, autopsy, labels."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Literal

from workbench.errors import NotFoundError, UsageError
from workbench.evals.collecting.lab import DatasetLab
from workbench.evals.formats.trec_run import is_run
from workbench.evals.gold.whereabouts import GoldFinder, relevant
from workbench.evals.running import failure
from workbench.evals.running.imported import import_run, is_imported
from workbench.evals.running.runner import EvalRunner, Runtimes
from workbench.evals.running.sweep import check_sweep
from workbench.i18n import tr
from workbench.ports import Cancel, Store
from workbench.records.cases import Case
from workbench.records.evals import (
    CaseResult,
    ImportedRun,
    Label,
    Run,
    RunConfig,
    RunProgress,
)
from workbench.traces.autopsy import Coroner, fix_text
from workbench.traces.stages import final_hits


class RunLab(DatasetLab):
    """Runs with their results and people's labels. Every method may be called from any thread.

    Long work (``run``, ``resume``, ``sweep``) is an iterator made for a worker thread; one runs at a time.
    """

    def __init__(self, store: Store, runtimes: Runtimes) -> None:
        super().__init__(store, runtimes)
        self._runner = EvalRunner(store, runtimes)
        self._running = threading.Lock()
        # A report and a comparison read the same results: a thousand cases take half a second to decode.
        self._results = lru_cache(maxsize=2)(lambda run_id, _done, _passed: store.runs.results(run_id))

    # -- runs ------------------------------------------------------------------------------------------------------

    def runs(self, dataset: str = "") -> tuple[Run, ...]:
        """Newest first; every dataset's when ``dataset`` is ""."""
        return self._store.runs.runs(dataset)

    def find_run(self, run_id: int) -> Run:
        """Raises NotFoundError."""
        return self._store.runs.run(run_id)

    def run(self, config: RunConfig, cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """Runs a dataset; the first progress has the stored run, the last is ``finished``. Each case is committed.

        A cancelled run is ``stopped`` and can be resumed. The model of ``config`` replaces the desk's loaded one.

        Raises:
            UsageError: nothing to run, a layer that needs what isn't there, or another run is under way.
            NotFoundError: no such dataset or collection.
            FilterError: the filter can't be understood.
            EngineError: the model can't be loaded, or died too often (what was done is kept).
        """
        with self._alone():
            yield from self._runner.run(config, cancel)

    def resume(self, run_id: int, cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """Goes on at the first case without a result.

        Raises:
            UsageError: the dataset or something in the manifest has changed (it is named), or a process is at work on
                the run; or the run was imported.
        """
        with self._alone():
            yield from self._runner.resume(self._own(run_id).id, cancel)

    def sweep(self, configs: Sequence[RunConfig], cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """Runs that differ in one variable, one after another; each ends with its own ``finished`` progress.

        All are looked at before the first begins, so that one that can't be run leaves no others behind.

        Raises:
            UsageError: also when what varies changes nothing in one of them.
            NotFoundError, FilterError, EngineError: as ``run``.
        """
        check_sweep([self._runner.settle(config).config for config in configs])
        for config in configs:
            last: RunProgress | None = None
            for last in self.run(config, cancel):
                yield last
            if last is not None and last.cancelled:
                return

    def import_run(self, dataset: str, path: str, config: RunConfig | None = None) -> ImportedRun:
        """Another system's rankings of the dataset's questions (a TREC run file) as a run, to compare ours with.

        Args:
            config: its k, depth and title count.

        Raises:
            NotFoundError: no such dataset.
            DocumentError: the file can't be read, or is no run.
            UsageError: it names no question of the dataset.
        """
        found = self.dataset(dataset)
        return import_run(self._store, found, Path(path).expanduser(), config or RunConfig(found.name))

    def is_run_file(self, path: str) -> bool:
        """Whether ``import_run`` would take the file, rather than ``import_file``: by how it begins."""
        return is_run(Path(path).expanduser())

    def results(self, run_id: int) -> tuple[CaseResult, ...]:
        """In the dataset's order, as far as the run came. Raises NotFoundError."""
        run = self.find_run(run_id)
        return self._results(run_id, run.done, run.passed)

    def result(self, run_id: int, case_id: str) -> CaseResult:
        """Raises NotFoundError."""
        return self._store.runs.result(run_id, case_id)

    def run_cases(self, run_id: int) -> tuple[Case, ...]:
        """The dataset as it was when the run began; where gold was left out, its cases can't be answered."""
        return self._cases_of(self.find_run(run_id))

    def case(self, run_id: int, case_id: str) -> Case:
        """A case of a run. Raises NotFoundError."""
        found = next((case for case in self.run_cases(run_id) if case.id == case_id), None)
        if found is None:
            raise NotFoundError(tr("No such case"), tr("Run {run} has no case “{case}”.", run=run_id, case=case_id), "")
        return found

    def rerun(
        self,
        run_id: int,
        case_id: str,
        config: RunConfig | None = None,
        cancel: Cancel | None = None,
    ) -> CaseResult:
        """The case once more, by the run's configuration or the one given; the result isn't stored (its trace is).

        The model of the configuration replaces the desk's loaded one.

        Raises:
            NotFoundError, UsageError, EngineError: as ``run``.
            Cancelled: ``cancel`` was set.
        """
        run = self._own(run_id)
        asked = replace(config or run.config, dataset=run.config.dataset, limit=0, segment=None)
        with self._alone():
            return self._runner.once(asked, run, self.case(run_id, case_id), cancel)

    def _own(self, run_id: int) -> Run:
        """The run. Raises NotFoundError; UsageError for another system's, which nothing here can run again."""
        run = self.find_run(run_id)
        if is_imported(run):
            raise UsageError(
                tr("Another system's run"),
                tr("Run {id} was imported: nothing here can run its cases again.", id=run_id),
                tr("Run the dataset here, and compare the two."),
            )
        return run

    def settled(self, config: RunConfig) -> RunConfig:
        """``config`` as its run would have it: with the reranker and the transformations chosen for its collection.

        Raises:
            NotFoundError, MissingModelError: it names a reranker that isn't there or can't be used.
        """
        return replace(config, search=self._runtimes.searcher().settled(config.search))

    def autopsy(self, run_id: int, case_id: str) -> tuple[str, ...]:
        """The gold's rank at each stage (lexical, dense, fusion, context) and the stage that lost it, in lines.

        Where the case was asked and its trace is there, also the smallest changes that would have kept the gold.
        """
        case, result = self.case(run_id, case_id), self.result(run_id, case_id)
        return failure.autopsy(case, result, () if result.passed else self._kept_by(case, result))

    def _kept_by(self, case: Case, result: CaseResult) -> tuple[str, ...]:
        """What the trace's own autopsy finds for the gold."""
        if not result.trace_id:
            return ()
        try:
            trace = self._store.traces.trace(result.trace_id)
            told = trace.manifest
            searcher = self._runtimes.searcher().meeting(told.collection, told.index_id)
            index = searcher.index(told.collection)
            gold = GoldFinder(self._store, index).chunks(relevant(case))
            rank = {hit.chunk_id: hit.rank for hit in final_hits(trace)}
            best = min(gold, key=lambda chunk: rank.get(chunk.id, len(rank) + 1), default=None)
            return tuple(map(fix_text, Coroner(self._store, searcher, trace).examine(best.id).fixes)) if best else ()
        except (NotFoundError, UsageError):  # the trace, its collection or the chunk is gone: the result still stands
            return ()

    def set_baseline(self, run_id: int) -> Run:
        """Makes it its dataset's baseline, in place of the previous one."""
        return self._store.runs.set_baseline(run_id)

    def baseline(self, dataset: str) -> Run | None:
        """The dataset's baseline."""
        return next((run for run in self.runs(dataset) if run.baseline), None)

    def delete_run(self, run_id: int) -> None:
        """With its results and labels; traces stay."""
        self._store.runs.delete(run_id)

    # -- labels ----------------------------------------------------------------------------------------------------

    def label(self, run_id: int, case_id: str, value: Literal[-1, 0, 1], note: str = "") -> Label:
        """A person's verdict on one result; the previous one is kept for undo. Raises NotFoundError."""
        given = Label(run_id, case_id, value, note, datetime.now(UTC))
        self._store.runs.put_label(given)
        return given

    def labels(self, run_id: int) -> tuple[Label, ...]:
        """The current one of each labelled case."""
        return self._store.runs.labels(run_id)

    def undo_label(self, run_id: int) -> Label | None:
        """Takes back the run's last label; returns it as it was, None when there is none."""
        return self._store.runs.undo_label(run_id)

    # -- behind ----------------------------------------------------------------------------------------------------

    def _cases_of(self, run: Run) -> tuple[Case, ...]:
        cases = self._store.datasets.cases(run.config.dataset, run.dataset_hash)
        return tuple(replace(case, answerable=False) for case in cases) if run.config.exclude_gold else cases

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One run at a time: two would take each other's model away. Raises UsageError."""
        if not self._running.acquire(blocking=False):
            raise UsageError(
                tr("A run is under way"), tr("One evaluation runs at a time."), tr("Wait for it, or stop it first.")
            )
        try:
            yield
        finally:
            self._running.release()
