"""Prefix stability: where two prompts first differ, what that costs in cached tokens, and what kind of slip it is.

A prefix cache serves the tokens up to the first that differs. So what changes (a date, a session, the question) goes to
the end; objects are written with sorted keys; examples keep their order.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

from workbench.records.tokens import CacheBreak, Piece, PrefixReport

Cutter = Callable[[str], Sequence[Piece]]

_EXCERPT: Final = 60
_MOST_OBJECTS: Final = 200
_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b"
    r"|\b\d{1,2}:\d{2}(?::\d{2})?\b"
    r"|\b1[5-9]\d{8}(?:\d{3})?\b"
)
"""ISO dates and times, dates with slashes or points, clock times, seconds or milliseconds since the epoch."""


def compare_prompts(first: str, second: str, tokenizer: str, cut: Cutter) -> PrefixReport:
    """Two prompts, as they would be sent one after the other.

    Args:
        cut: the pieces of a text under ``tokenizer``; a tokenizer that tells none counts nothing.
    """
    one, other = cut(first), cut(second)
    shared = _common(one, other)
    at = _common(first, second)
    if first == second:
        return PrefixReport(tokenizer, len(other), len(other), 0, 0, "", "", 0, ())
    line, column = second.count("\n", 0, at) + 1, at - (second.rfind("\n", 0, at) + 1) + 1
    again = _known_lines(first[at:], second[at:])
    return PrefixReport(
        tokenizer,
        len(other),
        shared,
        line,
        column,
        _excerpt(first, at),
        _excerpt(second, at),
        min(sum(len(cut(text)) for text in again), len(other) - shared),
        tuple(sorted(_breaks(first, second, at), key=lambda found: found.line)),
    )


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """Length of the common beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _excerpt(text: str, at: int) -> str:
    """The rest of the line that ``at`` is in."""
    return text[at:].split("\n", 1)[0][:_EXCERPT]


def _known_lines(first: str, second: str) -> list[str]:
    """Lines of ``second`` that ``first`` has too, each as often as both have it, blank ones left out."""
    known = Counter(line for line in first.split("\n") if line.strip())
    found = []
    for line in second.split("\n"):
        if known[line] > 0:
            known[line] -= 1
            found.append(line + "\n")
    return found


def _breaks(first: str, second: str, at: int) -> Iterator[CacheBreak]:
    """A break a kind and place; "changed" only where nothing better is known."""
    found = [*_times(first, second), *_key_orders(first, second), *_moved(first, second)]
    yield from found
    line = second.count("\n", 0, at) + 1
    if not any(one.line == line for one in found):
        yield CacheBreak("changed", line, _excerpt(second, at))


def _times(first: str, second: str) -> Iterator[CacheBreak]:
    """Lines that are the same but for their dates and times."""
    stripped = {_TIME.sub("\0", line) for line in first.split("\n") if _TIME.search(line)}
    known = set(first.split("\n"))
    for number, line in enumerate(second.split("\n"), 1):
        if line not in known and (found := _TIME.search(line)) and _TIME.sub("\0", line) in stripped:
            yield CacheBreak("time", number, found[0])


def _key_orders(first: str, second: str) -> Iterator[CacheBreak]:
    """Objects of the same content, written differently: keys in another order, or other spacing."""
    known = {json.dumps(value, sort_keys=True): text for _, text, value in _objects(first)}
    starts = _line_starts(second)
    for at, text, value in _objects(second):
        same = known.get(json.dumps(value, sort_keys=True))
        if same is not None and same != text:
            yield CacheBreak("key_order", bisect_right(starts, at), text[:_EXCERPT])


def _objects(text: str) -> Iterator[tuple[int, str, Any]]:
    """The outermost JSON objects and lists in a text, with where they begin."""
    decoder, at, tried = json.JSONDecoder(), 0, 0
    while tried < _MOST_OBJECTS and (found := re.compile(r"[{\[]").search(text, at)):
        tried += 1
        try:
            value, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            at = found.end()
            continue
        if value:
            yield found.start(), text[found.start() : end], value
        at = end


def _moved(first: str, second: str) -> Iterator[CacheBreak]:
    """Paragraphs that both have, in another order: the first that stands elsewhere."""
    shared = set(_paragraphs(first)) & set(_paragraphs(second))
    before = [p for p in dict.fromkeys(_paragraphs(first)) if p in shared]
    after = [p for p in dict.fromkeys(_paragraphs(second)) if p in shared]
    if before != after:
        paragraph = after[_common(before, after)]
        yield CacheBreak(
            "moved", second.count("\n", 0, second.index(paragraph)) + 1, paragraph.split("\n")[0][:_EXCERPT]
        )


def _paragraphs(text: str) -> list[str]:
    """Blocks between blank lines; where there are none, lines."""
    blocks = [block.strip("\n") for block in re.split(r"\n[ \t]*\n", text) if block.strip()]
    return blocks if len(blocks) > 1 else [line for line in text.split("\n") if line.strip()]


def _line_starts(text: str) -> list[int]:
    return [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
