"""The datasets' and the judges' side of the fake lab: a queue in memory, a model that asks and judges without one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import UsageError
from workbench.evals.collecting.synthetic import Proposal, ReviewQueue, proposals_without
from workbench.evals.judging.judge import RUBRIC, summarise
from workbench.ports import Cancel
from workbench.records.cases import (
    Candidate,
    CandidateState,
    Case,
    Dataset,
)
from workbench.records.evals import (
    CaseResult,
    JudgedCase,
    Judgement,
    JudgementReport,
    Label,
)

if TYPE_CHECKING:
    from tests.screens.fake_desk import FakeDesk

WHEN = datetime(2026, 3, 2, 10, 0)


class FakeSets:
    """Answers like ``workbench.evals.collecting.lab.DatasetLab``, and judges; subclasses have the runs."""

    def __init__(self, desk: FakeDesk, cases: dict[str, tuple[Case, ...]]) -> None:
        self._desk = desk
        self._cases = cases
        self._before: dict[str, list[Dataset]] = {}
        self._candidates: dict[int, Candidate] = {}
        self._judgements: list[Judgement] = []
        self.written: list[tuple[str, str, str, str]] = []

    # -- as a DatasetRepository, for the queue ---------------------------------------------------------------------

    def datasets(self) -> tuple[Dataset, ...]:
        return tuple(self._version(n, name, cases) for n, (name, cases) in enumerate(sorted(self._cases.items()), 1))

    def _version(self, number: int, name: str, cases: Sequence[Case]) -> Dataset:
        digest = f"{len(cases):04}" + "c0ffee" * 10
        return Dataset(number, name, "regulations-2026", digest, WHEN, len(cases), sum(c.answerable for c in cases))

    def cases(self, dataset: str) -> tuple[Case, ...]:
        return self._cases[dataset]

    def put(self, name: str, collection: str, cases: Sequence[Case]) -> Dataset:
        if name in self._cases:
            self._before.setdefault(name, []).insert(0, self.dataset(name))
        self._cases[name] = tuple(cases)
        return self.dataset(name)

    def candidates(self, dataset: str, state: CandidateState | None = None) -> tuple[Candidate, ...]:
        return tuple(c for c in self._candidates.values() if c.dataset == dataset and state in {None, c.state})

    def add_candidates(self, dataset: str, candidates: Sequence[tuple[Case, str]]) -> tuple[Candidate, ...]:
        first = len(self._candidates) + 1
        made = [Candidate(n, dataset, case, "waiting", told) for n, (case, told) in enumerate(candidates, first)]
        self._candidates |= {candidate.id: candidate for candidate in made}
        return tuple(made)

    def set_candidate(self, candidate_id: int, state: CandidateState, case: Case | None = None) -> Candidate:
        known = self._candidates[candidate_id]
        self._candidates[candidate_id] = replace(known, state=state, case=case or known.case)
        return self._candidates[candidate_id]

    # -- datasets --------------------------------------------------------------------------------------------------

    def dataset(self, name: str) -> Dataset:
        return next(d for d in self.datasets() if d.name == name)

    def versions(self, dataset: str) -> tuple[Dataset, ...]:
        return (self.dataset(dataset), *self._before.get(dataset, []))

    def export_dataset(self, dataset: str, path: str, format: str = "jsonl", version: str = "") -> tuple[str, ...]:
        self.written.append((dataset, Path(path).name, format, version))
        return () if format == "jsonl" else ("gold", "notes")

    def split_dataset(self, dataset: str, field: str) -> tuple[Dataset, ...]:
        cases = self.cases(dataset)
        values = dict.fromkeys(getattr(case, field) for case in cases)
        parts = {v: [case for case in cases if getattr(case, field) == v] for v in values}
        return tuple(self.put(f"{dataset}-{value}", "regulations-2026", part) for value, part in parts.items())

    def review(self, dataset: str) -> ReviewQueue:
        return ReviewQueue(self, dataset)  # type: ignore[arg-type]  # the part of a repository that the queue uses

    def propose(
        self, dataset: str, count: int, collection: str = "", seed: int = 0, cancel: Cancel | None = None
    ) -> Iterator[Proposal]:
        for number in range(seed, seed + count):
            if cancel and cancel.wait(self._desk.slow):
                return
            gold = self._cases["xquad-es"][1].gold
            case = Case(f"syn-{number:03}", f"What is said in passage {number}?", gold=gold, type="direct")
            made = Proposal("", case.question, f"SmolLM2 · seed {number}", None if number % 4 == 3 else case)
            made = made if made.case else replace(made, dropped="it copies the passage")
            self.review(dataset).add([made])
            yield made

    def propose_unanswerable(self, dataset: str, count: int = 0) -> tuple[Candidate, ...]:
        return self.review(dataset).add(proposals_without(self.cases(dataset))[:count])

    def join_accepted(self, dataset: str) -> Dataset | None:
        return self.review(dataset).join("regulations-2026")

    # -- judges ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def results(self, run_id: int) -> tuple[CaseResult, ...]: ...

    @abstractmethod
    def labels(self, run_id: int) -> tuple[Label, ...]: ...

    def judge(
        self, run_id: int, rubric: str = RUBRIC, against: int = 0, cancel: Cancel | None = None
    ) -> Iterator[Judgement]:
        if self._desk.model is None:
            raise UsageError("No model is loaded", "A judge is a language model.", "")
        number = len(self._judgements) + 1
        grown = Judgement(number, run_id, against, self._desk.model.file.name, "f" * 64, rubric, WHEN)
        for place, result in enumerate(self.results(run_id)):
            if cancel and cancel.wait(self._desk.slow):
                break
            verdict = "" if place == 2 else "right" if place % 3 else "wrong"
            reason = "the judge's output can't be read" if not verdict else "[b]It says[/b] what is expected."
            grown = replace(grown, cases=(*grown.cases, JudgedCase(result.case_id, verdict, reason, "")))
            yield grown
        self._judgements.insert(0, grown)
        yield grown

    def judgements(self, run_id: int) -> tuple[JudgementReport, ...]:
        return tuple(summarise(j, self.labels(run_id)) for j in self._judgements if j.run_id == run_id)
