"""The judges' side of the lab: a model's verdicts on a run's answers, committed one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from workbench.errors import Cancelled, UsageError
from workbench.evals.judging.judge import RUBRIC, Judge, abstains, summarise
from workbench.evals.running.lab import RunLab
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.cases import Case
from workbench.records.evals import (
    CaseResult,
    Judgement,
    JudgementReport,
    Label,
)


class JudgeLab(RunLab):
    """Judgements of runs, with people's agreement. Every method may be called from any thread."""

    def judge(
        self, run_id: int, rubric: str = RUBRIC, against: int = 0, cancel: Cancel | None = None
    ) -> Iterator[Judgement]:
        """Lets the loaded model judge a run's answers, alone or against another run's; grows case by case.

        Each verdict is committed as it comes. Where the same judge, by the same rubric, left a judgement unfinished
        (stopped, killed, dead), it goes on there; one that is finished is given as it is. Scores stay as they are.

        Raises:
            UsageError: no model is loaded, or there is no answer to judge.
            NotFoundError: no such run.
            EngineError: the judge is gone.
        """
        generator = (self._runtimes.judge or self._runtimes.generator)()
        if generator is None:
            raise UsageError(tr("No model is loaded"), tr("A judge is a language model."), tr("Name one with --model."))
        pairs = self._judged_pairs(run_id, against)
        file, judge = generator.model.file, Judge(generator, rubric)
        blank = Judgement(0, run_id, against, file.name, file.hash, judge.rubric, datetime.now(UTC))
        grown = self._earlier(blank, {case.id for case, _, _ in pairs}) or blank
        done = {judged.case_id for judged in grown.cases}
        with self._alone(), suppress(Cancelled):
            for case, one, other in pairs:
                if case.id in done:
                    continue
                said = judge.between(case, one, other, cancel) if other else judge.alone(case, one, cancel)
                grown = self._store.runs.put_judgement(replace(grown, cases=(*grown.cases, said)))
                yield grown
        yield grown

    def _earlier(self, asked: Judgement, cases: set[str]) -> Judgement | None:
        """The newest judgement in which the same judge by the same rubric has judged some of ``cases``, or all."""
        for known in self._store.runs.judgements(asked.run_id):
            same = replace(known, id=0, created=asked.created, cases=()) == asked
            if same and {judged.case_id for judged in known.cases} <= cases:
                return known
        return None

    def judgements(self, run_id: int) -> tuple[JudgementReport, ...]:
        """What judges said of a run, newest first, with people's agreement as of now. Raises NotFoundError."""
        found, labels = self._store.runs.judgements(run_id), self.labels(run_id)
        silent = {result.case_id for result in self.results(run_id) if abstains(result)} if found else set()
        return tuple(
            summarise(each, labels, self._labels_of(each.against), () if each.against else silent) for each in found
        )

    def _judged_pairs(self, run_id: int, against: int) -> list[tuple[Case, CaseResult, CaseResult | None]]:
        """The cases with an answer, in both runs when there are two. Alone, one that abstains is not judged.

        Raises:
            UsageError: there is nothing to judge. NotFoundError: no such run.
        """
        others = {r.case_id: r for r in self.results(against)} if against else {}
        cases = {case.id: case for case in self.run_cases(run_id)}
        found = [
            (cases[one.case_id], one, others.get(one.case_id))
            for one in self.results(run_id)
            if one.output and not one.error and one.case_id in cases and (against or not abstains(one))
        ]
        if against:
            found = [(case, one, other) for case, one, other in found if other and other.output and not other.error]
        if not found:
            raise UsageError(
                tr("Nothing to judge"),
                tr("Run {id} has no answers.", id=run_id),
                tr("Judge a run of the layer generation, chain or model."),
            )
        return found

    def _labels_of(self, run_id: int) -> tuple[Label, ...]:
        """None where the run is gone, or none is meant."""
        return self.labels(run_id) if any(run.id == run_id for run in self.runs()) else ()
