"""Every parser keeps the contract or raises DocumentError, whatever it is given."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.corpus_parse import make
from tests.corpus_parse.contract import check
from workbench.corpus.parse import parse_bytes
from workbench.errors import DocumentError

NAMES = [
    *("a.txt", "a.md", "a.html", "a.pdf", "a.docx", "a.csv", "a.tsv", "a.json", "a.jsonl"),
    *("a.py", "a.go", "a.ts", "a.sql", "a.bin", "noext"),
]
# Pieces that mean something to some parser, so that random documents get structure.
PIECES = st.sampled_from(
    """
    # |## |---|***|```|```py|~~~|- |* |1. |  - |> |>> ||a|b||---|:-:||<p>|</p>|<table><tr><td>|</table>|<li>|<ul>|</ul>
    <pre>|</pre>|<div hidden>|<script>|<h1>|</h2>|<blockquote>|<!--|-->|&#0;|&nbsp;|<br>|a,b,c|"|""|'|;|{"a":|[1,|]|}
    null|true|\\u00e1|\\ud83d\\ude00|\\|def f():|class A:|@x|    |\t|pass|return|#|//|/*|*/|func f() {|}
    ---\ntitle: x\n---\n|status: draft|- [ ] x|[a]: http://x
    ===|\u00a0|\u2028|\x0c|\x1c|\x85|\ufeff|año|😀|e\u0301|word|Two words.
    """.strip()
    .replace("\n    ", "|")
    .split("|")
)
DOCUMENTS = st.lists(st.one_of(PIECES, st.sampled_from(["\n", "\n\n", "\r\n", " "]), st.text(max_size=4))).map("".join)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=120)
@given(text=DOCUMENTS)
@example(text="\x1c\n\n\x85a\n\n\u00a0")
@example(text="- a\n\n\x0c\n- b\n\n  c\n")
@example(text="|a|\n|-|\n")
@example(text="a\n" * 3 + "\x0b")
def test_any_document_keeps_the_contract(name: str, text: str) -> None:
    _try(text.encode("utf-8", "surrogatepass"), name)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60)
@given(data=st.binary(max_size=400))
def test_any_bytes_keep_the_contract(name: str, data: bytes) -> None:
    _try(data, name)


@cache
def _samples() -> dict[str, bytes]:
    return {
        "a.pdf": make.pdf([["Scope", "Some text here."], ["More."]], [("Scope", 0)], "(Title)"),
        "a.docx": make.docx(lambda d: (d.add_heading("H"), d.add_paragraph("text"), d.add_table(2, 2))),
    }


@pytest.mark.parametrize("name", ["a.pdf", "a.docx"])
@settings(max_examples=150)
@given(at=st.floats(0, 1), junk=st.binary(min_size=1, max_size=20), cut=st.booleans())
def test_damage_to_a_real_file_is_survived(name: str, at: float, junk: bytes, cut: bool) -> None:
    good = _samples()[name]
    place = int(at * len(good))
    _try(good[:place] if cut else good[:place] + junk + good[place + len(junk) :], name)


@settings(max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    ),
    st.booleans(),
)
def test_valid_json_is_never_refused_and_stays_valid(value: object, ascii_only: bool) -> None:
    source = json.dumps({"pad": "x" * 3_000, "value": [value, "y" * 3_000]}, ensure_ascii=ascii_only)
    document = check(parse_bytes(source.encode("utf-8", "surrogatepass"), "a.json")) if _storable(source) else None
    assert document is None or json.loads(document.text) == json.loads(source)


def _storable(text: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in text)


def _try(data: bytes, name: str) -> None:
    try:
        document = parse_bytes(data, name)
    except DocumentError as error:
        if "failed" in error.message:  # the last resort of parse_bytes: a parser broke where it should have told why
            raise
    else:
        check(document)
