"""Support: how well the evidence carries an answer to the question, and a cited text the claim that cites it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from workbench.answers.extractive import CONTEXT_SHARE, Quote
from workbench.answers.numerals import counted, misplaced, numbers, uncounted
from workbench.answers.terms import Term, codes, coverage, forms_of
from workbench.records.answers import Evidence, SupportLevel
from workbench.records.retrieval import LaneResult
from workbench.text.language import detect
from workbench.text.sentences import sentences
from workbench.text.words import fold, is_stopword, stems, words

# Calibrated on XQuAD, English and Spanish, each question asked once with its article in the corpus and once without
# (bench/answers.py). Weights of coverage, likeness and agreement, and the τ that separates best.
WEIGHTS: Final = {"coverage": 0.35, "likeness": 0.55, "agreement": 0.10}
THRESHOLD: Final = 0.5

_NUMBER_ABSENT: Final = 0.7
"""Of the score, where no evidence has a number of the question: the least that makes no more abstentions wrong. For
names no share does: they are misspelt and translated too often."""

SUPPORTED: Final = 0.65
WEAK: Final = 0.4
_DOUBTED: Final = 0.6  # at most, where a number may be said of something else

# With its article in the corpus, 1 of XQuAD's 2380 questions asks of a year where the evidence has only other years.
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_YEAR_ASKED: Final = re.compile(rf"\b(?:in|during|since|year|en|durante|desde|ano) ({_YEAR.pattern})\b(?![.,]?\d)")
_NEGATIONS: Final = frozenset(
    """not no never none neither nor nobody nothing without cannot t nunca jamas ningun ninguna ninguno nadie nada sin
    tampoco ni""".split()
)


@dataclass(frozen=True, slots=True)
class Support:
    """s in 0–1 with the parts it was made of, each 0–1."""

    score: float
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What a cited text lacks of a claim.

    Attributes:
        kind: "numbers" that it doesn't have; "misplaced" ones, that it gives of something else; "negation" on one side
            only; "language": the claim is in another one, so words can't tell; "words" that it doesn't have.
        lacking: those numbers or words; the sentence that is negated otherwise; the two languages. Empty when it has
            every word.
    """

    kind: Literal["numbers", "misplaced", "negation", "language", "words"]
    lacking: tuple[str, ...]


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


def claim_support(claim: str, cited: str, language: str = "", parts: Sequence[str] = ()) -> tuple[float, SupportLevel]:
    """How far ``cited`` says what ``claim`` says, without a model: 0–1, and its level.

    The mean of two shares of the claim's content words: those in the whole cited text, and those in its best part.
    A number that the cited text doesn't have or gives of something else (``misplaced``), or a negation on one side
    only, vetoes: the claim is unsupported. A number said of what the cited text never names is weak at most.
    A claim in another language than the cited text can't be checked by words and is at most weak.

    Args:
        parts: of ``cited``; its sentences when there are none.
    """
    mine = detect(claim) or language
    its = detect(cited)
    across = bool(mine and its and mine != its)
    if not counted(claim, mine) <= counted(cited, its or mine):
        return 0.0, "unsupported"
    if across:
        return WEAK, "weak"
    wanted = _wanted(claim, mine or its)
    if not wanted:
        return 0.0, "unsupported"
    parts = parts or [cited[start:end] for start, end in sentences(cited)]
    best = parts[best_part(claim, parts, its or mine)]
    in_best = _share(wanted, best, its or mine)
    score = (in_best + _share(wanted, cited, its or mine)) / 2
    if in_best >= 0.5 and negated(claim) != negated(best):
        return min(score, WEAK / 2), "unsupported"
    wrong, clear = misplaced(claim, parts, mine or its, its or mine)
    if clear:
        return min(score, WEAK / 2), "unsupported"
    if wrong or _of_another(claim, cited, mine or its):
        score = min(score, _DOUBTED)
    return score, "supported" if score >= SUPPORTED else "weak" if score >= WEAK else "unsupported"


def shortfall(claim: str, cited: str, language: str = "") -> Shortfall:
    """Why ``claim_support`` gives what it gives: the veto that struck, else the content words that ``cited`` lacks."""
    mine, its = detect(claim) or language, detect(cited)
    if absent := counted(claim, mine) - counted(cited, its or mine):
        return Shortfall("numbers", tuple(sorted(absent)))
    if mine and its and mine != its:
        return Shortfall("language", (mine, its))
    parts = [cited[start:end] for start, end in sentences(cited)] or [cited]
    best = parts[best_part(claim, parts, its or mine)]
    if _share(_wanted(claim, mine or its), best, its or mine) >= 0.5 and negated(claim) != negated(best):
        return Shortfall("negation", (" ".join(best.split()),))
    wrong, _ = misplaced(claim, parts, mine or its, its or mine)
    if wrong:
        return Shortfall("misplaced", wrong)
    forms = forms_of(cited, its or mine)
    lacking = (word for word in words(uncounted(claim, mine or its)) if not is_stopword(word, mine or its))
    return Shortfall("words", tuple(dict.fromkeys(w for w in lacking if not forms & _content(w, mine or its))))


def best_part(claim: str, parts: Sequence[str], language: str) -> int:
    """The place of the part that shares most content words with ``claim``, of equals most numbers; else the first."""
    wanted, given = _wanted(claim, language), counted(claim, language)
    return max(
        range(len(parts)),
        key=lambda i: (_share(wanted, parts[i], language), len(given & counted(parts[i], language))),
    )


def negated(text: str) -> bool:
    """Whether ``text`` negates something."""
    return not _NEGATIONS.isdisjoint(map(fold, words(text)))


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


def _content(text: str, language: str) -> frozenset[str]:
    kept = frozenset(stems(text, language))
    return kept or frozenset(fold(word) for word in words(text) if not is_stopword(word, language))


def _wanted(claim: str, language: str) -> frozenset[str]:
    """The claim's content words without its numbers, which are held against the text by themselves."""
    return _content(uncounted(claim, language), language) or _content(claim, language)


def _of_another(claim: str, cited: str, language: str) -> bool:
    """Whether ``claim`` gives numbers of what it names first, and ``cited`` never names that."""
    first = stems(uncounted(claim, language), language)[:1]
    return bool(counted(claim, language) and first) and first[0] not in forms_of(cited, language)


def _share(wanted: frozenset[str], text: str, language: str) -> float:
    return len(wanted & forms_of(text, language)) / len(wanted) if wanted else 0.0


def _covered(terms: Sequence[Term], evidence: Evidence) -> float:
    above = forms_of("\n".join((evidence.title, *evidence.heading)), evidence.language)
    return coverage(terms, forms_of(evidence.text, evidence.language), above, CONTEXT_SHARE)
