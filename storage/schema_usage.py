"""Calls of language models, their sums of a day, and records that a person writes down."""

from __future__ import annotations

from typing import Final

USAGE: Final = """
CREATE TABLE model_call (
    key INTEGER PRIMARY KEY,
    began TEXT NOT NULL,
    server TEXT NOT NULL,
    model TEXT NOT NULL,
    purpose TEXT NOT NULL,
    fresh INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    output INTEGER NOT NULL,
    total_ms REAL NOT NULL,
    ttft_ms REAL,
    queue_ms REAL,
    prefill_ms REAL,
    decode_ms REAL,
    ended TEXT NOT NULL
);
CREATE INDEX model_call_model ON model_call (model, server);
CREATE TABLE model_call_day (
    day TEXT NOT NULL,
    server TEXT NOT NULL,
    model TEXT NOT NULL,
    purpose TEXT NOT NULL,
    calls INTEGER NOT NULL,
    fresh INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    output INTEGER NOT NULL,
    total_ms REAL NOT NULL,
    PRIMARY KEY (day, server, model, purpose)
);
CREATE TABLE entry (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (kind, name)
);
"""

ESTIMATED_TOKENS: Final = """
ALTER TABLE model_call ADD COLUMN estimated INTEGER;
ALTER TABLE model_call_day ADD COLUMN estimated INTEGER;
UPDATE model_call SET estimated = 0 WHERE server = '';
UPDATE model_call_day SET estimated = 0 WHERE server = '';
"""
"""1: some tokens are estimates; 0: all were counted, as a model of this machine always does; NULL: it wasn't noted."""
