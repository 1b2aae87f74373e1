"""What evaluation adds to the tables of ``storage.schema``, as its migrations bring it."""

from __future__ import annotations

from typing import Final

RUN_HOLDER: Final = """
ALTER TABLE eval_run ADD COLUMN holder TEXT NOT NULL DEFAULT '';
"""
