"""The question's content words, weighted by how rare they are, and which of them a text covers."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from workbench.records.retrieval import Analysis
from workbench.retrieval.analysis import LANGUAGES
from workbench.text.words import cjk_pairs, fold, stem, stems, words

_CODE: Final = re.compile(r"\b(?:([A-Z]+)-|([^\W\d_]+))(\d\w*)\b")


@dataclass(frozen=True, slots=True)
class Term:
    """A content word of the question.

    Attributes:
        word: as written.
        forms: folded word and stems; a text that has one of them covers the term.
        weight: idf, from 0.
    """

    word: str
    forms: frozenset[str]
    weight: float


def question_terms(analysis: Analysis, frequency: Mapping[str, int], total: int) -> tuple[Term, ...]:
    """The kept words of ``analysis`` with their inverse document frequency.

    idf(t) = ln(1 + (N − n(t) + 0.5)/(n(t) + 0.5)), as BM25 has it, never negative (Robertson and Zaragoza 2009).

    Args:
        frequency: chunks that hold each stem, as ``SearchRepository.document_frequency`` gives them.
        total: N, chunks of the index.
    """
    kept = set(analysis.terms)
    by_form: dict[str, Term] = {}
    for word in words(unicodedata.normalize("NFC", analysis.query)):
        folded = word.lower() if cjk_pairs(word) else fold(word)
        if folded not in kept or folded in by_form:
            continue
        asked = [analysis.language] if analysis.language else LANGUAGES
        forms = frozenset({folded, *cjk_pairs(word), *(stem(word, language) for language in asked)})
        n = min(total, max((frequency.get(form, 0) for form in forms), default=0))
        by_form[folded] = Term(word, forms, math.log(1 + (total - n + 0.5) / (n + 0.5)))
    return tuple(by_form.values())


def codes(question: str) -> tuple[re.Pattern[str], ...]:
    """What finds each code of ``question`` in a text: "E07", "mp3", "SKU-2204", also as "e07", "E-07", "E 07".

    Ordinals and decades ("15th", "80s") are none, since they begin with a digit.
    """
    return tuple(
        re.compile(rf"\b{letters or joined}[-\s]?{digits}\b", re.IGNORECASE)
        for letters, joined, digits in _CODE.findall(question)
    )


def forms_of(text: str, language: str) -> frozenset[str]:
    """Every form that words of ``text`` can be met by: folded words, and stems in its language."""
    return frozenset(map(fold, words(text))) | frozenset(stems(text, language))


def coverage(
    terms: Sequence[Term], forms: frozenset[str], near: frozenset[str] = frozenset(), share: float = 0.0
) -> float:
    """Share of the terms' weight that ``forms`` cover, 0–1; a term that only ``near`` covers counts ``share``."""
    whole = sum(term.weight for term in terms)
    if not whole:
        return 0.0
    covered = sum(term.weight * (1.0 if term.forms & forms else share if term.forms & near else 0.0) for term in terms)
    return covered / whole
