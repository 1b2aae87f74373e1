"""What became of each document, version by version of its collection: what a replay tells its differences by."""

from __future__ import annotations

from typing import Final

# A statement ends with ";" and a line's end, so a trigger stands on one line. A row belongs to the step from its
# version to the next one, which the same transaction makes. Documents of a deleted collection go without a word.
CHANGES: Final = """
CREATE TABLE document_change (
    key INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    source_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('added', 'changed', 'gone', 'retired', 'restored', 'metadata'))
);
CREATE INDEX document_change_version ON document_change (collection_id, version);
""" + "\n".join(
    f"CREATE TRIGGER document_{kind} AFTER {event} ON document WHEN {condition} BEGIN INSERT INTO document_change "
    f"(collection_id, version, source_id, kind) SELECT id, version, {row}.source_id, {told} FROM collection "
    f"WHERE id = {row}.collection_id; END;"
    for kind, event, condition, row, told in (
        ("added", "INSERT", "1", "NEW", "'added'"),
        ("changed", "UPDATE OF hash", "NEW.hash <> OLD.hash", "NEW", "'changed'"),
        ("metadata", "UPDATE OF metadata", "NEW.metadata <> OLD.metadata", "NEW", "'metadata'"),
        ("gone", "DELETE", "1", "OLD", "'gone'"),
        (
            "status",
            "UPDATE OF status",
            "NEW.status <> OLD.status",
            "NEW",
            "iif(NEW.status = 'retired', 'retired', 'restored')",
        ),
    )
)
