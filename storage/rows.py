"""Rows to records and back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any, Final

from storage.driver import storable
from workbench.corpus.metadata import kind_of
from workbench.records.codec import decode, encode
from workbench.records.corpus import (
    Chunk,
    Collection,
    Document,
    EmbedderInfo,
    Index,
    Metadata,
    MetaValue,
    Recipe,
    VectorForm,
)

FieldRow = tuple[str, str, str | int | float]

COLLECTION: Final = """
    SELECT l.id, l.name, l.recipe, l.mandatory_filter, l.version, l.created, coalesce(i.id, 0)
    FROM collection l LEFT JOIN corpus_index i ON i.collection_id = l.id AND i.status = 'current'
"""
INDEX: Final = """
    SELECT i.id, l.name, i.embedder, i.recipe, i.status, i.created, i.form, i.replaced
    FROM corpus_index i JOIN collection l ON l.id = i.collection_id
"""
DOCUMENT: Final = """
    SELECT d.id, l.name, d.source_id, d.uri, d.title, d.media_type, d.language, d.status, d.hash, d.metadata_hash,
        d.characters, d.metadata, d.ingested, d.warnings, d.given,
        (SELECT count(*) FROM chunk c WHERE c.document_key = d.key
         AND c.index_id = (SELECT i.id FROM corpus_index i WHERE i.collection_id = l.id AND i.status = 'current'))
    FROM document d JOIN collection l ON l.id = d.collection_id
"""
CHUNK: Final = """
    SELECT c.id, d.id, d.source_id, c.ordinal, c.start, c.end, c.text, c.header, c.path, c.kind, c.page, c.page_label,
        c.language, c.tokens, c.tiktoken_tokens, c.truncated, c.hash, c.parent_start, c.parent_end, c.metadata,
        c.page_end
    FROM chunk c JOIN document d ON d.key = c.document_key
"""

_DOCUMENT_FIELDS: Final = (
    "id collection source_id uri title media_type language status hash metadata_hash "
    "characters metadata ingested warnings given chunks"
).split()
_CHUNK_FIELDS: Final = (
    "id document_id source_id ordinal start end text header heading kind page page_label "
    "language tokens tiktoken_tokens truncated hash parent_start parent_end metadata page_end"
).split()


def now() -> str:
    """The time as it is stored: ISO 8601, UTC, microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def after_prefix(prefix: str) -> str:
    """The least string above everything that starts with ``prefix``: ``id >= prefix AND id < after_prefix(prefix)``."""
    return prefix + "\U0010ffff"


def record_json(record: object) -> str:
    """A record as canonical JSON: equal records are equal strings."""
    return json.dumps(encode(record), sort_keys=True)


def collection_record(row: tuple[Any, ...], documents: int, chunks: int) -> Collection:
    """From a row of ``COLLECTION`` and what was counted of it."""
    number, name, recipe, mandatory, version, created, _ = row
    return Collection(
        number, name, decode(Recipe, json.loads(recipe)), mandatory, version, _time(created), documents, chunks
    )


def index_record(row: tuple[Any, ...], vectors: int) -> Index:
    """From a row of ``INDEX``. The table knows one word for all that stands beside: ``replaced`` tells them apart."""
    number, collection, embedder, recipe, status, created, form, replaced = row
    return Index(
        number,
        collection,
        decode(EmbedderInfo, json.loads(embedder)),
        decode(Recipe, json.loads(recipe)),
        "kept" if replaced and status == "building" else status,
        _time(created),
        vectors,
        decode(VectorForm, json.loads(form)),
    )


def document_record(row: tuple[Any, ...]) -> Document:
    """From a row of ``DOCUMENT``."""
    values = dict(zip(_DOCUMENT_FIELDS, row, strict=True))
    values["metadata"], values["given"] = load_metadata(values["metadata"]), load_metadata(values["given"])
    values["ingested"] = _time(values["ingested"])
    values["warnings"] = tuple(json.loads(values["warnings"]))
    return Document(**values)


def chunk_record(row: tuple[Any, ...]) -> Chunk:
    """From a row of ``CHUNK``."""
    values = dict(zip(_CHUNK_FIELDS, row, strict=True))
    if values["header"]:  # the text column holds Chunk.indexed_text
        values["text"] = values["text"][len(values["header"]) + 1 :]
    values["heading"] = tuple(json.loads(values["heading"]))
    values["truncated"] = bool(values["truncated"])
    values["metadata"] = load_metadata(values["metadata"])
    return Chunk(**values)


def comparable(value: str | int | float | bool | date) -> str | int | float:
    """A scalar as SQLite compares it: dates as ISO days, bools as 0 and 1, integers beyond 64 bits as floats."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if -(1 << 63) <= value < 1 << 63 else _float(value)
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return storable(value) if isinstance(value, str) else value


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def field_rows(metadata: Metadata) -> Iterator[FieldRow]:
    """(name, kind, value) of everything a filter can ask, a row per item of a list."""
    for name, value in metadata.items():
        kind = kind_of(value)
        items = value if isinstance(value, (tuple, list)) else (value,)
        for item in items:
            if isinstance(item, float) and math.isnan(item):
                continue  # compares with nothing
            yield storable(name), kind, comparable(str(item) if kind == "list" else item)


def dump_metadata(metadata: Metadata) -> str:
    """As JSON that keeps the types JSON hasn't: a date becomes {"date": …}, a list stays one."""
    return json.dumps({name: _tagged(value) for name, value in metadata.items()})


def load_metadata(text: str) -> dict[str, MetaValue]:
    """What ``dump_metadata`` wrote."""
    return {name: _untagged(value) for name, value in json.loads(text).items()}


def _tagged(value: MetaValue) -> Any:
    if isinstance(value, date):
        return {"date": value.isoformat()}
    return list(value) if isinstance(value, tuple) else value


def _untagged(value: Any) -> Any:
    if isinstance(value, dict):
        moment = datetime.fromisoformat(value["date"])
        return moment if "T" in value["date"] else moment.date()
    return tuple(value) if isinstance(value, list) else value


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
