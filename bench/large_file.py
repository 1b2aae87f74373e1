"""A workbench file of any number of chunks made of real text: sentences of XQuAD in English and Spanish, mixed anew.

Each chunk is seven sentences drawn from paragraphs of one language, and its vector is that of the paragraph it begins
with, embedded once, with noise: close to 480 centres, as passages of 48 subjects are. The words' frequencies are those
of the text. Building 100,000 chunks takes a few minutes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.xquad import load
from storage import open_store
from workbench import paths
from workbench.corpus.identity import document_id, sha256, short_id
from workbench.engine.embedding import open_embedder
from workbench.ports import Vector
from workbench.records.corpus import Chunk, Document, Index, ParsedDocument, Recipe
from workbench.text.sentences import sentences

COLLECTION = "bench"
PER_DOCUMENT = 100
SENTENCES = 7
NOISE = 0.3


def build(path: Path, chunks: int) -> None:
    """Makes the file at ``path``; what is there already is left as it is."""
    if path.exists():
        return
    made = _Maker()
    store = open_store(path)
    store.corpus.create_collection(COLLECTION, Recipe(token_vectors="none"))
    index = store.corpus.open_index(COLLECTION, made.info, Recipe(token_vectors="none"))
    for number in range(-(-chunks // PER_DOCUMENT)):
        made.put(store.corpus.put_document, index, number, min(PER_DOCUMENT, chunks - number * PER_DOCUMENT))
    store.close()


class _Maker:
    """Draws chunks; the same ones for the same number."""

    def __init__(self) -> None:
        embedder = open_embedder(paths.embedders_folder() / paths.STARTER_EMBEDDER)
        self.info = embedder.info
        self._rng = random.Random(7)
        self._noise = np.random.default_rng(7)
        self._paragraphs: dict[str, list[list[str]]] = {}
        self._vectors: dict[str, list[Vector]] = {}
        for language in ("en", "es"):
            texts = list(load(language)[0].values())
            self._paragraphs[language] = [[text[a:b] for a, b in sentences(text)] for text in texts]
            self._vectors[language] = list(embedder.embed_passages(texts))
        embedder.close()

    def put(self, store: object, index: Index, number: int, count: int) -> None:
        language = "es" if number % 2 else "en"
        name = f"{number:05}.txt"
        texts, vectors = zip(*self._drawn(language, count), strict=True)
        text = "\n\n".join(texts)
        document = Document(
            id=document_id(COLLECTION, name),
            collection=COLLECTION,
            source_id=name,
            uri=name,
            title=name,
            media_type="text/plain",
            language=language,
            status="current",
            hash=sha256(text),
            metadata_hash="",
            characters=len(text),
            metadata={"year": 2000 + number % 27},
            ingested=datetime.now(UTC),
        )
        chunks = list(chunks_of(document, texts))
        by_id = {chunk.id: vector for chunk, vector in zip(chunks, vectors, strict=True)}
        assert callable(store)
        store(index, document, ParsedDocument(text, name, "text/plain", ()), chunks, by_id)

    def _drawn(self, language: str, count: int) -> Iterator[tuple[str, Vector]]:
        paragraphs = self._paragraphs[language]
        for _ in range(count):
            first = self._rng.randrange(len(paragraphs))
            pool = [*paragraphs[first], *self._rng.choice(paragraphs), *self._rng.choice(paragraphs)]
            vector = self._vectors[language][first]
            noise = self._noise.normal(size=len(vector)).astype(np.float32)
            yield (
                " ".join(self._rng.sample(pool, min(SENTENCES, len(pool)))),
                vector + NOISE * noise / np.linalg.norm(noise),
            )


def chunks_of(document: Document, texts: Sequence[str]) -> Iterator[Chunk]:
    """A chunk a text, one after another, an empty line apart, with the length in tokens guessed."""
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
