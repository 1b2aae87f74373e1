"""The claim check: how far a cited text says what a claim says, without a language model.

Content words and numbers tell, and the embedder's vectors beside them. A number that the text hasn't got or gives of
something else, and a negation on one side only, are vetoes that no likeness outweighs.

Calibrated on XQuAD (``python -m bench.claims``): a claim is a question with its answer, held against the sentence that
says it and against another sentence of the same article; across languages also that sentence's translation. Of the
questions that chose no figure (``2 1``, n = 537):

==========================  =====================  ===========================  =====
claim → sentence            supported right/wrong  at least weak, right/wrong   AUC
==========================  =====================  ===========================  =====
question+answer, en → en    .547 / .000            .853 / .015                  .964
question+answer, es → es    .520 / .002            .831 / .030                  .951
question+answer, es → en    .503 / .006            .708 / .024                  .950
translation, es → en        .914 / .002            .929 / .019                  .986
==========================  =====================  ===========================  =====

By words alone .000–.002 of the wrong ones came out supported in one language, and none across,
where .94–.96 of the right and .61–.64 of the wrong ones came out weak. With the answer of another question about the
same paragraph instead, .44 (en) and .46 (es) still come out supported: such a claim is made of its source's words, and
only numbers are held to what they are said of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from workbench.answers.meaning import Meaning
from workbench.answers.numerals import counted, misplaced, uncounted
from workbench.answers.terms import forms_of
from workbench.records.answers import SupportLevel
from workbench.text.language import detect
from workbench.text.sentences import sentences
from workbench.text.words import fold, is_stopword, stems, words

SUPPORTED: Final = 0.65
WEAK: Final = 0.4
DOUBTED: Final = 0.6
"""The support at most of what a number may be said of something else in, or of what is an order and no statement."""
_WORDS: Final = 0.7  # weight of the words; the rest is that of the meaning
_COMPARED: Final = 24  # parts in another language that are compared with a claim, at most
_NEGATING: Final = frozenset({"en", "es"})
_NEGATIONS: Final = frozenset(
    """not no never none neither nor nobody nothing without cannot t nunca jamas ningun ninguna ninguno nadie nada sin
    tampoco ni""".split()
)


class ClaimSupport(NamedTuple):
    """How far a text says a claim, 0–1.

    Attributes:
        part: the place of the part of the text that says it best.
        likeness: of that part's meaning to the claim's, 0–1; None where it wasn't compared.
    """

    score: float
    level: SupportLevel
    part: int
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What a cited text lacks of a claim.

    Attributes:
        kind: "numbers" that it doesn't have; "misplaced" ones, that it gives of something else; "negation" on one side
            only; "language": the claim is in another one, and its meaning isn't close enough, or wasn't compared;
            "words" that it doesn't have.
        lacking: those numbers or words; the sentence that is negated otherwise; the two languages. Empty when it has
            every word.
    """

    kind: Literal["numbers", "misplaced", "negation", "language", "words"]
    lacking: tuple[str, ...]


def claim_support(
    claim: str, cited: str, language: str = "", parts: Sequence[str] = (), meaning: Meaning | None = None
) -> ClaimSupport:
    """How far ``cited`` says what ``claim`` says.

    0.7 of the mean of two shares of the claim's content words, those in the whole cited text and those in its best
    part, and 0.3 of the best part's closeness in meaning; the words alone where no embedder can tell. A number that the
    cited text doesn't have or gives of something else (``misplaced``), or a negation on one side only, vetoes: the
    claim is unsupported. A number said of what the cited text never names is weak at most.

    Of a claim in another language than the cited text, only meaning tells (``_across``).

    Args:
        parts: of ``cited``; its sentences when there are none.
    """
    mine, its = detect(claim) or language, detect(cited)
    parts = parts or [cited[start:end] for start, end in sentences(cited)] or [cited]
    part = best_part(claim, parts, its or mine)
    if not counted(claim, mine) <= counted(cited, its or mine):
        return ClaimSupport(0.0, "unsupported", part)
    if mine and its and mine != its:
        return _across(claim, parts, (mine, its), meaning) or ClaimSupport(WEAK, "weak", part)
    wanted = _wanted(claim, mine or its)
    if not wanted:
        return ClaimSupport(0.0, "unsupported", part)
    in_best = _share(wanted, parts[part], its or mine)
    score = (in_best + _share(wanted, cited, its or mine)) / 2
    likeness = next(iter(meaning.closeness(claim, [parts[part]]) if meaning else ()), None)
    wrong, clear = misplaced(claim, parts, mine or its, its or mine)
    if clear or (in_best >= 0.5 and negated(claim) != negated(parts[part])):
        return ClaimSupport(min(score, WEAK / 2), "unsupported", part, likeness)
    if likeness is not None:
        score = _WORDS * score + (1 - _WORDS) * likeness
    if wrong or _of_another(claim, cited, mine or its):
        score = min(score, DOUBTED)
    return ClaimSupport(score, _level(score), part, likeness)


def shortfall(claim: str, cited: str, language: str = "", quote: str = "") -> Shortfall:
    """Why ``claim_support`` gives what it gives: the veto that struck, else the content words that ``cited`` lacks.

    Args:
        quote: the part of ``cited`` that was found to say the claim best; needed across languages.
    """
    mine, its = detect(claim) or language, detect(cited)
    if absent := counted(claim, mine) - counted(cited, its or mine):
        return Shortfall("numbers", tuple(sorted(absent)))
    if mine and its and mine != its:
        if {mine, its} <= _NEGATING and quote and negated(claim) != negated(quote):
            return Shortfall("negation", (" ".join(quote.split()),))
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


def _across(
    claim: str, parts: Sequence[str], languages: tuple[str, str], meaning: Meaning | None
) -> ClaimSupport | None:
    """The support of the part closest in meaning to a claim in another language; None where no embedder can tell.

    Weak at most where that part hasn't got the claim's numbers, or where nothing is known of how a language negates.
    """
    close = meaning.closeness(claim, parts[:_COMPARED], across=True) if meaning else ()
    if not close:
        return None
    mine, its = languages
    score = max(close)
    part = close.index(score)
    readable = _NEGATING.issuperset(languages)
    if score >= WEAK and readable and negated(claim) != negated(parts[part]):
        return ClaimSupport(WEAK / 2, "unsupported", part, score)
    capped = score if readable and counted(claim, mine) <= counted(parts[part], its) else min(score, DOUBTED)
    return ClaimSupport(capped, _level(capped), part, score)


def _level(score: float) -> SupportLevel:
    return "supported" if score >= SUPPORTED else "weak" if score >= WEAK else "unsupported"


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
