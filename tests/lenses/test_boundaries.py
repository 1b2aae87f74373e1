"""What cuts take apart: flagged where something is lost, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data import shared
from tests.embedders import INFO, WordTokenizer
from workbench.corpus.chunking import parse_recipe
from workbench.corpus.chunking.chunks import chunks_of
from workbench.corpus.parse import markdown, parse
from workbench.lenses.boundaries import find_flags, overlaps
from workbench.records.corpus import Chunk, Document, ParsedDocument, Recipe
from workbench.records.lenses import Flag

DOCUMENT = Document("d", "c", "d.md", "", "", "", "en", "current", "h", "m", 0, {}, datetime(2026, 1, 1, tzinfo=UTC))
ROOMY = Recipe(size=400)


def cut(parsed: ParsedDocument, *marks: str, overlap: int = 0) -> tuple[Chunk, ...]:
    """Chunks that begin where each mark stands in the text; ``overlap``: characters before it that they have too."""
    starts = [0, *(parsed.text.index(mark) for mark in marks)]
    ends = [*starts[1:], len(parsed.text)]
    spans = ((max(0, a - overlap) if a else a, b) for a, b in zip(starts, ends, strict=True))
    return tuple(_chunk(parsed, n, a, b) for n, (a, b) in enumerate(spans))


def _chunk(parsed: ParsedDocument, number: int, start: int, end: int) -> Chunk:
    text = parsed.text[start:end]
    stripped = text.strip()
    start += text.index(stripped)
    return Chunk(
        f"c{number}", "d", "d.md", number, start, start + len(stripped), stripped, "", (), "paragraph", None, "", "en",
        len(stripped) // 4, 0, False, "",
    )  # fmt: skip


def of(text: str) -> ParsedDocument:
    return markdown.parse(text.encode(), "d.md")


def kinds(flags: tuple[Flag, ...]) -> list[tuple[str, str]]:
    return [(flag.kind, flag.weight) for flag in flags]


PROSE = "The office opens at nine in the morning. It closes at five, on Fridays at three.\n\nNobody waits outside."


def test_a_sentence_that_goes_on_is_flagged_with_its_own_span() -> None:
    parsed = of(PROSE)
    [flag] = find_flags(parsed, cut(parsed, "on Fridays"), ROOMY)
    assert (flag.kind, flag.chunk_id, flag.next_id) == ("sentence", "c0", "c1")
    assert parsed.text[flag.start : flag.end] == "It closes at five, on Fridays at three."


@pytest.mark.parametrize("mark", ["It closes", "Nobody"])
def test_a_cut_between_sentences_or_paragraphs_is_none(mark: str) -> None:
    parsed = of(PROSE)
    assert find_flags(parsed, cut(parsed, mark), ROOMY) == ()


def test_an_overlap_that_has_the_whole_sentence_mends_the_cut() -> None:
    parsed = of(PROSE)
    begun = len("It closes at five, ")
    assert find_flags(parsed, cut(parsed, "on Fridays", overlap=begun), ROOMY) == ()
    assert kinds(find_flags(parsed, cut(parsed, "on Fridays", overlap=begun - 4), ROOMY)) == [("sentence", "warning")]


def test_a_parent_section_that_is_delivered_mends_the_cut() -> None:
    parsed = of(PROSE)
    parents = tuple(replace(c, parent_start=0, parent_end=len(PROSE)) for c in cut(parsed, "on Fridays"))
    assert find_flags(parsed, parents, ROOMY) == ()


def test_lines_of_a_diagram_are_no_sentence_but_wrapped_prose_is() -> None:
    diagram = of("flow A to B\nflow B to C\nflow C to D")
    assert find_flags(diagram, cut(diagram, "flow C"), ROOMY) == ()
    wrapped = of("The office opens at\nnine in the morning and\ncloses at five.")
    assert kinds(find_flags(wrapped, cut(wrapped, "closes"), ROOMY)) == [("sentence", "warning")]


def test_abbreviations_and_decimals_end_no_sentence() -> None:
    parsed = of("It costs 3.50 euros, cf. Art. 5 of the rules.")
    assert kinds(find_flags(parsed, cut(parsed, "Art. 5"), ROOMY)) == [("sentence", "warning")]


TABLE = "Prices:\n\n| what | euros |\n|---|---|\n| card | 12 |\n| copy | 1 |\n| film | 3 |\n\nAll with tax.\n"


def test_rows_without_their_header_are_flagged_and_with_it_are_a_table_cut() -> None:
    parsed = of(TABLE)
    bare = cut(parsed, "| copy")
    assert kinds(find_flags(parsed, bare, ROOMY)) == [("header", "warning")]
    headed = (bare[0], replace(bare[1], header="| what | euros |\n|---|---|"))
    assert kinds(find_flags(parsed, headed, ROOMY)) == [("table", "warning")]
    assert kinds(find_flags(parsed, headed, Recipe(size=5))) == [("table", "note")]


def test_a_cut_between_the_header_and_the_first_row_is_one() -> None:
    parsed = of(TABLE)
    assert kinds(find_flags(parsed, cut(parsed, "| card"), ROOMY)) == [("header", "warning")]


def test_a_cut_before_or_after_a_table_is_none() -> None:
    parsed = of(TABLE)
    assert find_flags(parsed, cut(parsed, "| what", "All with"), ROOMY) == ()


LIST = "Bring:\n\n- a card\n- two photographs\n- the form\n\nThen wait.\n"


def test_a_list_that_fits_a_chunk_is_a_warning_and_a_longer_one_a_note() -> None:
    parsed = of(LIST)
    assert kinds(find_flags(parsed, cut(parsed, "- the form"), ROOMY)) == [("list", "warning")]
    assert kinds(find_flags(parsed, cut(parsed, "- the form"), Recipe(size=4))) == [("list", "note")]
    assert find_flags(parsed, cut(parsed, "- a card", "Then wait"), ROOMY) == ()


def test_code_that_goes_on_is_flagged() -> None:
    parsed = of("Run:\n\n```\nfirst line\n# a comment\nlast line\n```\n\nDone.\n")
    assert kinds(find_flags(parsed, cut(parsed, "last line"), ROOMY)) == [("code", "warning")]
    assert find_flags(parsed, cut(parsed, "Done"), ROOMY) == ()


def test_a_heading_at_a_chunks_end_is_flagged_from_the_highest_of_them() -> None:
    parsed = of("Before.\n\n# Fees\n\n## Cards\n\nA card costs 12 euros.\n")
    [flag] = find_flags(parsed, cut(parsed, "A card"), ROOMY)
    assert flag.kind == "heading"
    assert parsed.text[flag.start : flag.end] == "# Fees\n\n## Cards"
    assert find_flags(parsed, cut(parsed, "# Fees"), ROOMY) == ()


def test_overlaps_are_the_characters_that_neighbours_share() -> None:
    parsed = of(PROSE)
    assert overlaps(cut(parsed, "It closes", overlap=9)) == (0, 8)
    assert overlaps(()) == ()


@given(st.text(alphabet="ab .!?\n-|#`1", max_size=200).filter(str.strip), st.lists(st.integers(0, 200), max_size=5))
def test_whatever_the_text_every_flag_lies_over_its_cut(text: str, places: list[int]) -> None:
    parsed = of(text)
    edges = sorted({0, len(parsed.text), *(p for p in places if p < len(parsed.text))})
    spans = [(a, b) for a, b in pairwise(edges) if parsed.text[a:b].strip()]
    chunks = tuple(_chunk(parsed, n, a, b) for n, (a, b) in enumerate(spans))
    by_id = {chunk.id: chunk for chunk in chunks}
    for flag in find_flags(parsed, chunks, ROOMY):
        before, behind = by_id[flag.chunk_id], by_id[flag.next_id]
        assert flag.start < before.end <= flag.end
        assert flag.start < behind.start
        assert re.search(r"\S", parsed.text[flag.start : flag.end])


def _real() -> Iterator[ParsedDocument]:
    for path in sorted(shared("pdf").glob("*.pdf")):
        if "password" not in path.name:
            yield parse(path)


def test_the_default_recipe_cuts_real_documents_without_a_warning() -> None:
    seen = 0
    for parsed in _real():
        recipe = Recipe(size=300)
        chunks = chunks_of(DOCUMENT, parsed, recipe, WordTokenizer(), INFO)
        seen += len(chunks)
        assert [f for f in find_flags(parsed, chunks, recipe) if f.weight == "warning"] == []
    assert seen > 20


def test_windows_over_real_documents_cut_nearly_every_sentence() -> None:
    recipe = parse_recipe("window:size=150,overlap=0")
    flags = cuts = 0
    for parsed in _real():
        chunks = chunks_of(DOCUMENT, parsed, recipe, WordTokenizer(), INFO)
        found = find_flags(parsed, chunks, recipe)
        cuts += len(chunks) - 1
        flags += sum(f.kind == "sentence" for f in found)
        for flag in found:
            assert parsed.text[flag.start : flag.end].strip()
    assert flags > 0.5 * cuts > 10
