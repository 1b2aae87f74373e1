"""A dataset through one configuration: each case is committed as it ends, a stopped run goes on where it stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

import workbench
from workbench.answers.manifest import flat, library_versions, manifest, place_of
from workbench.answers.weighing import threshold
from workbench.errors import Cancelled, EngineError, NotFoundError, UsageError
from workbench.evals.measuring.segments import members_of
from workbench.evals.running.execution import CaseRunner
from workbench.evals.running.sweep import writes
from workbench.evals.running.values import check_values, no_value
from workbench.i18n import tr
from workbench.ports import Cancel, Generator, Store
from workbench.records.answers import Manifest
from workbench.records.cases import Case, Dataset
from workbench.records.corpus import Index
from workbench.records.evals import (
    CaseResult,
    Run,
    RunConfig,
    RunProgress,
)
from workbench.records.models import LoadSettings
from workbench.retrieval.filters import parse_filter
from workbench.retrieval.fusion import weightless
from workbench.retrieval.search import Searcher

RESTARTS: Final = 2
"""Times that a model which died is loaded again in one run."""

Load: TypeAlias = Callable[[str, LoadSettings, Cancel | None], None]


@dataclass(frozen=True, slots=True)
class Runtimes:
    """What a run uses of the desk.

    Attributes:
        generator: the loaded model; ``load`` replaces it, and raises EngineError or Cancelled.
        collection: the chosen one, "" when there is none.
        judge: the loaded model where it judges, ``generator`` when None.
    """

    searcher: Callable[[], Searcher]
    generator: Callable[[], Generator | None]
    load: Load
    collection: Callable[[], str]
    judge: Callable[[], Generator | None] | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """What a run meets.

    Attributes:
        config: with its collection named.
        cases: those of the run, each with its position in the dataset.
        index: None in the model layer, which has none.
    """

    config: RunConfig
    dataset: Dataset
    cases: tuple[tuple[int, Case], ...]
    searcher: Searcher
    index: Index | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that can begin: what it needs is there, its model is loaded.

    Attributes:
        config: with its collection named.
        cases: those of the run, each with its position in the dataset.
    """

    config: RunConfig
    dataset: Dataset
    cases: tuple[tuple[int, Case], ...]
    manifest: Manifest
    runner: CaseRunner


class EvalRunner:
    """Runs datasets on one file."""

    def __init__(self, store: Store, runtimes: Runtimes) -> None:
        self._store = store
        self._runtimes = runtimes

    def run(self, config: RunConfig, cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """A new run. See ``EvalLab.run``."""
        plan = self.plan(config, cancel)
        run = self._store.runs.create(plan.config, plan.dataset.hash, plan.manifest, len(plan.cases))
        yield from self._go(run, plan, plan.cases, cancel)

    def resume(self, run_id: int, cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """The cases that have no result yet. See ``EvalLab.resume``."""
        run = self._store.runs.run(run_id)
        if run.status == "running":
            raise _under_way(run_id)
        plan = self.plan(run.config, cancel)
        _refuse_if_changed(run, plan)
        claimed = self._store.runs.claim(run_id)
        if claimed is None:  # another process took it while this one got ready
            raise _under_way(run_id)
        done = {result.case_id for result in self._store.runs.results(run_id)}
        left = [(position, case) for position, case in plan.cases if case.id not in done]
        yield from self._go(claimed, plan, left, cancel)

    def once(self, config: RunConfig, run: Run, case: Case, cancel: Cancel | None = None) -> CaseResult:
        """One case of ``run`` under ``config``; the result isn't stored."""
        plan = self.plan(config, cancel)
        position = next((n for n, known in plan.cases if known.id == case.id), 0)
        return plan.runner.run(run.id, position, case, cancel)

    def plan(self, config: RunConfig, cancel: Cancel | None = None) -> Plan:
        """Everything that must hold before the first case, the model loaded.

        Raises:
            UsageError, NotFoundError, FilterError, EngineError: see ``EvalLab.run``.
        """
        met = self.settle(config)
        config, searcher, index = met.config, met.searcher, met.index
        if index and searcher.embedder and "dense" in config.search.lanes:
            searcher.embedder.start()  # or the first case would be timed with it
        generator = self._loaded(config, cancel) if writes(config) else None
        told = self._manifest(config, searcher, index, generator)
        source = self._runtimes.generator if generator else lambda: None
        return Plan(config, met.dataset, met.cases, told, CaseRunner(self._store, searcher, index, source, config))

    def settle(self, config: RunConfig) -> Settled:
        """What a run meets, its collection named, checked without loading anything.

        Raises:
            UsageError, NotFoundError, FilterError: see ``EvalLab.run``.
        """
        check_values(config)
        dataset = find_dataset(self._store, config.dataset)
        cases = _chosen(self._store.datasets.cases(dataset.name), config)
        _check(config)
        searcher = self._runtimes.searcher()
        if config.layer == "model":
            return Settled(config, dataset, cases, searcher, None)
        if config.ask.follows:
            self._store.traces.trace(config.ask.follows)  # raises where it isn't there
        name = config.search.collection or dataset.collection or self._runtimes.collection()
        searcher = searcher.meeting(name, config.index) if config.index else searcher
        config = replace(config, search=searcher.settled(replace(config.search, collection=name)))
        index = searcher.index(name)
        self._check_search(config, searcher, index)
        return Settled(config, dataset, cases, searcher, index)

    # -- the loop --------------------------------------------------------------------------------------------------

    def _go(
        self, run: Run, plan: Plan, cases: Sequence[tuple[int, Case]], cancel: Cancel | None
    ) -> Iterator[RunProgress]:
        pace = _Pace(len(cases))
        try:
            yield pace.progress(run, cases[0][1].id if cases else "")
            deaths = 0
            for number, (position, case) in enumerate(cases, 1):
                _stop_if(cancel)
                result = plan.runner.run(run.id, position, case, cancel)
                run = self._store.runs.put_result(result)
                pace.done += 1
                following = cases[number][1].id if number < len(cases) else ""
                yield pace.progress(run, following, result)
                if result.failure == "engine_error" and following:
                    deaths += self._revived(plan, deaths, run, cancel)
            run = self._store.runs.set_status(run.id, "complete")
            yield replace(pace.progress(run, ""), finished=True)
        except Cancelled:
            run = self._store.runs.set_status(run.id, "stopped")
            yield replace(pace.progress(run, ""), finished=True, cancelled=True)
        finally:
            if run.status == "running":  # an error, or nobody listens any more
                with suppress(NotFoundError):
                    self._store.runs.set_status(run.id, "stopped")

    def _revived(self, plan: Plan, deaths: int, run: Run, cancel: Cancel | None) -> int:
        """1 when the model had died and is loaded again, 0 when it lives.

        Raises:
            EngineError: it has died too often, or can't be loaded any more.
        """
        if not plan.manifest.model or self._alive():
            return 0
        if deaths >= RESTARTS:
            raise EngineError(
                tr("The model keeps dying"),
                tr(
                    "It died {count} times in this run; {done} of {total} cases are stored.",
                    count=deaths + 1,
                    done=run.done,
                    total=run.total,
                ),
                tr("Free some memory, then go on: workbench eval resume {run}", run=run.id),
            )
        self._runtimes.load(plan.config.model, plan.config.load, cancel)
        return 1

    # -- before it -------------------------------------------------------------------------------------------------

    def _check_search(self, config: RunConfig, searcher: Searcher, index: Index) -> None:
        """Raises FilterError, or UsageError when the dense lane can't run or the index lacks documents."""
        parse_filter(config.search.filter, self._store.search.fields(index.collection))
        states = self._store.corpus.document_states(index.collection, index.id) if config.index else {}
        if missing := sum(not state.complete for state in states.values()):
            raise UsageError(
                tr("The index isn't whole"),
                tr("Index {id} lacks {count} documents: questions wouldn't find them.", id=index.id, count=missing),
                tr("Complete it first: workbench indexes build --index {id}", id=index.id),
            )
        mine = searcher.embedder.info.fingerprint if searcher.embedder else ""
        if "dense" in config.search.lanes and mine != index.embedder.fingerprint:
            raise UsageError(
                tr("The dense lane can't run"),
                tr("The index was made by {its}, which isn't the embedder in use.", its=index.embedder.name),
                tr("Run the lexical lane only, or ingest again with the embedder in use."),
            )

    def _loaded(self, config: RunConfig, cancel: Cancel | None) -> Generator:
        """The model of ``config``, loaded unless it is already, with the same settings."""
        generator = self._runtimes.generator()
        try:
            path = Path(config.model).expanduser().resolve()
        except RuntimeError as error:  # "~name" of nobody
            raise no_value("model", config.model, tr("the path of a model")) from error
        same = (
            generator is not None
            and Path(generator.model.file.path).resolve() == path
            and generator.model.settings == config.load
            and self._alive()
        )
        if not same:
            self._runtimes.load(config.model, config.load, cancel)
            generator = self._runtimes.generator()
        if generator is None:
            raise EngineError(tr("No model"), tr("The model was unloaded meanwhile."), tr("Start the run again."))
        return generator

    def _alive(self) -> bool:
        generator = self._runtimes.generator()
        with suppress(EngineError):
            return generator is not None and generator.count_tokens("alive") > 0
        return False

    def _manifest(
        self, config: RunConfig, searcher: Searcher, index: Index | None, generator: Generator | None
    ) -> Manifest:
        extra: dict[str, str | int | float | bool] = {}
        if generator:
            extra |= {"model.quantization": generator.model.file.quantization, **place_of(generator.model)}
        if index is None:
            file = generator.model.file if generator else None
            base = Manifest(
                workbench.__version__,
                "",
                0,
                0,
                "",
                "",
                "",
                file.name if file else "",
                file.hash if file else "",
                versions=library_versions(),
            )
            return replace(base, settings=extra)
        if config.ask.threshold is None and config.layer != "retrieval":
            extra["support.threshold"] = threshold(self._store, index.collection)
        collection = self._store.corpus.collection(index.collection)
        told = manifest(collection, index, searcher.embedder, generator, config.ask, config.search)
        return replace(told, settings={**told.settings, **extra})


class _Pace:
    """How fast cases end, and how long the rest will take."""

    def __init__(self, total: int) -> None:
        self.done = 0
        self._total = total
        self._started = time.monotonic()

    def progress(self, run: Run, current: str, *results: CaseResult) -> RunProgress:
        elapsed = time.monotonic() - self._started
        rate = self.done / elapsed if self.done and elapsed else 0.0
        eta = (self._total - self.done) / rate if rate else None
        return RunProgress(run, current, rate, eta, results)


def _under_way(run_id: int) -> UsageError:
    return UsageError(
        tr("The run is under way"),
        tr("A process of this machine is at work on run {id}.", id=run_id),
        tr("Wait for it, or stop it there."),
    )


def _stop_if(cancel: Cancel | None) -> None:
    if cancel is not None and cancel.is_set():
        raise Cancelled


def find_dataset(store: Store, name: str) -> Dataset:
    """Raises NotFoundError, naming those there are."""
    found = next((d for d in store.datasets.datasets() if d.name == name), None)
    if found is None:
        store.datasets.cases(name)  # raises it
        raise AssertionError("a dataset with cases is listed")
    return found


def _chosen(cases: Sequence[Case], config: RunConfig) -> tuple[tuple[int, Case], ...]:
    """The cases of the run with their positions: model tasks in their layer, questions in the others.

    Raises:
        UsageError: there are none, or none in the segment.
    """
    tasks = config.layer == "model"
    numbered = [(n, case) for n, case in enumerate(cases) if (case.expectation is not None) == tasks]
    if cases and not numbered:
        raise _other_layer(config.dataset, tasks)
    if config.segment is not None:
        members = {case.id for case in members_of(config.segment, [case for _, case in numbered])}
        numbered = [(n, case) for n, case in numbered if case.id in members]
    if config.exclude_gold:
        numbered = [(n, case) for n, case in numbered if case.gold]  # nothing to leave out of the others
    chosen = tuple(numbered[: config.limit] if config.limit else numbered)
    if not chosen:
        raise UsageError(
            tr("Nothing to run"),
            tr("No case of “{dataset}” is in this run.", dataset=config.dataset),
            tr("Leave the segment out, or import cases first."),
        )
    return chosen


def _other_layer(dataset: str, tasks: bool) -> UsageError:
    remedy = (
        tr("They are questions: choose the layer “retrieval”, “generation” or “chain”.")
        if tasks
        else tr("They are model tasks: choose the layer “model”.")
    )
    return UsageError(tr("Nothing to run"), tr("No case of “{dataset}” is in this layer.", dataset=dataset), remedy)


def _check(config: RunConfig) -> None:
    """Raises UsageError for a configuration that measures nothing."""
    problem = ""
    if config.layer == "model" and not config.model:
        problem = tr("Model tasks need a model.")
    elif config.exclude_gold and config.layer != "chain":
        problem = tr("Leaving the gold out tests abstention: only the whole chain can show that.")
    elif config.ask.mode == "generated" and not config.model and config.layer in ("generation", "chain"):
        problem = tr("Generated answers need a model.")
    elif config.layer in ("retrieval", "chain") and weightless(config.search):
        problem = tr("With no weight on any lane there is nothing to rank.")
    if problem:
        raise UsageError(tr("This run measures nothing"), problem, tr("workbench eval run --help tells the options."))


def _refuse_if_changed(run: Run, plan: Plan) -> None:
    """Raises UsageError naming what isn't any more as it was when the run began."""
    changed = ["dataset"] if run.dataset_hash != plan.dataset.hash else []
    before, now = flat(run.manifest), flat(plan.manifest)
    changed += sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if changed:
        raise UsageError(
            tr("The run can't go on"),
            tr(
                "Since it began, this has changed: {fields}. Its cases would not be comparable.",
                fields=", ".join(changed),
            ),
            tr("Start a new run with the same settings, and compare the two."),
        )
