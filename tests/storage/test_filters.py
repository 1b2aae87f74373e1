"""Filters: worked cases, hostile names and values, and a check against the same meaning written in Python."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage import open_store
from storage.store import FileStore
from tests.storage.builders import document_of, embedder, put, vector_of
from workbench.records.corpus import Index, Metadata, MetaValue, Recipe
from workbench.records.retrieval import AllOf, AnyOf, Comparison, Exists, FilterNode, Not, OneOf

DOCUMENTS: dict[str, Metadata] = {
    "a": {"year": 2025, "date": date(2025, 12, 31), "roles": ("student", "staff"), "draft": False, "owner": "Ana"},
    "b": {"year": 2026, "date": date(2026, 1, 1), "roles": ("staff",), "draft": True, "owner": "Ángel Ñu"},
    "c": {"year": 2026.5, "date": datetime(2026, 6, 1, 10, 30), "roles": (), "owner": "ana"},
    "d": {"year": "2026", "big": 10**30, "nan": float("nan"), "it's; DROP TABLE field; --": "x"},
    "e": {},
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[FileStore, Index]:
    """One chunk per document of ``DOCUMENTS``, plus a second one of "a" with metadata of its own."""
    store = open_store(tmp_path_factory.mktemp("filters") / "workbench.db")
    assert isinstance(store, FileStore)
    store.corpus.create_collection("laws", Recipe())
    index = store.corpus.open_index("laws", embedder(), Recipe())
    for name, metadata in DOCUMENTS.items():
        document = document_of(name, "", title=f"Title {name.upper()}", language="es", metadata=metadata)
        part: Metadata = {"part": 7} if name == "a" else {}
        heading = ("Becas", "Plazos") if name in "ab" else ()
        put(store, index, document, [f"words of {name}"], heading=heading, chunk_metadata=part)
    return store, index


def passing(filled: tuple[FileStore, Index], where: FilterNode) -> str:
    """Documents whose chunks pass, as the dense lane sees them; both lanes and the count must agree."""
    store, index = filled
    hits = store.search.dense(index, vector_of("q"), where, 100)
    assert store.search.matching(index, where) == (len(hits), len(DOCUMENTS))
    chunks = store.corpus.chunks_by_id([hit.chunk_id for hit in hits])
    return "".join(sorted(chunk.source_id for chunk in chunks))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (AllOf(()), "abcde"),
        (AnyOf(()), ""),
        (Comparison("year", "=", 2026), "b"),
        (Comparison("year", ">=", 2026), "bc"),
        (Comparison("year", "!=", 2026), "acde"),
        (Comparison("year", "=", "2026"), "d"),
        (Comparison("year", "=", True), ""),
        (Comparison("year", "<", "3"), "d"),
        (Comparison("date", ">=", date(2026, 1, 1)), "bc"),
        (Comparison("date", "=", date(2026, 6, 1)), "c"),
        (Comparison("date", "=", datetime(2026, 6, 1, 23, 0)), "c"),
        (Comparison("date", "=", "2026-01-01"), ""),
        (Comparison("roles", "contains", "student"), "a"),
        (Comparison("roles", "=", "staff"), "ab"),
        (Comparison("roles", "!=", "staff"), "cde"),
        (Comparison("owner", "contains", "Ana"), ""),
        (Comparison("draft", "=", True), "b"),
        (Comparison("draft", "=", 1), ""),
        (Comparison("draft", "!=", True), "acde"),
        (Comparison("owner", "=", "Ana"), "a"),
        (Comparison("owner", "like", "ANA"), "ac"),
        (Comparison("owner", "like", "ÁNGEL ñ"), "b"),
        (Comparison("owner", "like", "%"), ""),
        (Comparison("roles", "like", "STU"), "a"),
        (Exists("year"), "abcd"),
        (Exists("roles"), "ab"),
        (Not(Exists("roles")), "cde"),
        (Not(Comparison("year", ">", 0)), "de"),
        (OneOf("year", (2025, 2026.5, "2026")), "acd"),
        (OneOf("year", ()), ""),
        (AnyOf((Comparison("year", "=", 2025), Comparison("roles", "=", "staff"))), "ab"),
        (AllOf((Comparison("year", "=", 2025), Comparison("roles", "=", "staff"))), "a"),
        (Comparison("big", ">", 10**29), "d"),
        (Comparison("big", "<", 10**400), "d"),
        (Comparison("year", ">", float("nan")), ""),
        (Comparison("nan", "!=", 1), "abcde"),
        (Exists("nan"), ""),
        (Comparison("part", "=", 7), "a"),
        (Comparison("part", "!=", 7), "bcde"),
        (Comparison("it's; DROP TABLE field; --", "=", "x"), "d"),
        (Comparison("owner", "=", "' OR 1=1 --"), ""),
        (Comparison("owner", "=", "\ud800"), ""),
        (Comparison("source_id", "=", "a"), "a"),
        (Comparison("source_id", ">", "c"), "de"),
        (Comparison("source_id", "=", 1), ""),
        (Comparison("source_id", "!=", "a"), "bcde"),
        (Comparison("uri", "like", "/DOCS/B"), "b"),
        (Comparison("title", "like", "title e"), "e"),
        (Comparison("language", "=", "es"), "abcde"),
        (Comparison("media_type", "=", "text/plain"), "abcde"),
        (Comparison("section", "=", "Becas > Plazos"), "ab"),
        (Comparison("section", "like", "plazo"), "ab"),
        (Comparison("section", "contains", "Plazos"), "ab"),
        (Comparison("section", "contains", "Plazo"), ""),
        (Comparison("section", "!=", "Becas > Plazos"), "cde"),
        (Exists("section"), "ab"),
        (Comparison("page", "=", 1), "abcde"),
        (Comparison("page", "=", "1"), ""),
        (Comparison("tokens", "<", 6), "abcde"),
        (Comparison("kind", "=", "paragraph"), "abcde"),
        (Comparison("status", "=", "current"), "abcde"),
    ],
)
def test_a_filter_passes(filled: tuple[FileStore, Index], where: FilterNode, expected: str) -> None:
    assert passing(filled, where) == expected


def test_thousands_of_alternatives_and_deep_nesting_are_fine(filled: tuple[FileStore, Index]) -> None:
    assert passing(filled, AnyOf(tuple(Comparison("source_id", "=", f"n{i}") for i in range(3000)))) == ""
    assert passing(filled, OneOf("source_id", ("a", *(f"n{i}" for i in range(5000))))) == "a"
    nested: FilterNode = Comparison("year", "=", 2025)
    for _ in range(100):
        nested = Not(Not(AllOf((nested,))))
    assert passing(filled, nested) == "a"


def test_the_fields_are_those_of_the_data(filled: tuple[FileStore, Index]) -> None:
    fields = filled[0].search.fields("laws")
    assert (fields["year"], fields["date"], fields["roles"], fields["draft"], fields["owner"], fields["part"]) == (
        ("number", "text"),
        ("date",),
        ("list",),
        ("bool",),
        ("text",),
        ("number",),
    )
    assert (fields["title"], fields["page"], fields["section"]) == (("text",), ("number",), ("text",))
    assert filled[0].search.fields("none").keys() == {
        "source_id", "uri", "title", "media_type", "status", "language", "section", "kind", "page", "tokens",
    }  # fmt: skip


# -- the same meaning in Python ----------------------------------------------------------------------------------------

VALUES: st.SearchStrategy[MetaValue] = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.5, -1.5, 2.0]),
    st.booleans(),
    st.sampled_from(["", "a", "B", "ab", "2026-01-01"]),
    st.dates(date(2026, 1, 1), date(2026, 1, 3)),
)
METADATA = st.dictionaries(
    st.sampled_from("xyz"), st.one_of(VALUES, st.lists(st.sampled_from(["a", "B", "ab"]), max_size=2).map(tuple))
)
LEAVES = st.one_of(
    st.builds(Comparison, st.sampled_from("xyz"), st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), VALUES),
    st.builds(Comparison, st.sampled_from("xyz"), st.sampled_from(["contains", "like"]), st.sampled_from("abB")),
    st.builds(OneOf, st.sampled_from("xyz"), st.lists(VALUES, max_size=3).map(tuple)),
    st.builds(Exists, st.sampled_from("xyz")),
)
FILTERS: st.SearchStrategy[FilterNode] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(AllOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


def holds(node: FilterNode, metadata: Mapping[str, MetaValue]) -> bool:
    match node:
        case AllOf(parts):
            return all(holds(part, metadata) for part in parts)
        case AnyOf(parts):
            return any(holds(part, metadata) for part in parts)
        case Not(part):
            return not holds(part, metadata)
        case Exists(name):
            return metadata.get(name, ()) != ()
        case OneOf(name, values):
            return any(holds(Comparison(name, "=", value), metadata) for value in values)
        case Comparison(name, "!=", value):
            return not holds(Comparison(name, "=", value), metadata)
    stored = metadata.get(node.field, ())
    if node.op == "contains":
        return isinstance(stored, tuple) and node.value in stored
    return any(compares(item, node.op, node.value) for item in (stored if isinstance(stored, tuple) else (stored,)))


def compares(left: MetaValue, op: str, right: object) -> bool:
    kinds = [bool if isinstance(v, bool) else float if isinstance(v, int | float) else type(v) for v in (left, right)]
    if kinds[0] is not kinds[1]:
        return False
    if op == "like":
        return str(right).casefold() in str(left).casefold()
    return bool(
        {"=": left == right, "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]  # type: ignore[operator]  # of one kind by now
    )


@pytest.fixture(scope="module")
def emptied(tmp_path_factory: pytest.TempPathFactory) -> tuple[FileStore, Index]:
    path: Path = tmp_path_factory.mktemp("oracle") / "workbench.db"
    store = open_store(path)
    assert isinstance(store, FileStore)
    store.corpus.create_collection("laws", Recipe())
    return store, store.corpus.open_index("laws", embedder(), Recipe())


@settings(max_examples=60)
@given(st.lists(METADATA, min_size=3, max_size=3), st.lists(FILTERS, min_size=4, max_size=4))
def test_sql_means_what_the_records_say(
    emptied: tuple[FileStore, Index], metadata: list[Metadata], filters: list[FilterNode]
) -> None:
    store, index = emptied
    for n, values in enumerate(metadata):
        put(store, index, document_of(f"d{n}", "", metadata=values), [f"text {n}"])
    for where in filters:
        hits = store.search.dense(index, vector_of("q"), where, 10)
        chunks = store.corpus.chunks_by_id([hit.chunk_id for hit in hits])
        assert {c.source_id for c in chunks} == {f"d{n}" for n, values in enumerate(metadata) if holds(where, values)}
