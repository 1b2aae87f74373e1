"""Cutting what is larger than a chunk: at sentences, then at lines, then at words, then between tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from workbench.corpus.chunking.material import Material
from workbench.records.corpus import BlockKind
from workbench.text.sentences import sentences, trimmed

Parts: TypeAlias = Callable[[str, int, int], list[tuple[int, int]]]

PROSE: Final[frozenset[BlockKind]] = frozenset({"heading", "paragraph", "list", "quote"})


def split(material: Material, kind: BlockKind, start: int, end: int, budget: int) -> list[tuple[int, int]]:
    """Spans of at most ``budget`` tokens that cover ``text[start:end]``, each as full as whole parts make it."""
    if material.tokens.count(start, end) <= budget:
        return [(start, end)]
    levels: tuple[Parts, ...] = (sentences, lines) if kind in PROSE else (lines,)
    return list(_split(material, levels, start, end, budget))


def lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the lines of ``text[start:end]`` that aren't empty, without outer white space."""
    spans: list[tuple[int, int]] = []
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        spans += trimmed(text, start, stop)
        start = stop + 1
    return spans


def _split(
    material: Material, levels: tuple[Parts, ...], start: int, end: int, budget: int
) -> Iterator[tuple[int, int]]:
    if not levels:
        yield from _words(material, start, end, budget)
        return
    count = material.tokens.count
    begin, until = start, start  # the span being filled; empty at first
    for a, b in levels[0](material.text, start, end):
        if until > begin and count(begin, b) <= budget:
            until = b
        elif count(a, b) > budget:
            first = begin if until > begin else a
            *full, (begin, until) = _split(material, levels[1:], first, b, budget)
            yield from full
        else:
            if until > begin:
                yield begin, until
            begin, until = a, b
    if until > begin:
        yield begin, until


def _words(material: Material, start: int, end: int, budget: int) -> Iterator[tuple[int, int]]:
    """At the last white space that fits; inside a word only when the word alone is too long."""
    text = material.text
    while material.tokens.count(start, end) > budget:
        stop = min(material.tokens.fit(start, budget), end)
        space = next((i for i in range(stop, start, -1) if i < end and text[i].isspace()), 0)
        yield from trimmed(text, start, space or stop)
        start = next((i for i in range(space or stop, end) if not text[i].isspace()), end)
    if start < end:
        yield start, end
