"""Words, stems and stopwords for the lexical lane: the same functions at ingest and at query time.

Three views of a text are indexed: the words as they are (SQLite's tokenizer folds case and accents), their stems,
and an exact form of the words that carry accents, so that "año" can be told from "ano" without losing recall.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from py_rust_stemmers import SnowballStemmer

_WORD: Final = re.compile(r"\w+", re.UNICODE)
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_STEMMERS: Final = {
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "pt": "portuguese",
    "it": "italian",
    "de": "german",
}

STOPWORDS: Final[dict[str, frozenset[str]]] = {
    "en": frozenset(
        """
        a about after all also an and any are as at be because been before being between both but by can
        could did do  does doing during each either few for from further had has have having he her here
        hers him his how i if in  into is it its itself just many me more most much must my no nor not
        of off on once only or other our out over  own same shall she should so some such than that the
        their them then there these they this those through to  too under until up upon us very was we
        were what when where which while who whom whose why will with within  would you your
        """.split()
    ),
    "es": frozenset(
        """
        a al algo algun alguna algunas alguno algunos ante antes aquel aquella aquellas aquellos aqui
        asi aunque cada  como con contra cual cuales cualquier cuando cuanta cuantas cuanto cuantos de
        del desde donde dos durante e el  ella ellas ello ellos en entre era eran es esa esas ese eso
        esos esta estaba estan estar estas este esto estos  fue fueron ha haber habia habian han hasta
        hay he la las le les lo los mas me mi mis mucho muy nada ni no nos  nosotros o os otra otras
        otro otros para pero poco por porque puede pueden pues que quien quienes se sea segun  ser si
        sido sin sobre son su sus tambien tan tanto te tener tenia ti tiene tienen toda todas todo todos
        tras tu  tus u un una unas uno unos usted ustedes y ya yo
        """.split()
    ),
}


def words(text: str) -> list[str]:
    """The words of ``text`` in order, case kept: runs of letters, digits and underscores."""
    return _WORD.findall(text)


def fold(word: str) -> str:
    """Lower case with diacritics removed, as FTS5's ``unicode61 remove_diacritics 2`` sees it: "Año" → "ano"."""
    lowered = word.lower()
    if lowered.isascii():
        return lowered
    decomposed = unicodedata.normalize("NFD", lowered)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def is_stopword(word: str, language: str = "") -> bool:
    """Whether ``word`` carries no content in ``language``; any known language when it is ""."""
    folded = fold(word)
    if language in STOPWORDS:
        return folded in STOPWORDS[language]
    return any(folded in known for known in STOPWORDS.values())


@lru_cache(maxsize=8)
def _stemmer(name: str) -> SnowballStemmer:
    return SnowballStemmer(name)


def stem(word: str, language: str) -> str:
    """The folded Snowball stem of ``word``; the folded word itself where the language has no stemmer."""
    name = _STEMMERS.get(language)
    return fold(_stemmer(name).stem_word(word.lower())) if name else fold(word)


def stems(text: str, language: str) -> list[str]:
    """Stems of the content words of ``text`` in order; runs of Chinese, Japanese or Korean become overlapping pairs."""
    return [found for word in words(text) for found in _stems_of_word(word, language)]


@lru_cache(maxsize=1 << 16)
def _stems_of_word(word: str, language: str) -> tuple[str, ...]:
    if _CJK.search(word):
        return tuple(cjk_pairs(word))
    return () if is_stopword(word, language) else (stem(word, language),)


def cjk_pairs(text: str) -> list[str]:
    """Overlapping character pairs of each run of CJK text (one character alone stays): "東京都" → 東京, 京都."""
    pairs: list[str] = []
    for run in _CJK.findall(text):
        pairs.extend([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)])
    return pairs


@lru_cache(maxsize=1 << 16)
def exact_form(word: str) -> str:
    """An ASCII token that keeps the accents of ``word``, or "" when it has none: "año" → "xa00f1o"."""
    lowered = unicodedata.normalize("NFC", word.lower())
    if fold(lowered) == lowered:
        return ""
    return "x" + "".join(c if c.isascii() else f"{ord(c):04x}" for c in lowered)


def exact_forms(text: str) -> list[str]:
    """``exact_form`` of every accented word of ``text``, in order."""
    return [form for form in map(exact_form, words(text)) if form]
