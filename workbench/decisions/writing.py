"""A sheet as a person types it, and back: criteria a line each, then options a line each.

``quality 2 more >= 0.7`` is a criterion of weight 2, of which more is better and which must reach 0.7; ``worst 0`` and
``best 1`` say which values count as 0 and 1, ``unit s`` what they are counted in. ``B: quality=0.75 price=2 -0.1`` is
an option with its values and a penalty. A value may be a link to a measurement.
Names with spaces are quoted, as in a shell. Lines that begin with # are passed over.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, cast

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.decisions import Criterion, Flip, Option, Scored, Sheet, Value, Verdict
from workbench.usage.words import near

Measured = Callable[[str], Value]

_OPTION: Final = re.compile(r"""^(?P<name>"[^"]*"|[^:=]+?)\s*:\s(?P<rest>.*)$|^(?P<bare>"[^"]*"|[^:=]+?)\s*:$""")

_ENDS: Final = (">=", "<=", "best", "worst")


def read_sheet(title: str, text: str, measured: Measured, before: Sheet | None = None) -> Sheet:
    """The sheet that ``text`` describes.

    Args:
        measured: the value that a link names; it may raise.
        before: the sheet as it was: values that stay the same keep their intervals and evidence.

    Raises:
        UsageError: a line can't be understood, or names again what is there; it is named.
    """
    criteria: dict[str, Criterion] = {}
    options: dict[str, Option] = {}
    known = {option.name: option.values for option in before.options} if before else {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            if found := _OPTION.match(line.strip()):
                name = (found["name"] or found["bare"]).strip('"')
                options[_once(name, options)] = _option(name, found["rest"] or "", measured, known.get(name, {}))
            else:
                criterion = _criterion(line)
                criteria[_once(criterion.name, criteria)] = criterion
        except ValueError as error:
            raise UsageError(
                tr("A line can't be read"),
                tr("Line {number}: {line}", number=number, line=line.strip()),
                tr("A criterion: quality 2 more >= 0.7. An option: B: quality=0.75 price=2"),
            ) from error
    return Sheet(title, tuple(criteria.values()), tuple(options.values()))


def _once(name: str, there: Mapping[str, object]) -> str:
    if name in there:
        raise ValueError(name)
    return name


def _criterion(line: str) -> Criterion:
    name, weight, *rest = shlex.split(line)
    better: Literal["more", "less"] = "more"
    unit = ""
    ends: dict[str, float] = {}
    words = iter(rest)
    for word in words:
        if word in ("more", "less"):
            better = cast(Literal["more", "less"], word)
        elif word in _ENDS:
            ends[word] = float(next(words, ""))
        elif word == "unit" and (told := next(words, "")):
            unit = told
        else:
            raise ValueError(word)
    if not all(map(math.isfinite, ends.values())):
        raise ValueError(line)
    return Criterion(name, float(weight), better, unit, *map(ends.get, _ENDS))


def _option(name: str, rest: str, measured: Measured, before: Mapping[str, Value]) -> Option:
    values: dict[str, Value] = {}
    penalty = 0.0
    for part in shlex.split(rest):
        key, equals, value = part.partition("=")
        if not equals:
            penalty = -float(part)
        elif ":" in value:
            values[key] = measured(value)
        else:
            kept = before.get(key)
            values[key] = kept if kept and value == _exact(kept.value) else Value(float(value))
    if penalty < 0:
        raise ValueError(rest)
    return Option(name, values, penalty)


def read_pairs(text: str) -> dict[str, float]:
    """Numbers by name, as "approve=0.6, deny=0.4". Raises UsageError for what isn't NAME=NUMBER."""
    found = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            found[name.strip()] = math.nan
        if not name.strip() or not math.isfinite(found[name.strip()]):
            raise UsageError(
                tr("Not a value"), tr("“{text}” isn't NAME=NUMBER.", text=part.strip()), tr("E.g. quality=0.8")
            )
    return found


def value_words(value: Value) -> str:
    """A value as it is told, with its interval where it has one: "0.859 [0.81, 0.9]", "397 [387, ∞)", "≈ 0.02 EUR"."""
    unit = f" {value.unit}" if value.unit else ""
    if value.low is None:
        return near(value.estimated) + _rounded(value.value) + unit
    high = "∞)" if value.high is None else f"{_rounded(value.high)}]"
    return f"{near(value.estimated)}{_rounded(value.value)} [{_rounded(value.low)}, {high}{unit}"


def _rounded(value: float) -> str:
    """Three digits that say something; from 100 on one decimal."""
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.1f}".removesuffix(".0")


def evidence_of(sheet: Sheet) -> tuple[str, ...]:
    """A sentence for each value that comes from somewhere: option, criterion, value with interval, and where from."""
    return tuple(
        f"{option.name} · {name} {value_words(value)} ({value.evidence})"
        for option in sheet.options
        for name, value in option.values.items()
        if value.evidence
    )


def criteria_of(sheet: Sheet) -> tuple[str, ...]:
    """A sentence for each criterion: its weight of weights that add up to 1, which values are better, its bounds."""
    total = math.fsum(criterion.weight for criterion in sheet.criteria)
    return tuple(_criterion_words(criterion, criterion.weight / total) for criterion in sheet.criteria)


def _criterion_words(criterion: Criterion, weight: float) -> str:
    better = tr("more is better") if criterion.better == "more" else tr("less is better")
    bounds = [("≥", criterion.least), ("≤", criterion.most), ("0 =", criterion.worst), ("1 =", criterion.best)]
    told = [f"{sign} {_exact(value)}" for sign, value in bounds if value is not None]
    unit = f" ({criterion.unit})" if criterion.unit else ""
    return " · ".join([f"{criterion.name}{unit}: {tr('weight {weight}', weight=f'{weight:.2f}')}", better, *told])


def option_words(scored: Scored) -> str:
    """A judged option in a sentence: its score, or why it is out, whether it is on the front, and all its values."""
    option = scored.option
    values = ", ".join(f"{name} {value_words(value)}" for name, value in option.values.items())
    penalty = [f"− {option.penalty:g}"] if option.penalty else []
    front = ["Pareto"] if scored.on_front else []
    by = [tr("dominated by {names}", names=", ".join(scored.dominated_by))] if scored.dominated_by else []
    return f"{option.name}: " + " · ".join([scored.out or f"{scored.score:.3f}", *front, *by, values, *penalty])


def firmness(verdict: Verdict) -> tuple[str, ...]:
    """How firm the first place is, a sentence each: weights at which another option wins, intervals that overlap."""
    flips = verdict.flips if len(verdict.flips) > 1 else ()  # the weight of a criterion alone is 1
    moved = [_flip_words(flip) for flip in flips if flip.down_to or flip.up_to]
    if flips and not moved:
        moved = [tr("No weight alone changes the first place.")]
    moved += _across(verdict)
    if verdict.close:
        moved.append(tr("The measured intervals alone can change the first place: measure more before you choose."))
    unbounded = [
        f"{scored.option.name} · {name}"
        for scored in verdict.ranking
        for name, value in scored.option.values.items()
        if value.unbounded and not scored.out
    ]
    if unbounded:
        moved.append(tr("Measured too few times to have an upper bound: {names}.", names=", ".join(unbounded)))
    return (*moved, *_taken_as(verdict))


def _across(verdict: Verdict) -> Iterator[str]:
    """Options of which an interval crosses a bound: those that may be out, and those that may be in."""
    for scored in verdict.ranking:
        values = scored.option.values
        named = ", ".join(f"{name} {value_words(values[name])}" for name in scored.crosses)
        if named and scored.out:
            yield tr("{option} may meet the bound after all: {values}.", option=scored.option.name, values=named)
        elif named:
            yield tr("{option} may miss the bound: {values}.", option=scored.option.name, values=named)


def _taken_as(verdict: Verdict) -> Iterator[str]:
    """Criteria of which some values are amounts of a currency, and others numbers that a person typed."""
    units: dict[str, set[str]] = {}
    for scored in verdict.ranking:
        for name, value in scored.option.values.items():
            units.setdefault(name, set()).add(value.unit)
    for name, found in units.items():
        if "" in found and len(found) > 1:
            yield tr("{name}: typed values are taken as {unit}.", name=name, unit=max(found))


def _flip_words(flip: Flip) -> str:
    down = "" if flip.down is None else f"  ↓ {flip.down:.2f} {flip.down_to}"
    up = "" if flip.up is None else f"  ↑ {flip.up:.2f} {flip.up_to}"
    return tr("weight of {name} {weight}", name=flip.criterion, weight=f"{flip.weight:.2f}") + down + up


def write_sheet(sheet: Sheet) -> str:
    """The sheet as ``read_sheet`` reads it."""
    return "\n".join([*map(_criterion_line, sheet.criteria), "", *map(_option_line, sheet.options)])


def _criterion_line(criterion: Criterion) -> str:
    ends = zip(_ENDS, (criterion.least, criterion.most, criterion.best, criterion.worst), strict=True)
    told = [f"{word} {_exact(value)}" for word, value in ends if value is not None]
    unit = ["unit", shlex.quote(criterion.unit)] if criterion.unit else []
    return " ".join([_quoted(criterion.name), _exact(criterion.weight), criterion.better, *told, *unit])


def _option_line(option: Option) -> str:
    penalty = [_exact(-option.penalty)] if option.penalty else []
    return " ".join([f"{_quoted(option.name, ':=')}:", *_values(option), *penalty])


def _exact(value: float) -> str:
    """The shortest text that is read as the same number."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value).removesuffix(".0")


def _values(option: Option) -> Iterator[str]:
    for name, value in option.values.items():
        link = re.search(r"[\s'\"\\]", value.evidence) and shlex.quote(value.evidence)
        yield f"{shlex.quote(name)}={(link or value.evidence) if ':' in value.evidence else _exact(value.value)}"


def _quoted(name: str, marks: str = "") -> str:
    return f'"{name}"' if re.search(r"[\s#" + re.escape(marks) + "]", name) else name
