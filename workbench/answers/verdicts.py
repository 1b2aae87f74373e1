"""A model's verdict as JSON: the grammar that forces its form, and the reading that guesses nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from workbench.i18n import tr

_GRAMMAR: Final = r"""root ::= "{{\"reason\": \"" reason "\", \"verdict\": \"" verdict "\"}}"
reason ::= [^"\\\n\r\t]{{1,200}}
verdict ::= {verdicts}
"""


def verdict_grammar(verdicts: Sequence[str]) -> str:
    """GBNF of ``{"reason": "…", "verdict": "…"}``: the reason first, so that the verdict can rest on it."""
    return _GRAMMAR.format(verdicts=" | ".join(f'"{verdict}"' for verdict in verdicts))


def read_verdict(raw: str, verdicts: Sequence[str]) -> tuple[str, str]:
    """The verdict and its reason; ("", why) when ``raw`` isn't the JSON that was asked for. Nothing is guessed."""
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        return "", tr("the judge's output can't be read")
    if not isinstance(said, dict) or said.get("verdict") not in verdicts:
        return "", tr("the judge's output has no verdict")
    return str(said["verdict"]), str(said.get("reason", ""))
