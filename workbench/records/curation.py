"""Edits of documents' metadata: what would change, what was changed, and what can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from workbench.records.corpus import Metadata, MetaValue


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of one document; None where there is no such field."""

    document_id: str
    source_id: str
    field: str
    before: MetaValue | None
    after: MetaValue | None


@dataclass(frozen=True, slots=True)
class MetadataState:
    """A document's metadata as the file keeps it: all of it, and the part of it that a person gave."""

    metadata: Metadata
    given: Metadata


@dataclass(frozen=True, slots=True)
class EditPlan:
    """What an edit would do, before it is done.

    Attributes:
        asked: the assignments, a field with an empty text being given no more.
        changes: field by field; documents that stay as they are have none.
        states: before and after, by document id.
        warnings: what may be a slip: a value of another type than the field's other values.
    """

    asked: Metadata
    changes: tuple[FieldChange, ...]
    states: Mapping[str, tuple[MetadataState, MetadataState]]
    warnings: tuple[str, ...] = ()

    @property
    def documents(self) -> int:
        """How many documents would change."""
        return len(self.states)


@dataclass(frozen=True, slots=True)
class MetadataEdit:
    """An edit that was made. ``undone``: it was taken back since."""

    id: int
    created: datetime
    asked: Metadata
    documents: int
    undone: bool = False
