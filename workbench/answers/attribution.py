"""Where a sentence names its own source: "According to the loan policy, version 4, books are lent for 21 days".

No text says of itself what it is called, so its title, headings and file name are what such words are held against. All
else, and every number that they don't have, stays to be held against the text.
"""

from __future__ import annotations

import re
from typing import Final

from workbench.answers.claims import negated
from workbench.answers.terms import forms_of
from workbench.records.answers import Evidence
from workbench.text.words import fold, is_stopword, stem, stems, words

_CUE: Final = re.compile(
    r"\b(?:according to|as (?:stated|described|set out) in|seg[uú]n|de acuerdo con|conforme a)\b", re.IGNORECASE
)
_SAYS: Final = re.compile(
    r"\b(?:says?|states?|specif(?:y|ies)|explains?|indicates?|dicen?|establecen?|especifican?|explican?|indican?)\b"
    r"(?:\s+(?:that|que)\b)?",
    re.IGNORECASE,
)
_END: Final = re.compile(r"[,;:()]|[.!?…]*\s*\Z")
"""Where a name or a part of it ends."""
_KINDS: Final = frozenset(
    """document text source evidence section file passage documento texto fuente evidencia seccion archivo fichero
    pasaje""".split()
)
"""Folded words for any source."""


def unattributed(claim: str, source: Evidence, language: str) -> str:
    """``claim`` without the words that name ``source``; unchanged where they name another, or nothing else is said.

    Behind "according to" they go to the first comma or bracket, and on where what follows has a number of the name
    ("version 4"); before "says" they are the sentence's beginning.

    Args:
        language: of the claim, "" when unknown.
    """
    names = " ".join((source.title, *source.heading, source.source_id))
    known = forms_of(names, language) | _KINDS
    rest = claim
    if cue := _CUE.search(claim):
        end = _named_until(claim, cue.end(), known, language)
        rest = f"{claim[: cue.start()]}{claim[end:]}" if end > cue.end() else claim
    elif (says := _SAYS.search(claim)) and _is_name(claim[: says.start()], known, language):
        rest = claim[says.end() :]
    return rest.strip(" ,;:") if stems(rest, language) else claim


def _named_until(claim: str, start: int, known: frozenset[str], language: str) -> int:
    """Where the name that begins at ``start`` ends; ``start`` where none does, or another edition of it is named."""
    end = start
    for stop in _END.finditer(claim, start):
        part = claim[end : stop.start()]
        numbered = any(map(str.isdigit, part))
        if words(part) and not (_is_name(part, known, language) and (end == start or numbered)):
            edition = numbered and _is_name(re.sub(r"\d+", " ", part), known, language)
            return start if edition else end
        end = stop.end()
    return end


def _is_name(part: str, known: frozenset[str], language: str) -> bool:
    """Whether every content word and number of ``part`` is ``known``, it has one, and negates nothing."""
    content = [word for word in words(part) if not is_stopword(word, language)]
    return bool(content) and not negated(part) and all(known & {fold(w), stem(w, language)} for w in content)
