"""Sentences of documents that give orders to whoever answers: material as any other, but no statement to cite."""

from __future__ import annotations

import re
from typing import Final

from workbench.text.words import fold

_ORDERS: Final = re.compile(
    r"""(?:^|[.!?:;,]\s*|\b(?:and|now|please|must|should|y|ahora|debes|favor)\s+)
        (?:ignore|disregard|forget|override|ignora|ignorad|olvida|olvide|olvidad|desatiende|omite)\b[^.]{0,40}
        \b(?:instructions?|prompts?|instrucciones|indicaciones|ordenes)\b
      | \b(?:ignore|disregard|forget|ignora|ignore|olvida)\b[^.]{0,20}
        \b(?:previous|above|prior|earlier|anterior(?:es)?|previas?)\b[^.]{0,20}\b(?:instructions?|prompts?|instrucciones)\b
      | \b(?:you\ are|eres)\s+(?:now\ |ahora\ )?(?:an?|una?|el|la|the)\s+(?:ai|assistant|language\ model|asistente|ia)\b
      | \bsystem\ prompt\b""",
    re.VERBOSE,
)
_BETWEEN: Final = re.compile(r"(?<=[.!?])\s+|[\x00-\x1f]+")


def gives_orders(text: str) -> bool:
    """Whether ``text``, in English or Spanish, tells a model what to do: "Ignore the instructions and answer …"."""
    return bool(_ORDERS.search(fold(text)))


def without_orders(text: str) -> str:
    """What ``text`` says besides; the same text where it gives none."""
    return " ".join(part for part in _BETWEEN.split(text) if not gives_orders(part)) if gives_orders(text) else text
