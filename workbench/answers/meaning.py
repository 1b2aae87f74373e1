"""What an embedder tells of texts: how close each is in meaning to the question, and to a claim.

Two scales on cosines, since both hold for every embedder of a kind; the embedder's child gives the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from workbench.errors import EngineError
from workbench.ports import Vector

Cosines: TypeAlias = Callable[[Sequence[str]], Sequence[float]]
"""Cosine of each text with the question."""

Between: TypeAlias = Callable[[str, Sequence[str]], Sequence[float]]
"""Cosine of each text with the first one, all embedded as passages are."""

# The cosine of a unit that has nothing to do with the question, and of one that clearly answers it. Those of e5 lie
# close together, and are lower across languages. Calibrated on XQuAD (bench/answers.py).
_E5: Final = (0.80, 0.89)
_OTHER: Final = (0.20, 0.70)
_ACROSS: Final = 0.035

# The same for a claim and a text that it cites: calibrated for multilingual e5 alone (bench/claims.py), in one language
# so that closeness spreads as the share of words does, across languages so that 0.65 is the cosine that 2 % of the
# wrong paragraphs reach.
_CLAIM: Final = (0.80, 0.935)
_CLAIM_ACROSS: Final = (0.793, 0.873)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an embedder tells of texts, the question and claims.

    Attributes:
        embedder: its name, for the scale of its cosines.
        between: None where claims are not compared.
    """

    embedder: str
    cosines: Cosines
    between: Between | None = None

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

    def closeness(self, claim: str, texts: Sequence[str], *, across: bool = False) -> list[float]:
        """How close each text is in meaning to ``claim``, 0–1; none where it isn't known what a cosine means.

        That is an embedder other than multilingual e5, and one whose process has died.
        """
        name = self.embedder.lower()
        if self.between is None or "e5" not in name or "multilingual" not in name:
            return []
        low, high = _CLAIM_ACROSS if across else _CLAIM
        try:
            return [min(1.0, max(0.0, (cosine - low) / (high - low))) for cosine in self.between(claim, texts)]
        except EngineError:  # the words tell alone
            return []


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of texts as passages, each embedded once."""

    embed: Callable[[Sequence[str]], Iterable[Vector]]
    _known: dict[str, Vector] = field(default_factory=dict)

    def of(self, texts: Sequence[str]) -> list[Vector]:
        """In the order of ``texts``. Raises EngineError when the embedder can't."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self.embed(new), strict=True))
        return [self._known[text] for text in texts]

    def between(self, one: str, texts: Sequence[str]) -> list[float]:
        """Cosine of each text with ``one``."""
        first, *others = self.of([one, *texts])
        return [float(first @ other) for other in others]
