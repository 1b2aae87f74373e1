"""The tables of quantization ladders."""

from __future__ import annotations

from typing import Final

LADDERS: Final = """
CREATE TABLE ladder (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created TEXT NOT NULL,
    bench_id INTEGER NOT NULL DEFAULT 0,
    text_hash TEXT NOT NULL,
    plan TEXT NOT NULL,
    manifest TEXT NOT NULL
);
CREATE TABLE ladder_rung (
    ladder_id INTEGER NOT NULL REFERENCES ladder (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (ladder_id, place)
) WITHOUT ROWID;
CREATE TABLE ladder_window (
    ladder_id INTEGER NOT NULL,
    place INTEGER NOT NULL,
    window INTEGER NOT NULL,
    kl BLOB NOT NULL,
    surprise BLOB NOT NULL,
    reference_surprise BLOB NOT NULL,
    same_top BLOB NOT NULL,
    PRIMARY KEY (ladder_id, place, window),
    FOREIGN KEY (ladder_id, place) REFERENCES ladder_rung (ladder_id, place) ON DELETE CASCADE
);
"""
