"""The starter embedder's tokenizer and process, and a deterministic embedder that costs nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from workbench import paths
from workbench.engine.embedding import ChildEmbedder, EmbedderCard, open_embedder, read_card
from workbench.errors import Cancelled
from workbench.ports import Cancel, Embedding, TokenVectors, Vector
from workbench.records.corpus import EmbedderInfo

INFO = EmbedderInfo("hash", "hash-1", 16, 512, "query: ", "passage: ", "mean", True)


@contextmanager
def one_embedding_process() -> Iterator[None]:
    """All desks and commands ask one process of an embedder, since to start it takes longer than most tests."""
    kept: dict[tuple[Path, EmbedderCard], ChildEmbedder] = {}
    with pytest.MonkeyPatch.context() as patch:

        def opened(folder: Path) -> ChildEmbedder:
            embedder, key = open_embedder(folder), (folder, read_card(folder))
            if key not in kept:
                patch.setattr(embedder, "close", lambda: None)
            return kept.setdefault(key, embedder)

        patch.setattr("workbench.indexing.embedders.open_embedder", opened)
        yield
    for embedder in kept.values():
        embedder.close()


class WordTokenizer:
    """Every run of four letters of a word is a token; needs no files."""

    name = "words"

    def count(self, text: str) -> int:
        return len(self.offsets(text))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        start = 0
        for i in range(len(text) + 1):
            if i == len(text) or text[i].isspace():
                found += [(a, min(a + 4, i)) for a in range(start, i, 4)]
                start = i + 1
        return found


class ModelTokenizer:
    """The starter embedder's tokenizer, from its own file."""

    name = paths.STARTER_EMBEDDER

    def __init__(self) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(paths.embedders_folder() / self.name / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)


@cache
def model_tokenizer() -> ModelTokenizer:
    return ModelTokenizer()


def hash_vector(text: str) -> Vector:
    """A unit vector that depends on every character of ``text``."""
    raw = np.frombuffer(hashlib.sha512(text.encode("utf-8", "surrogatepass")).digest()[:16], np.uint8)
    vector = raw.astype(np.float32) - 127.5
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class HashEmbedder:
    """Counts what it embeds; ``embedded`` lists every passage in order."""

    def __init__(self, info: EmbedderInfo = INFO) -> None:
        self.info = info
        self.tokenizer = WordTokenizer()
        self.embedded: list[str] = []

    def start(self) -> None:
        pass

    def embed_passages(
        self, texts: Sequence[str], cancel: Cancel | None = None, *, urgent: bool = False
    ) -> Iterator[Vector]:
        for text in texts:
            if cancel and cancel.is_set():
                raise Cancelled
            self.embedded.append(text)
            yield hash_vector(text)

    def embed_query(self, text: str) -> Vector:
        return hash_vector(text)

    def embed_passage_tokens(self, texts: Sequence[str], cancel: Cancel | None = None) -> Iterator[Embedding]:
        for text, vector in zip(texts, self.embed_passages(texts, cancel), strict=True):
            yield Embedding(vector, self._token_vectors(text))

    def embed_query_tokens(self, text: str) -> Embedding:
        return Embedding(self.embed_query(text), self._token_vectors(text))

    def token_mean(self) -> Vector:
        return np.zeros(self.info.dimension, np.float32)

    def _token_vectors(self, text: str) -> TokenVectors:
        """The same piece of a word is the same vector everywhere."""
        pieces = [hash_vector(text[start:end]) for start, end in self.tokenizer.offsets(text)]
        return np.array(pieces, np.float16).reshape(-1, self.info.dimension)

    def close(self) -> None:
        pass
