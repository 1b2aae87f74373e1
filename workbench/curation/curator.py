"""Edits of metadata: one or many documents, previewed, applied, undone."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.corpus.metadata import checked, kind_of, merge, other_kind
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.ports import Store
from workbench.records.corpus import Document, Metadata, MetaValue
from workbench.records.curation import EditPlan, FieldChange, MetadataEdit, MetadataState

FIXED = frozenset({"source_id"})
"""Fields that tell one document from another: changing them would make another document of it."""


class Curator:
    """Edits one file's metadata. Every method may be called from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def preview(self, document_ids: Sequence[str], asked: Metadata) -> EditPlan:
        """What setting these fields would change; an empty text means that the field is given no more.

        A field that was given no more has again what the source says of itself.

        Raises:
            UsageError: nothing is asked, a field can't be changed, or a value isn't of its field's type.
            NotFoundError: a document is gone.
        """
        _refuse(asked)
        states: dict[str, tuple[MetadataState, MetadataState]] = {}
        changes: list[FieldChange] = []
        for document_id in dict.fromkeys(document_ids):
            document = self._store.corpus.document(document_id)
            after = self._edited(document, asked)
            found = [
                FieldChange(
                    document.id, document.source_id, field, document.metadata.get(field), after.metadata.get(field)
                )
                for field in sorted({*document.metadata, *after.metadata})
                if document.metadata.get(field) != after.metadata.get(field)
            ]
            if found or after.given != document.given:
                states[document.id] = (MetadataState(document.metadata, document.given), after)
                changes += found
        return EditPlan(asked, tuple(changes), states, self._warnings(document_ids, asked, changes))

    def apply(self, plan: EditPlan) -> MetadataEdit:
        """Makes the edit.

        Raises:
            UsageError: nothing would change, or a document changed since the preview.
            NotFoundError: a document is gone.
        """
        if not plan.states:
            raise UsageError(
                tr("Nothing to change"), tr("All of it is so already."), tr("Choose other documents or other values.")
            )
        return self._store.curation.apply(plan)

    def undo(self, edit_id: int = 0) -> MetadataEdit:
        """Takes an edit back, the last one that wasn't when 0 is given.

        Raises:
            NotFoundError: no such edit, or none left to undo.
            UsageError: it was undone before, or a document was changed since.
        """
        last = edit_id or next((edit.id for edit in self._store.curation.edits() if not edit.undone), 0)
        if not last:
            raise NotFoundError(
                tr("Nothing to take back"),
                tr("No edit of metadata is left."),
                tr("workbench edits lists what was taken back."),
            )
        return self._store.curation.undo(last)

    def edits(self) -> tuple[MetadataEdit, ...]:
        """Newest first."""
        return self._store.curation.edits()

    def _warnings(self, edited: Sequence[str], asked: Metadata, changes: Sequence[FieldChange]) -> tuple[str, ...]:
        """Fields whose type is another than in most documents not edited here, or, where none has it, than before."""
        if not changes:
            return ()
        collection = self._store.corpus.document(changes[0].document_id).collection
        before = {c.field: (kind_of(c.before),) for c in changes if c.before is not None}
        known = {**before, **self._store.corpus.field_kinds(collection, edited)}
        given = [c for c in changes if asked.get(c.field, "") != ""]
        found = (other_kind(c.field, c.after, known.get(c.field, ())[:1]) for c in given if c.after is not None)
        return tuple(dict.fromkeys(filter(None, found)))

    def _edited(self, document: Document, asked: Metadata) -> MetadataState:
        given: dict[str, MetaValue] = {**document.given, **asked}
        dropped = {field for field, value in asked.items() if value == ""}
        given = {field: value for field, value in given.items() if field not in dropped}
        own = self._store.corpus.parsed_document(document.id).metadata if dropped else {}
        kept = {field: value for field, value in document.metadata.items() if field not in dropped}
        restored = {field: own[field] for field in dropped if field in own}
        return MetadataState(
            merge({**kept, **restored}, {}, {f: v for f, v in asked.items() if f not in dropped}), given
        )


def _refuse(asked: Metadata) -> None:
    _, problems = checked({field: value for field, value in asked.items() if value != ""})
    fixed = next((field for field in asked if field in FIXED), "")
    if fixed:
        problems = [tr("“{field}” tells documents apart and can't be changed here.", field=fixed)]
    if problems or not asked:
        raise UsageError(
            tr("Metadata not understood"),
            problems[0] if problems else tr("No field is named."),
            tr("Write key=value; key= takes a value back."),
        )
