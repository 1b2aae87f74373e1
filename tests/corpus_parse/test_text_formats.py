"""Plain text, Markdown, tables, JSON and code: formats whose source text is kept."""

from __future__ import annotations

import json
from datetime import date

import pytest

from tests.corpus_parse.contract import check, of, shown
from workbench.corpus.parse import parse_bytes
from workbench.errors import DocumentError
from workbench.records.corpus import ParsedDocument


def parsed(text: str, name: str) -> ParsedDocument:
    return check(parse_bytes(text.encode(), name))


def test_text_has_paragraphs_and_one_block_for_each_list_item() -> None:
    document = parsed("First line\nsecond line.\n\n\nTo do:\n- one\n  more of one\n- two\n\nEnd.\n", "notes.txt")
    assert document.title == "notes"
    assert shown(document) == [
        ("paragraph", "First line\nsecond line."),
        ("paragraph", "To do:"),
        ("list", "- one\n  more of one"),
        ("list", "- two"),
        ("paragraph", "End."),
    ]


def test_a_wrapped_line_that_begins_with_a_number_is_no_list() -> None:
    document = parsed("It was the year\n84. That is all.", "a.txt")
    assert [b.kind for b in document.blocks] == ["paragraph"]


MARKDOWN = """\
---
title: "Reglamento: 2026"
date: 2026-02-01
version: 1.10
status: current
roles: [student, teacher]
language: es-ES
credits: 6
---
# The `parse` *function*

A paragraph
in two lines.

```python
# a comment, not a heading
x = 1

y = 2
```

Setext
------

- item one
  - nested
- item two

| a | b |
|---|---|
| 1 | 2 |
| 3 | 4 |

> quoted
> text
"""


def test_markdown_structure() -> None:
    document = parsed(MARKDOWN, "doc.md")
    assert document.title == "Reglamento: 2026"
    assert document.text.startswith("# The")
    assert document.metadata == {
        "title": "Reglamento: 2026",
        "date": date(2026, 2, 1),
        "version": "1.10",
        "status": "current",
        "roles": ("student", "teacher"),
        "language": "es",
        "credits": 6,
    }
    header = "| a | b |\n|---|---|"
    assert [(b.kind, b.level, b.label, b.header, of(document, b)) for b in document.blocks] == [
        ("heading", 1, "The parse function", "", "# The `parse` *function*"),
        ("paragraph", 0, "", "", "A paragraph\nin two lines."),
        ("code", 0, "python", "", "```python\n# a comment, not a heading\nx = 1\n\ny = 2\n```"),
        ("heading", 2, "Setext", "", "Setext\n------"),
        ("list", 1, "", "", "- item one\n  - nested"),
        ("list", 1, "", "", "- item two"),
        ("table", 0, "", "", header),
        ("row", 0, "", header, "| 1 | 2 |"),
        ("row", 0, "", header, "| 3 | 4 |"),
        ("quote", 0, "", "", "> quoted\n> text"),
    ]


def test_bad_front_matter_is_kept_as_text_with_a_warning() -> None:
    document = parsed("---\ntitle: [unclosed\n---\n# Real title\n", "doc.md")
    assert document.text.startswith("---\ntitle: [unclosed")
    assert "YAML" in document.warnings[0]
    assert "Real title" in [b.label for b in document.blocks]


@pytest.mark.parametrize("begun", ["---\ntitle: Fees\n\n# Real title\n", '+++\ntitle = "Fees"\n\n# Real title\n'])
def test_front_matter_without_an_end_is_told(begun: str) -> None:
    document = parsed(begun, "doc.md")
    assert document.text == begun
    assert "no end" in document.warnings[0]


def test_a_name_that_stands_twice_in_front_matter_is_told() -> None:
    document = parsed("---\ndate: 2024-01-01\ndate: 2026-01-01\n---\nText\n", "doc.md")
    assert "“date” stands in it twice" in document.warnings[0]
    assert not document.metadata


def test_toml_front_matter_is_metadata_too() -> None:
    fields = 'title = "Fees"\ndate = 2026-02-01\nversion = "1.10"\ntags = ["a", "b"]\nyear = 2026\n'
    document = parsed(f"+++\n{fields}+++\n# Text\n", "doc.md")
    assert document.text == "# Text\n"
    assert document.metadata == {
        "title": "Fees", "date": date(2026, 2, 1), "version": "1.10", "tags": ("a", "b"), "year": 2026,
    }  # fmt: skip
    assert "TOML" in parsed("+++\ntitle: Fees\n+++\nText\n", "doc.md").warnings[0]


def test_front_matter_with_one_impossible_value_loses_only_that() -> None:
    document = parsed("---\nstatus: draft\nowner: Ana\n---\nText\n", "doc.md")
    assert document.metadata == {"owner": "Ana"}
    assert "draft" in document.warnings[0]


def test_a_thematic_break_at_the_top_is_no_front_matter() -> None:
    for text in ("---\nJust a sentence.\n---\nText\n", "---\n\nJust a sentence.\n"):
        assert parsed(text, "doc.md").text.startswith("---\n")
        assert not parsed(text, "doc.md").warnings


def test_front_matter_cannot_blow_up_through_aliases() -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    document = parsed(f"---\n{bomb}---\nText\n", "doc.md")
    assert "alias" in document.warnings[0]


def test_nothing_but_front_matter_is_empty() -> None:
    with pytest.raises(DocumentError, match="Empty"):
        parse_bytes(b"---\ntitle: x\n---\n\n", "doc.md")


def test_csv_rows_carry_the_header_and_quoted_newlines_stay_together() -> None:
    document = parsed('name;note\nAna;"two\nlines; here"\nLuis;ok\n', "people.csv")
    assert [(b.kind, b.header, of(document, b)) for b in document.blocks] == [
        ("table", "", "name;note"),
        ("row", "name;note", 'Ana;"two\nlines; here"'),
        ("row", "name;note", "Luis;ok"),
    ]
    assert document.warnings == ()


def test_ragged_and_unclosed_rows_are_warned_about_with_their_lines() -> None:
    document = parsed("a,b\n1,2\n3\n4,5,6\n", "x.csv")
    assert ": 2 " in document.warnings[0]
    assert "3, 4" in document.warnings[0]
    unclosed = parsed('a,b\n1,"open\n2,3\n4,5\n', "x.csv")
    assert "line 2" in unclosed.warnings[0]
    assert [of(unclosed, b) for b in unclosed.blocks][1:] == ['1,"open', "2,3", "4,5"]


def test_a_table_of_numbers_has_no_header_and_tsv_is_told_by_its_tabs() -> None:
    assert {b.header for b in parsed("1,2\n3,4\n", "n.csv").blocks} == {""}
    document = parsed("a, first\tb\n1, 2\t3\n", "t.tsv")
    assert document.media_type == "text/tab-separated-values"
    assert document.blocks[1].header == "a, first\tb"


def test_json_members_and_elements_are_records() -> None:
    document = parsed('{"title": "Menu", "items": [1, 2],\n "n": {"x": "}"}}', "m.json")
    assert document.title == "Menu"
    assert [(b.label, of(document, b)) for b in document.blocks] == [
        ("title", '{"title": "Menu",'),
        ("items", '"items": [1, 2],'),
        ("n", '"n": {"x": "}"}}'),
    ]


def test_a_large_element_is_parted_and_its_parts_know_their_path() -> None:
    source = json.dumps({"data": [{"id": i, "text": "word " * 100} for i in range(10)]})
    labels = [b.label for b in parsed(source, "d.json").blocks]
    assert labels == [f"data[{i}]" for i in range(10)]


def test_escaped_letters_are_stored_as_letters_and_nothing_else_is() -> None:
    document = parsed(r'["a\u00f1o \ud83d\ude00 \"q\" \\u00f1 \u0022 \ud800 \u001b"]', "e.json")
    assert document.text == r'["año 😀 \"q\" \\u00f1 \" \ud800 \u001b"]'


def test_a_broken_escape_is_one_bad_line_and_no_unreadable_file() -> None:
    document = parsed('{"a": "\\u12"}\n{"a": "fine"}\n', "e.jsonl")
    assert "(line 1)" in document.warnings[0]


def test_a_bad_json_line_is_named_and_the_others_go_on() -> None:
    document = parsed('{"a": 1}\nnot json\n{"a": 2}\n', "x.jsonl")
    assert "line 2" in document.warnings[0]
    assert [b.kind for b in document.blocks] == ["record", "paragraph", "record"]
    assert [b.kind for b in parsed('{"a": 1}\n{"a": 2}\n', "x.json").blocks] == ["record", "record"]


def test_wholly_bad_json_says_where() -> None:
    with pytest.raises(DocumentError, match="line 2, column 3"):
        parse_bytes(b'{"a":\n  oops}', "x.json")
    with pytest.raises(DocumentError, match="JSON"):
        parse_bytes(b"no\nnope\n", "x.jsonl")
    with pytest.raises(DocumentError, match="nested"):
        parse_bytes(b"[" * 100_000 + b"]" * 100_000, "x.json")


PYTHON = '''"""What it is for."""

import os

LIMIT = 3

# how it works
@decorated
def top(a):
    """Doc."""
    return a


class Box:
    """A box."""

    size = 1

    @property
    def side(self):
        return 1

    # why
    async def open(self):
        def inner():
            pass
        return inner
'''


def test_python_by_definition() -> None:
    document = parsed(PYTHON, "pkg/box.py")
    assert document.metadata == {"path": "pkg/box.py", "code_language": "python"}
    assert [(b.kind, b.label) for b in document.blocks] == [
        ("paragraph", ""),
        ("code", ""),
        ("code", ""),
        ("definition", "top"),
        ("definition", "Box"),
        ("definition", "Box.side"),
        ("definition", "Box.open"),
    ]
    assert of(document, document.blocks[3]).startswith("# how it works\n@decorated\ndef top")
    assert of(document, document.blocks[6]).startswith("    # why\n    async def open")


def test_python_that_does_not_parse_is_cut_by_layout_with_a_warning() -> None:
    document = parsed("def one():\n    pass\n\ndef two(:\n    pass\n", "bad.py")
    assert "line 4" in document.warnings[0]
    assert [b.label for b in document.blocks] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "source", "labels"),
    [
        ("a.go", "package main\n\n// Add adds.\nfunc Add(a int) int {\n\treturn a\n}\nfunc (s *S) Run() {\n}\n",
         ["", "Add", "Run"]),
        ("a.ts", "import x from 'y'\n\nexport async function load() {\n}\n\nconst go = (a) => {\n}\n\nclass A {}\n",
         ["", "load", "go", "A"]),
        ("a.rs", "use std::io;\n\n#[derive(Debug)]\npub struct P {\n    x: i32,\n}\n\nimpl P {\n    fn new() {}\n}\n",
         ["", "P", "impl P"]),
        ("a.c", "#include <x.h>\n\n/* adds */\nstatic int add(int a)\n{\n    return a;\n}\n\nint main(void) {\n}\n",
         ["", "add", "main"]),
        ("a.java", "package p;\n\npublic final class Box {\n    void a() {}\n}\n", ["", "Box"]),
        ("a.rb", "require 'x'\n\nclass Box\n  def a?\n  end\nend\n\ndef b\nend\n", ["", "Box", "b"]),
        ("a.sql", "CREATE TABLE IF NOT EXISTS t (\n  a int\n);\n\nselect 1;\n", ["t", ""]),
        ("a.sh", "#!/bin/sh\nset -e\n\nbuild() {\n  make\n}\n", ["", "build"]),
    ],
)  # fmt: skip
def test_other_languages_by_their_margin(name: str, source: str, labels: list[str]) -> None:
    assert [b.label for b in parsed(source, name).blocks] == labels


def test_a_large_class_is_parted_at_its_methods() -> None:
    methods = "\n".join(f"    public int m{i}(int a) {{\n" + "        a++;\n" * 20 + "    }\n" for i in range(4))
    document = parsed(f"public class Big {{\n    int x;\n\n{methods}}}\n", "Big.java")
    assert [b.label for b in document.blocks if b.kind == "definition"] == ["Big", *(f"Big.m{i}" for i in range(4))]


def test_a_minified_line_takes_no_time() -> None:
    parsed("var a=" + "b(c,d)" * 200_000, "min.js")
