"""Likeness: how close a text's meaning is to the question's, on one scale for every embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Cosines: TypeAlias = Callable[[Sequence[str]], Sequence[float]]
"""Cosine of each text with the question."""

# The cosine of a unit that has nothing to do with the question, and of one that clearly answers it. Those of e5 lie
# close together, and are lower across languages. Calibrated on XQuAD (bench/answers.py).
_E5: Final = (0.80, 0.89)
_OTHER: Final = (0.20, 0.70)
_ACROSS: Final = 0.035


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an embedder tells of texts and the question.

    Attributes:
        embedder: its name, for the scale of its cosines.
    """

    embedder: str
    cosines: Cosines

    def likeness(self, texts: Sequence[str], across: Sequence[bool]) -> list[float]:
        """(cosine − low) / (high − low) of each text: about 0 when unrelated, 1 and more for a clear answer.

        Args:
            across: whether each text is in another language than the question, which costs 0.035 of cosine.
        """
        low, high = _E5 if "e5" in self.embedder.lower() else _OTHER
        return [
            (cosine + _ACROSS * foreign - low) / (high - low)
            for cosine, foreign in zip(self.cosines(texts), across, strict=True)
        ]
