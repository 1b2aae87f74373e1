"""The table of model servers' addresses."""

from __future__ import annotations

from typing import Final

SERVERS: Final = """
CREATE TABLE server (
    url TEXT PRIMARY KEY,
    key_variable TEXT NOT NULL,
    added TEXT NOT NULL
);
"""
