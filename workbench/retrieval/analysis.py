"""What a query becomes before it is searched: content words, stems, exact accented words, phrases."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from workbench.records.retrieval import Analysis
from workbench.text.language import detect
from workbench.text.words import cjk_pairs, exact_form, fold, is_stopword, stem, words

MAX_TERMS: Final = 16
"""Words asked of the index at most: at 100,000 chunks an OR of five takes 140 ms, one of twelve 330 ms."""
LANGUAGES: Final = ("en", "es")
"""Whose stems are asked when the language of a query can't be told."""

_PHRASE: Final = re.compile(r'"([^"]*)"|“([^”]*)”|«([^»]*)»')
_DETECT_CHARACTERS: Final = 2000


def analyse(query: str, *, prefix: str = "") -> Analysis:
    """What is asked of each lane for ``query``: any text is accepted, and some ask nothing of the lexical lane.

    Stopwords are dropped, unless there is nothing else. Of more than ``MAX_TERMS`` words those with digits are kept
    first (codes, years), then the longest, as long words are the rare ones; the rest is in ``dropped``.

    Args:
        query: as typed; text in quotes is a phrase that must occur.
        prefix: what the embedder puts before a query.
    """
    text = unicodedata.normalize("NFC", query)
    language = detect(text[:_DETECT_CHARACTERS])
    first: dict[str, str] = {}
    for word in words(text):
        first.setdefault(fold(word), word)
    everything = list(first.values())
    content = [word for word in everything if not is_stopword(word, language)] or everything
    kept = _rarest_looking(content)
    return Analysis(
        query=query,
        terms=tuple(map(_term, kept)),
        stems=_unique(s for word in kept for s in _stems(word, [language] if language else LANGUAGES)),
        exact=tuple(word for word in kept if exact_form(word)),
        phrases=_unique(p for match in _PHRASE.finditer(text) if words(p := _phrase(match))),
        dropped=tuple(word for word in everything if word not in set(kept)),
        language=language,
        embedded_text=prefix + query,
    )


def names_only(analysis: Analysis) -> Analysis:
    """What of ``analysis`` is the same in any language: phrases, and words that look like names, numbers or codes."""
    names = frozenset(map(_term, _names(analysis.query)))
    return replace(
        analysis,
        terms=tuple(term for term in analysis.terms if term in names),
        stems=(),
        exact=tuple(word for word in analysis.exact if _term(word) in names),
    )


def _names(query: str) -> Iterable[str]:
    """Words with a digit, an underscore or a capital inside, and capitalised ones that don't open the query."""
    for place, word in enumerate(words(unicodedata.normalize("NFC", query))):
        coded = any(c.isdigit() or c == "_" for c in word) or any(map(str.isupper, word[1:]))
        if coded or (place and word[0].isupper()):
            yield word


def _rarest_looking(content: Sequence[str]) -> list[str]:
    """At most ``MAX_TERMS`` words, in query order."""
    if len(content) <= MAX_TERMS:
        return list(content)
    ranked = sorted(content, key=lambda word: (not any(map(str.isdigit, word)), -len(word)))
    kept = set(ranked[:MAX_TERMS])
    return [word for word in content if word in kept]


def _term(word: str) -> str:
    # Folding takes marks off that the index keeps in Japanese and Korean.
    return word.lower() if cjk_pairs(word) else fold(word)


def _stems(word: str, languages: Sequence[str]) -> Iterable[str]:
    return cjk_pairs(word) or (stem(word, language) for language in languages)


def _phrase(match: re.Match[str]) -> str:
    return " ".join(next(group for group in match.groups() if group is not None).split())


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
