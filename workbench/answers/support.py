"""Support: how well the evidence carries an answer to the question, and a cited text the claim that cites it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from workbench.answers.terms import Term, coverage, forms_of
from workbench.records.answers import Evidence, SupportLevel
from workbench.records.retrieval import LaneHit, LaneResult
from workbench.text.language import detect
from workbench.text.sentences import sentences
from workbench.text.words import fold, is_stopword, stems, words

# Calibrated on XQuAD, English and Spanish, each question asked once with its article in the corpus and once without
# (bench/answers.py). Weights of coverage, similarity and agreement, and the τ that separates best.
WEIGHTS: Final = {"coverage": 0.45, "similarity": 0.45, "agreement": 0.10}
THRESHOLD: Final = 0.5

_E5: Final = (0.77, 0.89)  # cosines of e5 lie close together: unrelated text from 0.77 down, clear answers from 0.89 up
_OTHER: Final = (0.20, 0.70)
_ACROSS: Final = -0.035  # cosines across languages are that much lower

SUPPORTED: Final = 0.65
WEAK: Final = 0.4

_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_GROUPED: Final = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_NEGATIONS: Final = frozenset(
    """not no never none neither nor nobody nothing without cannot t nunca jamas ningun ninguna ninguno nadie nada sin
    tampoco ni""".split()
)


@dataclass(frozen=True, slots=True)
class Support:
    """s in 0–1 with the parts it was made of, each 0–1."""

    score: float
    parts: tuple[tuple[str, float], ...]


def answer_support(
    terms: Sequence[Term], evidence: Sequence[Evidence], lanes: Sequence[LaneResult], language: str, embedder: str
) -> Support:
    """s = (0.45 · coverage + 0.45 · similarity + 0.10 · agreement) / the weights of the parts that could be measured.

    Coverage is the share of the question's idf weight in the best single piece of evidence. Similarity is the best
    cosine of the dense lane, rescaled so that 0 is unrelated and 1 a clear answer. Agreement is 1 when both lanes put
    the same chunk first. When what means the same is in another language than the question, only similarity tells.

    Args:
        language: of the question, "" when unknown.
        embedder: its name, for the scale of its cosines.
    """
    ran = {lane.lane: lane.hits for lane in lanes if not lane.skipped}
    across = _across(evidence, ran.get("dense", ()), language)
    parts: dict[str, float] = {}
    if terms and not across:
        parts["coverage"] = max((coverage(terms, forms_of(e.text, e.language)) for e in evidence), default=0.0)
    if ran.get("dense"):
        parts["similarity"] = _rescaled(ran["dense"][0].score, embedder, across=across)
    if len(ran) == 2 and not across:
        first = [hits[0].chunk_id for hits in ran.values() if hits]
        parts["agreement"] = float(len(first) == 2 and first[0] == first[1])
    weight = sum(WEIGHTS[name] for name in parts)
    score = sum(WEIGHTS[name] * value for name, value in parts.items()) / weight if weight else 0.0
    return Support(score, tuple(parts.items()))


def claim_support(claim: str, cited: str, language: str = "") -> tuple[float, SupportLevel]:
    """How far ``cited`` says what ``claim`` says, without a model: 0–1, and its level.

    The mean of two shares of the claim's content words: those in the whole cited text, and those in its best sentence.
    A number that the cited text doesn't have, or a negation on one side only, vetoes: the claim is unsupported.
    A claim in another language than the cited text can't be checked by words and is at most weak.
    """
    mine = detect(claim) or language
    its = detect(cited)
    across = bool(mine and its and mine != its)
    if not numbers(claim) <= numbers(cited):
        return 0.0, "unsupported"
    if across:
        return WEAK, "weak"
    wanted = _content(claim, mine or its)
    if not wanted:
        return 0.0, "unsupported"
    start, end = best_sentence(claim, cited, its or mine)
    best = cited[start:end]
    in_best = _share(wanted, best, its or mine)
    score = (in_best + _share(wanted, cited, its or mine)) / 2
    if in_best >= 0.5 and negated(claim) != negated(best):
        return min(score, WEAK / 2), "unsupported"
    return score, "supported" if score >= SUPPORTED else "weak" if score >= WEAK else "unsupported"


def best_sentence(claim: str, text: str, language: str) -> tuple[int, int]:
    """Span of the sentence of ``text`` that shares most content words with ``claim``; the first one of equals."""
    wanted = _content(claim, language)
    spans = sentences(text)
    return max(spans, key=lambda span: _share(wanted, text[slice(*span)], language), default=(0, len(text)))


def numbers(text: str) -> frozenset[str]:
    """The numbers of ``text``, thousands ungrouped and decimals with a point: "1.190" and "1,190" are 1190."""
    found = (m[0] for m in _NUMBER.finditer(text))
    return frozenset(re.sub("[.,]", "", n) if _GROUPED.fullmatch(n) else n.replace(",", ".") for n in found)


def negated(text: str) -> bool:
    """Whether ``text`` negates something."""
    return not _NEGATIONS.isdisjoint(map(fold, words(text)))


def _content(text: str, language: str) -> frozenset[str]:
    kept = frozenset(stems(text, language))
    return kept or frozenset(fold(word) for word in words(text) if not is_stopword(word, language))


def _share(wanted: frozenset[str], text: str, language: str) -> float:
    return len(wanted & forms_of(text, language)) / len(wanted) if wanted else 0.0


def _across(evidence: Sequence[Evidence], dense: Sequence[LaneHit], language: str) -> bool:
    """Whether the dense lane's best hit is evidence in another language than the question's."""
    nearest = [piece for piece in evidence if dense and piece.chunk_id == dense[0].chunk_id]
    return bool(language and nearest) and nearest[0].language not in ("", language)


def _rescaled(cosine: float, embedder: str, *, across: bool) -> float:
    low, high = _E5 if "e5" in embedder.lower() else _OTHER
    shift = _ACROSS if across else 0.0
    return min(1.0, max(0.0, (cosine - low - shift) / (high - low)))
