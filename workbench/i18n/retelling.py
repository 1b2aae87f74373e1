"""Sentences that were stored as they were worded, told again in the language of whoever reads them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from string import Formatter
from typing import Final

from workbench.i18n import LANGUAGES, catalogue, language

OUR_WORDS: Final = ("lanes", "reason", "why")
"""Places whose values are sentences of the catalogue themselves; any other may hold a document's text."""
_HEAD: Final = 4
"""Characters by which templates are looked up."""
_LEAST: Final = 8
"""Letters that a template has beside its places: with fewer it would fit anything."""


@dataclass(frozen=True, slots=True)
class _Template:
    """A wording: its first words, then each place with the words behind it."""

    head: str
    places: tuple[tuple[str, str], ...]
    letters: int
    sentence: str

    def values_in(self, text: str) -> dict[str, str] | None:
        """What stands in the places of ``text``; None when its words are others. Linear in the text's length."""
        last = self.places[-1][1]
        at, end = len(self.head), len(text) - len(last)
        if at > end or not text.startswith(self.head) or not text.endswith(last):
            return None
        values: dict[str, str] = {}
        for name, words in self.places[:-1]:
            found = text.find(words, at, end) if words else at
            if found < 0 or values.setdefault(name, text[at:found]) != text[at:found]:
                return None
            at = found + len(words)
        name = self.places[-1][0]
        return values if values.setdefault(name, text[at:end]) == text[at:end] else None


def retold(text: str, lang: str | None = None) -> str:
    """``text`` in ``lang`` (the interface's language when None), whatever language it was worded in.

    The sentence is found by its fixed words, with or without values in its ``{named}`` places; of several that fit, the
    one with most words of its own. A text that no sentence of the catalogue fits stays as it is.
    """
    return _retold(text, lang or language())


@lru_cache(maxsize=4096)
def _retold(text: str, lang: str) -> str:
    sentences, templates = _known()
    if text in sentences:
        return _worded(sentences[text], lang)
    fitting = [
        (template.letters, template.sentence, values)
        for template in (*templates[text[:_HEAD]], *templates[""])
        if (values := template.values_in(text)) is not None
    ]
    if not fitting:
        return text
    _, sentence, values = max(fitting, key=lambda fit: fit[0])
    return "".join(
        literal + (_filled(name, values[name], lang) if name is not None else "")
        for literal, name, _, _ in Formatter().parse(_worded(sentence, lang))
    )


def _filled(name: str, value: str, lang: str) -> str:
    return _retold(value, lang) if name in OUR_WORDS else value


def _worded(sentence: str, lang: str) -> str:
    return catalogue(lang).get(sentence, sentence)


@cache
def _known() -> tuple[dict[str, str], dict[str, list[_Template]]]:
    """Every wording of a sentence without places → the English; templates by their first characters."""
    sentences: dict[str, str] = {}
    templates: dict[str, list[_Template]] = defaultdict(list)
    for other in LANGUAGES:
        for english, translated in catalogue(other).items():
            for wording in (english, translated):
                parts = list(Formatter().parse(wording)) if "{" in wording else []
                if not any(name for _, name, _, _ in parts):
                    sentences.setdefault(wording, english)
                elif (template := _template(parts, english)) is not None:
                    head = parts[0][0][:_HEAD]
                    templates[head if len(head) == _HEAD else ""].append(template)
    return sentences, templates


def _template(parts: list[tuple[str, str | None, str | None, str | None]], english: str) -> _Template | None:
    letters = sum(character.isalpha() for literal, *_ in parts for character in literal)
    if letters < _LEAST or not all(name is None or name.isidentifier() for _, name, _, _ in parts):
        return None
    places = [[name, ""] for _, name, _, _ in parts if name]
    head, behind = "", -1
    for literal, name, _, _ in parts:
        if behind < 0:
            head += literal
        else:
            places[behind][1] += literal
        behind += name is not None
    return _Template(head, tuple((name, words) for name, words in places), letters, english)
