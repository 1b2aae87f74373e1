"""Records of datasets: cases with what is expected of them, candidates, and what an import found.

Gold is anchored to offsets of the source text, never to chunk ids, so that re-chunking keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

CheckKind: TypeAlias = Literal["exact", "f1", "numeric", "regex", "json_schema", "sql"]
CandidateState: TypeAlias = Literal["waiting", "accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """A passage that answers a case, anchored to the source text so that re-chunking keeps it.

    Attributes:
        source_id: the document; start, end: the span (both 0 for the whole document).
        grade: relevance 0–3 (0 no help, 1 related, 2 useful in part, 3 central evidence).
    """

    source_id: str
    start: int = 0
    end: int = 0
    grade: int = 1


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a model task's output must be; such a case needs no corpus.

    Attributes:
        value: the expected text, number, regular expression, JSON schema, or SQL query, by ``kind``.
        tolerance: ``numeric``: largest absolute difference; ``f1``: the lowest F1 that passes.
        fixture: ``sql``: path of the read-only SQLite file both queries run on.
        ordered: ``sql``: rows must come in the expected order.
    """

    kind: CheckKind
    value: str
    tolerance: float = 0.0
    fixture: str = ""
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One question with what is expected of it.

    Attributes:
        question: the question, or a model task's whole prompt.
        gold: graded evidence; ``citations``: spans that a right answer must cite (gold of grade ≥ 2 when empty).
        negatives: passages that look right and are not.
        filter: a filter expression that the question is asked with.
        criterion: what must happen for the answer to be valid, for people and judges.
        expectation: makes it a model task.
    """

    id: str
    question: str
    answerable: bool = True
    gold: tuple[GoldSpan, ...] = ()
    answers: tuple[str, ...] = ()
    type: str = ""
    difficulty: str = ""
    language: str = ""
    notes: str = ""
    citations: tuple[GoldSpan, ...] = ()
    negatives: tuple[GoldSpan, ...] = ()
    filter: str = ""
    criterion: str = ""
    tags: tuple[str, ...] = ()
    expectation: Expectation | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named set of cases; ``hash`` is the SHA-256 of its content and tells its version."""

    id: int
    name: str
    collection: str
    hash: str
    created: datetime
    cases: int
    answerable: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A case that was made by a model and waits for a person's yes: only accepted ones join their dataset.

    Attributes:
        origin: how it was made (model, prompt, chunk).
    """

    id: int
    dataset: str
    case: Case
    state: CandidateState
    origin: str


@dataclass(frozen=True, slots=True)
class RowProblem:
    """What was wrong with one row of a dataset file.

    Attributes:
        line: counted from 1; 0 when it concerns the whole file.
        skipped: the row stayed out; else it came in without the part that ``reason`` names.
    """

    line: int
    reason: str
    skipped: bool = True


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What a dataset file gave: its good rows as cases, and what was wrong with the others."""

    cases: tuple[Case, ...]
    problems: tuple[RowProblem, ...]
    format: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A dataset that was stored from a file, with the rows that didn't make it.

    Attributes:
        brings: the file holds the documents that its gold names, and the collection has none of them.
    """

    dataset: Dataset
    problems: tuple[RowProblem, ...]
    format: str
    brings: bool = False
