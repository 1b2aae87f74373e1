"""What can be quoted: units told from the structure of real formats."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answers.pieces import evidence, parsed_units
from workbench.answers.units import LONG, named_cells, units
from workbench.corpus.parse import parse_bytes
from workbench.corpus.places import Places
from workbench.errors import DocumentError
from workbench.records.corpus import ParsedDocument

GUIDE = """# Guide

The tower is old. It was built in 1890.

## Before you start

- Open the water valve.
- Switch the extractor on. The laser waits for it.

## Prices

| item | price |
|---|---|
| Card | 2.50 EUR |

```python
LIMIT = 600
```
"""


def test_each_kind_of_block_has_its_own_units() -> None:
    found = parsed_units(GUIDE, "guide.md")
    assert [unit.text for unit in found] == [
        "The tower is old.",
        "It was built in 1890.",
        "Open the water valve.",
        "Switch the extractor on. The laser waits for it.",
        "| Card | 2.50 EUR |",
        "```python\nLIMIT = 600\n```",
    ]
    assert [unit.heading for unit in found[1:4]] == ["Guide", "Before you start", "Before you start"]
    assert found[4].shown == "item: Card · price: 2.50 EUR"


def test_headings_and_the_sentences_before_are_context() -> None:
    found = parsed_units(GUIDE, "guide.md")
    assert "The tower is old." in found[1].context
    assert "Guide" in found[1].context
    assert "Before you start" in found[2].context
    assert "The tower is old." not in found[2].context


def test_records_stand_alone_without_what_parts_them() -> None:
    text = '[\n  {"title": "Tour", "places": [1, 2]},\n  {"title": "Repair evening", "places": []}\n]\n'
    assert [unit.text for unit in parsed_units(text, "calendar.json")] == [
        '{"title": "Tour", "places": [1, 2]}',
        '{"title": "Repair evening", "places": []}',
    ]


def test_members_of_one_object_keep_their_names() -> None:
    text = '{"hours": {"open": 9, "days": ["Monday"]}, "phone": "555 0142"}'
    assert [unit.text for unit in parsed_units(text, "info.json")] == [
        '"hours": {"open": 9, "days": ["Monday"]}',
        '"phone": "555 0142"',
    ]


def test_a_short_definition_is_whole_and_a_long_one_is_cut_between_lines() -> None:
    short = "def fee(days):\n    return 20 * days\n"
    assert [unit.text for unit in parsed_units(short, "fee.py")] == [short.strip()]
    lines = "".join(f"    total += rate_{n} * days_{n}\n" for n in range(60))
    found = parsed_units(f"def fee(days):\n{lines}    return total\n", "fee.py")
    assert len(found) > 3
    assert all(len(unit.text) <= LONG for unit in found)
    assert found[0].text.startswith("def fee")
    assert found[-1].text.endswith("return total")


def test_yes_goes_with_what_it_says_yes_to() -> None:
    (unit,) = parsed_units("Sí. Junto a la puerta hay un buzón.", "faq.txt")
    assert unit.text == "Sí. Junto a la puerta hay un buzón."


def test_a_span_that_begins_inside_a_block_has_only_its_own_part() -> None:
    start = GUIDE.index("It was")
    (unit,) = parsed_units(GUIDE, "guide.md", start, start + len("It was built"))
    assert (unit.text, unit.heading) == ("It was built", "Guide")


def test_only_headings_are_better_than_nothing() -> None:
    assert [unit.text for unit in parsed_units("# Closed for repairs\n", "notice.md")] == ["# Closed for repairs"]


@pytest.mark.parametrize(
    ("row", "header", "shown"),
    [
        ("Late book,member,0.20 EUR", "item,who,price", "item: Late book · who: member · price: 0.20 EUR"),
        ('"Books, films",,1', "item,who,price", "item: Books, films · price: 1"),
        ("a;1,5", "name;price", "name: a · price: 1,5"),
        ("Felt | 20 %", "Material | Power", "Material: Felt · Power: 20 %"),
        ("only one", "item,who,price", "only one"),
        ("x,y", "", "x,y"),
        ('"open, 1', "item,price", '"open, 1'),
        ("x" * LONG + ",y", "item,price", "x" * LONG + ",y"),
    ],
)
def test_rows_are_shown_with_their_headers_names(row: str, header: str, shown: str) -> None:
    assert named_cells(row, header) == shown


@given(st.text(max_size=200), st.sampled_from(["a.md", "a.csv", "a.txt", "a.py", "a.jsonl", "a.html"]), st.data())
def test_units_of_any_text_are_exact_spans_in_order(text: str, name: str, data: st.DataObject) -> None:
    if not text.strip() or "\x00" in text:
        return
    try:
        document = parse_bytes(text.encode("utf-8", "ignore"), name)
    except DocumentError:
        return
    start = data.draw(st.integers(0, max(0, len(document.text) - 1)))
    end = data.draw(st.integers(start + 1, max(start + 1, len(document.text))))
    found = units(evidence(document.text[start:end], start=start), Places(document))
    assert all(document.text[u.start : u.end] == u.text and u.text.strip() for u in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(start <= u.start and u.end <= end for u in found)


def test_a_document_without_blocks_gives_sentences() -> None:
    piece = evidence("One. Two follows here. Three too.")
    assert [u.text for u in units(piece, Places(ParsedDocument(piece.body, "", "text/plain", ())))][-1] == "Three too."
