"""The demo collection: a small library in an invented lighthouse, in English and Spanish, written for this project.

Here live only documents and what is asked about them. They are made to show things: a retired policy that contradicts
the current one, roles, validity, tables, pages, code, and questions that no document answers.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

DEMO_COLLECTION: Final = "demo"
DEMO_QUESTION: Final = "For how many days are books lent?"


def demo_folder() -> Path:
    """The folder of documents. The package is always installed as files, so this is a real path."""
    return Path(str(files(__name__))) / "faro"


def cases_file() -> Path:
    """Eval cases about them, JSONL with the fields of ``Case``; gold spans are offsets into the stored texts."""
    return Path(str(files(__name__))) / "cases.jsonl"
