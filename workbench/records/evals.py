"""Records of eval datasets: what the foundation stores and lists."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """A passage that answers a case, anchored to the source text so that re-chunking keeps it.

    Attributes:
        source_id: the document; start, end: the span (both 0 for the whole document).
        grade: relevance 0–3.
    """

    source_id: str
    start: int = 0
    end: int = 0
    grade: int = 1


@dataclass(frozen=True, slots=True)
class Case:
    """One question with what is expected of it."""

    id: str
    question: str
    answerable: bool = True
    gold: tuple[GoldSpan, ...] = ()
    answers: tuple[str, ...] = ()
    type: str = ""
    difficulty: str = ""
    language: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named set of cases; ``hash`` is the SHA-256 of its content."""

    id: int
    name: str
    collection: str
    hash: str
    created: datetime
    cases: int
    answerable: int
