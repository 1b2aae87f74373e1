"""Records of what leaves a workbench file and comes into one: exports, imports, moved collections, snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias

from workbench.records.corpus import EmbedderInfo, Recipe, VectorForm

ExportForm: TypeAlias = Literal["jsonl", "parquet"]
ColumnKind: TypeAlias = Literal["text", "integer", "boolean", "json", "bytes", "float32", "int8", "uint8"]
"""``json``: JSON text in a row, and its value in a JSON Lines file; the last three are vectors of such components, in a
row as little-endian bytes."""
Cell: TypeAlias = str | int | bytes | None
ExportRow: TypeAlias = dict[str, Cell]

EXPORT: Final = "workbench-export"
EXPORT_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """A column of an exported table; ``width``: components of a vector, bytes of them for ``uint8``."""

    name: str
    kind: ColumnKind
    optional: bool = False
    width: int = 0


@dataclass(frozen=True, slots=True)
class IndexStamp:
    """What makes the vectors of an exported index comparable, and how they are stored.

    Attributes:
        current: queries met it.
        centre: taken off vectors before their signs; base64 of little-endian float32, "" for none.
        token_mean: the same of token vectors.
    """

    embedder: EmbedderInfo
    recipe: Recipe
    form: VectorForm
    current: bool
    centre: str = ""
    token_mean: str = ""

    @property
    def dimension(self) -> int:
        """Components of a stored vector."""
        return self.form.dimension or self.embedder.dimension


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One table of an export."""

    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ExportManifest:
    """What ``manifest.json`` of an export says.

    Attributes:
        workbench: the version that wrote it.
        part: what was chosen of the collection, "" for all of it.
        indexes: in the order that ``chunks-1``, ``chunks-2``, … and the documents' ``indexes`` count them.
        files: ``documents``, ``chunks-N``, ``cases`` and ``qrels``.
    """

    format: str
    version: int
    workbench: str
    form: ExportForm
    created: datetime
    collection: str
    recipe: Recipe
    mandatory_filter: str
    part: str
    indexes: tuple[IndexStamp, ...]
    files: tuple[ExportedFile, ...]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export: a collection, or of it the documents with those ids, or with a chunk that passes ``filter``."""

    collection: str
    folder: str
    form: ExportForm = "jsonl"
    filter: str = ""
    document_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exported:
    """A finished export."""

    folder: Path
    manifest: ExportManifest
    seconds: float

    @property
    def bytes(self) -> int:
        """Of all its tables."""
        return sum(file.bytes for file in self.manifest.files)


@dataclass(frozen=True, slots=True)
class Received:
    """A finished import.

    Attributes:
        added, present: documents that came in, and those that were there already, in every index of the export.
        chunks: that came in, over all indexes.
        indexes: ids of the indexes that they went into; ``made``: those of them that are new; ``beside``: those of the
            new ones that no query meets, as the collection has another current one.
        datasets: names.
    """

    collection: str
    added: int
    present: int
    chunks: int
    indexes: tuple[int, ...]
    made: tuple[int, ...]
    beside: tuple[int, ...]
    datasets: tuple[str, ...]
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CopyCheck:
    """A table of a copied collection, read back from both files: rows, and the SHA-256 over all of them in order."""

    table: str
    rows: int
    copied_rows: int
    sha256: str
    copied_sha256: str

    @property
    def same(self) -> bool:
        """Nothing was lost or changed."""
        return (self.rows, self.sha256) == (self.copied_rows, self.copied_sha256)


@dataclass(frozen=True, slots=True)
class Copied:
    """A collection that is in another file now; ``removed``: and not in this one any more."""

    collection: str
    file: Path
    checks: tuple[CopyCheck, ...]
    removed: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ExchangeProgress:
    """How far an export, import or copy is; the last one of a run has its ``result``."""

    stage: str
    done: int
    total: int
    result: Exported | Received | Copied | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of the whole file as it was at one time."""

    name: str
    path: Path
    created: datetime
    bytes: int
