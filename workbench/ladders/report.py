"""A row of figures for each rung of a ladder, and the Pareto front of the rows."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from workbench.benchmarks.figures import rate
from workbench.ladders.figures import loss, saving
from workbench.records.benchmarks import BenchPlan, BenchRow, Figure
from workbench.records.evals import CaseResult
from workbench.records.ladders import Criterion, Divergence, Ladder, LadderReport, LadderRow, Rung, Stage


def report(
    ladder: Ladder,
    benched: Mapping[str, BenchRow],
    scored: Mapping[int, Divergence],
    results: Mapping[int, Sequence[CaseResult]],
    left: Sequence[Stage],
    gone: Container[int] = (),
) -> LadderReport:
    """All that is known so far.

    Args:
        benched: what its bench measured, by path.
        scored, results: of each rung, by its place.
        gone: places of rungs whose file isn't there any more.
    """
    base = passed_cases(results.get(0, ()))
    rows = [
        _row(rung, ladder.rungs[0], benched.get(rung.path), scored.get(rung.place), results.get(rung.place, ()), base)
        for rung in ladder.rungs
    ]
    whole = max(scored.values(), key=lambda found: found.windows, default=None)
    rows = [replace(row, gone=row.rung.place in gone) for row in rows]
    rows[0] = replace(rows[0], perplexity=whole.reference_perplexity if whole else None)
    criteria = criteria_of(rows, ladder.plan.bench)
    return LadderReport(ladder, tuple(with_front(rows, criteria, ladder.plan.bench)), criteria, tuple(left))


def _row(
    rung: Rung,
    reference: Rung,
    bench: BenchRow | None,
    scored: Divergence | None,
    results: Sequence[CaseResult],
    base: Mapping[str, bool],
) -> LadderRow:
    passed = passed_cases(results)
    both = [case for case in base if case in passed]
    return LadderRow(
        rung,
        bench,
        scored.perplexity if scored else None,
        scored,
        passed=rate(sum(passed.values()), len(passed)) if passed else None,
        loss=loss([base[c] for c in both], [passed[c] for c in both]) if both and rung.place else None,
        saving=saving(rung.size, reference.size) if rung.size and reference.size else None,
    )


def passed_cases(results: Sequence[CaseResult]) -> dict[str, bool]:
    """Whether each scored case passed."""
    return {result.case_id: result.passed for result in results if result.passed is not None}


def decode_speed(row: LadderRow, plan: BenchPlan | None) -> Figure | None:
    """Tokens/s one by one, at the smallest depth; of the prompt where nothing else was measured."""
    if row.bench is None or plan is None:
        return None
    depth = f"@d{min(plan.depths)}" if min(plan.depths) else ""
    tests = (f"tg{plan.generate}{depth}", f"pp{plan.prompt}{depth}")
    return next((found for test in tests if (found := row.bench.speed(test))), None)


def criteria_of(rows: Sequence[LadderRow], plan: BenchPlan | None) -> tuple[Criterion, ...]:
    """Size always; mean KL, and rank by decode speed, where every usable row has them. One alone makes no front."""
    known = [row for row in rows if not row.rung.problem]
    chosen: list[Criterion] = ["size"]
    if len(known) < 2 or not all(row.rung.size for row in known):
        return ()
    if all(row.divergence for row in known if row.rung.place):
        chosen.append("kl")
    if all((speed := decode_speed(row, plan)) and speed.rank for row in known):
        chosen.append("speed")
    return tuple(chosen) if len(chosen) > 1 else ()


def with_front(rows: Sequence[LadderRow], criteria: Sequence[Criterion], plan: BenchPlan | None) -> list[LadderRow]:
    """The rows, marked where no other is at least as good in all criteria and better in one.

    Of speed the rank counts, so that a difference within the intervals doesn't.
    """

    def costs(row: LadderRow) -> tuple[float, ...]:
        speed = decode_speed(row, plan)
        known: dict[Criterion, float] = {
            "size": row.rung.size,
            "kl": row.divergence.kl.value if row.divergence else 0.0,
            "speed": speed.rank if speed else 0,
        }
        return tuple(known[criterion] for criterion in criteria)

    everyone = [costs(row) for row in rows if not row.rung.problem]
    return [
        replace(row, front=bool(criteria) and not row.rung.problem and not _dominated(costs(row), everyone))
        for row in rows
    ]


def _dominated(mine: tuple[float, ...], others: Sequence[tuple[float, ...]]) -> bool:
    return any(other != mine and all(a <= b for a, b in zip(other, mine, strict=True)) for other in others)
