"""Numbers as texts give them, in digits or in words, and what each of them is said of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from workbench.answers.terms import forms_of
from workbench.text.words import fold, stems

_SPACES: Final = " \u00a0\u2009\u202f"
_NUMBER: Final = re.compile(rf"(?<![\d.,])\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,]\d+)*")
_GROUPED: Final = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_BETWEEN: Final = re.compile(r"[ \n]+|-")  # the words of one number
_NAMED: Final = re.compile(r"\b[A-Z]\w+ (\d+(?:[.,]\d+)*)")  # "Super Bowl 50", "Room 3": part of a name
_CUT: Final = re.compile(r"[;,]\s+|\s+(?:and|but|while|against|y|e|pero|mientras|frente a)\s+", re.IGNORECASE)

_ONCE: Final = re.compile(
    r"\bonce(?=\s+(?:an?|per|each|every)\s+(?:hour|day|week|month|year)\b|\s*(?:[.,;)]|\Z))", re.IGNORECASE
)
"""In English, where it counts; mostly it is a conjunction ("once it is returned")."""

_ONE: Final = frozenset({"one", "un", "uno", "una"})
"""Articles and pronouns more often than numbers: they count within a number only ("twenty-one")."""

_ELEVEN: Final = "once"  # in Spanish
_PERCENT: Final = re.compile(r"\bpor cien(?:to)?\Z", re.IGNORECASE)

NUMBER_WORDS: Final = {
    **{w: n for n, w in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)},
    **{w: n for n, w in enumerate("thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(), 13)},
    **{w: 10 * n for n, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)},
    **{w: n for n, w in enumerate("dos tres cuatro cinco seis siete ocho nueve diez once doce trece".split(), 2)},
    **{w: n for n, w in enumerate("catorce quince dieciseis diecisiete dieciocho diecinueve veinte".split(), 14)},
    **{w: n for n, w in enumerate("veintiuno veintidos veintitres veinticuatro veinticinco veintiseis".split(), 21)},
    **{"veintiun": 21, "veintiuna": 21, "veintisiete": 27, "veintiocho": 28, "veintinueve": 29},
    **{w: 10 * n for n, w in enumerate("treinta cuarenta cincuenta sesenta setenta ochenta noventa".split(), 3)},
    **{"twice": 2, "thrice": 3, "hundred": 100, "cien": 100, "ciento": 100, "thousand": 1000, "mil": 1000},
}
"""Folded words, English and Spanish, and their values."""

_INHERITED: Final = 0.75  # of a word that only stands before, in the same sentence
_BEFORE: Final = 0.5  # or in the sentence before, when that has no number of its own


@dataclass(frozen=True, slots=True)
class _Segment:
    """A stretch of a sentence with its numbers, the words around them, and those it takes over from before."""

    said: str
    numbers: frozenset[str]
    own: frozenset[str]
    inherited: frozenset[str]
    before: frozenset[str]

    def share(self, wanted: frozenset[str]) -> float:
        """How many of the wanted words it has, those it takes over counting less."""
        taken = (wanted & self.inherited) - self.own
        earlier = (wanted & self.before) - self.own - self.inherited
        return len(wanted & self.own) + _INHERITED * len(taken) + _BEFORE * len(earlier)

    def has_all(self, wanted: frozenset[str]) -> bool:
        """Whether it has every wanted word, its own or taken over."""
        return wanted <= self.own | self.inherited | self.before


def numbers(text: str) -> frozenset[str]:
    """The numbers of ``text``: "1.190", "1,190" and "1 190" are 1190, "118,50" is 118.50, "08" is 8."""
    found = (re.sub(f"[{_SPACES}]", "", m[0]) for m in _NUMBER.finditer(text))
    plain = (re.sub("[.,]", "", n) if _GROUPED.fullmatch(n) else n.replace(",", ".") for n in found)
    return frozenset(re.sub(r"\A0+(?=\d)", "", n) for n in plain)


def counted(text: str, language: str) -> frozenset[str]:
    """``numbers``, those written in words too: "twenty-one" and "veintiún" are 21."""
    return numbers(in_digits(text, language))


def in_digits(text: str, language: str) -> str:
    """``text`` with the numbers that are written in English or Spanish words as digits; a lone "one" stays."""
    text = text if language == "es" else _ONCE.sub("1", text)
    found = list(_LETTERS.finditer(text))
    parts, end, i = [], 0, 0
    while i < len(found):
        value = _value(found[i][0], language)
        if value is None or _PERCENT.search(text, 0, found[i].end()):
            i += 1
            continue
        first, last = i, i
        while (following := _continued(text, found, last, value, language)) is not None:
            last, value = following
        parts += [text[end : found[first].start()], str(value)]
        end, i = found[last].end(), last + 1
    return "".join([*parts, text[end:]])


def uncounted(text: str, language: str) -> str:
    """``text`` without its numbers."""
    return _NUMBER.sub(" ", in_digits(text, language))


def misplaced(claim: str, parts: Sequence[str], language: str, cited_language: str) -> tuple[tuple[str, ...], bool]:
    """The numbers of ``claim`` that ``parts`` give, but of something else, and whether another number is given of it.

    Both are cut into segments with a number each. Of the segments that have numbers, one that shares the most words
    with the claim's must have its number: with "Books are lent for 21 days. Kits are lent for 3 days.", kits aren't
    lent for 21. Numbers in names ("Room 3") are left out.
    """
    known = _segments(parts, cited_language)
    wrong: list[str] = []
    clear = False
    named = numbers(" ".join(_NAMED.findall(claim)))
    for segment in _segments([claim], language):
        wanted = frozenset(stems(segment.said, language))
        best = max((one.share(wanted) for one in known), default=0.0)
        rivals = [one for one in known if one.share(wanted) == best and best > 0]
        asked = segment.numbers - named
        if asked and rivals and not any(asked & one.numbers for one in rivals):
            wrong += sorted(asked)
            clear = clear or any(one.has_all(wanted) for one in rivals)
    return tuple(wrong), clear


def _segments(parts: Sequence[str], language: str) -> list[_Segment]:
    """Those of ``parts`` that have numbers, in order."""
    found: list[_Segment] = []
    before: frozenset[str] = frozenset()
    for part in parts:
        inherited: frozenset[str] = frozenset()
        pieces = _cut(in_digits(part, language))
        for piece in pieces:
            said = _NUMBER.sub(" ", piece)
            own = forms_of(said, language)
            if numbers(piece):
                found.append(_Segment(said, numbers(piece), own, inherited, before))
            inherited |= own
        before = frozenset() if numbers(pieces[-1]) else inherited
    return found


def _cut(text: str) -> list[str]:
    """``text`` cut where its clauses end; one without a number goes with the next, the last ones with those before."""
    stops = [0, *(match.end() for match in _CUT.finditer(text)), len(text)]
    pieces, waiting = [], ""
    for start, end in pairwise(stops):
        waiting += text[start:end]
        if numbers(waiting):
            pieces.append(waiting)
            waiting = ""
    if waiting and pieces:
        pieces[-1] += waiting
    return pieces or [text]


def _value(word: str, language: str) -> int | None:
    folded = fold(word)
    return None if folded == _ELEVEN and language != "es" else NUMBER_WORDS.get(folded)


def _continued(text: str, found: list[re.Match[str]], last: int, value: int, language: str) -> tuple[int, int] | None:
    """The word that goes on the number that ends at ``found[last]``, and its value with it."""
    for i in range(last + 1, min(last + 3, len(found))):
        if not _BETWEEN.fullmatch(text, found[i - 1].end(), found[i].start()):
            return None
        word = fold(found[i][0])
        if word in ("y", "and"):
            continue
        more = 1 if word in _ONE else _value(word, language)
        whole = None if more is None else _together(value, more)
        return None if whole is None else (i, whole)
    return None


def _together(value: int, more: int) -> int | None:
    """Two numerals that follow each other as one number; None when they are two."""
    if (more == 100 and value < 10) or (more == 1000 and value < 1000):
        return value * more
    room = (more < 10 and value % 10 == 0 and value % 100 >= 20) or (more < 100 <= value and value % 100 == 0)
    return value + more if room or (more < 1000 <= value and value % 1000 == 0) else None
