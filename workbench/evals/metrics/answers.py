"""Metrics of the context and of the answer: what was delivered, supported, cited, right, or rightly left unanswered."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

ARTICLES: Final = {
    "en": frozenset({"a", "an", "the"}),
    "es": frozenset({"el", "la", "los", "las", "un", "una", "unos", "unas"}),
}
_ABSTENTIONS: Final = frozenset({"no_result", "filtered_out", "low_support", "empty_corpus"})
_SPOKEN: Final = frozenset({"answered", "unsupported"})
_BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)[^\w\s](?=\d)")
_POSSESSIVE: Final = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_HYPHEN: Final = re.compile(r"[-\u2010-\u2015]")  # and dashes of every width


def context_precision(useful: int, delivered: int) -> float | None:
    """Useful chunks in the context / chunks in the context. None for an empty context.

    The operational form of what RAGAS names so (Es et al., arXiv 2309.15217); RAGAS itself weights by rank.
    """
    return _share(useful, delivered)


def context_recall(present: int, expected: int) -> float | None:
    """Expected evidence that reached the context / expected evidence. None when none is expected (RAGAS, as above)."""
    return _share(present, expected)


def groundedness(supported: int, claims: int) -> float | None:
    """Claims that the context supports / claims (faithfulness in RAGAS). None for an answer that claims nothing.

    It doesn't say that the answer is right: see ``answer_correctness``.
    """
    return _share(supported, claims)


def answer_relevance(relevant: int, claims: int) -> float | None:
    """Claims that concern the question / claims (RAGAS asks a model for answer relevancy). None without claims."""
    return _share(relevant, claims)


def citation_precision(valid: int, used: int) -> float | None:
    """Citations that point to real, supporting evidence / citations used. None when none was used.

    An answer without citations shows in ``citation_recall``, as 0.
    """
    return _share(valid, used)


def citation_recall(cited: int, needed: int) -> float | None:
    """Needed evidence that was cited / needed evidence. None when none is needed."""
    return _share(cited, needed)


def normalise(text: str, language: str = "") -> str:
    """Text as EM and F1 compare it: SQuAD's rules (Rajpurkar et al. 2016), in English and Spanish as MLQA's.

    Lower case; composed (NFC); punctuation and symbols removed, except between digits, so that 3.5 is not 35; articles
    of ``language`` removed (of both languages when it is neither "en" nor "es"); runs of spaces become one.
    **Accents are kept**: "año" is not "ano".
    """
    lowered = unicodedata.normalize("NFC", text).lower()
    kept = {match.start() for match in _BETWEEN_DIGITS.finditer(lowered)}
    bare = "".join(c for i, c in enumerate(lowered) if i in kept or unicodedata.category(c)[0] not in "PS")
    articles = ARTICLES.get(language) or frozenset().union(*ARTICLES.values())
    return " ".join(word for word in bare.split() if word not in articles)


def exact_match(answer: str, golds: Sequence[str], language: str = "") -> float | None:
    """EM: 1 when the normalised answer equals any normalised gold answer, else 0. None without a gold answer."""
    said = normalise(answer, language)
    return float(any(said == normalise(gold, language) for gold in golds)) if golds else None


def token_f1(answer: str, golds: Sequence[str], language: str = "") -> float | None:
    """Token F1, the best over the gold answers: the harmonic mean of the shares of tokens in common (SQuAD).

    1 when both are empty once normalised, 0 when only one is. None without a gold answer.
    """
    said = normalise(answer, language).split()
    return max((_f1(said, normalise(gold, language).split()) for gold in golds), default=None)


def answer_correctness(answer: str, golds: Sequence[str], language: str = "") -> float | None:
    """Whether the answer is right, compared with gold answers and never with the context: best over them, 0–1.

    1 when a gold answer's words stand in the answer, in order and together (inclusion, as Mallen et al., ACL 2023,
    score sentences against short answers); else the token F1. The words are those of ``normalise``, where "six-time" is
    one word and "Manning's" another than "Manning"; or those of both texts taken apart at hyphens and dashes and
    without the possessive "'s", whichever agrees better. EM and F1 know only the former, and stay SQuAD's.

    Without a judge it can't see a negation: "not until May" includes "May". None without a gold answer.
    """
    return max(
        (
            _correct(normalise(form(answer), language).split(), normalise(form(gold), language).split())
            for gold in golds
            for form in (str, _apart)
        ),
        default=None,
    )


def abstained(outcome: str) -> bool | None:
    """Whether an answer's outcome is an abstention; None when it is neither (the engine failed, or was stopped)."""
    if outcome in _SPOKEN:
        return False
    return True if outcome in _ABSTENTIONS else None


def abstention_scores(*, answerable: bool, outcome: str) -> dict[str, float]:
    """The matrix of abstention for one case, by names in ``METRICS``; each metric is the mean of these over its cases.

    - coverage: answered / all questions.
    - correct_abstention: abstained / questions that can't be answered.
    - unsupported_answer: answered / questions that can't be answered: what was said can't have support.
    - needless_abstention: abstained / questions that can be answered.

    Where the engine failed there was no decision: the question counts as not covered, and nowhere else. The rule of
    rejection is Chow's (IEEE Trans. Information Theory, 1970).
    """
    silent = abstained(outcome)
    if silent is None:
        return {"coverage": 0.0}
    scores = {"coverage": float(not silent)}
    if answerable:
        return scores | {"needless_abstention": float(silent)}
    return scores | {"correct_abstention": float(silent), "unsupported_answer": float(not silent)}


def _share(part: int, whole: int) -> float | None:
    if not 0 <= part <= whole:
        raise ValueError(f"{part} of {whole} is no share")
    return part / whole if whole else None


def _f1(said: Sequence[str], gold: Sequence[str]) -> float:
    if not said or not gold:
        return float(said == gold)
    common = (Counter(said) & Counter(gold)).total()
    return 2 * common / (len(said) + len(gold))


def _apart(text: str) -> str:
    return _HYPHEN.sub(" ", _POSSESSIVE.sub("", text))


def _correct(said: list[str], gold: list[str]) -> float:
    included = bool(gold) and any(said[i : i + len(gold)] == gold for i in range(len(said) - len(gold) + 1))
    return 1.0 if included else _f1(said, gold)
