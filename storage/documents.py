"""Writing and deleting documents: every function runs inside the writer's transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from storage.driver import Connection, storable
from storage.indexes import originals_table, put_vectors, vectors_table, words_table
from storage.quotations import count_quoting, redact
from storage.rows import dump_metadata, field_rows, load_metadata
from storage.token_vectors import keeps_tokens, put_tokens, tokens_table
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.ports import DeleteCheck, PackedTokens
from workbench.records.codec import decode, encode
from workbench.records.corpus import Chunk, Document, DocumentStatus, Index, Metadata, ParsedDocument
from workbench.text.words import exact_forms, stems, words

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Embedded:
    """What an embedder made of new chunks, by chunk id: unit vectors as bytes, and token vectors where it gave any."""

    vectors: Mapping[str, bytes]
    tokens: Mapping[str, PackedTokens]


_DOCUMENT_COLUMNS: Final = (
    "id, collection_id, source_id, uri, title, media_type, language, status, hash, metadata_hash, characters, "
    "metadata, warnings, ingested, given"
).split(", ")
_CHUNK_COLUMNS: Final = (
    "index_id, document_key, id, ordinal, start, end, header, path, section, kind, page, page_label, language, tokens, "
    "tiktoken_tokens, truncated, hash, parent_start, parent_end, metadata, page_end, heading, text, stems, exact"
).split(", ")
_ADD_FIELD: Final = "INSERT INTO field (document_key, chunk_key, name, kind, value) VALUES (?, ?, ?, ?, ?)"


def _upsert(table: str, columns: Sequence[str], target: str) -> str:
    places = ", ".join("?" * len(columns))
    updates = ", ".join(f"{name} = excluded.{name}" for name in columns)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places}) ON CONFLICT ({target}) DO UPDATE SET {updates}"
    )


_PUT_DOCUMENT: Final = _upsert("document", _DOCUMENT_COLUMNS, "id") + " RETURNING key"
_PUT_CHUNK: Final = _upsert("chunk", _CHUNK_COLUMNS, "id, index_id")


def chunk_rows(document: Document, chunks: Sequence[Chunk]) -> list[Row]:
    """The chunks as rows from ``id`` on, without the keys that only the transaction knows.

    Raises:
        UsageError: two chunks have one id.
    """
    if len({chunk.id for chunk in chunks}) < len(chunks):
        raise _shared_id(document.source_id)
    return [_chunk_row(document, chunk) for chunk in chunks]


def _chunk_row(document: Document, chunk: Chunk) -> Row:
    text, language = chunk.indexed_text, chunk.language or document.language
    heading = heading_text(chunk.heading, document.title)
    return (
        chunk.id,
        chunk.ordinal,
        chunk.start,
        chunk.end,
        storable(chunk.header),
        json.dumps(chunk.heading),
        storable(" > ".join(chunk.heading)),
        chunk.kind,
        chunk.page,
        storable(chunk.page_label),
        chunk.language,
        chunk.tokens,
        chunk.tiktoken_tokens,
        chunk.truncated,
        chunk.hash,
        chunk.parent_start,
        chunk.parent_end,
        dump_metadata(chunk.metadata),
        chunk.page if chunk.page_end is None else chunk.page_end,
        heading,
        storable(text),
        *_derived(heading, text, language),
    )


def _derived(heading: str, text: str, language: str) -> tuple[str, str]:
    """The stems and the exact column, of the heading too: a word that only the heading has is found in any form."""
    everything = f"{heading}\n{text}"
    return " ".join(stems(everything, language)), " ".join(exact_forms(everything))


def heading_text(path: Sequence[str], title: str) -> str:
    """What the full-text heading column holds: the heading path, then the document's title."""
    return storable(" ".join((*path, title)))


def put_document(
    connection: Connection,
    index: Index,
    document: Document,
    parsed: ParsedDocument,
    chunks: Sequence[Chunk],
    rows: Sequence[Row],
    embedded: Embedded,
) -> None:
    """Stores one document with its chunks (``rows`` from ``chunk_rows``) and their vectors."""
    collection_id = _open_collection(connection, index)
    key = _put_document_row(connection, collection_id, document)
    _put_text(connection, index.id, key, parsed)
    _put_chunks(connection, index, key, document.source_id, rows, embedded)
    _put_fields(connection, index.id, key, document.metadata, chunks)
    connection.execute("INSERT OR IGNORE INTO indexed_document (index_id, document_key) VALUES (?, ?)", (index.id, key))
    if index.status == "current":  # building another one beside it changes nothing of what is asked and answered
        bump(connection, [collection_id])


def put_source(connection: Connection, collection_id: int, document: Document, parsed: ParsedDocument) -> None:
    """Stores a document's text and metadata, which no index holds yet."""
    key = _put_document_row(connection, collection_id, document)
    _put_text(connection, 0, key, parsed)
    _put_fields(connection, 0, key, document.metadata, ())
    bump(connection, [collection_id])


def bump(connection: Connection, collection_ids: Iterable[int]) -> None:
    """One more committed change in each of these collections."""
    connection.executemany(
        "UPDATE collection SET version = version + 1 WHERE id = ?", ((number,) for number in set(collection_ids))
    )


def _open_collection(connection: Connection, index: Index) -> int:
    row = connection.execute(
        "SELECT collection_id FROM corpus_index WHERE id = ? AND status <> 'retired'", (index.id,)
    ).fetchone()
    if row is None:
        raise NotFoundError(
            tr("The index is gone"), tr("Another index has replaced it."), tr("Start the ingest again.")
        )
    return int(row[0])


def _put_document_row(connection: Connection, collection_id: int, document: Document) -> int:
    row = (
        document.id,
        collection_id,
        storable(document.source_id),
        storable(document.uri),
        storable(document.title),
        document.media_type,
        document.language,
        document.status,
        document.hash,
        document.metadata_hash,
        document.characters,
        dump_metadata(document.metadata),
        json.dumps(document.warnings),
        document.ingested.isoformat(),
        dump_metadata(document.given),
    )
    return int(connection.execute(_PUT_DOCUMENT, row).fetchone()[0])


def _put_text(connection: Connection, index_id: int, key: int, parsed: ParsedDocument) -> None:
    text = storable(parsed.text)
    before = connection.execute("SELECT text = ? FROM document_text WHERE document_key = ?", (text, key)).fetchone()
    if before == (0,):
        # Chunks of other indexes point into the old text: better none than ones that cite the wrong words.
        for table in ("chunk", "indexed_document"):
            connection.execute(f"DELETE FROM {table} WHERE document_key = ? AND index_id <> ?", (key, index_id))
    structure = json.dumps(encode(replace(parsed, text="", metadata={})))
    connection.execute(
        "INSERT OR REPLACE INTO document_text (document_key, text, structure, metadata) VALUES (?, ?, ?, ?)",
        (key, text, structure, dump_metadata(parsed.metadata)),
    )


def load_parsed(text: str, structure: str, metadata: str) -> ParsedDocument:
    """From a row of ``document_text``."""
    return replace(decode(ParsedDocument, json.loads(structure)), text=text, metadata=load_metadata(metadata))


def _put_chunks(
    connection: Connection, index: Index, key: int, source_id: str, rows: Sequence[Row], embedded: Embedded
) -> None:
    index_id, vectors = index.id, embedded.vectors
    wanted = {row[0] for row in rows}
    _refuse_foreign_ids(connection, index_id, key, source_id, wanted)
    before = _chunk_keys(connection, index_id, key)
    connection.executemany(
        "DELETE FROM chunk WHERE key = ?", ((number,) for name, (number, _) in before.items() if name not in wanted)
    )
    connection.executemany(_PUT_CHUNK, ((index_id, key, *row) for row in rows))
    after = _chunk_keys(connection, index_id, key)
    # A vector goes when a new one comes, or when the text it was made from has changed.
    outdated = {
        number for name, (number, digest) in before.items() if name in vectors or after.get(name, (0, ""))[1] != digest
    }
    new = ((after[name][0], vector) for name, vector in vectors.items() if name in after)
    put_vectors(connection, index, new, outdated)
    if keeps_tokens(index.recipe):
        tokens = ((after[name][0], packed) for name, packed in embedded.tokens.items() if name in after)
        put_tokens(connection, index_id, tokens, outdated)


def _chunk_keys(connection: Connection, index_id: int, key: int) -> dict[str, tuple[int, str]]:
    rows = connection.execute(
        "SELECT id, key, hash FROM chunk WHERE index_id = ? AND document_key = ?", (index_id, key)
    )
    return {name: (number, digest) for name, number, digest in rows}


def _refuse_foreign_ids(connection: Connection, index_id: int, key: int, source_id: str, wanted: set[str]) -> None:
    row = connection.execute(
        "SELECT 1 FROM json_each(?) w CROSS JOIN chunk c ON c.id = w.value AND c.index_id = ? "
        "WHERE c.document_key <> ? LIMIT 1",
        (json.dumps(sorted(wanted)), index_id, key),
    ).fetchone()
    if row is not None:
        raise _shared_id(source_id)


def _shared_id(source_id: str) -> UsageError:
    return UsageError(
        tr("Two chunks have one id"),
        tr("A chunk of “{source}” has the id of another chunk of this index.", source=source_id),
        tr("Chunk ids must be unique in an index."),
    )


def _put_fields(connection: Connection, index_id: int, key: int, metadata: Metadata, chunks: Sequence[Chunk]) -> None:
    connection.execute(
        "DELETE FROM field WHERE document_key = ?1 AND (chunk_key IS NULL "
        "OR chunk_key IN (SELECT key FROM chunk WHERE index_id = ?2 AND document_key = ?1))",
        (key, index_id),
    )
    connection.executemany(_ADD_FIELD, ((key, None, *row) for row in field_rows(metadata)))
    if any(chunk.metadata for chunk in chunks):
        keys = _chunk_keys(connection, index_id, key)
        connection.executemany(
            _ADD_FIELD, ((key, keys[chunk.id][0], *row) for chunk in chunks for row in field_rows(chunk.metadata))
        )


def update_metadata(
    connection: Connection, document_id: str, metadata: Metadata, metadata_hash: str, given: Metadata | None
) -> None:
    """Replaces metadata, and the columns and full-text headings that follow it. Raises NotFoundError."""
    row = connection.execute(
        "SELECT d.key, d.collection_id, d.title, d.language, d.status, t.structure FROM document d "
        "JOIN document_text t ON t.document_key = d.key WHERE d.id = ?",
        (document_id,),
    ).fetchone()
    if row is None:
        raise no_document(document_id)
    key, collection_id, title, language, status, structure = row
    own_title = json.loads(structure).get("title")
    wanted = storable(str(metadata.get("title") or own_title or title))
    stated = metadata.get("status")
    connection.execute(
        "UPDATE document SET title = ?, language = ?, status = ?, metadata = ?, metadata_hash = ?, "
        "given = coalesce(?, given) WHERE key = ?",
        (
            wanted,
            str(metadata.get("language") or language),
            stated if stated in ("current", "retired") else status,
            dump_metadata(metadata),
            metadata_hash,
            None if given is None else dump_metadata(given),
            key,
        ),
    )
    connection.execute("DELETE FROM field WHERE document_key = ? AND chunk_key IS NULL", (key,))
    connection.executemany(_ADD_FIELD, ((key, None, *field) for field in field_rows(metadata)))
    if wanted != title:
        _retitle(connection, key, wanted)
    bump(connection, [collection_id])


def _retitle(connection: Connection, key: int, title: str) -> None:
    chunks = connection.execute(
        "SELECT c.key, c.path, c.text, coalesce(nullif(c.language, ''), d.language) "
        "FROM chunk c JOIN document d ON d.key = c.document_key WHERE d.key = ?",
        (key,),
    ).fetchall()
    for number, path, text, language in chunks:
        heading = heading_text(json.loads(path), title)
        connection.execute(
            "UPDATE chunk SET heading = ?, stems = ?, exact = ? WHERE key = ?",
            (heading, *_derived(heading, text, language), number),
        )


def set_status(connection: Connection, document_ids: Iterable[str], status: DocumentStatus) -> int:
    """Returns how many documents changed."""
    changed: list[int] = []
    for document_id in document_ids:
        changed += [
            number
            for (number,) in connection.execute(
                "UPDATE document SET status = ?1 WHERE id = ?2 AND status <> ?1 RETURNING collection_id",
                (status, document_id),
            )
        ]
    bump(connection, changed)
    return len(changed)


def delete_documents(connection: Connection, document_ids: Iterable[str], *, traces: bool) -> tuple[DeleteCheck, ...]:
    """Deletes and looks again, place by place, before the transaction is committed."""
    wanted = tuple(dict.fromkeys(document_ids))
    quoting = {document_id: count_quoting(connection, document_id) for document_id in wanted}
    if traces:
        redact(connection, wanted)
    checks: list[DeleteCheck] = []
    collections: set[int] = set()
    for document_id in wanted:
        quoted = count_quoting(connection, document_id)
        redacted = quoting[document_id] - quoted
        row = connection.execute(
            "SELECT key, source_id, collection_id FROM document WHERE id = ?", (document_id,)
        ).fetchone()
        if row is None:
            checks.append(DeleteCheck(document_id, "", {}, quoted, redacted))
            continue
        key, source_id, collection_id = row
        collections.add(collection_id)
        found = connection.execute("SELECT index_id, key, text FROM chunk WHERE document_key = ?", (key,)).fetchall()
        connection.execute("DELETE FROM document WHERE key = ?", (key,))
        checks.append(DeleteCheck(document_id, source_id, _remaining(connection, key, found), quoted, redacted))
    bump(connection, collections)
    return tuple(checks)


def _remaining(connection: Connection, key: int, chunks: Sequence[tuple[int, int, str]]) -> dict[str, int]:
    """Rows that still mention the document. The full-text index is asked for a word of each chunk that was in it."""

    def count(table: str, condition: str, *values: object) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {table} WHERE {condition}", values).fetchone()[0])

    remaining = {
        "document": count("document", "key = ?", key),
        "text": count("document_text", "document_key = ?", key),
        "chunks": count("chunk", "document_key = ?", key),
        "metadata": count("field", "document_key = ?", key),
        "full text": 0,
        "vectors": 0,
        "token vectors": 0,
    }
    made = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for index_id, chunk_key, text in chunks:
        table = words_table(index_id)
        rarest = max(words(text), key=len, default="")
        remaining["full text"] += count(f"{table}_docsize", "id = ?", chunk_key)
        remaining["full text"] += count(table, f"{table} MATCH ? AND rowid = ?", f'"{rarest}"', chunk_key)
        remaining["vectors"] += count(vectors_table(index_id), "rowid = ?", chunk_key)
        if originals_table(index_id) in made:
            remaining["vectors"] += count(originals_table(index_id), "key = ?", chunk_key)
        if tokens_table(index_id) in made:
            remaining["token vectors"] += count(tokens_table(index_id), "key = ?", chunk_key)
    return remaining


def no_document(document_id: str) -> NotFoundError:
    """For an id that is not in the file."""
    return NotFoundError(
        tr("No such document"),
        tr("There is no document “{id}”.", id=document_id),
        tr("It may have been deleted; list the documents again."),
    )
