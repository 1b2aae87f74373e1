"""Lines of a text whose letters came out wrong: decoded with another encoding, or taken from a font's wrong glyphs.

A PDF whose font doesn't say what its glyphs mean gives letters of other alphabets: Arabic comes out as "ϲΒϴΒ". No
letter of it is wrong by itself, but no language puts them together, and nobody can search for them.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import Final

_SCRIPTS: Final = {
    "latin": "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff",
    "greek": "\u0370-\u0373\u0376-\u03ff\u1f00-\u1fff",
    "cyrillic": "\u0400-\u052f",
    "hebrew": "\u05d0-\u05ea",
    "arabic": "\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc",
}
_MARKS: Final = "\u0300-\u036f\u064b-\u065f\u0670"
_WORD: Final = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}])+")
_SCRIPT: Final = re.compile("|".join(f"(?P<{name}>[{letters}])" for name, letters in _SCRIPTS.items()))
_SUSPECT: Final = re.compile(f"[{''.join(letters for name, letters in _SCRIPTS.items() if name != 'latin')}]")
_SHAPED: Final = re.compile("[\ufb50-\ufdcf\ufe70-\ufefc]{2}")
"""Arabic letters as shapes for printing, which no keyboard writes; signs for whole words (ﷺ) are none."""
_OLD_GREEK: Final = re.compile("[\u03d8-\u03ef\u03f2-\u03f4\u03f7-\u03fb]")
_RISE: Final = re.compile("[\u03ac-\u03ce\u03d0-\u03ff](?=[\u0386-\u03ab\u03f4])")
_LOST: Final = re.compile(r"\ufffd|(?:(?!\uf020)[\ue000-\uf8ff]){2}|(?:\(cid:\d+\) ?){2}")
"""What was never decoded, signs of a font's own (one may be a bullet, with that font's space), and glyphs by number."""
_ACCENTED: Final = re.compile(r"\b[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]{4,}\b")
"""Words of nothing but accented letters: two of them are Cyrillic read as Latin-1 ("Ðóññêèé òåêñò")."""
_LIKE_LATIN: Final = frozenset("АВЕКМНОРСТХаеорсухіјѕ")
_LONG: Final = 3
"""Letters of two alphabets side by side from which on it is no formula ("sinαβ", "TNFα") or prefix."""
_RUNS: Final = 3
"""Turns of two alphabets in a word that a language or a brand may have: "VIPзал", "KоЯn"."""
_LIKENESS: Final = 4
"""Letters of a word from which on look-alikes are no sign of a formula or a unit."""


def damaged_lines(text: str) -> list[str]:
    """The lines decoded wrongly ("matrÃ­cula") or not at all ("(cid:72)"), or with a word that mixes alphabets."""
    return [line for line in text.splitlines() if _LOST.search(line) or (not line.isascii() and _is_wrong(line))]


def _is_wrong(line: str) -> bool:
    from ftfy.badness import badness

    accented = {word.casefold() for word in _ACCENTED.findall(line)}
    return len(accented) > 1 or badness(line) > 0 or any(map(_is_mixed, _words(line)))


def mixed_words(text: str) -> list[str]:
    """Words whose letters no language puts together. Formulas, units and brand names of two alphabets are none."""
    return [word for word in _words(text) if _is_mixed(word)]


def _words(text: str) -> list[str]:
    return _WORD.findall(text) if _SUSPECT.search(text) else []


def _is_mixed(word: str) -> bool:
    if not _SUSPECT.search(word):
        return False
    letters = [(found.lastgroup or "", found[0]) for found in _SCRIPT.finditer(word)]
    runs = [(script, "".join(letter for _, letter in run)) for script, run in groupby(letters, key=lambda one: one[0])]
    scripts = {script for script, _ in runs}
    greek = [run for script, run in runs if script == "greek"]
    if "greek" in scripts:
        if scripts & {"arabic", "hebrew"} or any(map(_is_no_greek, greek)):
            return True
        return len(scripts) > 1 and any(len(a) >= _LONG <= len(b) for (_, a), (_, b) in pairwise(runs))
    if "latin" in scripts and len(scripts) > 1:
        return len(runs) > _RUNS or _imitates_latin(word, runs)
    return "arabic" in scripts and (len(scripts) > 1 or _SHAPED.search(word) is not None)


def _is_no_greek(run: str) -> bool:
    """Capitals amid small letters, with letters that Greek gave up, or again and again ("ϲΒϴΒ")."""
    if len(run) < _LONG or run.islower() or run.isupper() or run.istitle():
        return False
    return _OLD_GREEK.search(run) is not None or len(_RISE.findall(run)) > 1


def _imitates_latin(word: str, runs: list[tuple[str, str]]) -> bool:
    """Cyrillic letters that look like Latin ones amid Latin ("Сompany"): it reads right and is found by nobody."""
    cyrillic = "".join(run for script, run in runs if script == "cyrillic")
    return len(word) >= _LIKENESS and 0 < len(cyrillic) < len(word) / 2 and set(cyrillic) <= _LIKE_LATIN
