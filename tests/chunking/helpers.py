"""Documents for chunking tests: built from Markdown by the real parser, or from any blocks."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.embedders import INFO, WordTokenizer, hash_vector
from workbench.corpus.chunking import chunks_of
from workbench.corpus.parse import markdown
from workbench.records.corpus import Chunk, Document, ParsedDocument, Recipe

TOKENIZER = WordTokenizer()


def document(language: str = "", **metadata: str) -> Document:
    return Document(
        "doc", "c", "a.md", "", "A", "text/markdown", language, "current", "", "", 0, metadata, datetime.now(UTC)
    )


def parse(text: str) -> ParsedDocument:
    return markdown.parse(text.encode(), "a.md")


def chunk(text: str | ParsedDocument, recipe: Recipe, language: str = "") -> tuple[Chunk, ...]:
    parsed = parse(text) if isinstance(text, str) else text
    return chunks_of(
        document(language), parsed, recipe, TOKENIZER, INFO, similarity=lambda texts: [hash_vector(t) for t in texts]
    )


def prose(words: int, name: str = "W") -> str:
    """Sentences of eight words of one token each."""
    return " ".join(f"{name}{i % 100:02}" + ("." if i % 8 == 7 else "") for i in range(words))
