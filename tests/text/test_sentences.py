"""Sentences: where they end, where they don't, and that nothing is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text.sentences import sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["El Sr. García y la Dra. López firmaron el art. 5 en la pág. 12.", "Después se fueron."],
        ["Cuesta 3.5 euros, p. ej. en Madrid.", "¿Quién lo paga?", "¡Nadie!", "Así fue."],
        ["The U.S. Army left the U.S.", "The rest stayed (e.g. Dr. J. R. Smith)."],
        ["Véase el núm. 3 del art. 4.", "¡No!", "EE. UU. es grande."],
        ['"Stop."', "(He did.)", "«Bien.»", "“Yes!”", "She left.[2]", "Next."],
        ["Espera... no sé.", "Bueno…", "Ya veremos."],
        ['"Really?" he asked.', "Yes."],
        ["東京に行く。", "「はい！」", "次は3.5です。"],
        ["Prices, fees, etc. are in vol. 2 of the report.", "See v1.2.3 at example.org for more."],
    ],
)
def test_sentences_end_where_a_reader_ends_them(expected: list[str]) -> None:
    assert cut(" ".join(expected)) == expected


def test_list_lines_and_paragraphs_end_sentences_and_wrapped_lines_do_not() -> None:
    text = "A heading\n\nA line that\nwraps. More\n1. First item. Then more\n2. Second\n- third\n  * fourth"
    assert cut(text) == [
        "A heading", "A line that\nwraps.", "More", "1. First item.", "Then more", "2. Second", "- third", "* fourth",
    ]  # fmt: skip


def test_a_part_of_a_text_is_cut_with_offsets_into_the_whole() -> None:
    text = "One. Two. Three."
    assert [text[a:b] for a, b in sentences(text, 5, 12)] == ["Two.", "Th"]


@pytest.mark.parametrize(
    "hostile", ["." * 200_000 + "x", "\n" * 200_000, ".[" * 100_000, "…\n " * 60_000, "- " * 100_000]
)
def test_hostile_runs_take_linear_time(hostile: str) -> None:
    assert "".join(cut(hostile)).count("x") == hostile.count("x")


@given(st.text(alphabet=st.sampled_from("aB1 .!?…\n\t¿¡\"')]»。-*(["), max_size=120), st.data())
def test_every_character_but_white_space_is_in_exactly_one_sentence(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    spans = sentences(text, start, end)
    assert all(a < b and text[a:b] == text[a:b].strip() for a, b in spans)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text[start:end].split())
