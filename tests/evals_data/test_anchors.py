"""Gold outlives re-chunking, and what can no longer be found is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench
from storage import open_store
from tests.embedders import HashEmbedder
from workbench.corpus.ingest import Ingester
from workbench.evals.gold.anchors import Anchors, Locator, anchor_chunk, grade_of, holds, missing_gold
from workbench.ports import Store
from workbench.records.cases import GoldSpan
from workbench.records.corpus import Chunk, IngestRequest, Recipe

POLICY = Path(workbench.__file__).parent / "demo" / "faro" / "en" / "loan-policy-2026.md"


def chunk(start: int, text: str, source_id: str = "a.md") -> Chunk:
    end = start + len(text)
    return Chunk(
        f"c{start}", "d", source_id, 0, start, end, text, "", (), "paragraph", None, "", "en", 9, 9, False, "h"
    )


@pytest.mark.parametrize(
    ("span", "held"),
    [
        ((0, 0), True),  # the whole document
        ((10, 30), True),  # the chunk itself
        ((12, 14), True),  # inside it
        ((0, 20), True),  # exactly half of the span
        ((0, 19), False),  # 9 of 19
        ((0, 40), True),  # covers all of the chunk
        ((20, 60), True),  # half of the chunk, a quarter of the span
        ((21, 60), False),
        ((30, 40), False),  # beside it
    ],
)
def test_a_chunk_holds_a_span_from_half_of_either(span: tuple[int, int], held: bool) -> None:
    assert holds(chunk(10, "x" * 20), GoldSpan("a.md", *span)) is held
    assert not holds(chunk(10, "x" * 20, "b.md"), GoldSpan("a.md", *span))


def test_white_space_weighs_nothing() -> None:
    text = "ab" + " " * 40 + "cd"
    assert holds(chunk(0, "ab"), GoldSpan("a.md", 0, 44), text)
    assert holds(chunk(42, "cd"), GoldSpan("a.md", 0, 44), text)


@given(st.integers(1, 60), st.integers(0, 30), st.integers(1, 60))
def test_of_two_neighbours_one_holds_what_they_share(left: int, gap: int, right: int) -> None:
    text = "x" * left + " " * gap + "y" * right
    span = GoldSpan("a.md", 0, len(text))
    assert holds(chunk(0, "x" * left), span, text) or holds(chunk(left + gap, "y" * right), span, text)


def test_the_best_grade_counts_and_a_chunk_can_become_gold() -> None:
    piece = chunk(10, "x" * 20)
    gold = (GoldSpan("a.md", 10, 30, 1), GoldSpan("a.md", 12, 20, 3), GoldSpan("a.md", 50, 60, 3))
    assert grade_of(piece, gold) == 3
    assert grade_of(piece, gold[2:]) == 0
    assert anchor_chunk(piece) == GoldSpan("a.md", 10, 30, 3)
    assert grade_of(piece, [anchor_chunk(piece, grade=2)]) == 2


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "w.db")
    for _ in Ingester(opened.corpus, HashEmbedder()).run(
        IngestRequest((str(POLICY.parent),), "faro", recipe=Recipe(size=120))
    ):
        pass
    yield opened
    opened.close()


def anchors(store: Store) -> Anchors:
    index = store.corpus.current_index("faro")
    assert index
    return Anchors(store.corpus, index)


def test_gold_outlives_rechunking(store: Store) -> None:
    document = next(d for d in store.corpus.documents("faro") if d.source_id.endswith("loan-policy-2026.md"))
    text = store.corpus.document_text(document.id)
    start = text.index("21 days")
    gold = (GoldSpan(document.source_id, start, start + len("21 days"), 3), GoldSpan(document.source_id, grade=1))
    seen: set[frozenset[str]] = set()
    for recipe in (None, Recipe("window", 40, 10), Recipe("sentence", 30)):
        if recipe:
            request = IngestRequest((str(POLICY.parent),), "faro", recipe=recipe, rechunk=True)
            for _ in Ingester(store.corpus, HashEmbedder()).run(request):
                pass
        found = anchors(store)
        grades = found.grades(gold)
        everything = store.corpus.chunks(document.id)
        assert grades.keys() == {c.id for c in everything}
        central = [c for c in everything if grades[c.id] == 3]
        assert central
        assert all("21 days" in c.text for c in central)
        assert found.held(central[0].id, gold) == (0, 1)
        assert found.missing(gold) == ()
        seen.add(frozenset(c.id for c in central))
    assert len(seen) == 3


def test_a_span_cut_into_small_parts_is_held_by_the_largest(store: Store) -> None:
    document = next(d for d in store.corpus.documents("faro") if d.source_id.endswith("loan-policy-2026.md"))
    chunks = store.corpus.chunks(document.id)
    span = GoldSpan(document.source_id, chunks[0].end - 12, chunks[1].start + 10)
    assert len(chunks) > 1
    assert len(anchors(store).holders(span)) == 1


def test_gold_that_cant_be_found_is_named(store: Store) -> None:
    policy, other, *_ = store.corpus.documents("faro")
    store.corpus.set_status([other.id], "retired")
    gold = (
        GoldSpan("nowhere.md"),
        GoldSpan(policy.source_id, 0, policy.characters),
        GoldSpan(policy.source_id, 0, policy.characters + 1),
        GoldSpan(other.source_id),
    )
    missing = missing_gold(store.corpus, "faro", gold)
    assert [m.loss for m in missing] == ["not_in_collection", "outside_text", "retired"]
    assert all(m.span.source_id in m.reason for m in missing)
    assert anchors(store).missing(gold) == missing
    assert anchors(store).holders(gold[0]) == ()


def test_a_passage_is_found_whatever_white_space_it_was_copied_with() -> None:
    fees = "  # Fees\n\nThe fee\nis   118.50 euros.\n"
    locate = Locator(lambda: [("a.md", "Nothing here."), ("b.md", fees)])
    assert locate("The fee is 118.50\teuros.") == GoldSpan("b.md", fees.index("The"), fees.index("s.") + 2)
    assert locate("\ufeffThe fee is 118.50") == GoldSpan("b.md", fees.index("The"), fees.index(" euros"))
    assert locate("The fee is 119") is None
    assert locate(" \n") is None


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_what_is_cut_from_a_document_is_found_in_it(text: str, a: int, b: int) -> None:
    passage = text[min(a, b) : max(a, b)]
    span = Locator(lambda: [("a", text)])(passage)
    if not passage.split():
        assert span is None
    else:
        assert span
        assert "".join(text[span.start : span.end].split()) == "".join(passage.split())
