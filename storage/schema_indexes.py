"""Columns of an index that came later: its form, what is taken off before signs, and when it ceased to be current."""

from __future__ import annotations

from typing import Final

INDEXES: Final = """
ALTER TABLE corpus_index ADD COLUMN form TEXT NOT NULL
    DEFAULT '{"component": "float32", "dimension": 0, "rescore": "none", "type": "VectorForm"}';
ALTER TABLE corpus_index ADD COLUMN centre BLOB;
ALTER TABLE corpus_index ADD COLUMN replaced TEXT
"""
