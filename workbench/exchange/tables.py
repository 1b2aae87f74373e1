"""The tables of an export: their columns, and what a value of each kind must be.

A row is a mapping from column to cell. ``workbench.ports.ExchangeRepository`` reads and stores the same rows.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from workbench.i18n import tr
from workbench.records.corpus import Component
from workbench.records.exchange import Cell, ColumnKind, ExportColumn, ExportRow, IndexStamp

_WHOLE: Final = range(-(1 << 63), 1 << 63)
_VECTOR_TYPES: Final[dict[ColumnKind, str]] = {"float32": "<f4", "int8": "i1", "uint8": "u1"}
_COMPONENTS: Final[dict[Component, ColumnKind]] = {"float32": "float32", "int8": "int8", "bit": "uint8"}


def _columns(kind: ColumnKind, names: str, *, optional: bool = False) -> tuple[ExportColumn, ...]:
    return tuple(ExportColumn(name, kind, optional) for name in names.split())


DOCUMENTS: Final = (
    *_columns("text", "id source_id uri title media_type language status hash metadata_hash"),
    *_columns("integer", "characters"),
    *_columns("json", "metadata given warnings"),
    *_columns("text", "ingested text"),
    *_columns("json", "structure source_metadata indexes"),
)
"""``structure``: blocks and pages of the text; ``source_metadata``: what the source said of itself; ``indexes``: which
of the exported indexes hold the document."""
CASES: Final = (*_columns("text", "dataset id question"), *_columns("json", "case"))
QRELS: Final = (
    *_columns("text", "dataset query_id document_id source_id"),
    *_columns("integer", "start end grade"),
    *_columns("json", "chunk_ids"),
)
"""A row per gold span of an exported document; ``chunk_ids`` of the first exported index hold it."""
_CHUNKS: Final = (
    *_columns("text", "id document_id source_id"),
    *_columns("integer", "ordinal start end"),
    *_columns("text", "text header"),
    *_columns("json", "heading"),
    *_columns("text", "kind"),
    *_columns("integer", "page page_end", optional=True),
    *_columns("text", "page_label language"),
    *_columns("integer", "tokens tiktoken_tokens"),
    *_columns("boolean", "truncated"),
    *_columns("text", "hash"),
    *_columns("integer", "parent_start parent_end", optional=True),
    *_columns("json", "metadata"),
)


def chunk_columns(stamp: IndexStamp) -> tuple[ExportColumn, ...]:
    """Of an index: its vectors as they are stored, what rescores them, and token vectors (``token_count`` of them)."""
    columns = [*_CHUNKS, _vector("vector", stamp.form.component, stamp.dimension)]
    if stamp.form.rescore != "none":
        columns.append(_vector("original", stamp.form.rescore, stamp.dimension))
    if stamp.recipe.token_vectors != "none":  # noqa: S105 -- not a password
        columns += (ExportColumn("token_count", "integer", True), ExportColumn("token_vectors", "bytes", True))
    return tuple(columns)


def _vector(name: str, component: Component, dimension: int) -> ExportColumn:
    return ExportColumn(name, _COMPONENTS[component], True, dimension // 8 if component == "bit" else dimension)


def token_bytes(stamp: IndexStamp) -> int:
    """Bytes of one token's vector: sign bits, or int8 components, of all of the embedder's dimensions."""
    dimension = stamp.embedder.dimension
    return -(-dimension // 8) if stamp.recipe.token_vectors == "bits" else dimension  # noqa: S105 -- not a password


def vector_text(cell: bytes, kind: ColumnKind) -> str:
    """As a JSON list. Nine digits tell every float32 from its neighbours, so nothing is lost in text."""
    values = np.frombuffer(cell, _VECTOR_TYPES[kind])
    one = "%.9g" if kind == "float32" else "%d"
    text = "[" + ",".join([one] * len(values)) % tuple(values.tolist()) + "]"
    return text.replace("-0,", "-0.0,").replace("-0]", "-0.0]")  # a whole number would be read without its sign


def checked_row(values: Any, columns: Sequence[ExportColumn]) -> ExportRow:
    """The row that ``values`` (plain JSON values by column) stand for. Raises ValueError, in words."""
    if not isinstance(values, dict):
        raise ValueError(tr("it is no object"))  # noqa: TRY004 -- a bad row is a bad value, whatever is wrong with it
    return {column.name: _cell(values.get(column.name), column) for column in columns}


def _cell(value: Any, column: ExportColumn) -> Cell:
    if value is None and column.kind != "json":
        if column.optional:
            return None
        raise ValueError(tr("“{column}” is missing", column=column.name))
    reader = _vector_cell if column.kind in _VECTOR_TYPES else _READERS[column.kind]
    try:
        return reader(value, column)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise ValueError(tr("“{column}” is not what it should be", column=column.name)) from None


def _text_cell(value: Any, _column: ExportColumn) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # half a surrogate pair can't be stored
    return value


def _integer_cell(value: Any, _column: ExportColumn) -> int:
    if type(value) is not int or value not in _WHOLE:
        raise TypeError
    return value


def _boolean_cell(value: Any, _column: ExportColumn) -> int:
    if type(value) is not bool:
        raise TypeError
    return value


def _json_cell(value: Any, _column: ExportColumn) -> str:
    return json.dumps(value)


def _bytes_cell(value: Any, _column: ExportColumn) -> bytes:
    return value if isinstance(value, bytes) else base64.b64decode(value, validate=True)


def _vector_cell(value: Any, column: ExportColumn) -> bytes:
    """Raises where a component isn't a number of that kind, or there are more or fewer than the index has."""
    kind = np.dtype(_VECTOR_TYPES[column.kind])
    if column.kind != "float32" and not all(type(component) is int for component in value):
        raise TypeError
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        vector = np.array(value, dtype=kind)
    if vector.shape != (column.width,) or not np.isfinite(vector).all():
        raise ValueError
    return vector.tobytes()


_READERS: Final[dict[ColumnKind, Callable[[Any, ExportColumn], Cell]]] = {
    "text": _text_cell,
    "integer": _integer_cell,
    "boolean": _boolean_cell,
    "json": _json_cell,
    "bytes": _bytes_cell,
}
