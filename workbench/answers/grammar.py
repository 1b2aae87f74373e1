"""The grammar that lets a model emit only claims with citations of evidence it was given, or the refusal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MAX_CLAIMS: Final = 4
CLAIM_CHARACTERS: Final = (12, 280)


def answer_grammar(labels: Sequence[str], refusal: str) -> str:
    """GBNF with root rule ``root``: one to ``MAX_CLAIMS`` sentences, each ending in labels, or ``refusal``.

    A sentence is free text without brackets in which a full stop can only stand inside a number, so that no second
    sentence slips in uncited. After it come one to three of ``labels``: a citation of anything else can't be written.

    Raises:
        ValueError: there are no labels.
    """
    if not labels:
        raise ValueError("a grammar without evidence could only refuse")
    low, high = CLAIM_CHARACTERS
    alternatives = " | ".join(_quoted(f"[{label}]") for label in labels)
    return "\n".join(
        (
            f'root ::= {_quoted(refusal)} | claim (" " claim){{0,{MAX_CLAIMS - 1}}}',
            'claim ::= start text "."? " " label label? label?',
            r"start ::= [^\[\]\n\r <>.,;:!?]",
            f"text ::= (sign | number){{{low},{high}}}",
            r"sign ::= [^\[\]\n\r<>.!?0-9]",
            "number ::= [0-9]+ ([.,] [0-9]+)?",
            f"label ::= {alternatives}",
            "",
        )
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
