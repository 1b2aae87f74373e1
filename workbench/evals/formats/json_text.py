"""JSON read with reasons and places: what a value is, and on which line a part of it stands."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Final

from workbench.errors import reason_of
from workbench.i18n import tr

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[\s,:]*")


def parse(text: str) -> Any:
    """The value. Raises ValueError, in words, when it isn't JSON, or nested deeper than Python can follow."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if "\n" in text:
            raise ValueError(reason_of(error)) from None
        raise ValueError(tr("column {column}: {problem}", column=error.colno, problem=tr(error.msg))) from None
    except RecursionError:
        raise ValueError(tr("it is nested too deeply")) from None


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Line numbers and lines that aren't blank. Only \\n ends a line: JSON text may hold the other separators."""
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


class Lines:
    """On which line each object and list of a JSON text begins, by its path of keys and indexes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._newlines = [match.start() for match in re.finditer("\n", text)]
        self._starts: dict[tuple[str | int, ...], int] = {}
        self._walk(_skip(text, 0), ())

    def of(self, *path: str | int) -> int:
        """The line, counted from 1; that of the nearest whole when ``path`` leads to no object or list."""
        while path and path not in self._starts:
            path = path[:-1]
        return bisect_left(self._newlines, self._starts.get(path, 0)) + 1

    def _walk(self, at: int, path: tuple[str | int, ...]) -> int:
        """Notes what begins at ``at``; returns where it ends."""
        opening = self._text[at]
        if opening not in "{[":
            return int(_DECODER.raw_decode(self._text, at)[1])
        self._starts[path] = at
        at, index = _skip(self._text, at + 1), 0
        while self._text[at] not in "}]":
            step: str | int = index
            if opening == "{":
                step, at = _DECODER.raw_decode(self._text, at)
                at = _skip(self._text, at)
            at, index = _skip(self._text, self._walk(at, (*path, step))), index + 1
        return at + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
