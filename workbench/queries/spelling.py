"""Spelling by the index's own words: no dictionary knows a collection's terms better than the collection."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import Final

from workbench.ports import Store
from workbench.records.corpus import Index
from workbench.records.retrieval import Analysis, Correction
from workbench.retrieval.analysis import analyse, names_only
from workbench.retrieval.filters import EVERYTHING
from workbench.text.words import STOPWORDS, cjk_pairs, fold, stem, words

SHORTEST: Final = 5
"""Characters of a word from which on it is corrected: shorter ones are often one edit from another ("nice", "nine")."""
TWO_EDITS: Final = 8
"""Characters from which on two edits may be mended."""
LONGEST: Final = 32
"""Characters of a word up to which it is corrected: the words one edit away grow with its square, words seldom are."""
MOST_WORDS: Final = 16
"""Words of a question that are tried; one with more unknown words is no question of this index."""
_LOOKED_AT: Final = 3  # chunks in which the suggestion's own spelling, with its accents, is looked for


class Speller:
    """Corrects the words of questions that an index hasn't got. Words it has, names and numbers are left alone."""

    def __init__(self, store: Store, index: Index) -> None:
        self._store = store
        self._index = index

    def corrections(self, analysis: Analysis) -> tuple[Correction, ...]:
        """One for each word that has a likely correction, in the question's order.

        Of the words one edit away the one that most chunks hold, of equals the one of the same length; where there is
        none, of those two edits away that begin with the same letter (first letters are seldom mistyped: Pollock and
        Zamora, CACM 1984) and end with the same (another ending is more often another word). The suggestion is written
        as the sources write it.
        """
        return tuple(found for word in self._unknown(analysis) if (found := self._correction(word)))

    def _unknown(self, analysis: Analysis) -> list[str]:
        """Words that could be misspelt, as written, and that no chunk holds in any form."""
        names = frozenset(names_only(analysis).terms)
        tried = {
            word: fold(word)
            for word in words(unicodedata.normalize("NFC", analysis.query))
            if SHORTEST <= len(word) <= LONGEST and word.isalpha() and not cjk_pairs(word)
        }
        tried = {word: folded for word, folded in tried.items() if folded in analysis.terms and folded not in names}
        known = self._store.search.known_words(self._index, list(tried.values()))
        missing = [word for word, folded in tried.items() if folded not in known]
        asked = [analysis.language] if analysis.language else list(STOPWORDS)
        stemmed = {word: [stem(word, language) for language in asked] for word in missing}
        frequency = self._store.search.document_frequency(self._index, [s for of in stemmed.values() for s in of])
        return [word for word in missing if not any(frequency[s] for s in stemmed[word])][:MOST_WORDS]

    def _correction(self, word: str) -> Correction | None:
        folded, distance = fold(word), 1
        near = self._store.search.known_words(self._index, list(one_edit(folded)))
        if not near and len(folded) >= TWO_EDITS:
            distance = 2
            alike = self._store.search.words_like(self._index, folded[0], len(folded) - 2, len(folded) + 2)
            ending = {other: chunks for other, chunks in alike.items() if other[-1] == folded[-1]}
            near = {other: chunks for other, chunks in ending.items() if edits(folded, other, 2) == 2}
        near = {other: chunks for other, chunks in near.items() if len(other) >= SHORTEST - 1 and other.isalpha()}
        if not near:
            return None
        best = min(near, key=lambda other: (-near[other], abs(len(other) - len(folded)), other))
        return Correction(word, self._as_written(best, capital=word[0].isupper()), near[best], distance)

    def _as_written(self, folded: str, *, capital: bool) -> str:
        """The word with the accents that the sources give it."""
        hits = self._store.search.lexical(self._index, analyse(folded), EVERYTHING, _LOOKED_AT)
        chunks = self._store.corpus.chunks_by_id([hit.chunk_id for hit in hits])
        found = next((w for chunk in chunks for w in words(chunk.text) if fold(w) == folded), folded).lower()
        return found.capitalize() if capital else found


def corrected(question: str, corrections: Sequence[Correction]) -> str:
    """``question`` with each misspelt word replaced, everything else as typed."""
    by_word: Mapping[str, str] = {one.word: one.suggestion for one in corrections}
    return re.sub(r"\w+", lambda match: by_word.get(match[0], match[0]), unicodedata.normalize("NFC", question))


def one_edit(word: str) -> Iterator[str]:
    """Everything one deletion, swap of neighbours, substitution or insertion away, the word itself left out."""
    letters = sorted({*ascii_lowercase, *word})
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    found = {left + right[1:] for left, right in splits if right}
    found |= {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    found |= {left + letter + right[1:] for left, right in splits if right for letter in letters}
    found |= {left + letter + right for left, right in splits for letter in letters}
    yield from sorted(found - {word, ""})


def edits(one: str, other: str, most: int) -> int:
    """The optimal string alignment distance: edits that turn ``one`` into ``other``, ``most`` + 1 when there are more.

    Damerau's (CACM 1964) with no letter edited twice.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
