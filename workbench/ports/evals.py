"""Evaluation in the file: datasets with their versions, runs, labels, gates, decisions; SQL on read-only fixtures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from workbench.records.answers import Manifest
from workbench.records.cases import (
    Candidate,
    CandidateState,
    Case,
    Dataset,
)
from workbench.records.evals import (
    CaseResult,
    DecisionRecord,
    Gate,
    GateSet,
    Judgement,
    Label,
    Run,
    RunConfig,
    RunStatus,
)


class DatasetRepository(Protocol):
    """Eval datasets in all their versions, and candidates for them."""

    def put(self, name: str, collection: str, cases: Sequence[Case]) -> Dataset:
        """Makes ``cases`` the dataset's current version. Older ones stay; content that was there once is no new one."""
        ...

    def datasets(self) -> tuple[Dataset, ...]:
        """Current versions, by name."""
        ...

    def versions(self, dataset: str) -> tuple[Dataset, ...]:
        """Every version with its hash and the date it first came in, newest first. Raises NotFoundError."""
        ...

    def cases(self, dataset: str, version: str = "") -> tuple[Case, ...]:
        """In order; of the current version, or of the one whose hash is or begins with ``version``.

        Raises:
            NotFoundError: no such dataset or version.
        """
        ...

    def add_candidates(self, dataset: str, candidates: Sequence[tuple[Case, str]]) -> tuple[Candidate, ...]:
        """Stores (case, origin) pairs as waiting. The dataset needn't be there yet."""
        ...

    def candidates(self, dataset: str, state: CandidateState | None = None) -> tuple[Candidate, ...]:
        """In the order they came; of every state when ``state`` is None."""
        ...

    def set_candidate(self, candidate_id: int, state: CandidateState, case: Case | None = None) -> Candidate:
        """Its new state, and its case as a person edited it. Raises NotFoundError."""
        ...


class RunRepository(Protocol):
    """Runs with their results and labels; gates and decisions."""

    def create(self, config: RunConfig, dataset_hash: str, manifest: Manifest, total: int) -> Run:
        """A new run, running, with no result yet."""
        ...

    def run(self, run_id: int) -> Run:
        """Raises NotFoundError."""
        ...

    def runs(self, dataset: str = "") -> tuple[Run, ...]:
        """Newest first; of every dataset when ``dataset`` is ""."""
        ...

    def set_status(self, run_id: int, status: RunStatus) -> Run:
        """ "running" means by this process; read once that process is gone, it is "interrupted".

        Raises:
            NotFoundError: no such run.
        """
        ...

    def claim(self, run_id: int) -> Run | None:
        """Makes a run that stands still "running" by this process; None when a living process is at work on it.

        Of several processes that ask at once, one gets it.

        Raises:
            NotFoundError: no such run.
        """
        ...

    def put_result(self, result: CaseResult) -> Run:
        """Stores a case's result and the run's counters in one transaction; a second one for the case replaces it.

        Raises:
            NotFoundError: the run is gone.
        """
        ...

    def results(self, run_id: int) -> tuple[CaseResult, ...]:
        """By position. Raises NotFoundError."""
        ...

    def result(self, run_id: int, case_id: str) -> CaseResult:
        """Raises NotFoundError."""
        ...

    def set_baseline(self, run_id: int) -> Run:
        """Makes it its dataset's one baseline. Raises NotFoundError."""
        ...

    def delete(self, run_id: int) -> None:
        """With its results and labels. Raises NotFoundError."""
        ...

    def put_label(self, label: Label) -> None:
        """Adds it; the case's earlier labels are kept for undo. Raises NotFoundError when there is no such result."""
        ...

    def labels(self, run_id: int) -> tuple[Label, ...]:
        """The latest one of each case, in the order they were given."""
        ...

    def undo_label(self, run_id: int) -> Label | None:
        """Removes the run's latest label and returns it, None when there is none; the one before counts again."""
        ...

    def put_judgement(self, judgement: Judgement) -> Judgement:
        """Stores it and returns it with its id; one that has an id is replaced. Raises NotFoundError for the run."""
        ...

    def judgements(self, run_id: int) -> tuple[Judgement, ...]:
        """Of a run, newest first."""
        ...

    def lock_gates(self, dataset: str, name: str, gates: Sequence[Gate]) -> GateSet:
        """Stores them with the time, for good. Raises UsageError when the dataset has gates of that name."""
        ...

    def gate_sets(self, dataset: str = "") -> tuple[GateSet, ...]:
        """Newest first; of every dataset when ``dataset`` is ""."""
        ...

    def put_decision(self, record: DecisionRecord) -> DecisionRecord:
        """Stores it and returns it with its id."""
        ...

    def decisions(self) -> tuple[DecisionRecord, ...]:
        """Newest first."""
        ...


SqlValue: TypeAlias = str | int | float | bytes | None


@dataclass(frozen=True, slots=True)
class ResultSet:
    """What a query gave: column names, and rows of as many values."""

    columns: tuple[str, ...]
    rows: tuple[tuple[SqlValue, ...], ...]


class SqlRunner(Protocol):
    """Runs a model's SQL on a fixture, which it can't change, leave, or keep busy."""

    def run(self, fixture: Path, sql: str) -> ResultSet:
        """The result set of one SELECT.

        Raises:
            NotFoundError: there is no such file.
            FileError: it isn't a database.
            QueryError: ``sql`` gave no result set.
        """
        ...
