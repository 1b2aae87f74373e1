"""The tables of metadata edits."""

from __future__ import annotations

from typing import Final

CURATION: Final = """
CREATE TABLE metadata_edit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created TEXT NOT NULL,
    asked TEXT NOT NULL,
    documents INTEGER NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE metadata_edit_document (
    edit_id INTEGER NOT NULL REFERENCES metadata_edit (id) ON DELETE CASCADE,
    document_id TEXT NOT NULL,
    metadata_before TEXT NOT NULL,
    given_before TEXT NOT NULL,
    status_before TEXT NOT NULL,
    metadata_after TEXT NOT NULL,
    PRIMARY KEY (edit_id, document_id)
) WITHOUT ROWID;
"""
