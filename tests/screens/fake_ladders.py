"""Ladders without models, for quick tests of the screens; figures are made up and told as measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tests.screens.fake_benchmarks import MANIFEST, WHEN, FakeBenchmarks
from tests.screens.fake_lab import FakeLab
from workbench.errors import Cancelled, NotFoundError
from workbench.ladders import deciding
from workbench.ladders.exports import ExportFormat, export
from workbench.ladders.figures import BLOCK, divergence
from workbench.ladders.kinds import refused
from workbench.ladders.planning import rungs_of
from workbench.ladders.report import report
from workbench.ports import Cancel
from workbench.records.evals import DecisionRecord
from workbench.records.ladders import (
    Divergence,
    Fallback,
    Ladder,
    LadderPlan,
    LadderProgress,
    LadderReport,
    Preview,
    Rung,
    Stage,
    WindowScores,
)
from workbench.records.models import ModelFile


class FakeLadders:
    """Answers like ``workbench.ladders.Ladders``: each rung is smaller than the one before, and further off."""

    def __init__(
        self, file: Callable[[str], ModelFile], benchmarks: FakeBenchmarks, evals: FakeLab, slow: float = 0.0
    ) -> None:
        self._file, self._benchmarks, self._evals, self.slow = file, benchmarks, evals, slow
        self.stored: dict[int, Ladder] = {}
        self._scored: dict[int, dict[int, Divergence]] = {}

    def preview(self, source: str, kinds: Sequence[str], cancel: Cancel | None = None) -> tuple[Preview, ...]:
        fallbacks = (Fallback("Q2_K", "Q4_0", 120), Fallback("Q3_K", "Q4_0", 60))
        return tuple(
            Preview(kind, problem=refused(kind))
            if refused(kind)
            else Preview(kind, (300 - 10 * n) << 20, (("Q4_0", 180),), fallbacks if kind == "Q2_K" else ())
            for n, kind in enumerate(kinds)
        )

    def elsewhere(self) -> int:
        return 0

    def ladders(self) -> tuple[Ladder, ...]:
        return tuple(reversed(self.stored.values()))

    def report(self, ladder_id: int) -> LadderReport:
        if ladder_id not in self.stored:
            raise NotFoundError("No such ladder", f"There is no ladder {ladder_id} in this file.", "")
        ladder, scored = self.stored[ladder_id], self._scored[ladder_id]
        benched = self._benchmarks.report(ladder.bench_id).rows if ladder.bench_id else ()
        left: list[Stage] = ["quality"] if ladder.plan.text and len(scored) < len(ladder.rungs) - 1 else []
        return report(ladder, {row.model.path: row for row in benched}, scored, {}, left)

    def run(self, plan: LadderPlan, cancel: Cancel | None = None) -> Iterator[LadderProgress]:
        number = len(self.stored) + 1
        rungs = tuple(map(_whole, rungs_of(plan, self._file(plan.source), self._file)))
        self.stored[number] = Ladder(number, WHEN, plan, MANIFEST, rungs)
        self._scored[number] = {}
        yield LadderProgress(self.report(number), "quantize", rungs[-1].name, 0.5)
        if plan.bench:
            *_, last = self._benchmarks.run([rung.path for rung in rungs], plan.bench)
            self.stored[number] = replace(self.stored[number], bench_id=last.report.bench.id)
        yield from self.resume(number, cancel)

    def resume(self, ladder_id: int, cancel: Cancel | None = None) -> Iterator[LadderProgress]:
        ladder, scored = self.stored[ladder_id], self._scored[ladder_id]
        tried = tuple(replace(rung, problem="") for rung in ladder.rungs)
        self.stored[ladder_id] = replace(ladder, rungs=tried)
        for rung in ladder.rungs[1:] if ladder.plan.text else ():
            if cancel and cancel.wait(self.slow):
                raise Cancelled
            if rung.place not in scored and (found := divergence([_scores(rung.place, window) for window in range(2)])):
                scored[rung.place] = found
                yield LadderProgress(self.report(ladder_id), "quality", rung.name, len(scored) / len(ladder.rungs))
        yield LadderProgress(self.report(ladder_id))

    def sentence(self, ladder_id: int, place: int, against: int = 0) -> deciding.Sentence:
        return deciding.sentence(self.report(ladder_id), place, against)

    def decide(self, ladder_id: int, sentence: deciding.Sentence, because: str) -> DecisionRecord:
        evals: Any = self._evals
        return deciding.decide(evals, self.report(ladder_id), sentence, because)

    def export(self, ladder_id: int, form: ExportFormat) -> str:
        return export(self.report(ladder_id), form)

    def delete(self, ladder_id: int) -> None:
        del self.stored[ladder_id]


def _whole(rung: Rung) -> Rung:
    fallen = 180 if rung.kind == "Q2_K" else 0
    return replace(rung, hash=str(rung.place) * 64, size=(260 - 40 * rung.place) << 20, fallbacks=fallen)


def _scores(place: int, window: int) -> WindowScores:
    n, off = 4 * BLOCK, 0.01 * place
    return WindowScores(
        window,
        tuple(off * (2 + 2 * (i % 2)) for i in range(n)),
        tuple(3.0 + off + 0.01 * (i % 7) for i in range(n)),
        tuple(3.0 + 0.01 * (i % 7) for i in range(n)),
        tuple(i % (20 // place) > 0 for i in range(n)),
    )
