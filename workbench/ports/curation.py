"""Edits of metadata in the file, each kept with what was there before."""

from __future__ import annotations

from typing import Protocol

from workbench.records.curation import EditPlan, MetadataEdit


class CurationRepository(Protocol):
    """Applies edits, remembers them, and takes them back."""

    def apply(self, plan: EditPlan) -> MetadataEdit:
        """All of it in one transaction.

        Raises:
            UsageError: a document isn't any more as the plan saw it; nothing is changed.
            NotFoundError: a document is gone; nothing is changed.
        """
        ...

    def undo(self, edit_id: int) -> MetadataEdit:
        """Puts back what was there before, in one transaction; documents that were deleted since are passed over.

        Raises:
            NotFoundError: no such edit.
            UsageError: it was undone, or a document was changed since; nothing is changed.
        """
        ...

    def edits(self, limit: int = 50) -> tuple[MetadataEdit, ...]:
        """Newest first."""
        ...
