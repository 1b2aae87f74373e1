"""Edits of metadata, with what they replaced."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from storage.connections import Connections
from storage.documents import no_document, set_status, update_metadata
from storage.driver import Connection
from storage.rows import dump_metadata, load_metadata, now
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.records.corpus import Metadata
from workbench.records.curation import EditPlan, MetadataEdit

_EDIT: Final = "SELECT id, created, asked, documents, undone FROM metadata_edit"

_UNREAD: Final = ""
"""The metadata hash of a document that was edited here: no source hashes to it, so the next ingest reads it anew."""


class FileCuration:
    """Implements ``workbench.ports.CurationRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def apply(self, plan: EditPlan) -> MetadataEdit:
        """All of it in one transaction.

        Raises:
            UsageError: a document isn't any more as the plan saw it; nothing is changed.
            NotFoundError: a document is gone; nothing is changed.
        """

        def work(c: Connection) -> int:
            statement = "INSERT INTO metadata_edit (created, asked, documents) VALUES (?, ?, ?)"
            edit = c.execute(statement, (now(), dump_metadata(plan.asked), plan.documents)).lastrowid
            for document_id, (before, after) in plan.states.items():
                status = _expect(c, document_id, dump_metadata(before.metadata))
                c.execute(
                    "INSERT INTO metadata_edit_document VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        edit,
                        document_id,
                        dump_metadata(before.metadata),
                        dump_metadata(before.given),
                        status,
                        dump_metadata(after.metadata),
                    ),
                )
                update_metadata(c, document_id, after.metadata, _UNREAD, after.given)
            return int(edit or 0)

        return self._edit(self._connections.write(work))

    def undo(self, edit_id: int) -> MetadataEdit:
        """Puts back what was there before, in one transaction; documents that were deleted since are passed over.

        Raises:
            NotFoundError: no such edit.
            UsageError: it was undone, or a document was changed since; nothing is changed.
        """
        if self._edit(edit_id).undone:
            raise UsageError(
                tr("Undone before"),
                tr("Edit {id} was taken back already.", id=edit_id),
                tr("Undo another one, or edit again."),
            )

        def work(c: Connection) -> None:
            rows = c.execute(
                "SELECT e.document_id, e.metadata_before, e.given_before, e.status_before, e.metadata_after "
                "FROM metadata_edit_document e JOIN document d ON d.id = e.document_id WHERE e.edit_id = ?",
                (edit_id,),
            ).fetchall()
            for document_id, metadata, given, status, after in rows:
                _expect(c, document_id, after)
                update_metadata(c, document_id, load_metadata(metadata), _UNREAD, load_metadata(given))
                set_status(c, [document_id], status)
            c.execute("UPDATE metadata_edit SET undone = 1 WHERE id = ?", (edit_id,))

        self._connections.write(work)
        return self._edit(edit_id)

    def edits(self, limit: int = 50) -> tuple[MetadataEdit, ...]:
        """Newest first."""
        with self._connections.read() as c:
            return tuple(_record(*row) for row in c.execute(f"{_EDIT} ORDER BY id DESC LIMIT ?", (limit,)))

    def _edit(self, edit_id: int) -> MetadataEdit:
        with self._connections.read() as c:
            row = c.execute(f"{_EDIT} WHERE id = ?", (edit_id,)).fetchone()
        if row is None:
            raise NotFoundError(
                tr("No such edit"), tr("There is no edit {id}.", id=edit_id), tr("workbench edits lists them.")
            )
        return _record(*row)


def _expect(connection: Connection, document_id: str, metadata: str) -> str:
    """The document's status. Raises UsageError when its metadata isn't ``metadata``, NotFoundError when it is gone."""
    row = connection.execute("SELECT source_id, metadata, status FROM document WHERE id = ?", (document_id,)).fetchone()
    if row is None:
        raise no_document(document_id)
    if load_metadata(row[1]) != load_metadata(metadata):
        raise UsageError(
            tr("Changed meanwhile"),
            tr("The metadata of “{name}” is not what it was.", name=row[0]),
            tr("Look at it again, then edit it anew."),
        )
    return str(row[2])


def _record(number: int, created: str, asked: str, documents: int, undone: int) -> MetadataEdit:
    stated: Metadata = load_metadata(asked)
    return MetadataEdit(number, datetime.fromisoformat(created), stated, documents, bool(undone))
