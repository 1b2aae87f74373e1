"""Sheets as text: what is written is what is read, and a bad line is named."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.decisions.sheet import judge
from workbench.decisions.writing import criteria_of, evidence_of, read_pairs, read_sheet, value_words, write_sheet
from workbench.errors import UsageError
from workbench.records.decisions import Criterion, Option, Sheet, Value

TEXT = """# which model
quality 2 more >= 0.65
"price a month" 1 less <= 10

A: quality=0.60 "price a month=1"
"B small": quality=0.75 "price a month=2" -0.1
"""


def measured(link: str) -> Value:
    return Value(0.8, 0.7, 0.9, link)


def test_a_sheet_is_read_as_it_is_meant() -> None:
    sheet = read_sheet("t", TEXT, measured)
    quality, price = sheet.criteria
    assert (quality.weight, quality.better, quality.least) == (2, "more", 0.65)
    assert (price.name, price.better, price.most) == ("price a month", "less", 10)
    small = sheet.options[1]
    assert (small.name, small.penalty, small.values["price a month"].value) == ("B small", pytest.approx(0.1), 2)
    assert judge(sheet).winner == "B small"


def test_links_bring_their_interval_and_stay_links() -> None:
    sheet = read_sheet("t", "quality 1\nA: quality=run:12:recall@5", measured)
    assert sheet.options[0].values["quality"] == Value(0.8, 0.7, 0.9, "run:12:recall@5")
    assert "quality=run:12:recall@5" in write_sheet(sheet)
    spaced = read_sheet("t", "quality 1\nA: 'quality=bench:1:My model.gguf:tg128'", measured)
    assert read_sheet("t", write_sheet(spaced), measured) == spaced


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Value(0.858974, 0.8076923, 0.9), "0.859 [0.808, 0.9]"),
        (Value(1234.56), "1,234.6"),
        (Value(0.000846), "0.000846"),
        (Value(-20), "-20"),
    ],
)
def test_values_are_told_with_the_digits_that_say_something(value: Value, told: str) -> None:
    assert value_words(value) == told


def test_what_was_measured_is_told_with_its_interval_and_read_over() -> None:
    sheet = read_sheet("t", "quality 1\nA: quality=run:12:recall@5\nB: quality=0.5", measured)
    (said,) = evidence_of(sheet)
    assert said == "A · quality 0.8 [0.7, 0.9] (run:12:recall@5)"
    assert read_sheet("t", f"{write_sheet(sheet)}\n# {said}", measured) == sheet


def test_pairs_are_numbers_by_name() -> None:
    assert read_pairs("approve=10, deny=-20") == {"approve": 10, "deny": -20}


@pytest.mark.parametrize("text", ["", "approve", "=1", "approve=", "approve=nan", "a=1,,b=2", "a=1;b=2"])
def test_what_is_no_pair_is_named(text: str) -> None:
    with pytest.raises(UsageError, match="NAME=NUMBER"):
        read_pairs(text)


def test_a_bound_is_told_to_the_last_digit() -> None:
    (told,) = criteria_of(Sheet("t", (Criterion("cost", 1, "less", most=1234567.0, best=0.123456789),), ()))
    assert "≤ 1234567 · 1 = 0.123456789" in told


def test_an_option_stands_there_once() -> None:
    with pytest.raises(UsageError, match="Line 3: A: good=2"):
        read_sheet("t", "good 1\nA: good=1\nA: good=2", measured)


@pytest.mark.parametrize(
    "line",
    [
        "quality",
        "quality high",
        "quality 1 best",
        "quality 1 >=",
        "A: quality",
        'x "',
        "A: q=x",
        "good 2",
        "price 1 <= nan",
        "price 1 best inf",
        "price 1 unit",
    ],
)
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(UsageError, match="Line 2"):
        read_sheet("t", f"good 1\n{line}", measured)


NAMES = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)
NUMBERS = st.floats(0, 1e12, allow_subnormal=False)


@given(
    st.dictionaries(NAMES, st.tuples(NUMBERS, st.sampled_from(["more", "less"]), st.none() | NUMBERS), min_size=1),
    st.lists(NAMES, unique=True, max_size=4),
    NUMBERS,
)
def test_what_is_written_is_read_again(
    criteria: dict[str, tuple[float, str, float | None]], names: list[str], value: float
) -> None:
    made = tuple(
        Criterion(
            name, weight, "more" if better == "more" else "less", "s a" if least else "", least, None, least, weight
        )
        for name, (weight, better, least) in criteria.items()
    )
    options = tuple(Option(f"#{name} =", {c.name: Value(value) for c in made}, value) for name in names)
    sheet = Sheet("t", made, options)
    assert read_sheet("t", write_sheet(sheet), measured) == sheet


@given(st.text(max_size=80))
def test_any_text_is_a_sheet_or_refused(text: str) -> None:
    with suppress(UsageError):
        assert read_sheet("t", text, measured).title == "t"
