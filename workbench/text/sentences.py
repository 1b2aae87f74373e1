"""Where sentences end: spans of sentences in Spanish, English, their neighbours, and Chinese, Japanese and Korean.

A wrong join costs little (two sentences stay together), a wrong cut costs meaning, so every doubtful stop is no end:
abbreviations, initials, list numbers, decimals, and any stop before a lower-case word.
"""

from __future__ import annotations

import re
from typing import Final

from workbench.text.words import is_stopword

# Quantifiers are possessive and each branch starts at one place only, so that a megabyte of dots takes linear time.
_BREAK: Final = re.compile(
    r"""
      (?<![.!?…]) (?P<stop>[.!?…]++) (?: ["'”’»)\]}*_] | \[[^\[\]\n]{1,40}+\] )*+ (?=\s|\Z)  # and what closes it
    | (?P<wide>[。！？｡]++) [」』）”’"»]*+  # Chinese and Japanese stops need no space after them
    | (?P<gap>\n[^\S\n]*+\n\s*+)  # an empty line
    | (?P<item>\n)(?=[^\S\n]*+(?:[-*+•·–—‣▪]|\(?\d{1,3}[.)]|\(?[a-z]\))[^\S\n]++\S)  # the next line is a list item
    """,
    re.VERBOSE,
)
_NEXT: Final = re.compile(r"\s*+(?P<open>[\"'(\[{«“‘*_¿¡—–-]*+)(?P<word>\w*+)")
_LIST_NUMBER: Final = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z])")

# Abbreviations that something always follows, without their last stop, folded to lower case.
_ABBREVIATIONS: Final = frozenset(
    """
    sr sra srta sres sras dr dra dres drs d dª dña prof profa lic ing arq gral cnel tte sto sta fr mons excmo excma
    ilmo ilma mr mrs ms messrs st mt rev hon gen col capt lt sgt gov sen rep pres
    art arts núm núms num nums nº nro no nos núm.º pág págs pag pags p pp cap caps vol vols tít tit fig figs ref refs
    ap apdo párr par sec secc ej p.ej e.g i.e eg ie cf cfr vid v vs viz al approx aprox ca c máx mín max min tel tfno
    avda av c/ ctra dpto depto edif esq izq dcha ed eds trad coord dir op cit ib ibid jan feb mar apr jun jul aug sep
    sept oct nov dec ene abr ago dic fol ej.º resp hno hna bzw z.b d.h u.a s.a usw m.e
    """.split()
)


def sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Spans ``(start, end)`` of the sentences of ``text[start:end]``, in order, without outer white space.

    Every character that isn't white space lies in exactly one span.
    """
    stop = len(text) if end is None else end
    spans: list[tuple[int, int]] = []
    begin = start
    for match in _BREAK.finditer(text, start, stop):
        if match["stop"] and not _ends_sentence(text, begin, match, stop):
            continue
        spans += trimmed(text, begin, match.end())
        begin = match.end()
    spans += trimmed(text, begin, stop)
    return spans


def trimmed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span without outer white space, as a list of one; empty when nothing is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return [(start, end)] if start < end else []


def _ends_sentence(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    following = _NEXT.match(text, match.end(), end)
    opening, word = (following["open"], following["word"]) if following else ("", "")
    if not word and not opening:
        return True
    if "¿" in opening or "¡" in opening:
        return True
    if word[:1].islower():
        return False
    return match["stop"] != "." or _single_stop_ends(text, begin, match.start(), word)


def _single_stop_ends(text: str, begin: int, stop: int, next_word: str) -> bool:
    """Whether one full stop at ``stop`` ends its sentence, by the word before it."""
    fragment = text[max(begin, stop - 24) : stop].split()
    before = fragment[-1].lstrip("\"'([{«“‘¿¡—*_") if fragment and not text[stop - 1].isspace() else ""
    if text[begin:stop].strip() == before and _LIST_NUMBER.fullmatch(before):
        return False
    if before.lower() in _ABBREVIATIONS:
        return before.lower() in {"no", "mar", "p"} and _starts_sentence(next_word)
    last = before.rpartition(".")[2]
    if (len(last) <= 1 and last.isalpha()) or before in {"EE", "UU", "CC", "OO"}:
        return _starts_sentence(next_word)  # initials: "U.S. Army" goes on, "the U.S. The" doesn't
    return True


def _starts_sentence(word: str) -> bool:
    """A capitalised function word opens a sentence, where a capitalised name may not."""
    return word[:1].isupper() and is_stopword(word)
