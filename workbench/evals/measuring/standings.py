"""Several runs by one metric: which is best, and which of the others its interval doesn't tell apart from it.

Only figures over the same cases are ranked: easier cases make no better run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from workbench.evals.measuring.compare import other_rule
from workbench.evals.measuring.scoring import describe
from workbench.i18n import tr
from workbench.records.evals import Estimate, Run, RunReport

_NAMED: Final = 3  # runs that share the best value and are told with their titles


@dataclass(frozen=True, slots=True)
class Standing:
    """One run among others.

    Attributes:
        name: the metric as this run has it: "recall@1" where its k is 1.
        estimate: None where the run has no such metric; then it is neither best nor told apart.
        best: its value is the best one, which others may share.
        overlaps: its interval and the best one's have a value in common, so that they aren't told apart. Apart they
            differ; overlapping they may still do, which the paired test of ``compare_runs`` can show.
        unranked: its figure is over other cases than those of the runs that are ranked.
    """

    run: Run
    name: str
    estimate: Estimate | None
    best: bool = False
    overlaps: bool = False
    unranked: bool = False


def families(reports: Sequence[RunReport]) -> tuple[str, ...]:
    """The metrics that the runs have, each named without its k, in the order of the first run that has it."""
    return tuple(dict.fromkeys(family(name) for report in reports for name in report.overall.metrics))


def family(name: str) -> str:
    """ "recall@5" → "recall"."""
    return name.partition("@")[0]


def own_metric(report: RunReport, wanted: str) -> str:
    """The metric of a family as the run has it: "recall@1" where its k is 1; "" where it has none."""
    return next((name for name in report.overall.metrics if family(name) == wanted), "")


def standings(reports: Sequence[RunReport], wanted: str) -> tuple[Standing, ...]:
    """Each run's own metric of the family ``wanted``, in the order given.

    Ranked are those over the most cases that at least two of them have.
    """
    found = [_standing(report, wanted) for report in reports]
    cases = [_cases(report, one) for report, one in zip(reports, found, strict=True)]
    sizes = {key: one.estimate.n for key, one in zip(cases, found, strict=True) if one.estimate}
    times = Counter(key for key in cases if key in sizes)
    if not times:
        return tuple(found)
    most = max(times, key=lambda key: (times[key] > 1, sizes[key], times[key]))
    ranked = times[most] > 1 or len(times) == 1
    known = [one.estimate for key, one in zip(cases, found, strict=True) if one.estimate and key == most and ranked]
    higher = describe(next(one.name for one in found if one.estimate)).higher_is_better
    best = (max if higher else min)(known, key=lambda estimate: estimate.value, default=None)
    return tuple(
        _placed(one, best if key == most else None) if one.estimate else one
        for key, one in zip(cases, found, strict=True)
    )


def verdict_of(found: Sequence[Standing]) -> str:
    """What the intervals say, and which runs aren't ranked; "" where no two runs have the metric."""
    return " ".join([*_ahead(found), *_aside(found)])


def _ahead(found: Sequence[Standing]) -> Iterator[str]:
    first = [one.run for one in found if one.best]
    best = [f"#{run.id} {run.config.title if len(first) <= _NAMED else ''}".rstrip() for run in first]
    others = [one for one in found if one.estimate and not (one.best or one.unranked)]
    near = sum(one.overlaps for one in others)
    if len(best) > 1:
        yield tr("{names} share the best value: by it none of them is ahead.", names=", ".join(best))
    elif best and others and not near:
        yield tr("Best: {name}. No other interval reaches its own.", name=best[0])
    elif best and others:
        yield tr(
            "Best: {name}. {near} of {all} other intervals overlap with it: not significant by them; "
            "paired, it may be.",
            name=best[0],
            near=near,
            all=len(others),
        )


def _aside(found: Sequence[Standing]) -> Iterator[str]:
    """Names the runs that aren't ranked by what makes their cases others."""
    alike: dict[str, list[str]] = {}
    versions = len({one.run.dataset_hash for one in found if one.estimate}) > 1
    rules = len({_by_gold(one) for one in found if one.estimate}) > 1
    for one in found:
        if one.unranked:
            about = ", ".join(_about(one, versions=versions, rules=rules))
            alike.setdefault(about, []).append(f"#{one.run.id}")
    if not alike:
        return
    runs = "; ".join(f"{', '.join(ids)} ({about})" for about, ids in alike.items())
    if any(one.best for one in found):
        yield tr("Runs of other cases aren't ranked: {runs}.", runs=runs)
    else:
        yield tr("Not ranked, as no two of them have the same cases: {runs}.", runs=runs)
    if rules:
        yield other_rule()
    yield tr("Compared in pairs, only the cases that both runs have count.")


def _about(one: Standing, *, versions: bool, rules: bool) -> Iterator[str]:
    config = one.run.config
    if one.estimate:
        yield f"n {one.estimate.n:,}"
    if config.segment:
        yield "=".join(config.segment)
    if config.exclude_gold:
        yield tr("gold left out")
    if rules and _by_gold(one):
        yield tr("retrieval")
    if versions:
        yield tr("dataset {hash}", hash=one.run.dataset_hash[:8])


def _standing(report: RunReport, wanted: str) -> Standing:
    name = own_metric(report, wanted) or wanted
    return Standing(report.run, name, report.overall.metrics.get(name))


def _placed(one: Standing, best: Estimate | None) -> Standing:
    """``best`` among the runs of its cases, None where they aren't ranked."""
    if one.estimate is None or best is None:
        return replace(one, unranked=True)
    overlaps = one.estimate.low <= best.high and best.low <= one.estimate.high
    return replace(one, best=one.estimate.value == best.value, overlaps=overlaps)


def _cases(report: RunReport, one: Standing) -> Hashable:
    """What has to be the same for two runs' figures to be over the same: the cases, and the rule they pass by."""
    run = report.run
    return (
        run.config.dataset,
        run.dataset_hash,
        run.config.exclude_gold,
        report.over.get(one.name, ""),
        _by_gold(one),
    )


def _by_gold(one: Standing) -> bool:
    """Cases of the retrieval layer pass when their gold is found."""
    return one.name == "pass_rate" and one.run.config.layer == "retrieval"
