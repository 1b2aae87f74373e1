"""Edits of metadata on a real file: seen before, applied in one go, read by filters, kept by ingest, taken back."""

from __future__ import annotations

from datetime import date

import pytest

from storage.filters import BUILT_IN
from tests.ingest.conftest import Bench, bench
from workbench.corpus.metadata import TAKEN_KEYS, WELL_KNOWN
from workbench.curation import Curator
from workbench.errors import NotFoundError, UsageError
from workbench.retrieval.filters import parse_filter

__all__ = ["bench"]


@pytest.fixture
def curator(bench: Bench) -> Curator:
    bench.write("a.md", "---\nowner: Ann\nyear: 2025\n---\nAlpha stands here.")
    bench.write("b.md", "Beta stands here.")
    bench.ingest()
    return Curator(bench.store)


def ids(bench: Bench) -> list[str]:
    return [document.id for document in bench.store.corpus.documents("c")]


def metadata(bench: Bench) -> list[dict[str, object]]:
    return [dict(document.metadata) for document in bench.store.corpus.documents("c")]


def passing(bench: Bench, expression: str) -> int:
    index = bench.store.corpus.current_index("c")
    assert index
    return bench.store.search.matching(index, parse_filter(expression, bench.store.search.fields("c")))[0]


def test_a_preview_tells_field_by_field_and_changes_nothing(bench: Bench, curator: Curator) -> None:
    before = metadata(bench)
    plan = curator.preview(ids(bench), {"owner": "Bea", "date": date(2026, 1, 2)})
    assert [(c.source_id, c.field, c.before, c.after) for c in plan.changes] == [
        ("a.md", "date", None, date(2026, 1, 2)),
        ("a.md", "owner", "Ann", "Bea"),
        ("b.md", "date", None, date(2026, 1, 2)),
        ("b.md", "owner", None, "Bea"),
    ]
    assert metadata(bench) == before


def test_a_value_of_another_type_than_elsewhere_is_told_and_taken(bench: Bench, curator: Curator) -> None:
    first, second = ids(bench)
    told = ("“year” is of type text here, number elsewhere: filters compare like with like.",)
    assert curator.preview([second], {"year": "abc", "owner": "Bea"}).warnings == told
    assert curator.preview([second], {"year": 2026}).warnings == ()
    assert curator.preview([second], {"colour": "red"}).warnings == ()
    [taken] = curator.preview([second], {"tokens": 5}).warnings
    assert taken.startswith("“tokens” means the chunk's own to filters")
    assert BUILT_IN.keys() - WELL_KNOWN == TAKEN_KEYS
    assert curator.preview([first], {"year": "abc"}).warnings == told  # what it was before is all there is
    assert curator.apply(curator.preview([first], {"year": "abc"})).documents == 1
    bench.write("c.md", "---\nyear: 2024\n---\nGamma.")
    bench.write("d.md", "---\nyear: 2023\n---\nDelta.")
    bench.write("e.md", "---\nyear: 2022\n---\nEpsilon.")
    bench.ingest()
    assert curator.preview([ids(bench)[2]], {"year": "xyz"}).warnings == told  # one slip makes no custom
    assert curator.preview([first], {"year": ""}).warnings == ()


def test_an_edit_is_found_by_filters_and_nothing_is_embedded_again(bench: Bench, curator: Curator) -> None:
    assert passing(bench, "owner = Bea") == 0
    bench.embedder.embedded.clear()
    done = curator.apply(curator.preview(ids(bench), {"owner": "Bea"}))
    assert done.documents == 2
    assert passing(bench, "owner = Bea") == 2
    assert bench.embedder.embedded == []


def test_an_edit_outlives_the_next_ingest(bench: Bench, curator: Curator) -> None:
    curator.apply(curator.preview(ids(bench), {"owner": "Bea"}))
    bench.write("b.md", "Beta stands here, and more.")
    bench.ingest()
    assert [m["owner"] for m in metadata(bench)] == ["Bea", "Bea"]


def test_a_value_taken_back_is_what_the_source_says_again(bench: Bench, curator: Curator) -> None:
    curator.apply(curator.preview(ids(bench), {"owner": "Bea"}))
    curator.apply(curator.preview(ids(bench), {"owner": ""}))
    assert [m.get("owner") for m in metadata(bench)] == ["Ann", None]
    bench.ingest()
    assert [m.get("owner") for m in metadata(bench)] == ["Ann", None]


def test_undo_puts_everything_back_and_only_once(bench: Bench, curator: Curator) -> None:
    before = metadata(bench)
    curator.apply(curator.preview(ids(bench), {"owner": "Bea", "version": "3"}))
    assert curator.undo().undone
    assert metadata(bench) == before
    assert [bench.store.corpus.document(i).given for i in ids(bench)] == [{}, {}]
    with pytest.raises(NotFoundError, match="No edit of metadata is left"):
        curator.undo()
    with pytest.raises(UsageError, match="taken back"):
        curator.undo(1)


def test_undo_of_an_edit_that_was_edited_over_is_refused_and_in_turn_it_works(bench: Bench, curator: Curator) -> None:
    before = metadata(bench)
    first = curator.apply(curator.preview(ids(bench), {"owner": "Bea"}))
    curator.apply(curator.preview(ids(bench)[:1], {"owner": "Cid"}))
    changed = metadata(bench)
    with pytest.raises(UsageError, match=r"a\.md"):
        curator.undo(first.id)
    assert metadata(bench) == changed
    curator.undo()
    curator.undo()
    assert metadata(bench) == before


def test_a_document_that_changed_after_the_preview_stops_the_whole_edit(bench: Bench, curator: Curator) -> None:
    plan = curator.preview(ids(bench), {"owner": "Bea"})
    curator.apply(curator.preview(ids(bench)[1:], {"year": 2020}))
    changed = metadata(bench)
    with pytest.raises(UsageError, match=r"b\.md"):
        curator.apply(plan)
    assert metadata(bench) == changed


def test_undo_passes_over_what_was_deleted(bench: Bench, curator: Curator) -> None:
    curator.apply(curator.preview(ids(bench), {"owner": "Bea"}))
    bench.store.corpus.delete_documents(ids(bench)[:1])
    curator.undo()
    assert [m.get("owner") for m in metadata(bench)] == [None]


def test_retiring_by_metadata_takes_a_document_out_of_searches_and_undo_brings_it_back(
    bench: Bench, curator: Curator
) -> None:
    curator.apply(curator.preview(ids(bench)[:1], {"status": "retired"}))
    assert [d.status for d in bench.store.corpus.documents("c")] == ["retired", "current"]
    curator.undo()
    assert [d.status for d in bench.store.corpus.documents("c")] == ["current", "current"]


@pytest.mark.parametrize("asked", [{}, {"source_id": "x"}, {"date": "someday"}, {"status": "lost"}])
def test_what_can_not_be_is_refused_with_a_reason(bench: Bench, curator: Curator, asked: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        curator.preview(ids(bench), asked)


def test_what_is_so_already_is_no_edit(bench: Bench, curator: Curator) -> None:
    plan = curator.preview(ids(bench)[:1], {"year": 2025})
    curator.apply(plan)  # now a person says so too
    with pytest.raises(UsageError, match="already"):
        curator.apply(curator.preview(ids(bench)[:1], {"year": 2025}))
