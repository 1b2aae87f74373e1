"""Records of a collection's health: checks with what they found, distributions, and where the file's bytes are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]
"""error: searches miss or mistake something; warning: answers may suffer; note: worth knowing."""

Repair: TypeAlias = Literal["", "embed", "words", "strays", "recut", "ingest", "retire"]
"""What one key does about a finding; "" where a person has to decide."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found.

    Attributes:
        kind: what ``id`` names: a document, a chunk, or nothing ("file", "collection").
        name: what a person calls it.
        detail: what is wrong with it.
        group: findings of one group belong together (copies of each other), 0 for none.
        document: id of the document that it is, or is in; "" for none.
    """

    kind: Literal["document", "chunk", "collection", "file"]
    id: str
    name: str
    detail: str
    group: int = 0
    document: str = ""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A check with what it found.

    Attributes:
        key: its name in commands.
        severity: of its findings, when there are any.
        count: findings in all, and ``of`` how many things were looked at.
        findings: the first of them.
        remedy: what to do about them.
        repair: what does it on one key.
        measured: a figure that stands for the whole ("99.2 % of the characters are in a chunk").
    """

    key: str
    title: str
    severity: Severity
    count: int
    of: int
    findings: tuple[Finding, ...]
    remedy: str
    repair: Repair = ""
    measured: str = ""

    @property
    def passed(self) -> bool:
        """Nothing was found."""
        return self.count == 0


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of things by size, by language, by year: ``labels`` in order, each with its count."""

    key: str
    title: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """A collection's health, or as much of it as has been looked at.

    Attributes:
        done, total: checks.
        running: title of the check under way, "" at the end.
        version: the collection's when it was looked at.
        at: when that was.
        language: of its sentences.
    """

    collection: str
    checks: tuple[HealthCheck, ...]
    histograms: tuple[Histogram, ...]
    done: int
    total: int
    running: str = ""
    duration_ms: float = 0.0
    version: int = -1
    at: datetime | None = None
    language: str = ""

    @property
    def errors(self) -> int:
        """Checks of severity error that found something."""
        return self.found("error")

    def found(self, severity: Severity) -> int:
        """Checks of that severity that found something."""
        return sum(check.severity == severity and not check.passed for check in self.checks)


@dataclass(frozen=True, slots=True)
class RepairProgress:
    """A repair under way. The last one is ``finished`` and says what was done."""

    repair: Repair
    done: int
    total: int
    told: str = ""
    finished: bool = False


@dataclass(frozen=True, slots=True)
class SpaceItem:
    """Bytes of a table or index of the file, the virtual tables' own tables counted under their name.

    Attributes:
        what: what it holds, in words.
        bytes: of its pages; ``unused`` of these hold nothing.
        gaps: bytes of deleted vectors whose room is kept until the vector table is made anew.
    """

    name: str
    what: str
    bytes: int
    unused: int
    pages: int
    gaps: int = 0


@dataclass(frozen=True, slots=True)
class SpaceMap:
    """Where the file's bytes are: the items, pages that nothing uses (``free``) and the log beside the file add up."""

    file_bytes: int
    log_bytes: int
    free: int
    items: tuple[SpaceItem, ...]

    @property
    def reclaimable(self) -> int:
        """Bytes that a rebuild of the vector tables and a vacuum give back at least."""
        return self.free + sum(item.gaps for item in self.items)
