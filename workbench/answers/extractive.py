"""The extractive answer: the units of the evidence that best answer the question, word for word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from workbench.answers.expected import expected
from workbench.answers.meaning import Meaning
from workbench.answers.terms import Term, codes, coverage, forms_of
from workbench.answers.units import Unit
from workbench.records.answers import Evidence
from workbench.records.retrieval import Analysis
from workbench.text.language import detect
from workbench.text.words import fold

MAX_QUOTES: Final = 3
COMPARED: Final = 24
"""Units compared by meaning at most: short texts embed at about 150 a second."""

# Chosen on XQuAD, English and Spanish; bench/answers.py then finds the known answer in the first sentence for 84 % and
# 82 % of the questions, and in the 1.8 sentences quoted on average for 96 % and 92 %.
CONTEXT_SHARE: Final = 0.6
"""What a question's word counts that only stands in the context: title, headings, the sentences before."""
_MEANING: Final = 0.45  # weight of the likeness
_EXPECTED: Final = 0.1  # for a number after "how many", a date after "when"
_RANK: Final = 0.05  # weight of 1/rank of the evidence
_UNKNOWN: Final = 0.5  # coverage of a unit in another language, until its likeness is known,
_FOREIGN: Final = 0.6  # and the share of that likeness that then stands in for it
_ENOUGH: Final = 0.7  # of the best unit's lead over the worst: a further unit must reach it
_FRESH: Final = 0.5  # for the question's words that no unit so far has
_REDUNDANT: Final = 0.8

UnitsOf: TypeAlias = Callable[[Evidence], Sequence[Unit]]
"""The units of a piece of evidence."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A unit of the evidence and how well it answers.

    Attributes:
        across: it is in another language than the question, so that words can't tell.
        likeness: of its meaning to the question's, None when it wasn't compared.
    """

    evidence: Evidence
    unit: Unit
    score: float
    forms: frozenset[str]
    across: bool
    likeness: float | None = None


def ranked(
    analysis: Analysis,
    terms: Sequence[Term],
    evidence: Sequence[Evidence],
    units_of: UnitsOf,
    meaning: Meaning | None = None,
) -> tuple[Quote, ...]:
    """The ``COMPARED`` best units of the evidence, the one that answers best first.

    score = coverage of the question's terms (those that only the unit's context has count 0.6) + 0.45 · likeness
    + 0.1 for a unit that has the number or date asked for + 0.05 / rank of its evidence. In another language than the
    question's, 0.6 · likeness (0 to 1) stands in for coverage.
    """
    found = [
        quote
        for rank, piece in enumerate(evidence, 1)
        for quote in _scored(analysis, terms, piece, units_of(piece), _RANK / rank)
    ]
    found = sorted(found, key=lambda quote: -quote.score)[:COMPARED]
    if meaning is not None and found:
        likeness = meaning.likeness([_compared(q.unit, q.evidence, terms) for q in found], [q.across for q in found])
        found = [_with_meaning(quote, close) for quote, close in zip(found, likeness, strict=True)]
        found.sort(key=lambda quote: -quote.score)
    return tuple(found)


def chosen(terms: Sequence[Term], found: Sequence[Quote], query: str = "") -> tuple[Quote, ...]:
    """One to ``MAX_QUOTES`` of the ``ranked`` units: the best, and those nearly as good that say something else.

    Among these, words of the question that no unit so far has count 0.5 of their weight more. Where units have the
    codes of ``query`` ("E07") in their text or heading, the others are left out: they speak of another one.
    """
    asked, worst = codes(query), min((quote.score for quote in found), default=0.0)
    found = [q for q in found if all(code.search(f"{q.unit.heading}\n{q.unit.shown}") for code in asked)] or found
    kept = list(found[:1])
    enough = worst + _ENOUGH * (found[0].score - worst) if found else 0.0
    left = [quote for quote in found[1:] if quote.score >= enough]
    while left and len(kept) < MAX_QUOTES:
        said = frozenset[str]().union(*(quote.forms for quote in kept))
        fresh = tuple(term if not term.forms & said else replace(term, forms=frozenset()) for term in terms)
        gains = [quote.score + _FRESH * coverage(fresh, quote.forms) for quote in left]
        following = left.pop(gains.index(max(gains)))
        if all(len(following.forms & other.forms) < _REDUNDANT * len(following.forms) for other in kept):
            kept.append(following)
    return tuple(kept)


def _scored(
    analysis: Analysis, terms: Sequence[Term], evidence: Evidence, units: Sequence[Unit], prior: float
) -> Iterator[Quote]:
    wanted = expected(analysis.query)
    for unit in units:
        across = bool(analysis.language) and (detect(unit.text) or evidence.language) not in ("", analysis.language)
        forms = forms_of(unit.shown, evidence.language)
        context = forms_of(unit.context, evidence.language)
        score = _UNKNOWN if across else coverage(terms, forms, context, CONTEXT_SHARE)
        if wanted and wanted.search(fold(unit.text)):
            score += _EXPECTED
        yield Quote(evidence, unit, score + prior, forms, across)


def _compared(unit: Unit, evidence: Evidence, terms: Sequence[Term]) -> str:
    """The unit as its meaning is compared: under its heading when that has a word of the question."""
    asked = bool(unit.heading) and coverage(terms, forms_of(unit.heading, evidence.language)) > 0
    return f"{unit.heading}\n{unit.shown}" if asked else unit.shown


def _with_meaning(quote: Quote, likeness: float) -> Quote:
    score = quote.score + _MEANING * likeness
    if quote.across:
        score += _FOREIGN * min(1.0, max(0.0, likeness)) - _UNKNOWN
    return replace(quote, score=score, likeness=likeness)
