"""What a model writes that no grammar holds, brought into the form that citations are read in."""

from __future__ import annotations

import re
from typing import Final

from workbench.text.sentences import sentences

_THOUGHT: Final = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)\s*", re.DOTALL | re.IGNORECASE)
_LABELS: Final = r"F?\d{1,3}(?:\s*[,;]\s*F?\d{1,3})*"
_BRACKETED: Final = re.compile(
    rf"\[\s*(?:(?:source|fuente)s?:?\s*)?({_LABELS})\s*\]|【\s*({_LABELS})[^】]*】", re.IGNORECASE
)
_ROUND: Final = re.compile(r"\(\s*(?:(?:source|fuente)s?:?\s*)?(F\d{1,3}(?:\s*[,;]\s*F?\d{1,3})*)\s*\)", re.IGNORECASE)
_LEADING: Final = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+", re.MULTILINE)
_REFUSAL: Final = re.compile(
    r"""(?:the\s+)?(?:sources?|texts?|evidence|context|passages?)\s+(?:given\s+|provided\s+)?(?:do|does)(?:\s+not|n[’']t)\s
    | (?:i\s+)?(?:cannot|can[’']t|could\s+not|couldn[’']t)\s+(?:be\s+)?(?:answer|find|determine)
    | (?:i\s+)?(?:do\s+not|don[’']t)\s+know
    | there\s+is\s+(?:no|not\s+enough)\s+information
    | (?:las?\s+)?(?:fuentes?|textos?|pasajes?)\s+no\s
    | no\s+(?:hay|se\s+encuentra|dispongo\s+de|tengo)\s+(?:suficiente\s+)?informaci[oó]n
    | no\s+(?:lo\s+s[eé]|se\s+menciona|se\s+indica|puedo\s+responder)""",
    re.VERBOSE | re.IGNORECASE,
)


def readable(text: str) -> str:
    """``text`` without what the model thought aloud and without list signs, its citations written as ``[F1]``.

    ``[1]``, ``(F1)``, ``[Source: F1]`` and ``【F1】`` are citations too; a number in round brackets isn't one.
    """
    bare = _LEADING.sub("", _THOUGHT.sub("", text))
    marked = _ROUND.sub(_mark, _BRACKETED.sub(_mark, bare))
    return marked.strip()


def refuses(text: str) -> bool:
    """Whether its first sentence says, in one of the usual ways, that the sources don't tell, and it cites nothing."""
    said = readable(text)
    if not said or "[F" in said:
        return False
    start, end = sentences(said)[0]
    return _REFUSAL.match(said[start:end]) is not None


def _mark(match: re.Match[str]) -> str:
    labels = next(group for group in match.groups() if group)
    return "".join(f"[F{number}]" for number in re.findall(r"\d+", labels))
