"""Several runs by one metric: which is best, and which of the others its interval doesn't tell apart from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.evals.measuring.scoring import describe
from workbench.i18n import tr
from workbench.records.evals import Estimate, Run, RunReport


@dataclass(frozen=True, slots=True)
class Standing:
    """One run among others.

    Attributes:
        name: the metric as this run has it: "recall@1" where its k is 1.
        estimate: None where the run has no such metric; then it is neither best nor told apart.
        best: its value is the best one, which others may share.
        overlaps: its interval and the best one's have a value in common, so that they aren't told apart. Apart they
            differ; overlapping they may still do, which the paired test of ``compare_runs`` can show.
    """

    run: Run
    name: str
    estimate: Estimate | None
    best: bool = False
    overlaps: bool = False


def families(reports: Sequence[RunReport]) -> tuple[str, ...]:
    """The metrics that the runs have, each named without its k, in the order of the first run that has it."""
    return tuple(dict.fromkeys(family(name) for report in reports for name in report.overall.metrics))


def family(name: str) -> str:
    """ "recall@5" → "recall"."""
    return name.partition("@")[0]


def standings(reports: Sequence[RunReport], wanted: str) -> tuple[Standing, ...]:
    """Each run's own metric of the family ``wanted``, in the order given."""
    found = [_standing(report, wanted) for report in reports]
    known = [one.estimate for one in found if one.estimate]
    if not known:
        return tuple(found)
    higher = describe(next(one.name for one in found if one.estimate)).higher_is_better
    best = (max if higher else min)(known, key=lambda estimate: estimate.value)
    return tuple(
        Standing(
            one.run,
            one.name,
            one.estimate,
            one.estimate is not None and one.estimate.value == best.value,
            _overlap(one.estimate, best),
        )
        for one in found
    )


def verdict_of(found: Sequence[Standing]) -> str:
    """What the intervals say, in a sentence or two; "" where no two runs have the metric."""
    best = [one.run.config.title or f"#{one.run.id}" for one in found if one.best]
    others = [one for one in found if one.estimate and not one.best]
    if len(best) > 1:
        return tr("{names} share the best value: by it none of them is ahead.", names=", ".join(best))
    if not best or not others:
        return ""
    (name,), near = best, sum(one.overlaps for one in others)
    if not near:
        return tr("Best: {name}. No other interval reaches its own.", name=name)
    return tr(
        "Best: {name}. {near} of {all} other intervals overlap with it: not significant by them; paired, it may be.",
        name=name,
        near=near,
        all=len(others),
    )


def _standing(report: RunReport, wanted: str) -> Standing:
    metrics = report.overall.metrics
    name = next((name for name in metrics if family(name) == wanted), wanted)
    return Standing(report.run, name, metrics.get(name))


def _overlap(one: Estimate | None, other: Estimate | None) -> bool:
    return one is not None and other is not None and one.low <= other.high and other.low <= one.high
