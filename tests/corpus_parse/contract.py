"""The contract that every parsed document keeps, checked in one place."""

from __future__ import annotations

from workbench.records.corpus import Block, ParsedDocument


def check(document: ParsedDocument) -> ParsedDocument:
    """Asserts the invariants of offsets, coverage, pages and text; returns the document."""
    text = document.text
    at = 0
    for block in document.blocks:
        assert at <= block.start < block.end <= len(text), block
        assert not text[at : block.start].strip(), f"uncovered: {text[at : block.start]!r}"
        assert text[block.start : block.end].strip(), block
        at = block.end
    assert not text[at:].strip(), f"uncovered: {text[at:]!r}"
    assert document.blocks
    assert "\r" not in text
    text.encode("utf-8")  # storable
    document.title.encode("utf-8")
    assert document.title.strip()
    before = 0
    for number, page in enumerate(document.pages, 1):
        assert page.number == number
        assert before <= page.start <= page.end <= len(text)
        before = page.end
    return document


def shown(document: ParsedDocument) -> list[tuple[str, str]]:
    """(kind, text) of every block."""
    return [(block.kind, of(document, block)) for block in document.blocks]


def of(document: ParsedDocument, block: Block) -> str:
    """The block's text."""
    return document.text[block.start : block.end]
