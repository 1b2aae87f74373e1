"""Support: how well the evidence carries an answer to the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from workbench.answers.extractive import CONTEXT_SHARE, Quote
from workbench.answers.numerals import numbers
from workbench.answers.terms import Term, codes, coverage, forms_of
from workbench.records.answers import Evidence
from workbench.records.retrieval import LaneResult
from workbench.text.words import fold

# Calibrated on XQuAD, English and Spanish, each question asked once with its article in the corpus and once without
# (bench/answers.py). Weights of coverage, likeness and agreement, and the τ that separates best.
WEIGHTS: Final = {"coverage": 0.35, "likeness": 0.55, "agreement": 0.10}
THRESHOLD: Final = 0.5
THRESHOLD_SETTING: Final = "support.threshold.{collection}"
"""Where a collection's calibrated τ is remembered."""

_NUMBER_ABSENT: Final = 0.7
"""Of the score, where no evidence has a number of the question: the least that makes no more abstentions wrong. For
names no share does: they are misspelt and translated too often."""

# With its article in the corpus, 1 of XQuAD's 2380 questions asks of a year where the evidence has only other years.
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_YEAR_ASKED: Final = re.compile(rf"\b(?:in|during|since|year|en|durante|desde|ano) ({_YEAR.pattern})\b(?![.,]?\d)")


@dataclass(frozen=True, slots=True)
class Support:
    """s in 0–1 with the parts it was made of, each 0–1."""

    score: float
    parts: tuple[tuple[str, float], ...]


def arithmetic(parts: Sequence[tuple[str, float]]) -> str:
    """The sum that s is: "(0.35 × 1.00 + 0.55 × 0.80 + 0.10 × 0.00) / 1.00 = 0.79"; "" of no parts."""
    summed = [(WEIGHTS[name], value) for name, value in parts if name in WEIGHTS]
    weight = sum(share for share, _ in summed)
    if not weight:
        return ""
    named = dict(parts).get("named", 1.0)
    factor = f" × {named:.2f}" if named < 1 else ""
    score = named * sum(share * value for share, value in summed) / weight
    terms = " + ".join(f"{share:.2f} × {value:.2f}" for share, value in summed)
    return f"({terms}) / {weight:.2f}{factor} = {score:.2f}"


def answer_support(
    terms: Sequence[Term],
    evidence: Sequence[Evidence],
    lanes: Sequence[LaneResult],
    quotes: Sequence[Quote],
    language: str,
    query: str = "",
) -> Support:
    """s = (0.35 · coverage + 0.55 · likeness + 0.10 · agreement) / the weights of the parts that could be measured.

    Coverage is the share of the question's idf weight in the best single piece of evidence; words that only its title
    and headings have count 0.6. Likeness is that of the unit closest to the question in meaning, 0 when unrelated and 1
    for a clear answer. Agreement is 1 when both lanes put the same chunk first. When what means the same is in another
    language than the question (the dense lane's first hit), only likeness tells.

    A code of the question ("E07") that no evidence has makes s zero, and so does a year ("in 2023") where the evidence
    speaks of other years; any other number leaves 0.7 of it: what is like it is another.

    Args:
        quotes: units of the evidence.
        language: of the question, "" when unknown.
        query: the question, for its codes and numbers.
    """
    first = {lane.lane: lane.hits[0].chunk_id if lane.hits else "" for lane in lanes if not lane.skipped}
    nearest = [piece.language for piece in evidence if piece.chunk_id == first.get("dense")]
    across = bool(language and nearest) and nearest[0] not in ("", language)
    compared = [quote.likeness for quote in quotes if quote.likeness is not None]
    parts: dict[str, float] = {}
    if not across:  # no terms are no coverage: "?" asks nothing
        parts["coverage"] = max((_covered(terms, piece) for piece in evidence), default=0.0)
    if compared:
        parts["likeness"] = min(1.0, max(0.0, *compared))
    if len(first) == 2 and not across:
        parts["agreement"] = float(first["lexical"] == first["dense"] != "")
    weight = sum(WEIGHTS[name] for name in parts)
    score = sum(WEIGHTS[name] * value for name, value in parts.items()) / weight if weight else 0.0
    named = _named(query, evidence)
    if named < 1:
        parts["named"] = named
    return Support(score * named, tuple(parts.items()))


def _named(query: str, evidence: Sequence[Evidence]) -> float:
    """1 when the evidence has every code and number of ``query``, else the share of the score that is left."""
    whole = "\n".join("\n".join((piece.title, *piece.heading, piece.text)) for piece in evidence)
    if not all(code.search(whole) for code in codes(query)) or _other_years(query, whole, evidence):
        return 0.0
    return 1.0 if numbers(query) <= numbers(whole) else _NUMBER_ABSENT


def _other_years(query: str, whole: str, evidence: Sequence[Evidence]) -> bool:
    """Whether ``query`` asks of years, and the evidence, whose words are ``whole``, has years but none of those.

    Names of sources count: what "report-2023.pdf" says is of 2023.
    """
    asked = set(_YEAR_ASKED.findall(fold(query)))
    named = "\n".join((whole, *(piece.source_id for piece in evidence)))
    known = {number for number in numbers(named) if _YEAR.fullmatch(number)}
    return bool(asked and known) and asked.isdisjoint(known)


def _covered(terms: Sequence[Term], evidence: Evidence) -> float:
    above = forms_of("\n".join((evidence.title, *evidence.heading)), evidence.language)
    return coverage(terms, forms_of(evidence.text, evidence.language), above, CONTEXT_SHARE)
