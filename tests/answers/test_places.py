"""A citation names the section and the page of its own span, even when the chunk reaches over several."""

from __future__ import annotations

from workbench.answers.citations import CitedText, placed
from workbench.corpus.places import Places
from workbench.records.answers import Citation, Claim
from workbench.records.corpus import Block, Page, ParsedDocument

TEXT = "# Rules\n\n## Loans\n\nBooks: 21 days.\n\n## Fees\n\nA card costs 2 euros."
LOANS, FEES = TEXT.index("Books"), TEXT.index("A card")


def _block(label: str, mark: str, level: int) -> Block:
    start = TEXT.index(mark)
    return Block(start, start + len(mark), "heading", level, label)


DOCUMENT = ParsedDocument(
    TEXT,
    "Rules",
    "text/markdown",
    (
        _block("Rules", "# Rules", 1),
        _block("Loans", "## Loans", 2),
        Block(LOANS, LOANS + 15, "paragraph"),
        _block("Fees", "## Fees", 2),
        Block(FEES, len(TEXT), "paragraph"),
    ),
    (Page(1, "i", 0, FEES - 1), Page(2, "ii", FEES - 1, len(TEXT))),
)


def test_each_citation_gets_its_own_section_and_page() -> None:
    def cite(start: int, end: int) -> Citation:
        return Citation("F1", "c", "d", "rules.md", "Rules", ("Rules",), 1, "i", start, end, TEXT[start:end])

    claim = Claim("…", (cite(LOANS, LOANS + 15), cite(FEES, len(TEXT))), 1.0, "supported")
    (moved,) = placed(CitedText("…", (claim,), ()), {"d": Places(DOCUMENT)}.__getitem__).claims
    assert [c.heading for c in moved.citations] == [("Rules", "Loans"), ("Rules", "Fees")]
    assert [(c.page, c.page_label) for c in moved.citations] == [(1, "i"), (2, "ii")]


def test_a_span_over_two_sections_stands_under_what_they_share() -> None:
    assert Places(DOCUMENT).heading(LOANS, len(TEXT)) == ("Rules",)


def test_a_document_without_structure_has_no_place() -> None:
    places = Places(ParsedDocument("plain", "t", "text/plain", (Block(0, 5, "paragraph"),)))
    assert places.heading(0, 5) == ()
    assert places.page(0) is None


def test_blocks_of_a_span_are_those_it_reaches_into() -> None:
    places = Places(DOCUMENT)
    assert [block.kind for block in places.blocks(LOANS + 3, FEES - 2)] == ["paragraph", "heading"]
    assert [block.start for block in places.blocks(0, 1)] == [0]
    assert places.blocks(LOANS + 15, LOANS + 16) == []
