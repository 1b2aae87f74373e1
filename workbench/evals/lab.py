"""The evaluation side of the desk: every front end reaches datasets, runs, labels, gates and decisions through it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from workbench.ports import Cancel, Store
from workbench.records.answers import AskOptions
from workbench.records.evals import (
    Case,
    CaseResult,
    Dataset,
    DecisionRecord,
    Gate,
    GateResult,
    GateSet,
    Label,
    Run,
    RunComparison,
    RunConfig,
    RunProgress,
    RunReport,
    ThresholdPoint,
    Verdict,
)
from workbench.records.retrieval import SearchOptions


class EvalLab:
    """Datasets, runs, results, labels, gates, decisions of one file. Every method may be called from any thread.

    Long work (``run``, ``resume``, ``sweep``) is an iterator made for a worker thread; one at a time.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    # -- datasets --------------------------------------------------------------------------------------------------

    def datasets(self) -> tuple[Dataset, ...]:
        """By name."""
        raise NotImplementedError

    def dataset(self, name: str) -> Dataset:
        """Raises NotFoundError."""
        raise NotImplementedError

    def cases(self, dataset: str) -> tuple[Case, ...]:
        """In order. Raises NotFoundError."""
        raise NotImplementedError

    def import_dataset(self, path: str, name: str = "", collection: str = "") -> Dataset:
        """Reads a dataset file. Raises UsageError naming the bad line."""
        raise NotImplementedError

    # -- runs ------------------------------------------------------------------------------------------------------

    def runs(self, dataset: str = "") -> tuple[Run, ...]:
        """Newest first; every dataset's when ``dataset`` is ""."""
        raise NotImplementedError

    def find_run(self, run_id: int) -> Run:
        """Raises NotFoundError."""
        raise NotImplementedError

    def run(self, config: RunConfig, cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """Runs a dataset; the first progress has the stored run, the last is ``finished``. Each case is committed.

        A cancelled run is ``stopped`` and can be resumed. The model of ``config`` replaces the desk's loaded one.

        Raises:
            UsageError: nothing to run, or a layer that needs what isn't there.
            NotFoundError: no such dataset or collection.
            FilterError: the filter can't be understood.
            EngineError: the model can't be loaded, or died too often (what was done is kept).
        """
        raise NotImplementedError

    def resume(self, run_id: int, cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """Goes on at the first case without a result. Raises UsageError when the dataset or manifest has changed."""
        raise NotImplementedError

    def sweep(self, configs: Sequence[RunConfig], cancel: Cancel | None = None) -> Iterator[RunProgress]:
        """Runs that differ in one variable, one after another; each ends with its own ``finished`` progress."""
        raise NotImplementedError

    def results(self, run_id: int) -> tuple[CaseResult, ...]:
        """In the dataset's order, as far as the run came."""
        raise NotImplementedError

    def result(self, run_id: int, case_id: str) -> CaseResult:
        """Raises NotFoundError."""
        raise NotImplementedError

    def rerun(
        self,
        run_id: int,
        case_id: str,
        ask: AskOptions | None = None,
        search: SearchOptions | None = None,
        cancel: Cancel | None = None,
    ) -> CaseResult:
        """The case once more, with the run's settings or those given; the result isn't stored (its trace is)."""
        raise NotImplementedError

    def autopsy(self, run_id: int, case_id: str) -> tuple[str, ...]:
        """The gold's rank at each stage (lexical, dense, fusion, context) and the stage that lost it, in lines."""
        raise NotImplementedError

    def set_baseline(self, run_id: int) -> Run:
        """Makes it its dataset's baseline, in place of the previous one."""
        raise NotImplementedError

    def baseline(self, dataset: str) -> Run | None:
        """The dataset's baseline."""
        raise NotImplementedError

    def delete_run(self, run_id: int) -> None:
        """With its results and labels; traces stay."""
        raise NotImplementedError

    # -- reading runs ----------------------------------------------------------------------------------------------

    def report(self, run_id: int) -> RunReport:
        """The run in figures, with intervals and segments."""
        raise NotImplementedError

    def compare(self, a: int, b: int) -> RunComparison:
        """Two runs of one dataset, paired case by case. Raises UsageError when they share no case."""
        raise NotImplementedError

    def export_report(self, run_id: int, form: Literal["markdown", "html", "latex"] = "markdown") -> str:
        """The report as a text to hand on."""
        raise NotImplementedError

    def export_comparison(self, a: int, b: int) -> str:
        """The comparison as Markdown."""
        raise NotImplementedError

    # -- labels ----------------------------------------------------------------------------------------------------

    def label(self, run_id: int, case_id: str, value: Literal[-1, 0, 1], note: str = "") -> Label:
        """A person's verdict on one result; the previous one is kept for undo."""
        raise NotImplementedError

    def labels(self, run_id: int) -> tuple[Label, ...]:
        """The current one of each labelled case."""
        raise NotImplementedError

    def undo_label(self, run_id: int) -> Label | None:
        """Takes back the run's last label; returns it as it was, None when there is none."""
        raise NotImplementedError

    # -- decide ----------------------------------------------------------------------------------------------------

    def gate_sets(self, dataset: str = "") -> tuple[GateSet, ...]:
        """Newest first."""
        raise NotImplementedError

    def lock_gates(self, dataset: str, name: str, gates: Sequence[Gate]) -> GateSet:
        """Stores gates with the time; they can't be edited. Raises UsageError when the name is taken or none given."""
        raise NotImplementedError

    def check_gates(self, run_id: int, gates: str | Sequence[Gate]) -> tuple[GateResult, ...]:
        """A locked set by its name, or gates of the moment, against a run."""
        raise NotImplementedError

    def threshold_curve(self, run_id: int) -> tuple[ThresholdPoint, ...]:
        """Coverage and risk at each τ, from a run of the generation or chain layer."""
        raise NotImplementedError

    def choose_threshold(self, collection: str, threshold: float) -> None:
        """Stores τ for a collection: questions asked without a τ of their own use it from now on."""
        raise NotImplementedError

    def decide(
        self,
        title: str,
        verdict: Verdict,
        runs: Sequence[int],
        *,
        context: str = "",
        options: Sequence[str] = (),
        reasons: Sequence[str] = (),
        evidence: Sequence[str] = (),
        conditions: str = "",
        review: str = "",
    ) -> DecisionRecord:
        """Stores a decision; without ``evidence`` the main figures of its runs are written down for it."""
        raise NotImplementedError

    def decisions(self) -> tuple[DecisionRecord, ...]:
        """Newest first."""
        raise NotImplementedError

    def export_decision(self, decision_id: int) -> str:
        """As Markdown."""
        raise NotImplementedError
