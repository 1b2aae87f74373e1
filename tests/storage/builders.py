"""Small documents with chunks and vectors, as ingest would make them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from storage.indexes import vectors_table, words_table
from storage.store import FileStore
from workbench.ports import PackedTokens, Vector
from workbench.records.corpus import Block, Chunk, Document, EmbedderInfo, Index, Metadata, ParsedDocument
from workbench.records.retrieval import Analysis
from workbench.retrieval.analysis import analyse

DIMENSION = 8
__all__ = ["DIMENSION", "analyse", "chunk_of", "document_of", "embedder", "put", "vector_of"]


def embedder(fingerprint: str = "f1", dimension: int = DIMENSION) -> EmbedderInfo:
    return EmbedderInfo("tiny", fingerprint, dimension, 512, "query: ", "passage: ", "mean", normalised=True)


def vector_of(text: str, dimension: int = DIMENSION) -> Vector:
    """A direction that only the text decides."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=dimension).astype(np.float32)


def tokens_of(text: str) -> PackedTokens:
    """A byte of signs for each word."""
    return np.array([[len(word) % 256] for word in text.split()], np.uint8).reshape(-1, 1)


def document_of(
    source_id: str,
    text: str,
    *,
    collection: str = "laws",
    title: str = "",
    language: str = "en",
    metadata: Metadata | None = None,
    status: str = "current",
) -> Document:
    return Document(
        id=f"{collection}/{source_id}".encode("utf-8", "replace").decode(),
        collection=collection,
        source_id=source_id,
        uri=f"/docs/{source_id}",
        title=title or source_id,
        media_type="text/plain",
        language=language,
        status=status,  # type: ignore[arg-type]  # a Literal, from tests
        hash=hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
        metadata_hash="m",
        characters=len(text),
        metadata=metadata or {},
        ingested=datetime(2026, 3, 1, 12, tzinfo=UTC),
        warnings=("one table was guessed",),
    )


def chunk_of(
    document: Document,
    ordinal: int,
    start: int,
    text: str,
    *,
    heading: tuple[str, ...] = (),
    header: str = "",
    page: int | None = None,
    metadata: Metadata | None = None,
) -> Chunk:
    digest = hashlib.sha256(f"{header}\n{text}".encode("utf-8", "replace")).hexdigest()
    return Chunk(
        id=hashlib.sha256(f"{document.id}|{heading}|{digest}|{start}".encode("utf-8", "replace")).hexdigest()[:16],
        document_id=document.id,
        source_id=document.source_id,
        ordinal=ordinal,
        start=start,
        end=start + len(text),
        text=text,
        header=header,
        heading=heading,
        kind="paragraph",
        page=page,
        page_label=str(page or ""),
        language=document.language,
        tokens=len(text.split()) + 2,
        tiktoken_tokens=len(text.split()),
        truncated=False,
        hash=digest,
        metadata=metadata or {},
    )


def put(
    store: FileStore,
    index: Index,
    document: Document,
    paragraphs: Sequence[str],
    *,
    vectors: bool = True,
    heading: tuple[str, ...] = (),
    chunk_metadata: Metadata | None = None,
) -> tuple[Chunk, ...]:
    """Stores ``document`` with a chunk per paragraph; page n is paragraph n."""
    text = "\n\n".join(paragraphs)
    chunks, blocks, start = [], [], 0
    for n, paragraph in enumerate(paragraphs):
        chunks.append(chunk_of(document, n, start, paragraph, heading=heading, page=n + 1, metadata=chunk_metadata))
        blocks.append(Block(start, start + len(paragraph), "paragraph"))
        start += len(paragraph) + 2
    parsed = ParsedDocument(text, document.title, document.media_type, tuple(blocks), metadata=document.metadata)
    known = store.corpus.embedded_chunks(index.id, document.id)
    new = {c.id: vector_of(c.text, index.embedder.dimension) for c in chunks if c.id not in known} if vectors else {}
    tokens = {c.id: tokens_of(c.text) for c in chunks if c.id in new}
    store.corpus.put_document(index, document, parsed, chunks, new, tokens)
    return tuple(chunks)


def counts(store: FileStore, index: Index) -> dict[str, int]:
    """Rows of each kind in the index; also proves the full-text table against the chunks, word by word."""
    words = words_table(index.id)
    with store._connections.read() as c:
        found = {
            "chunks": c.execute("SELECT count(*) FROM chunk WHERE index_id = ?", (index.id,)).fetchone()[0],
            "words": c.execute(f"SELECT count(*) FROM {words}_docsize").fetchone()[0],
            "vectors": c.execute(f"SELECT count(*) FROM (SELECT rowid FROM {vectors_table(index.id)})").fetchone()[0],
        }
    store._connections.write(lambda c: c.execute(f"INSERT INTO {words} ({words}, rank) VALUES ('integrity-check', 1)"))
    return found


def query(text: str) -> Analysis:
    return analyse(text)
