"""Deterministic ids and hashes of the corpus: the same source and text give the same id on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

_ID_LENGTH: Final = 16  # hex digits: 64 bits; a clash becomes likelier than 1 in a million above six million ids


def sha256(*parts: str) -> str:
    """Of ``parts`` in this order, in hexadecimal; no two different sequences are hashed alike."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def short_id(*parts: str) -> str:
    """The first 16 digits of ``sha256``."""
    return sha256(*parts)[:_ID_LENGTH]


def document_id(collection: str, source_id: str) -> str:
    """The id of a source in a collection."""
    return short_id(collection, source_id)


def chunk_id(document: str, heading: Sequence[str], digest: str, occurrence: int) -> str:
    """The id of a document's chunk under ``heading``; ``occurrence``: which one of those with that text, from 1."""
    return short_id(document, *heading, digest, str(occurrence))
