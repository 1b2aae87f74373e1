"""Collections, indexes, documents and chunks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from storage import documents, index_rows
from storage.connections import Connections
from storage.driver import Connection, storable
from storage.filters import field_kinds
from storage.indexes import drop_index, read_indexes, vector_bytes, vectors_table, words_table
from storage.rows import (
    CHUNK,
    COLLECTION,
    DOCUMENT,
    after_prefix,
    chunk_record,
    collection_record,
    document_record,
    load_metadata,
    now,
    record_json,
)
from storage.token_vectors import fix_mean, read_mean
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.ports import DeleteCheck, DocumentState, PackedTokens, Vector
from workbench.records.corpus import (
    Chunk,
    Collection,
    Document,
    DocumentChange,
    DocumentStatus,
    EmbedderInfo,
    Index,
    Metadata,
    ParsedDocument,
    Recipe,
)

_CURRENT_INDEX = "(SELECT i.id FROM corpus_index i WHERE i.collection_id = d.collection_id AND i.status = 'current')"
_COUNTS = (
    "SELECT (SELECT count(*) FROM document WHERE collection_id = ?), (SELECT count(*) FROM chunk WHERE index_id = ?)"
)

_State: TypeAlias = tuple[int, str, int]
"""A collection's version, when it was made, and its current index: numbers of deleted collections are given again."""


class FileCorpus:
    """Implements ``workbench.ports.CorpusRepository``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._counted: dict[int, tuple[_State, tuple[int, int]]] = {}

    # -- collections -----------------------------------------------------------------------------------------------

    def create_collection(self, name: str, recipe: Recipe, mandatory_filter: str = "") -> Collection:
        """A new empty collection. Raises UsageError when the name is taken or empty."""
        name = storable(name.strip())
        if not name:
            raise UsageError(
                tr("The collection has no name"), tr("A collection's name can't be empty."), tr("Give it a name.")
            )

        def work(c: Connection) -> None:
            if c.execute("SELECT 1 FROM collection WHERE name = ?", (name,)).fetchone():
                raise UsageError(
                    tr("The name is taken"),
                    tr("There is a collection “{name}” already.", name=name),
                    tr("Choose another name."),
                )
            c.execute(
                "INSERT INTO collection (name, recipe, mandatory_filter, created) VALUES (?, ?, ?, ?)",
                (name, record_json(recipe), storable(mandatory_filter), now()),
            )

        self._connections.write(work)
        return self.collection(name)

    def collections(self) -> tuple[Collection, ...]:
        """All of them, by name, with document and chunk counts (chunks of the current index)."""
        with self._connections.snapshot() as c:
            return tuple(self._record(c, row) for row in c.execute(f"{COLLECTION} ORDER BY l.name").fetchall())

    def collection_names(self) -> tuple[str, ...]:
        """In order; quick enough to ask many times a second, as nothing is counted."""
        with self._connections.read() as c:
            return _names(c)

    def collection(self, name: str) -> Collection:
        """Raises NotFoundError, naming those there are."""
        with self._connections.snapshot() as c:
            return self._record(c, c.execute(f"{COLLECTION} WHERE l.id = ?", (_collection_id(c, name),)).fetchone())

    def _record(self, connection: Connection, row: tuple[Any, ...]) -> Collection:
        """With its documents and chunks, which are counted once in each state: a million chunks take 60 ms."""
        number, *_, version, created, index_id = row
        state = version, created, index_id
        counted, counts = self._counted.get(number, (None, (0, 0)))
        if counted != state:
            counts = connection.execute(_COUNTS, (number, index_id)).fetchone()
            self._counted[number] = state, counts
        return collection_record(row, *counts)

    def revision(self, name: str) -> tuple[int | str, ...]:
        """What changes whenever a search of the collection could find something else. Raises NotFoundError."""
        with self._connections.read() as c:
            row = c.execute(
                "SELECT l.version, l.mandatory_filter, coalesce(i.id, 0) FROM collection l "
                "LEFT JOIN corpus_index i ON i.collection_id = l.id AND i.status = 'current' WHERE l.id = ?",
                (_collection_id(c, name),),
            ).fetchone()
        return tuple(row)

    def set_mandatory_filter(self, name: str, expression: str) -> Collection:
        """Stores it; the caller has checked that it parses."""
        return self._set(name, "mandatory_filter", storable(expression))

    def set_recipe(self, name: str, recipe: Recipe) -> Collection:
        """The recipe of the collection's next index."""
        return self._set(name, "recipe", record_json(recipe))

    def _set(self, name: str, column: str, value: str) -> Collection:
        def work(c: Connection) -> None:
            c.execute(f"UPDATE collection SET {column} = ? WHERE id = ?", (value, _collection_id(c, name)))

        self._connections.write(work)
        return self.collection(name)

    def delete_collection(self, name: str) -> None:
        """With everything in it. Raises NotFoundError."""

        def work(c: Connection) -> None:
            number = _collection_id(c, name)
            for (index_id,) in c.execute("SELECT id FROM corpus_index WHERE collection_id = ?", (number,)).fetchall():
                drop_index(c, index_id)
            c.execute("DELETE FROM collection WHERE id = ?", (number,))

        self._connections.write(work)

    # -- indexes ---------------------------------------------------------------------------------------------------

    def open_index(self, collection: str, embedder: EmbedderInfo, recipe: Recipe) -> Index:
        """The index of that collection, embedder and recipe: an existing one (any status but retired), else a new one.

        Of several in different forms it is the current one, else the newest. A new one has the current one's form where
        the embedder is the same, and is ``current`` at once when the collection has no current one, else ``building``.
        Raises NotFoundError.
        """
        index_id = self._connections.write(
            lambda c: index_rows.open_index(c, _collection_id(c, collection), embedder, recipe)
        )
        return self._indexes("i.id = ?", index_id)[0]

    def indexes(self, collection: str) -> tuple[Index, ...]:
        """All of them, newest first."""
        return self._indexes("l.name = ?", collection)

    def current_index(self, collection: str) -> Index | None:
        """The one that queries meet, None before the first ingest."""
        found = self._indexes("l.name = ? AND i.status = 'current'", storable(collection))
        return found[0] if found else None

    def _indexes(self, condition: str, value: str | int) -> tuple[Index, ...]:
        with self._connections.read() as c:
            return read_indexes(c, condition, value)

    def switch_index(self, index_id: int) -> None:
        """Makes it current and keeps the previous one beside it. Raises NotFoundError."""
        self._connections.write(lambda c: index_rows.switch_index(c, index_id))

    # -- documents -------------------------------------------------------------------------------------------------

    def document_states(self, collection: str, index_id: int) -> Mapping[str, DocumentState]:
        """By source_id. ``complete``: every chunk of it has its vector and its full-text row in that index.

        Raises:
            NotFoundError: no such collection, or the index is retired.
        """
        statement = f"""
            SELECT d.source_id, d.id, d.uri, d.hash, d.metadata_hash, d.status, d.given,
                EXISTS (SELECT 1 FROM indexed_document x WHERE x.index_id = ?1 AND x.document_key = d.key)
                AND d.key NOT IN (
                    SELECT document_key FROM chunk WHERE index_id = ?1
                    AND (key NOT IN (SELECT rowid FROM {vectors_table(index_id)})
                         OR key NOT IN (SELECT id FROM {words_table(index_id)}_docsize)))
            FROM document d WHERE d.collection_id = ?2
        """
        with self._connections.read() as c:
            rows = c.execute(statement, (index_id, _collection_id(c, collection))).fetchall()
        return {
            source_id: DocumentState(
                document_id, source_id, uri, digest, metadata_hash, status, bool(complete), load_metadata(given)
            )
            for source_id, document_id, uri, digest, metadata_hash, status, given, complete in rows
        }

    def field_kinds(self, collection: str, but: Sequence[str] = ()) -> Mapping[str, tuple[str, ...]]:
        """The types of each field's values in the documents' metadata, the commonest first; ``but``: ids left out."""
        with self._connections.read() as c:
            return field_kinds(c, collection, but)

    def document_changes(self, collection: str, since: int, until: int) -> Mapping[str, tuple[DocumentChange, ...]]:
        """What became of documents between two versions of the collection, in order, by source_id."""
        statement = (
            "SELECT d.source_id, d.kind FROM document_change d JOIN collection l ON l.id = d.collection_id "
            "WHERE l.name = ? AND d.version >= ? AND d.version < ? ORDER BY d.source_id, d.key"
        )
        with self._connections.read() as c:
            rows = c.execute(statement, (storable(collection), since, until)).fetchall()
        return {name: tuple(kind for _, kind in found) for name, found in groupby(rows, key=itemgetter(0))}

    def embedded_chunks(self, index_id: int, document_id: str) -> frozenset[str]:
        """Ids of that document's chunks that have a vector in that index already."""
        statement = f"""
            SELECT c.id FROM chunk c CROSS JOIN {vectors_table(index_id)} v ON v.rowid = c.key
            WHERE c.index_id = ? AND c.document_key = (SELECT key FROM document WHERE id = ?)
        """
        with self._connections.read() as c:
            return frozenset(chunk_id for (chunk_id,) in c.execute(statement, (index_id, document_id)))

    def put_document(
        self,
        index: Index,
        document: Document,
        parsed: ParsedDocument,
        chunks: Sequence[Chunk],
        vectors: Mapping[str, Vector],
        tokens: Mapping[str, PackedTokens] | None = None,
    ) -> None:
        """Stores one document in one transaction: text, structure, metadata, chunks, full-text rows, vectors.

        Chunks are upserted by id; those of the document and index not among ``chunks`` go, with their vectors.
        ``vectors`` holds the chunks not yet in ``embedded_chunks``, and ``tokens`` their token vectors where the
        index's recipe keeps them. When the text has changed, the document's chunks in other indexes go too, since they
        cite offsets of the old text.

        Raises:
            EngineError: a vector is zero, not finite, or of the wrong dimension (nothing is stored).
            UsageError: a chunk's id belongs to another chunk of the index.
            NotFoundError: the index is retired.
        """
        checked = vector_bytes(vectors, index.embedder.dimension)
        rows = documents.chunk_rows(document, chunks)
        embedded = documents.Embedded(checked, tokens or {})
        self._connections.write(lambda c: documents.put_document(c, index, document, parsed, chunks, rows, embedded))

    def token_mean(self, index_id: int) -> Vector | None:
        """The mean token vector that the index's sign bits are centred on, None before it is fixed."""
        with self._connections.read() as c:
            return read_mean(c, index_id)

    def fix_token_mean(self, index_id: int, mean: Vector) -> Vector:
        """Stores it unless there is one already, and returns the one that holds from now on."""
        self._connections.write(lambda c: fix_mean(c, index_id, mean))
        return mean if (fixed := self.token_mean(index_id)) is None else fixed

    def update_metadata(
        self, document_id: str, metadata: Metadata, metadata_hash: str, given: Metadata | None = None
    ) -> None:
        """Replaces a document's metadata (title, status and language columns follow it). Raises NotFoundError.

        Args:
            given: the part that a person gave; None leaves what is remembered of it.
        """
        self._connections.write(lambda c: documents.update_metadata(c, document_id, metadata, metadata_hash, given))

    def set_status(self, document_ids: Iterable[str], status: DocumentStatus) -> int:
        """Retires or restores; returns how many changed. Retired documents stay listed and are not retrieved."""
        wanted = tuple(document_ids)
        return self._connections.write(lambda c: documents.set_status(c, wanted, status))

    def delete_documents(self, document_ids: Iterable[str], *, traces: bool = False) -> tuple[DeleteCheck, ...]:
        """Deletes them everywhere and proves it. Traces keep what they quote, unless ``traces`` takes it out.

        A document that was deleted before is named by its id all the same.
        """
        wanted = tuple(document_ids)
        return self._connections.write(lambda c: documents.delete_documents(c, wanted, traces=traces))

    def documents(self, collection: str = "") -> tuple[Document, ...]:
        """By source_id; every collection's when ``collection`` is "". Raises NotFoundError."""
        with self._connections.read() as c:
            where, values = ("WHERE l.id = ?", [_collection_id(c, collection)]) if collection else ("", [])
            return tuple(map(document_record, c.execute(f"{DOCUMENT} {where} ORDER BY d.source_id, l.name", values)))

    def document(self, document_id: str) -> Document:
        """By id. Raises NotFoundError."""
        with self._connections.read() as c:
            row = c.execute(f"{DOCUMENT} WHERE d.id = ?", (document_id,)).fetchone()
        if row is None:
            raise documents.no_document(document_id)
        return document_record(row)

    def document_text(self, document_id: str) -> str:
        """The stored source text. Raises NotFoundError."""
        return str(self._text(document_id, "t.text")[0])

    def parsed_document(self, document_id: str) -> ParsedDocument:
        """The stored text with its structure, for chunking again without the source. Raises NotFoundError."""
        return documents.load_parsed(*self._text(document_id, "t.text, t.structure, t.metadata"))

    def _text(self, document_id: str, columns: str) -> tuple[str, ...]:
        with self._connections.read() as c:
            row: tuple[str, ...] | None = c.execute(
                f"SELECT {columns} FROM document_text t JOIN document d ON d.key = t.document_key WHERE d.id = ?",
                (document_id,),
            ).fetchone()
        if row is None:
            raise documents.no_document(document_id)
        return row

    # -- chunks ----------------------------------------------------------------------------------------------------

    def chunks(
        self, document_id: str, index_id: int | None = None, limit: int = -1, offset: int = 0
    ) -> tuple[Chunk, ...]:
        """In order of the text; of the collection's current index when ``index_id`` is None."""
        statement = f"""
            {CHUNK} WHERE d.id = ? AND c.index_id = coalesce(?, {_CURRENT_INDEX})
            ORDER BY c.ordinal LIMIT ? OFFSET ?
        """
        with self._connections.read() as c:
            return tuple(map(chunk_record, c.execute(statement, (document_id, index_id, limit, offset))))

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> tuple[Chunk, ...]:
        """In the order asked; unknown ids are left out. An id in several indexes is taken from the current one."""
        statement = f"""
            {CHUNK} WHERE c.id IN (SELECT value FROM json_each(?))
            ORDER BY c.index_id = {_CURRENT_INDEX}, c.index_id
        """
        with self._connections.read() as c:
            rows = c.execute(statement, (json.dumps(list(chunk_ids)),)).fetchall()
        found = {row[0]: row for row in rows}
        return tuple(chunk_record(found[chunk_id]) for chunk_id in chunk_ids if chunk_id in found)

    def find_chunks(self, prefix: str, limit: int = 20, *, index_id: int | None = None) -> tuple[Chunk, ...]:
        """Chunks whose id starts with ``prefix``, by id; of one index where it is named."""
        prefix = storable(prefix)
        with self._connections.read() as c:
            ids = c.execute(
                "SELECT DISTINCT id FROM chunk WHERE id >= ? AND id < ? AND index_id = coalesce(?, index_id) "
                "ORDER BY id LIMIT ?",
                (prefix, after_prefix(prefix), index_id, limit),
            ).fetchall()
        return self.chunks_by_id([chunk_id for (chunk_id,) in ids])


def _names(connection: Connection) -> tuple[str, ...]:
    return tuple(name for (name,) in connection.execute("SELECT name FROM collection ORDER BY name"))


def _collection_id(connection: Connection, name: str) -> int:
    row = connection.execute("SELECT id FROM collection WHERE name = ?", (storable(name),)).fetchone()
    if row is not None:
        return int(row[0])
    names = _names(connection)
    raise NotFoundError(
        tr("No such collection"),
        tr("There is no collection “{name}”.", name=name),
        tr("There are: {names}.", names=", ".join(names)) if names else tr("Ingest some documents first."),
    )
