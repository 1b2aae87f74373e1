"""Rows of collections for exports, and from them: the SQL behind ``workbench.exchange``."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from storage.connections import Connections
from storage.copying import copy_collection
from storage.datasets import put_dataset
from storage.documents import Embedded, chunk_rows, load_parsed, put_document, put_source
from storage.driver import Connection, storable
from storage.filters import passing
from storage.index_rows import make_index
from storage.indexes import BOUND, originals_table, read_indexes, vectors_table
from storage.rows import DOCUMENT, document_record, load_metadata, now, record_json
from storage.snapshots import restore, write_snapshot
from storage.token_vectors import fix_mean, keeps_tokens, tokens_table
from workbench.errors import NotFoundError, UsageError
from workbench.exchange.tables import DOCUMENTS
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.ports.exchange import ExchangeReading, ExchangeWriting
from workbench.records.cases import Case
from workbench.records.codec import decode
from workbench.records.corpus import (
    Block,
    Chunk,
    Document,
    EmbedderInfo,
    Index,
    Page,
    ParsedDocument,
    Recipe,
    VectorForm,
)
from workbench.records.exchange import CopyCheck, ExchangeProgress, ExportRow, IndexStamp
from workbench.records.retrieval import FilterNode

T = TypeVar("T")

_DOCUMENT_ROW: Final = """
    SELECT d.id, d.source_id, d.uri, d.title, d.media_type, d.language, d.status, d.hash, d.metadata_hash,
        d.characters, d.metadata, d.given, d.warnings, d.ingested, t.text, t.structure, t.metadata,
        (SELECT json_group_array(x.index_id) FROM indexed_document x WHERE x.document_key = d.key)
    FROM document d JOIN document_text t ON t.document_key = d.key WHERE d.key = ?
"""
_CHUNK_ROW: Final = """
    SELECT c.id, d.id, d.source_id, c.ordinal, c.start, c.end, c.text, c.header, c.path, c.kind, c.page, c.page_end,
        c.page_label, c.language, c.tokens, c.tiktoken_tokens, c.truncated, c.hash, c.parent_start, c.parent_end,
        c.metadata, v.embedding {more}
    FROM document d CROSS JOIN chunk c ON c.document_key = d.key LEFT JOIN {vectors} v ON v.rowid = c.key {joined}
    WHERE d.key = ? AND c.index_id = ? ORDER BY c.ordinal, c.key
"""
_CHUNK_COLUMNS: Final = (
    "id document_id source_id ordinal start end text header heading kind page page_end page_label language tokens "
    "tiktoken_tokens truncated hash parent_start parent_end metadata vector"
).split()
_OF_A_CHUNK: Final = frozenset(_CHUNK_COLUMNS) - {"vector"}


class FileExchange:
    """Implements ``workbench.ports.exchange.ExchangeRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @contextmanager
    def reading(self, collection: str, cancel: Cancel | None) -> Iterator[ExchangeReading]:
        """One state of a collection. Raises NotFoundError; Cancelled while it is read."""
        with self._connections.snapshot(cancel) as c:
            row = c.execute("SELECT id FROM collection WHERE name = ?", (storable(collection),)).fetchone()
            if row is None:
                raise NotFoundError(
                    tr("No such collection"),
                    tr("There is no collection “{name}”.", name=collection),
                    tr("workbench collections lists them."),
                )
            yield _Reading(c, int(row[0]))

    def write(self, work: Callable[[ExchangeWriting], T]) -> T:
        """Runs ``work`` in one transaction."""
        return self._connections.write(lambda c: work(_Writing(c)))

    def copy(
        self,
        collection: str,
        file: Path,
        *,
        traces: bool,
        tell: Callable[[ExchangeProgress], None],
        cancel: Cancel | None,
    ) -> tuple[CopyCheck, ...]:
        """Copies a collection into another workbench file; see ``storage.copying``."""
        return copy_collection(self._connections.path, collection, file, traces=traces, tell=tell, cancel=cancel)

    def snapshot(self, to: Path, cancel: Cancel | None) -> None:
        """Writes a compact copy of the file. Raises FileError, Cancelled; nothing half is left."""
        write_snapshot(self._connections, to, cancel)

    def restore(self, snapshot: Path) -> None:
        """Puts a snapshot's content in place of the file's. Raises FileError; nothing has changed then."""
        restore(self._connections, snapshot)


class _Reading:
    """Implements ``workbench.ports.exchange.ExchangeReading`` within a read transaction."""

    def __init__(self, connection: Connection, collection_id: int) -> None:
        self._c, self._collection_id = connection, collection_id

    def indexes(self) -> list[tuple[int, IndexStamp]]:
        """The current one first."""
        rows = self._c.execute(
            "SELECT id, embedder, recipe, form, status = 'current', centre, token_mean FROM corpus_index "
            "WHERE collection_id = ? AND status <> 'retired' ORDER BY status = 'current' DESC, id",
            (self._collection_id,),
        ).fetchall()
        return [
            (
                number,
                IndexStamp(
                    decode(EmbedderInfo, json.loads(embedder)),
                    decode(Recipe, json.loads(recipe)),
                    decode(VectorForm, json.loads(form)),
                    bool(current),
                    base64.b64encode(centre or b"").decode("ascii"),
                    base64.b64encode(mean or b"").decode("ascii"),
                ),
            )
            for number, embedder, recipe, form, current, centre, mean in rows
        ]

    def passing(self, index_id: int, where: FilterNode) -> tuple[str, ...]:
        """Ids of the documents with a chunk that passes."""
        keys = passing(index_id, where)
        rows = self._c.execute(
            f"SELECT id FROM document WHERE key IN (SELECT document_key FROM chunk WHERE key IN ({keys.text})) "
            "ORDER BY key",
            keys.values,
        )
        return tuple(document_id for (document_id,) in rows)

    def documents(self, document_ids: Sequence[str] | None) -> Iterator[ExportRow]:
        """In the order they came in."""
        names = [column.name for column in DOCUMENTS]
        for key in self._keys(document_ids):
            yield dict(zip(names, self._c.execute(_DOCUMENT_ROW, (key,)).fetchone(), strict=True))

    def chunks(self, index_id: int, document_ids: Sequence[str] | None) -> Iterator[ExportRow]:
        """With their vectors, in the documents' order."""
        index = read_indexes(self._c, "i.id = ?", index_id)[0]
        names, more, joined = list(_CHUNK_COLUMNS), "", ""
        if index.form.rescore != "none":
            names.append("original")
            more, joined = ", o.vector", f"LEFT JOIN {originals_table(index_id)} o ON o.key = c.key "
        if keeps_tokens(index.recipe):
            names += ["token_count", "token_vectors"]
            more += ", t.count, t.vectors"
            joined += f"LEFT JOIN {tokens_table(index_id)} t ON t.key = c.key"
        statement = _CHUNK_ROW.format(more=more, joined=joined, vectors=vectors_table(index_id))
        for key in self._keys(document_ids):
            for found in self._c.execute(statement, (key, index_id)):
                row = dict(zip(names, found, strict=True))
                if row["header"]:  # the text column holds Chunk.indexed_text
                    row["text"] = row["text"][len(row["header"]) + 1 :]
                yield row

    def count_chunks(self, index_id: int, document_ids: Sequence[str] | None) -> int:
        """Rows of ``chunks``."""
        wanted = None if document_ids is None else json.dumps(list(document_ids))
        row = self._c.execute(
            "SELECT count(*) FROM chunk WHERE index_id = ?1 AND (?2 IS NULL OR document_key IN "
            "(SELECT key FROM document WHERE id IN (SELECT value FROM json_each(?2))))",
            (index_id, wanted),
        ).fetchone()
        return int(row[0])

    def _keys(self, document_ids: Sequence[str] | None) -> list[int]:
        wanted = None if document_ids is None else json.dumps(list(document_ids))
        rows = self._c.execute(
            "SELECT key FROM document WHERE collection_id = ?1 "
            "AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2))) ORDER BY key",
            (self._collection_id, wanted),
        )
        return [key for (key,) in rows]


class _Writing:
    """Implements ``workbench.ports.exchange.ExchangeWriting`` within the writer's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._c = connection
        self._name, self._collection_id = "", 0
        self._document: tuple[Document, ParsedDocument] | None = None

    def collection(self, name: str, recipe: Recipe, mandatory_filter: str) -> None:
        """Makes it where there is none."""
        self._name = storable(name.strip())
        self._c.execute(
            "INSERT OR IGNORE INTO collection (name, recipe, mandatory_filter, created) VALUES (?, ?, ?, ?)",
            (self._name, record_json(recipe), storable(mandatory_filter), now()),
        )
        row = self._c.execute("SELECT id FROM collection WHERE name = ?", (self._name,)).fetchone()
        self._collection_id = int(row[0])

    def index(self, stamp: IndexStamp) -> tuple[Index, bool]:
        """The one with exactly that stamp, and whether it was made now."""
        centre, mean = (base64.b64decode(text) or None for text in (stamp.centre, stamp.token_mean))
        found = self._c.execute(
            "SELECT id FROM corpus_index WHERE collection_id = ? AND fingerprint = ? AND recipe = ? AND form = ? "
            "AND centre IS ? AND token_mean IS ? AND status <> 'retired' ORDER BY status = 'current' DESC, id DESC",
            (
                self._collection_id,
                stamp.embedder.fingerprint,
                record_json(stamp.recipe),
                record_json(stamp.form),
                centre,
                mean,
            ),
        ).fetchone()
        number = found[0] if found else self._made(stamp, centre, mean)
        return read_indexes(self._c, "i.id = ?", number)[0], found is None

    def _made(self, stamp: IndexStamp, centre: bytes | None, mean: bytes | None) -> int:
        vector = None if centre is None else np.frombuffer(centre, "<f4")
        number = make_index(self._c, self._collection_id, stamp.embedder, stamp.recipe, stamp.form, vector)
        if mean is not None:
            fix_mean(self._c, number, np.frombuffer(mean, "<f4"))
        return number

    def document(self, row: ExportRow) -> bool:
        """Stores it; False when it is there already. Raises ValueError, in words."""
        document, parsed = _document_of(row, self._name)
        there = self._c.execute(
            "SELECT d.collection_id, d.id, d.source_id, t.text = ?, t.text, t.structure, t.metadata "
            "FROM document d JOIN document_text t ON t.document_key = d.key "
            "WHERE d.id = ? OR (d.collection_id = ? AND d.source_id = ?)",
            (parsed.text, document.id, self._collection_id, document.source_id),
        ).fetchall()
        if not there:
            put_source(self._c, self._collection_id, document, parsed)
            self._document = document, parsed
            return True
        if [row[:3] for row in there] != [(self._collection_id, document.id, document.source_id)]:
            raise ValueError(tr("its id or its name is another document's in this file"))
        if not there[0][3]:
            raise ValueError(tr("“{name}” is in this file with another text", name=document.source_id))
        stored = self._c.execute(f"{DOCUMENT} WHERE d.id = ?", (document.id,)).fetchone()
        self._document = document_record(stored), load_parsed(*there[0][4:])
        return False

    def holds(self, index: Index, document_id: str) -> bool:
        """Whether the index has that document."""
        row = self._c.execute(
            "SELECT 1 FROM indexed_document WHERE index_id = ? "
            "AND document_key = (SELECT key FROM document WHERE id = ?)",
            (index.id, document_id),
        ).fetchone()
        return row is not None

    def chunks(self, index: Index, document: ExportRow, rows: Sequence[ExportRow]) -> None:
        """Of the document stored last. Raises ValueError, in words."""
        if self._document is None or self._document[0].id != document["id"]:
            raise ValueError(tr("its document isn't there, or has its chunks elsewhere"))
        stored, parsed = self._document
        try:
            chunks = [_chunk_of(row) for row in rows]
            put_document(self._c, index, stored, parsed, chunks, chunk_rows(stored, chunks), Embedded({}, {}))
        except UsageError as error:
            raise ValueError(error.message.rstrip(".")) from None
        self._put_vectors(index, rows)

    def _put_vectors(self, index: Index, rows: Sequence[ExportRow]) -> None:
        """As they are: to normalise them again would change them."""
        found = self._c.execute(
            "SELECT id, key FROM chunk WHERE index_id = ? AND id IN (SELECT value FROM json_each(?))",
            (index.id, json.dumps([row["id"] for row in rows])),
        )
        keys: dict[Any, int] = dict(found.fetchall())
        vectors, bound = vectors_table(index.id), BOUND[index.form.component]
        tables: list[tuple[str, tuple[str, ...]]] = [
            (f"INSERT INTO {vectors} (rowid, embedding) VALUES (?, {bound})", ("vector",))
        ]
        if index.form.rescore != "none":
            tables.append((f"INSERT INTO {originals_table(index.id)} (key, vector) VALUES (?, ?)", ("original",)))
        if keeps_tokens(index.recipe):
            statement = f"INSERT INTO {tokens_table(index.id)} (key, count, vectors) VALUES (?, ?, ?)"
            tables.append((statement, ("token_count", "token_vectors")))
        for statement, columns in tables:
            there = (row for row in rows if row[columns[-1]] is not None)
            self._c.executemany(statement, ((keys[row["id"]], *(row[c] for c in columns)) for row in there))

    def asked_by(self, dataset: str) -> str:
        """The collection that a dataset of the file asks about, "" where there is no such dataset."""
        row = self._c.execute("SELECT collection FROM dataset WHERE name = ?", (storable(dataset),)).fetchone()
        return str(row[0]) if row else ""

    def dataset(self, name: str, cases: Sequence[Case]) -> None:
        """Its current version. Raises UsageError when the dataset asks about another collection."""
        other = self.asked_by(name)
        if other not in ("", self._name):
            raise UsageError(
                tr("The name is taken"),
                tr("The dataset “{name}” in this file asks about “{collection}”.", name=name, collection=other),
                tr("Nothing was imported. Use another file, or export that dataset under another name."),
            )
        put_dataset(self._c, name, self._name, cases)


def _document_of(row: ExportRow, collection: str) -> tuple[Document, ParsedDocument]:
    """Raises ValueError, in words, when the row's cells can't be a document's."""
    cells: dict[str, Any] = row
    try:
        parsed = load_parsed(cells["text"], cells["structure"], cells["source_metadata"])
        document = Document(
            **{name: cells[name] for name in ("id source_id uri title media_type language status".split())},
            collection=collection,
            hash=cells["hash"],
            metadata_hash=cells["metadata_hash"],
            characters=len(parsed.text),
            metadata=load_metadata(cells["metadata"]),
            given=load_metadata(cells["given"]),
            warnings=tuple(map(str, json.loads(cells["warnings"]))),
            ingested=datetime.fromisoformat(cells["ingested"]),
        )
        spans: list[Block | Page] = [*parsed.blocks, *parsed.pages]
        inside = all(0 <= span.start <= span.end <= len(parsed.text) for span in spans)
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ValueError(tr("it can't be a document")) from None
    if not inside or document.status not in ("current", "retired") or not (document.id and document.source_id):
        raise ValueError(tr("it can't be a document"))
    return document, parsed


def _chunk_of(row: ExportRow) -> Chunk:
    cells: dict[str, Any] = {name: row[name] for name in _OF_A_CHUNK}
    try:
        cells["heading"] = tuple(map(str, json.loads(cells["heading"])))
        cells["metadata"] = load_metadata(cells["metadata"])
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ValueError(tr("“{column}” is not what it should be", column="heading, metadata")) from None
    return Chunk(**(cells | {"truncated": bool(cells["truncated"])}))
