"""Each app of a test process parses the same style sheets; here once, which saves a seventh of the screens' tests."""

from __future__ import annotations

from typing import Any

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_parse = Stylesheet._parse_rules
_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


def parse_once() -> None:
    """From now on, style sheets with the same text and the same variables share their rules, in whichever app."""

    def parse(sheet: Stylesheet, css: str, *where: Any, **more: Any) -> list[RuleSet]:
        key = (css, where, tuple(more.items()), frozenset(sheet._variables.items()))
        if key not in _parsed:
            _parsed[key] = _parse(sheet, css, *where, **more)
        return _parsed[key]

    Stylesheet._parse_rules = parse  # type: ignore[method-assign,assignment]  # Textual has no place to hand it in
