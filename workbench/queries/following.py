"""Reading a follow-up question with the one before it, by rules for English and Spanish.

What stands alone stays as it is. A question with a pronoun takes the names of the earlier one, or its content words
where it names nothing, and so does a fragment ("¿Y dónde murió?"); one with a name of its own ("And in Spain?") takes
the content words that aren't names, since it puts another in their place.
"""

from __future__ import annotations

import re
from typing import Final

from workbench.answers.expected import is_asking
from workbench.i18n import tr
from workbench.records.queries import FollowUp
from workbench.retrieval.analysis import analyse, names_only
from workbench.text.words import fold, is_stopword, words

FRAGMENT_WORDS: Final = 1
"""Content words of a question that is no more than a fragment: "How much?", "¿Cuándo murió?"."""

_FRAGMENT: Final = re.compile(
    r"^[¿¡\s]*(?:and|but|or|what about|how about|what of|y|e|pero|o|qué hay de|qué tal|qué pasa con)\b", re.IGNORECASE
)
_PRONOUN: Final = re.compile(
    r"\b(?:it|its|he|she|him|his|hers|they|them|their|theirs|this|these|those|there|(?:the|that|this) (?:one|ones|same)"
    r"|él|ella|ello|ellos|ellas|su|sus|suyo|suya|suyos|suyas|eso|esto|ese|esa|esos|esas|este|esta|estos|estas|aquel"
    r"|aquella|allí|ahí|lo|le|les|(?:el|la|los|las|lo) mism[oa]s?)\b"
    r"|\bthat\b(?=\s*(?:\?|$|is\b|was\b|cost\b))"
    r"|\bher\b",
    re.IGNORECASE,
)
_EXPLETIVE: Final = re.compile(
    r"\b(?:is|was|are|were)\s+(?:it|there)\s+(?:true|possible|necessary|an?\b|any\b)", re.IGNORECASE
)


def read_in_full(question: str, earlier: str, follows: str = "") -> FollowUp:
    """``question`` as it reads after ``earlier``: with the words that it leaves to it, or as it is.

    Args:
        follows: id of the trace of ``earlier``.
    """
    fragment, pronoun = _is_fragment(question), refers(question)
    carried = _carried(question, earlier, pronoun) if fragment or pronoun else ()
    if not carried:
        return FollowUp(follows, earlier, question, (), "rules", note=tr("it stands alone"))
    note = tr("“{word}” means something said before", word=pronoun) if pronoun else tr("it is a fragment")
    return FollowUp(follows, earlier, f"{question.strip()} ({' '.join(carried)})", carried, "rules", note=note)


def read_with(question: str, typed: str, earlier: FollowUp) -> str:
    """The text that ``question`` is read after where the one before, ``typed``, followed another itself.

    What a fragment put in the place of something ("And films?") is replaced by the next one ("And a kit?"), and a
    pronoun means what the question before names itself. Else it is that question as it was read.
    """
    if earlier.carried and _named(typed):
        if refers(question):
            return typed
        if _FRAGMENT.search(typed) and _FRAGMENT.search(question) and _named(question):
            return " ".join(earlier.carried)
    return earlier.question


def _named(question: str) -> list[str]:
    """Content words that don't only ask."""
    return [term for term in _content(question) if not is_asking(term)]


def _is_fragment(question: str) -> bool:
    return bool(_FRAGMENT.search(question)) or (
        len(_named(question)) <= FRAGMENT_WORDS and not names_only(analyse(question)).terms
    )


def refers(question: str) -> str:
    """The pronoun that refers to something before, "" for none."""
    found = _PRONOUN.search(_EXPLETIVE.sub(" ", question))
    return found[0] if found else ""


def _carried(question: str, earlier: str, pronoun: str) -> tuple[str, ...]:
    """The words of ``earlier`` that ``question`` leaves out, as written."""
    analysis = analyse(earlier)
    names = frozenset(names_only(analysis).terms)
    has, replaces = set(map(fold, words(question))), bool(names_only(analyse(question)).terms)
    wanted = [w for w in words(earlier) if fold(w) in analysis.terms and not is_asking(w) and fold(w) not in has]
    if pronoun or (_content(question) and not replaces):
        kept = [word for word in wanted if fold(word) in names] or wanted
    else:
        kept = [word for word in wanted if not (replaces and fold(word) in names)]
    return tuple(dict.fromkeys(kept))


def _content(question: str) -> list[str]:
    """Content words, folded; the analysis keeps stopwords when there is nothing else."""
    analysis = analyse(question)
    return [term for term in analysis.terms if not is_stopword(term, analysis.language)]
