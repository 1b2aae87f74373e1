"""A decision sheet: what is required filters first, what is left is weighed, and the weights are questioned.

Sources: the conjunctive method and the weighted sum model of multi-criteria decision analysis (Fishburn, 1967); Pareto
dominance.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.decisions import Criterion, Flip, Option, Scored, Sheet, Verdict

_MOST_CORNERS: Final = 4096
"""Combinations of interval ends that are tried; beyond them each option is tried at its own best and worst only."""
_FAR: Final = 1e9


def judge(sheet: Sheet) -> Verdict:
    """Ranks the options.

    score(a) = Σ w_j · q_j(a) - penalty(a), where q is the value scaled to 0-1 over the options that are left (or over
    the criterion's own ``worst``-``best``), and the weights add up to 1.

    Raises:
        UsageError: no criterion or option, a value that is missing or no number, weights that are negative or all 0,
            a criterion in several currencies.
    """
    weights = _weights(sheet)
    reasons = {option.name: _ruled_out(option, sheet.criteria) for option in sheet.options}
    left = [option for option in sheet.options if not reasons[option.name]]
    scaled = _scaled(sheet.criteria, left)
    scored = [
        Scored(
            option,
            _score(scaled[option.name], weights, option.penalty),
            {name: weights[name] * q for name, q in scaled[option.name].items()},
            dominated_by=_dominators(option, left, sheet.criteria),
            crosses=_crossed(option, sheet.criteria),
        )
        for option in left
    ]
    out = [
        Scored(option, None, {}, reasons[option.name], crosses=_crossed(option, sheet.criteria))
        for option in sheet.options
        if reasons[option.name]
    ]
    ranking = (*sorted(scored, key=lambda s: (-(s.score or 0.0), s.option.name)), *out)
    winner = ranking[0].option.name if scored else ""
    flips = tuple(_flip(c.name, weights, scaled, left, winner) for c in sheet.criteria) if len(left) > 1 else ()
    reachable = [one.option for one in ranking if not one.out or one.crosses]
    return Verdict(ranking, flips, _is_close(sheet.criteria, reachable, weights, winner))


def _weights(sheet: Sheet) -> dict[str, float]:
    names = [c.name for c in sheet.criteria]
    total = math.fsum(c.weight for c in sheet.criteria)
    if not sheet.criteria or not sheet.options or len(set(names)) < len(names):
        raise _unusable(tr("A sheet needs options, and criteria with different names."))
    if total <= 0 or any(not c.weight >= 0 for c in sheet.criteria):
        raise _unusable(tr("Weights are numbers of at least 0, and not all of them 0."))
    for option, criterion in itertools.product(sheet.options, sheet.criteria):
        value = option.values.get(criterion.name)
        if value is None or not math.isfinite(value.value):
            raise _unusable(tr("{option} has no number for {criterion}.", option=option.name, criterion=criterion.name))
    for criterion in sheet.criteria:
        _same_currency(criterion, sheet.options)
    return {c.name: c.weight / total for c in sheet.criteria}


def _same_currency(criterion: Criterion, options: Sequence[Option]) -> None:
    """Raises UsageError where amounts of several currencies would be compared as bare numbers."""
    units = {o.name: unit for o in options if (unit := o.values[criterion.name].unit)}
    if len(set(units.values())) > 1:
        told = ", ".join(f"{name}: {unit}" for name, unit in units.items())
        raise UsageError(
            tr("The sheet can't be judged"),
            tr(
                "{name} is in several currencies ({told}); they can't be compared.",
                name=criterion.name,
                told=told,
            ),
            tr("Write the prices down in one currency, then the sheet's lines anew."),
        )


def _unusable(why: str) -> UsageError:
    return UsageError(tr("The sheet can't be judged"), why, tr("Mend the sheet, then judge it again."))


def _ruled_out(option: Option, criteria: Sequence[Criterion]) -> str:
    for criterion in criteria:
        value = option.values[criterion.name].value
        if criterion.least is not None and value < criterion.least:
            return tr("{name} {value} is below {least}", name=criterion.name, value=value, least=criterion.least)
        if criterion.most is not None and value > criterion.most:
            return tr("{name} {value} is above {most}", name=criterion.name, value=value, most=criterion.most)
    return ""


def _within(criterion: Criterion, value: float) -> bool:
    return (criterion.least is None or value >= criterion.least) and (criterion.most is None or value <= criterion.most)


def _crossed(option: Option, criteria: Sequence[Criterion]) -> tuple[str, ...]:
    """Criteria of which the interval holds values on both sides of a bound; none of an option that is out for sure."""
    crossed = []
    for criterion in criteria:
        value = option.values[criterion.name]
        low = value.value if value.low is None else value.low
        high = math.inf if value.unbounded else value.value if value.high is None else value.high
        under = criterion.least is not None and low < criterion.least <= high
        above = criterion.most is not None and low <= criterion.most < high
        if under or above:
            crossed.append(criterion.name)
        elif not _within(criterion, value.value):
            return ()
    return tuple(crossed)


def _scaled(
    criteria: Sequence[Criterion], options: Sequence[Option], values: Mapping[tuple[str, str], float] | None = None
) -> dict[str, dict[str, float]]:
    """Each option's values from 0 (worst) to 1 (best); where all are the same, 1. ``values`` stand in for their own."""
    found: dict[str, dict[str, float]] = {option.name: {} for option in options}
    for c in criteria:
        column = {o.name: (values or {}).get((o.name, c.name), o.values[c.name].value) for o in options}
        if not column:
            continue
        ends = (min(column.values()), max(column.values()))
        worst, best = ends if c.better == "more" else ends[::-1]
        worst, best = (worst if c.worst is None else c.worst), (best if c.best is None else c.best)
        for name, value in column.items():
            found[name][c.name] = min(1.0, max(0.0, (value - worst) / (best - worst))) if best != worst else 1.0
    return found


def _score(scaled: Mapping[str, float], weights: Mapping[str, float], penalty: float) -> float:
    return math.fsum(weights[name] * q for name, q in scaled.items()) - penalty


def _dominators(option: Option, options: Sequence[Option], criteria: Sequence[Criterion]) -> tuple[str, ...]:
    def signed(of: Option, criterion: Criterion) -> float:
        value = of.values[criterion.name].value
        return value if criterion.better == "more" else -value

    def dominates(other: Option) -> bool:
        gains = [signed(other, c) - signed(option, c) for c in criteria]
        return min(gains) >= 0 and max(gains) > 0

    return tuple(other.name for other in options if other is not option and dominates(other))


def _flip(
    name: str,
    weights: Mapping[str, float],
    scaled: Mapping[str, Mapping[str, float]],
    options: Sequence[Option],
    winner: str,
) -> Flip:
    """Where the winner changes when this weight moves and the others share the rest as they do now.

    With weight t, an option's score is t·q + (1 - t)·r - penalty: a line; the winner's crossings with the others tell.
    """
    rest = 1.0 - weights[name]
    penalties = {option.name: option.penalty for option in options}

    def line(option: str) -> tuple[float, float]:
        q = scaled[option][name]
        others = [c for c in weights if c != name]
        r = math.fsum((weights[c] / rest if rest > 0 else 1 / len(others)) * scaled[option][c] for c in others)
        return r - penalties[option], q - r

    start, slope = line(winner)
    downs: list[tuple[float, str]] = []
    ups: list[tuple[float, str]] = []
    for option in scaled:
        other_start, other_slope = line(option)
        if option == winner or other_slope == slope:
            continue
        crossing = (other_start - start) / (slope - other_slope)
        if other_slope < slope and 0 <= crossing <= weights[name]:
            downs.append((crossing, option))
        elif other_slope > slope and weights[name] <= crossing <= 1:
            ups.append((crossing, option))
    down, up = max(downs, default=(None, "")), min(ups, default=(None, ""))
    return Flip(name, weights[name], *down, *up)


def _beyond(criterion: Criterion, options: Sequence[Option]) -> float:
    """Where an interval without an upper bound ends here: so far out that no other value tells against it."""
    values = [option.values[criterion.name] for option in options]
    return _FAR * max([1.0, *(abs(end) for v in values for end in (v.value, v.low, v.high) if end is not None)])


def _is_close(
    criteria: Sequence[Criterion], options: Sequence[Option], weights: Mapping[str, float], winner: str
) -> bool:
    """Whether some choice of values within the measured intervals makes another option win, or rules the winner out."""
    open_ends = {
        (o.name, c.name): (v.low, high)
        for c in criteria
        for beyond in [_beyond(c, options)]
        for o in options
        if (v := o.values[c.name]).low is not None and v.low < (high := beyond if v.high is None else v.high)
    }
    for ends in _corners(open_ends, criteria, options):
        left = [
            o for o in options if all(_within(c, ends.get((o.name, c.name), o.values[c.name].value)) for c in criteria)
        ]
        scaled = _scaled(criteria, left, ends)
        scores = {o.name: _score(scaled[o.name], weights, o.penalty) for o in left}
        if max(scores, key=lambda name: (scores[name], name == winner), default="") != winner:
            return True
    return False


def _corners(
    open_ends: Mapping[tuple[str, str], tuple[float, float]], criteria: Sequence[Criterion], options: Sequence[Option]
) -> Iterator[dict[tuple[str, str], float]]:
    """Choices of an end for each interval: all, or, where those are too many, each option's best against the rest."""
    if 2 ** len(open_ends) <= _MOST_CORNERS:
        for ends in itertools.product(*open_ends.values()):
            yield dict(zip(open_ends, ends, strict=True))
        return
    better = {c.name: c.better for c in criteria}
    for favoured in options:
        yield {
            (name, criterion): ends[(name == favoured.name) == (better[criterion] == "more")]
            for (name, criterion), ends in open_ends.items()
        }
