"""The chunk table of a big file, through the real Corpus screen: how long until rows are seen, and how a page turns.

For each size it prints: the start of the screen → all chunks of the collection painted; a page down (key → its rows
painted) while the next pages are read ahead, as it is held down; the end of the table and back; another order; and a
filter. The file has no vectors, as the table needs none: only texts, full text and metadata, two sentences of XQuAD a
chunk. Making a million takes a while; ``--keep`` makes it once.

Run: python -m bench.corpus_scroll [--chunks 100000 1000000] [--keep FOLDER]
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from bench.xquad import load
from storage import open_store
from workbench.corpus.identity import document_id, sha256, short_id
from workbench.records.corpus import Chunk, Document, EmbedderInfo, ParsedDocument, Recipe
from workbench.text.sentences import sentences

COLLECTION = "bench"
PER_DOCUMENT = 200
_NOBODY = EmbedderInfo("none", "none", 8, 512, "", "", "mean", normalised=True)


def build(path: Path, chunks: int) -> None:
    """Makes the file at ``path``; what is there already is left as it is."""
    if path.exists():
        return
    rng = random.Random(7)
    pool = [text[a:b] for language in ("en", "es") for text in load(language)[0].values() for a, b in sentences(text)]
    half = len(pool) // 2
    store = open_store(path)
    store.corpus.create_collection(COLLECTION, Recipe(token_vectors="none"))
    index = store.corpus.open_index(COLLECTION, _NOBODY, Recipe(token_vectors="none"))
    for number in range(-(-chunks // PER_DOCUMENT)):
        language, known = ("es", pool[half:]) if number % 2 else ("en", pool[:half])
        texts = [" ".join(rng.sample(known, 2)) for _ in range(min(PER_DOCUMENT, chunks - number * PER_DOCUMENT))]
        text = "\n\n".join(texts)
        document = _document(number, language, text)
        parsed = ParsedDocument(text, document.title, "text/plain", ())
        store.corpus.put_document(index, document, parsed, list(_chunks(document, texts)), {})
    store.close()


def _document(number: int, language: str, text: str) -> Document:
    name = f"{number:05}.txt"
    return Document(
        id=document_id(COLLECTION, name),
        collection=COLLECTION,
        source_id=name,
        uri="",
        title=name,
        media_type="text/plain",
        language=language,
        status="current",
        hash=sha256(text),
        metadata_hash="",
        characters=len(text),
        metadata={"year": 2000 + number % 27, "date": date(2000 + number % 27, 1 + number % 12, 1)},
        ingested=datetime.now(UTC),
    )


def _chunks(document: Document, texts: list[str]) -> Iterator[Chunk]:
    start = 0
    for ordinal, text in enumerate(texts):
        yield Chunk(
            id=short_id(document.id, str(ordinal)),
            document_id=document.id,
            source_id=document.source_id,
            ordinal=ordinal,
            start=start,
            end=start + len(text),
            text=text,
            header="",
            heading=(),
            kind="paragraph",
            page=None,
            page_label="",
            language=document.language,
            tokens=len(text) // 4,
            tiktoken_tokens=len(text) // 5,
            truncated=False,
            hash=sha256(text),
        )
        start += len(text) + 2
