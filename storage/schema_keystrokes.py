"""Saved sessions of typing, and the count that tells whether what memory holds of an index only grew."""

from __future__ import annotations

from typing import Final

KEYSTROKES: Final = """
CREATE TABLE keystroke_session (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created TEXT NOT NULL,
    collection TEXT NOT NULL,
    question TEXT NOT NULL,
    keystrokes INTEGER NOT NULL,
    seconds REAL NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX keystroke_session_created ON keystroke_session (created);
ALTER TABLE corpus_index ADD COLUMN rewritten INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER chunk_deleted AFTER DELETE ON chunk
BEGIN UPDATE corpus_index SET rewritten = rewritten + 1 WHERE id = old.index_id; END;
CREATE TRIGGER chunk_rewritten AFTER UPDATE OF hash, heading, text, stems, exact, language ON chunk
WHEN old.hash IS NOT new.hash OR old.heading IS NOT new.heading OR old.text IS NOT new.text
    OR old.stems IS NOT new.stems OR old.exact IS NOT new.exact OR old.language IS NOT new.language
BEGIN UPDATE corpus_index SET rewritten = rewritten + 1 WHERE id = old.index_id; END;
"""
"""``rewritten`` counts chunks that went or changed; additions show in ``collection.version`` alone."""
