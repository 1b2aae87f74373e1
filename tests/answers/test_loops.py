"""Texts that say the same over and over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.answers.loops import without_loop


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("It uses oil and the oil is and the oil is and the oil is", "It uses oil and the oil is"),
        ("The oil is [F1]. The oil is [F2]. The OIL is [F3].", "The oil is [F1]."),
        ("yes yes yes yes yes yes", "yes"),
        ("Hola él dijo el dijo él dijo", "Hola él dijo"),
    ],
)
def test_a_loop_is_cut_after_its_first_pass(text: str, kept: str) -> None:
    assert without_loop(text) == kept


@pytest.mark.parametrize(
    "text",
    ["", "No, no, no!", "One fee is 3. Two fees are 6. Three fees are 9.", "The oil is old. The oil is hot. It stays."],
)
def test_what_people_write_is_no_loop(text: str) -> None:
    assert without_loop(text) == text


@given(st.lists(st.sampled_from(["oil", "is", "the", "[F1]", "."]), max_size=40).map(" ".join))
def test_what_is_kept_begins_the_text_and_has_no_loop_of_its_own_at_the_end(text: str) -> None:
    kept = without_loop(text)
    assert text.startswith(kept)
    assert bool(kept) == bool(text)
