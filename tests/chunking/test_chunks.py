"""What every chunk promises under every recipe: exact offsets, nothing lost, stable ids, honest counts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chunking.helpers import TOKENIZER, chunk, document, parse, prose
from tests.data import shared
from tests.embedders import INFO, hash_vector, model_tokenizer
from workbench.corpus.chunking import chunks_of, overhead_of
from workbench.corpus.chunking.recipes import DEFAULTS
from workbench.corpus.parse import parse_bytes
from workbench.records.corpus import Block, Page, ParsedDocument, Recipe

RECIPES = [
    Recipe("structure", 30),
    Recipe("window", 12, 4),
    Recipe("sentence", 30),
    Recipe("semantic", 30),
    Recipe("parent", 20, parent_size=60),
]
PIECES = st.sampled_from(
    [
        "# One", "## Two", "### Three", "A sentence. Another one! ¿Y otra?", "- item\n- item two", "> quoted. Twice.",
        "```\ncode = 1\n\n# no heading\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "x" * 90, "東京に行く。大阪も。",
        "word " * 40, "\u200b", "**bold**. Mr. X", "---", "1. one\n2. two", "\u00a0\u00a0", "<div>html</div>",
    ]
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> ParsedDocument:
    """Markdown through the real parser, or any text under any blocks."""
    if draw(st.booleans()):
        return parse("\n\n".join(draw(st.lists(PIECES, min_size=1, max_size=12))) + "\nend")
    text = draw(st.text(alphabet=st.sampled_from("ab .\n|#é。\t"), min_size=1, max_size=200))
    edges = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    kinds = st.sampled_from(["heading", "paragraph", "row", "code", "table", "record"])
    blocks = [
        Block(a, b, draw(kinds), level=1, header=draw(st.sampled_from(["", "h"])))
        for a, b in zip(edges[::2], edges[1::2], strict=False)
    ]
    return ParsedDocument(text, "", "text/plain", tuple(blocks))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: r.name)
@settings(max_examples=80)
@given(parsed=documents())
def test_chunks_are_exact_and_cover_the_text(recipe: Recipe, parsed: ParsedDocument) -> None:
    chunks = chunk(parsed, recipe)
    held = [False] * len(parsed.text)
    for c in chunks:
        assert parsed.text[c.start : c.end] == c.text == c.text.strip() != ""
        held[c.start : c.end] = [True] * (c.end - c.start)
    assert all(held[i] or char.isspace() for i, char in enumerate(parsed.text))
    assert [c.ordinal for c in chunks] == list(range(len(chunks)))
    assert len({c.id for c in chunks}) == len(chunks)
    assert chunks == chunk(parsed, recipe)


def test_white_space_becomes_no_chunk() -> None:
    blank = ParsedDocument(" \n\t\n ", "", "text/plain", ())
    assert all(chunk(blank, recipe) == () for recipe in RECIPES)


def test_ids_survive_edits_elsewhere_and_tell_repetitions_apart() -> None:
    before = chunk(f"# A\n\n{prose(20)}\n\n# B\n\nSame.\n\n# B\n\nSame.", Recipe("structure", 24))
    after = chunk(f"New first line.\n\n# A\n\n{prose(20)}\n\n# B\n\nSame.\n\n# B\n\nSame.", Recipe("structure", 24))
    assert {c.id for c in before} <= {c.id for c in after}
    other = chunks_of(replace(document(), id="other"), parse(f"# A\n\n{prose(20)}"), Recipe(), TOKENIZER, INFO)
    assert not {c.id for c in other} & {c.id for c in before}


def test_heading_page_and_language_are_of_the_start() -> None:
    text = "# Uno\n\nEl plazo de la matrícula es de un mes.\n\n## Dos\n\nThe deadline is in a month, which is not much."
    parsed = parse(text)
    cut_at = text.index("## Dos")
    parsed = replace(parsed, pages=(Page(1, "i", 0, cut_at), Page(2, "ii", cut_at, len(text))))
    one, two = chunk(parsed, Recipe("structure", 30))
    assert (one.heading, one.page, one.page_label, one.language) == (("Uno",), 1, "i", "es")
    assert (two.heading, two.page, two.page_label, two.language) == (("Uno", "Dos"), 2, "ii", "en")
    assert chunk("12345", Recipe(), "fr")[0].language == "fr"


def test_a_chunk_that_runs_over_pages_names_them_all() -> None:
    text = "It begins here\nand it ends here."
    pages = (Page(3, "iii", 0, 14), Page(4, "iv", 15, len(text)))
    (over,) = chunk(replace(parse(text), pages=pages), Recipe("structure", 30))
    assert (over.page, over.page_end, over.page_label) == (3, 4, "iii–iv")


def test_siblings_in_one_chunk_stand_under_their_parent() -> None:
    text = f"# T\n\n{prose(80)}\n\n## A\n\n{prose(8)}\n\n## B\n\n{prose(8)}"
    assert [c.heading for c in chunk(text, Recipe("structure", 100))] == [("T",), ("T",)]


def test_what_the_embedder_would_cut_is_flagged() -> None:
    (whole,) = chunk(" ".join(["word"] * 508), Recipe("window", 600, 0))
    (over,) = chunk(" ".join(["word"] * 509), Recipe("window", 600, 0))
    assert (whole.tokens, whole.truncated) == (512, False)
    assert (over.tokens, over.truncated) == (513, True)


def test_a_chunk_of_code_knows_its_definitions() -> None:
    parsed = parse_bytes(b"import os\n\ndef one():\n    return 1\n\ndef two():\n    return 2\n", "a.py")
    assert [c.metadata for c in chunk(parsed, Recipe("structure", 400))] == [{"definitions": ("one", "two")}]


@pytest.mark.model
@pytest.mark.parametrize("name", list(DEFAULTS))
def test_real_text_keeps_to_the_budget_of_the_real_tokenizer(name: str) -> None:
    articles = json.loads(shared("xquad", "xquad.es.json").read_text("utf-8"))["data"][:4]
    text = "\n\n".join(f"# {a['title']}\n\n" + "\n\n".join(p["context"] for p in a["paragraphs"]) for a in articles)
    recipe = replace(DEFAULTS[name], size=128)  # type: ignore[index]  # the parameter is one of the table's own keys
    tokenizer = model_tokenizer()
    chunks = chunks_of(
        document("es"), parse(text), recipe, tokenizer, INFO, similarity=lambda ts: [hash_vector(t) for t in ts]
    )
    most = 128 + (overhead_of(INFO, tokenizer) + 1 if name == "window" else 0)
    assert max(c.tokens for c in chunks) <= most
    assert all(c.tokens == tokenizer.count("passage: " + c.indexed_text) + 2 for c in chunks)
    assert all(c.tiktoken_tokens > 0 for c in chunks)
    assert sum(c.language == "es" for c in chunks) >= 0.97 * len(chunks)
