"""The extractive answer: the sentences of the evidence that best answer the question, word for word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from workbench.answers.terms import Term, coverage, forms_of
from workbench.records.answers import Evidence
from workbench.text.sentences import sentences

MAX_QUOTES: Final = 3
COMPARED: Final = 12
"""Sentences compared by meaning at most: short texts embed at about 150 a second."""

# Chosen on XQuAD, English and Spanish; bench/answers.py then finds the known answer in the first sentence for 83 % and
# 82 % of the questions, and in the 1.6 sentences quoted on average for 94 % and 92 %.
_BEFORE: Final = 2  # sentences before, whose words count in part: "It", "the company" stand for what they name
_BEFORE_SHARE: Final = 0.6
_MEANING: Final = 4.0  # weight of the cosine, whose range within one evidence is narrow
_RANK: Final = 0.2  # weight of 1/rank of the evidence
_ENOUGH: Final = 0.7  # of the best sentence's lead over the worst: a further sentence must reach it
_REDUNDANT: Final = 0.8

Similarity: TypeAlias = Callable[[Sequence[str]], Sequence[float]]
"""Cosine of each text with the question."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of the evidence: ``text`` is exactly ``source_text[start:end]``."""

    evidence: Evidence
    start: int
    end: int
    text: str
    score: float
    forms: frozenset[str]


def extract(
    terms: Sequence[Term], evidence: Sequence[Evidence], similarity: Similarity | None = None
) -> tuple[Quote, ...]:
    """One to ``MAX_QUOTES`` sentences, the one that answers best first; none without evidence.

    score = coverage of the question's terms (words that only the two sentences before hold count 0.6)
    + 0.2 / rank of the evidence + 4 · cosine with the question, when ``similarity`` is given.
    """
    found = [quote for rank, piece in enumerate(evidence, 1) for quote in _scored(terms, piece, rank)]
    found = sorted(found, key=lambda quote: -quote.score)[:COMPARED]
    if similarity is not None and found:
        cosines = similarity([quote.text for quote in found])
        found = [replace(q, score=q.score + _MEANING * cosine) for q, cosine in zip(found, cosines, strict=True)]
        found.sort(key=lambda quote: -quote.score)
    return _chosen(found)


def _scored(terms: Sequence[Term], evidence: Evidence, rank: int) -> Iterator[Quote]:
    body = evidence.body
    spans = sentences(body)
    forms = [forms_of(body[start:end], evidence.language) for start, end in spans]
    for i, (start, end) in enumerate(spans):
        before = frozenset[str]().union(*forms[max(0, i - _BEFORE) : i])
        score = coverage(terms, forms[i], before, _BEFORE_SHARE) + _RANK / rank
        yield Quote(evidence, evidence.start + start, evidence.start + end, body[start:end], score, forms[i])


def _chosen(found: Sequence[Quote]) -> tuple[Quote, ...]:
    chosen: list[Quote] = []
    for quote in found:
        best, worst = found[0].score, found[-1].score
        if len(chosen) == MAX_QUOTES or quote.score - worst < _ENOUGH * (best - worst):
            break
        if all(len(quote.forms & kept.forms) < _REDUNDANT * len(quote.forms) for kept in chosen):
            chosen.append(quote)
    return tuple(chosen)
