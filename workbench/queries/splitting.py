"""Splitting a compound question into the questions it is made of, by rules for English and Spanish.

Several question marks, two interrogatives joined by a conjunction, two actions after one modal verb, and comparisons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from workbench.queries.following import read_in_full, refers
from workbench.retrieval.analysis import analyse, names_only
from workbench.text.words import is_stopword, words

MAX_PARTS: Final = 4

_I: Final = re.IGNORECASE
_ASKS: Final = (
    r"(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|does|do|did|can|could|will|would|must|may)"
)
_PREGUNTA: Final = (
    r"(?:(?:a|en|de|con|por|para|desde|hasta)\s+)?(?:qué|quién|quiénes|cuál|cuáles|cuándo|cuánto|cuánta|cuántos|"
    r"cuántas|dónde|adónde|cómo)"
)
_CLAUSES: Final = re.compile(
    rf"(?:,\s*|;\s*|\s+)(?:and\s+also|as\s+well\s+as|and|or)\s+(?={_ASKS}\b)"
    rf"|(?:,\s*|;\s*|\s+)(?:y\s+además|y\s+también|y|e|o)\s+(?=¿?{_PREGUNTA}\b)",
    _I,
)
_MODAL: Final = re.compile(
    r"^[¿\s]*(?P<modal>(?:can|may|must|should|could|do|does)\s+\w+(?:\s+(?:have|need)\s+to)?)\s+(?P<first>.+?)"
    r",?\s+(?:and|or)\s+(?=(?!the\b|my\b|an?\b|your\b|its\b)[a-z]+\s+(?:the|my|an?|your|its|their|his|her|our)\b)"
    r"(?P<second>.+)$"
    r"|^[¿\s]*(?P<modal_es>(?:(?:se\s+)?(?:puede|puedo|podemos|pueden|debo|debe|debemos)|(?:tengo|tiene|hay)\s+que))\s+"
    r"(?P<first_es>.+?),?\s+(?:y|e|o)\s+(?=\w+[aeií]r(?:se|me|lo|la|los|las)?\b)(?P<second_es>.+)$",
    _I,
)
_PAIRS: Final = (
    re.compile(r"\bdifferences?\s+(?:is\s+there\s+)?between\s+(?P<a>.+?)\s+and\s+(?P<b>.+)$", _I),
    re.compile(r"\bdiferencias?\s+(?:hay\s+|existe\s+)?entre\s+(?P<a>.+?)\s+[ye]\s+(?P<b>.+)$", _I),
    re.compile(r"\bcompare\s+(?P<a>.+?)\s+(?:and|with|to|versus|vs\.?)\s+(?P<b>.+)$", _I),
    re.compile(r"\b(?:compara|comparar|compare)\s+(?P<a>.+?)\s+(?:y|e|con|frente\s+a)\s+(?P<b>.+)$", _I),
    re.compile(r"^(?P<a>.+?)\s+(?:versus|vs\.?|frente\s+a)\s+(?P<b>.+)$", _I),
)
_ABOUT: Final = re.compile(r",\s*|\s+(?=(?:in\s+terms\s+of|regarding|en\s+cuanto\s+a|respecto\s+a)\b)", _I)


def split(question: str) -> tuple[str, ...]:
    """The two to ``MAX_PARTS`` questions that ``question`` is made of; empty when it is one.

    A later part that can't stand alone ("… and where did he die?") is read with the first.
    """
    for rule in _RULES:
        parts = [" ".join(part.split()).strip(" ,;") for part in rule(question)]
        parts = list(dict.fromkeys(part for part in parts if _asks(part)))
        if len(parts) > 1:
            first = parts[0]
            return (first, *(_whole(part, first) for part in parts[1:MAX_PARTS]))
    return ()


def _sentences(question: str) -> Sequence[str]:
    return [part for part in re.findall(r"[^?]+\?", question) if part.strip()]


def _comparison(question: str) -> Iterator[str]:
    """Both sides; what follows the second after a comma or a preposition ("in price") goes with either."""
    bare = question.strip(" ¿?.")
    for pattern in _PAIRS:
        if match := pattern.search(bare):
            second, *about = _ABOUT.split(match["b"], maxsplit=1)
            yield from (" ".join([side, *about]) for side in (match["a"], second))
            return


def _clauses(question: str) -> Sequence[str]:
    return _CLAUSES.split(question)


def _actions(question: str) -> Sequence[str]:
    match = _MODAL.match(question)
    if match is None:
        return ()
    modal, first, second = (match[name] or match[f"{name}_es"] for name in ("modal", "first", "second"))
    return f"{modal} {first}?", f"{modal} {second}"


def _whole(part: str, first: str) -> str:
    """``part`` with the names of the first one, where it leaves them out."""
    return read_in_full(part, first).question if refers(part) or names_only(analyse(first)).terms else part


def _asks(part: str) -> bool:
    """It has a word to look for."""
    return any(not is_stopword(word) for word in words(part))


_RULES: Final[tuple[Callable[[str], Sequence[str] | Iterator[str]], ...]] = (
    _sentences,
    _comparison,
    _clauses,
    _actions,
)
