"""Answers that say why there is none: each outcome with its own sentence and its own remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from workbench.answers.expected import is_asking
from workbench.answers.numerals import counted
from workbench.answers.prompt import answer_language
from workbench.answers.support import Support
from workbench.answers.terms import Term, coverage, forms_of
from workbench.i18n import tr
from workbench.queries.retrying import Rewrite
from workbench.records.answers import Answer, AnswerMode, Evidence, Generation, Outcome
from workbench.records.queries import EvidenceCheck
from workbench.records.retrieval import Correction
from workbench.text.words import fold, is_stopword, words

_NAMED_MOST: Final = 5

_SENTENCES: Final[dict[Outcome, tuple[str, str]]] = {
    "empty_corpus": (
        "There are no documents to answer from in “{collection}” yet.",
        "Ingest some: workbench ingest PATH --collection {collection}",
    ),
    "filtered_out": (
        "None of the {total} chunks of “{collection}” passes the filters, so there is nothing to answer from.",
        "Loosen the filter: {filter}",
    ),
    "no_result": (
        "Nothing in “{collection}” matches the question; {matching} of {total} chunks were searched.",
        "Ask in other words, or ingest a source that speaks of it.",
    ),
    "low_support": (
        "The sources that were found don't answer this: their support is {support}, and {threshold} is needed.",
        "Ingest a source that says it, or ask in the words that your sources use.",
    ),
    "does_not_fit": ("{problem}", "{remedy}"),
    "engine_gone": ("{problem}", "{remedy}"),
    "cancelled": ("The question was stopped before there was an answer.", "Ask it again to start over."),
}


def abstention(
    outcome: Outcome, language: str, mode: AnswerMode, threshold: float, named: Mapping[str, object]
) -> Answer:
    """The answer for ``outcome``, in the language of answers to a question in ``language``.

    Args:
        named: what the outcome's sentences name: collection, total, matching, filter, problem, remedy, support.
    """
    spoken = answer_language(language)
    text, remedy = (tr(sentence, spoken, threshold=f"{threshold:.2f}", **named) for sentence in _SENTENCES[outcome])
    return Answer(outcome, mode, text, (), (), 0.0, threshold, spoken, remedy=remedy)


def unsupported(
    terms: Sequence[Term],
    evidence: Sequence[Evidence],
    language: str,
    mode: AnswerMode,
    support: Support,
    tau: float,
    kept_out: int = 0,
    spelt: Sequence[Correction] = (),
) -> Answer:
    """The abstention for low support, or of a model that found no answer; names the words that no evidence covers.

    Args:
        evidence: best first.
        kept_out: chunks that a filter of the question kept from being searched.
        spelt: words of the question that no chunk holds, with one that is spelt nearly so.
    """
    answer = abstention("low_support", language, mode, tau, {"support": f"{support.score:.2f}"})
    if support.score >= tau:
        answer = replace(answer, text=tr("The model found no answer to this in the sources.", answer.language))
    missing = missing_sentence(terms, evidence, language)
    remedy = " ".join([*_leads(evidence, kept_out, answer.language), answer.remedy])
    text = f"{answer.text} {missing}".strip()
    return with_spelling(replace(answer, text=text, missing=missing, support=support.score, remedy=remedy), spelt)


def with_spelling(answer: Answer, spelt: Sequence[Correction]) -> Answer:
    """An abstention that tells first how the corpus spells words which none of its chunks holds as they were asked."""
    told = [
        tr(
            "No chunk holds “{word}”; the corpus has “{suggestion}”.",
            answer.language,
            word=one.word,
            suggestion=one.suggestion,
        )
        for one in spelt
    ]
    return replace(answer, remedy=" ".join([*told, answer.remedy]))


def _leads(evidence: Sequence[Evidence], kept_out: int, spoken: str) -> list[str]:
    """What is known that may help: the nearest document, and a filter that keeps others from being searched."""
    leads = []
    if evidence:
        leads.append(tr("The nearest is “{title}”.", spoken, title=evidence[0].title or evidence[0].source_id))
    if kept_out:
        leads.append(tr("The filter kept {count} chunks from being searched.", spoken, count=f"{kept_out:,}"))
    return leads


def warned(answer: Answer, generation: Generation) -> Answer:
    """A model's answer, with a remedy when no sentence is clearly backed by what it cites, none concerns the question,
    or a loop was cut off.

    Where no source says any of it, not even in part, it is no answer: its outcome is "unsupported".
    """
    if answer.claims and all(claim.level in ("unsupported", "uncited") for claim in answer.claims):
        answer = replace(answer, outcome="unsupported")
        warning = tr("Take the sources' own words (mode extractive), or ask a larger model.", answer.language)
    elif answer.level == "unsupported":
        warning = tr(
            "None of the model's sentences is clearly backed by what it cites: check them against the sources.",
            answer.language,
        )
    elif answer.off_topic:
        warning = tr("Its sentences stand in the sources, but hardly concern the question.", answer.language)
    elif generation.stop_reason == "repetition":
        warning = tr(
            "The model began to repeat itself and was stopped there: it may have had more to say.", answer.language
        )
    else:
        return answer
    return replace(answer, remedy=warning)


def checked(
    terms: Sequence[Term], evidence: Sequence[Evidence], support: Support, tau: float, wording: Rewrite
) -> EvidenceCheck:
    """Why the evidence is weak, and what comes next; step and token counts are the caller's to add."""
    forms = frozenset[str]().union(*(forms_of(_all_words(piece), piece.language) for piece in evidence))
    lacking = tuple(term.word for term in _lacking(terms, evidence) if not is_asking(term.word))
    return EvidenceCheck(
        support=support.score,
        threshold=tau,
        coverage=coverage(terms, forms),
        lacking=lacking,
        next="search" if wording.texts else "abstain",
        query=" | ".join(wording.texts),
        step=0,
        steps=0,
        tokens=0,
        most_tokens=0,
        reason=wording.reason,
    )


def missing_sentence(terms: Sequence[Term], evidence: Sequence[Evidence], language: str) -> str:
    """What the sources would have to say: the rarest of the question's words that no evidence covers; "" of none."""
    named, spoken = _naming(terms, language), answer_language(language)
    if not named or (evidence and not any(_comparable(piece, language) for piece in evidence)):
        return ""
    lacking = _lacking(named, evidence)
    if lacking:
        told = _named(lacking)
        return tr("They don't speak of: {words}.", spoken, words=told) if told else ""
    documents = [[piece for piece in evidence if piece.document_id == one.document_id] for one in evidence]
    if not all(_lacking(named, pieces) for pieces in documents):
        return ""
    return tr("Each of its words is in some source, but no one source brings them together.", spoken)


def unspoken_sentence(terms: Sequence[Term], evidence: Sequence[Evidence], language: str) -> str:
    """What an answer in the sources' own words can't be about, though it stands in them; "" of nothing.

    A source in another language than the question may say it in other words: then nothing is denied.
    """
    if not all(_comparable(piece, language) for piece in evidence):
        return ""
    told = _named(_lacking(_naming(terms, language), evidence))
    return tr("No source here speaks of: {words}.", answer_language(language), words=told) if told else ""


def _naming(terms: Sequence[Term], language: str) -> list[Term]:
    """Those that name something: no words that only ask or join."""
    return [term for term in terms if not is_asking(term.word) and not is_stopword(term.word, language)]


def _comparable(piece: Evidence, language: str) -> bool:
    """Its words can tell whether it speaks of a question's in that language."""
    return not language or piece.language in ("", language)


def _lacking(terms: Sequence[Term], evidence: Sequence[Evidence]) -> list[Term]:
    """Those that no evidence has, in whatever language it is: not joined to their neighbour either ("Wi-Fi" and "wifi",
    "6mm" and "6 mm"), nor as the same number in words ("6" and "six").
    """
    known = frozenset[str]().union(*(_said(_all_words(piece), piece.language) for piece in evidence))
    joined = {term for two in pairwise(terms) if _joined(*(term.word for term in two)) in known for term in two}
    return [
        term
        for term in terms
        if term not in joined and known.isdisjoint(term.forms) and known.isdisjoint(counted(term.word, ""))
    ]


def _said(text: str, language: str) -> frozenset[str]:
    """The forms of the words of ``text``, of each joined with the next, and of its numbers as digits."""
    return forms_of(text, language) | {_joined(*two) for two in pairwise(words(text))} | counted(text, language)


def _joined(first: str, second: str) -> str:
    return fold(first + second)


def _named(lacking: Sequence[Term]) -> str:
    """The rarest of them, in the question's order; no lone letters, which are what is left of "E-07" or "August's"."""
    naming = [term for term in lacking if len(term.word) > 1 or term.word.lower() == term.word.upper()]
    rarest = set(sorted(naming, key=lambda term: -term.weight)[:_NAMED_MOST])
    return ", ".join(term.word for term in naming if term in rarest)


def _all_words(piece: Evidence) -> str:
    return "\n".join((piece.title, *piece.heading, piece.text))
