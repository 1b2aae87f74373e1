"""Tables of what a person keeps about models."""

from __future__ import annotations

from typing import Final

LIBRARY: Final = """
CREATE TABLE model_note (
    key TEXT PRIMARY KEY,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE model_preset (
    name TEXT PRIMARY KEY,
    body TEXT NOT NULL
) WITHOUT ROWID;
"""
