"""From generated text to claims with citations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answers.pieces import evidence, plain_units
from workbench.answers.citations import cited_answer

ONE = evidence("The office opens at nine. It closes at five. The fee is 118.50 euros.", "F1", start=50)
TWO = evidence("Readers may borrow six books for thirty days.", "F2")


def test_each_sentence_is_a_claim_with_the_sentence_that_supports_it() -> None:
    cited = cited_answer(
        "The fee is 118.50 euros [F1]. Readers may borrow six books [F2][F1].", [ONE, TWO], plain_units, "en"
    )
    first, second = cited.claims
    assert first.text == "The fee is 118.50 euros."
    assert (first.level, first.citations[0].quote) == ("supported", "The fee is 118.50 euros.")
    assert first.citations[0].start == 50 + ONE.body.index("The fee")
    assert [c.label for c in second.citations] == ["F2", "F1"]
    assert second.level == "supported"


@pytest.mark.parametrize(
    "text",
    [
        "The fee is 118.50 euros [F1][F7].",
        "The fee is 118.50 euros. [F1] [F7]",
        "The fee is 118.50 euros [F1, F7].",
        "The fee is 118.50 euros [ F1; 7 ] .",
    ],
)
def test_marks_that_name_no_evidence_are_removed_and_listed(text: str) -> None:
    cited = cited_answer(text, [ONE], plain_units, "en")
    assert cited.removed == ("F7",)
    assert cited.text == "The fee is 118.50 euros [F1]."
    assert [c.label for claim in cited.claims for c in claim.citations] == ["F1"]


def test_a_sentence_without_a_mark_is_uncited() -> None:
    cited = cited_answer("The fee is 118.50 euros [F1]. Everybody knows that.", [ONE], plain_units, "en")
    assert [claim.level for claim in cited.claims] == ["supported", "uncited"]


def test_a_citation_of_the_wrong_source_is_unsupported() -> None:
    (claim,) = cited_answer("Readers may borrow six books for thirty days [F1].", [ONE, TWO], plain_units, "en").claims
    assert claim.level == "unsupported"


@given(st.text(alphabet="aF[]123,. \nñ", max_size=60))
def test_no_text_cites_what_was_not_given(text: str) -> None:
    cited = cited_answer(text, [ONE, TWO], plain_units, "en")
    for claim in cited.claims:
        for citation in claim.citations:
            piece = {"F1": ONE, "F2": TWO}[citation.label]
            assert citation.quote == piece.body[citation.start - piece.start : citation.end - piece.start]
