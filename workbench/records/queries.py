"""Records of what becomes of a question around its search: a follow-up read in full, weak evidence and what is next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question read with the one before it. Only the earlier question helps, and it is never evidence.

    Attributes:
        follows: id of the earlier question's trace; ``earlier``: that question, itself read in full.
        question: what is searched and answered; as typed when it stands alone.
        carried: words taken over from ``earlier``.
        by: "rules" or the model's name.
        note: why it is as it is.
    """

    follows: str
    earlier: str
    question: str
    carried: tuple[str, ...]
    by: str
    prompt_tokens: int = 0
    output_tokens: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceCheck:
    """Evidence judged too weak to answer from, and what is done about it.

    Attributes:
        support, threshold: s and τ.
        coverage: share of the question's weight in words that all the evidence together holds.
        lacking: words of the question that none of it holds.
        next: "search" once more, as ``query``, or "abstain".
        step, steps: searches so far and allowed; ``tokens`` likewise, that models spent on the question.
        reason: why this comes next.
    """

    support: float
    threshold: float
    coverage: float
    lacking: tuple[str, ...]
    next: Literal["search", "abstain"]
    query: str
    step: int
    steps: int
    tokens: int
    most_tokens: int
    reason: str
