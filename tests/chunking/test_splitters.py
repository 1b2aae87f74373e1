"""What each recipe promises, on small documents where a token is a word of four letters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chunking.helpers import TOKENIZER, chunk, parse, prose
from workbench.corpus.chunking import cut
from workbench.corpus.chunking.window import window_count
from workbench.errors import UsageError
from workbench.ports import Vector
from workbench.records.corpus import Block, ParsedDocument, Recipe
from workbench.text.sentences import sentences


def texts(markdown: str, recipe: Recipe) -> list[str]:
    return [c.text for c in chunk(markdown, recipe)]


# -- structure ---------------------------------------------------------------------------------------------------------


def test_a_document_that_fits_is_one_chunk() -> None:
    text = f"# One\n\n{prose(10)}\n\n## Two\n\n{prose(10)}"
    assert texts(text, Recipe("structure", 100)) == [text]


def test_a_section_opens_a_chunk_and_a_small_one_joins_its_siblings() -> None:
    big, small = prose(80), prose(8)
    text = f"# T\n\n## A\n\n{big}\n\n## B\n\n{small}\n\n## C\n\n{small}\n\n# U\n\n{small}"
    starts = [t.split("\n")[0] for t in texts(text, Recipe("structure", 100))]
    assert starts == ["# T", "## B", "# U"]
    assert "## C" in texts(text, Recipe("structure", 100))[1]


def test_small_sections_of_different_parents_stay_apart() -> None:
    text = f"# T\n\n{prose(60)}\n\n## A\n\n### A1\n\n{prose(8)}\n\n## B\n\n{prose(80)}"
    assert [c.heading for c in chunk(text, Recipe("structure", 100))] == [("T",), ("T", "A", "A1"), ("T", "B")]


def test_no_chunk_ends_with_a_heading_and_no_sentence_is_cut() -> None:
    text = "\n\n".join(f"## S{i}\n\n{prose(8 * i)}" for i in range(1, 20))
    chunks = chunk(text, Recipe("structure", 60))
    assert all(not c.text.split("\n")[-1].startswith("#") for c in chunks)
    assert all(c.text.endswith(".") for c in chunks)
    assert all(c.tokens <= 60 and not c.truncated for c in chunks)


def test_table_rows_are_whole_and_carry_their_header() -> None:
    rows = "\n".join(f"| r{i:02} | v{i:02} |" for i in range(40))
    chunks = chunk(f"# T\n\n| name | val |\n|---|---|\n{rows}\n", Recipe("structure", 60))
    assert len(chunks) > 3
    assert chunks[0].header == ""
    assert "| name | val |" in chunks[0].text
    for c in chunks[1:]:
        assert c.header.startswith("| name | val |")
        assert c.indexed_text.startswith(c.header)
        assert all(line.count("|") == 3 for line in c.text.splitlines())
    assert all(c.tokens <= 60 for c in chunks)


def test_a_header_larger_than_half_a_chunk_is_not_repeated() -> None:
    header = "|".join(f"c{i:02}" for i in range(200))
    block = Block(0, 7, "row", header=header)
    chunks = chunk(ParsedDocument("one|two", "", "text/csv", (block,)), Recipe("structure", 60))
    assert [c.indexed_text for c in chunks] == ["one|two"]


def test_a_code_fence_that_fits_stays_whole_and_a_larger_one_is_cut_at_lines() -> None:
    code = "```python\n" + "\n".join(f"a{i:02} = {i}" for i in range(10)) + "\n```"
    assert any(code in t for t in texts(f"{prose(40)}\n\n{code}\n\n{prose(8)}", Recipe("structure", 60)))
    pieces = texts(code, Recipe("structure", 24))
    assert len(pieces) > 1
    assert "\n".join(pieces) == code


def test_a_word_longer_than_a_chunk_is_cut_between_tokens() -> None:
    pieces = chunk("x" * 1000, Recipe("structure", 20))
    assert "".join(c.text for c in pieces) == "x" * 1000
    assert all(c.tokens <= 20 for c in pieces)


# -- window ------------------------------------------------------------------------------------------------------------


def test_the_worked_number() -> None:
    assert window_count(2400, 350, 60) == 9
    assert len(texts(" ".join(["word"] * 2400), Recipe("window", 350, 60))) == 9


@given(st.integers(1, 400), st.integers(1, 60), st.data())
def test_windows_count_size_and_overlap_as_the_formula_says(length: int, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    parsed = ParsedDocument(" ".join(f"{i:03}" for i in range(length)), "", "text/plain", ())
    words = [parsed.text[s.start : s.end].split() for s in cut(parsed, Recipe("window", size, overlap), TOKENIZER)]
    assert len(words) == 1 + -(-max(0, length - size) // (size - overlap))
    assert all(len(w) == size for w in words[:-1])
    assert len(words[-1]) <= size
    assert all(one[size - overlap :] == two[:overlap] for one, two in pairwise(words))
    assert words[-1][-1] == f"{length - 1:03}"


def test_an_overlap_as_large_as_the_window_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        cut(parse("Some text."), Recipe("window", 50, 50), TOKENIZER)
    assert "49" in caught.value.remedy


# -- sentence, semantic, parent ----------------------------------------------------------------------------------------


def test_each_sentence_is_a_chunk_with_the_heading_before_it() -> None:
    text = "# T\n\nOne here. Two here.\n\n- item one\n- item two\n\n| a |\n|---|\n| x |"
    found = texts(text, Recipe("sentence", 60))
    assert found[:4] == ["# T\n\nOne here.", "Two here.", "- item one", "- item two"]
    assert found[-1] == "| x |"


def test_meaning_changes_are_cut_and_only_those() -> None:
    text = "Cats purr. Cats nap. Cats play. Ships sail. Ships dock."

    def animals_or_ships(sentences: object) -> list[Vector]:
        assert isinstance(sentences, list)
        return [np.array([1, 0] if "Cats" in s else [0, 1], np.float32) for s in sentences]

    spans = cut(parse(text), Recipe("semantic", 60, threshold=10), TOKENIZER, similarity=animals_or_ships)
    assert [text[s.start : s.end] for s in spans] == ["Cats purr. Cats nap. Cats play.", "Ships sail. Ships dock."]


def test_alike_sentences_still_keep_to_the_size() -> None:
    chunks = chunk(prose(200), Recipe("semantic", 40, threshold=0))
    assert len(chunks) > 4
    assert all(c.tokens <= 40 for c in chunks)


def test_small_chunks_deliver_their_whole_section() -> None:
    text = f"# A\n\n{prose(60, 'A')}\n\n# B\n\n{prose(60, 'B')}"
    chunks = chunk(text, Recipe("parent", 30, parent_size=90))
    assert {text[c.parent_start : c.parent_end].splitlines()[0] for c in chunks} == {"# A", "# B"}
    for c in chunks:
        assert c.parent_start is not None
        assert c.parent_end is not None
        assert c.parent_start <= c.start < c.end <= c.parent_end
        assert c.tokens <= 30
        assert text[c.parent_start : c.parent_end].startswith(f"# {c.heading[0]}")


def test_a_section_larger_than_the_parent_size_is_delivered_in_parts() -> None:
    chunks = chunk(prose(400), Recipe("parent", 30, parent_size=100))
    sizes = [TOKENIZER.count(prose(400)[c.parent_start : c.parent_end]) for c in chunks]
    assert max(sizes) <= 100
    assert sentences(prose(400))[0][0] == chunks[0].start
