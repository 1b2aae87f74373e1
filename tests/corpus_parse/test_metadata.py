"""Typed metadata, assignments, sidecars, merging and hashing."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.corpus.metadata import checked, merge, metadata_hash, parse_assignments, read_yaml, sidecar, typed
from workbench.errors import DocumentError, UsageError
from workbench.records.codec import decode, encode
from workbench.records.corpus import MetaValue


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (3, 3),
        (2.5, 2.5),
        ("2026-01-31", date(2026, 1, 31)),
        ("2026-01-31T10:20:00Z", date(2026, 1, 31)),
        (datetime(2026, 1, 31, 10), date(2026, 1, 31)),
        ("2026-02-30", "2026-02-30"),
        (["a", 1], ("a", "1")),
        ("12", "12"),
        ({"a": [1]}, '{"a": [1]}'),
        (float("nan"), "nan"),
        (2**70, hex(2**70)),
        ("\ud800x\0", "?x"),
    ],
)
def test_values_are_typed(value: object, expected: MetaValue) -> None:
    assert typed(value) == expected
    assert type(typed(value)) is type(expected)


def test_assignments() -> None:
    assert parse_assignments(
        (
            "year=2026",
            "roles=student,teacher",
            "tags=[a, 'b']",
            "ratio=0.5",
            "draft=false",
            'code="007"',
            "zip=0123",
            "version=1.10",
            "Valid_From=2026-01-01",
            "note=a = b",
            "ids=[1, 2]",
        )
    ) == {
        "year": 2026,
        "roles": ("student", "teacher"),
        "tags": ("a", "b"),
        "ratio": 0.5,
        "draft": False,
        "code": "007",
        "zip": "0123",
        "version": "1.10",
        "valid_from": date(2026, 1, 1),
        "note": "a = b",
        "ids": ("1", "2"),
    }


@pytest.mark.parametrize("bad", ["year", "=2026", "1st=x", "a b=c", "status=draft", "date=May", "language=Spanish!"])
def test_a_bad_assignment_is_named_with_a_remedy(bad: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_assignments([bad])
    assert caught.value.remedy
    assert bad.partition("=")[2] in caught.value.message


def test_sidecar_by_full_name_before_stem(tmp_path: Path) -> None:
    report = tmp_path / "report.pdf"
    assert sidecar(report) == {}
    (tmp_path / "report.meta.yaml").write_text("owner: stem\n")
    assert sidecar(report) == {"owner": "stem"}
    (tmp_path / "report.pdf.meta.yaml").write_text(
        "source_id: R-1\nversion: 2.10\nlanguage: no\nvalid_to: 2026-12-31\nroles: student\nyear: 2026\n"
        "sold: true\nempty:\nnested: {a: 1, b: [x]}\nquoted: '2026'\n"
    )
    assert sidecar(report) == {
        "source_id": "R-1",
        "version": "2.10",
        "language": "no",
        "valid_to": date(2026, 12, 31),
        "roles": ("student",),
        "year": 2026,
        "sold": True,
        "nested": "a: 1; b: x",
        "quoted": "2026",
    }


@pytest.mark.parametrize(
    "text", ["a: [1", "- list\n", "status: maybe\n", "a: &x 1\nb: *x\n", "\x00", "[" * 5_000], ids=range(6)
)
def test_a_bad_sidecar_names_its_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt.meta.yaml").write_text(text)
    with pytest.raises(DocumentError, match=r"a\.txt\.meta\.yaml"):
        sidecar(tmp_path / "a.txt")


def test_the_later_word_wins() -> None:
    merged = merge({"title": "own", "x": 1, "date": date(2025, 1, 1)}, {"title": "beside", "x": 2}, {"title": "given"})
    assert merged == {"title": "given", "x": 2, "date": date(2025, 1, 1)}
    with pytest.raises(UsageError, match="status"):
        merge({}, {}, {"status": "old"})


def test_hash_ignores_order_and_sees_types() -> None:
    assert metadata_hash({"a": 1, "b": "x"}) == metadata_hash({"b": "x", "a": 1})
    kinds: list[MetaValue] = [1, "1", True, 1.5, date(2026, 1, 1), ("1",), "true"]
    assert len({metadata_hash({"a": value}) for value in kinds}) == len(kinds)


@given(st.text())
def test_any_text_is_yaml_metadata_or_a_value_error(text: str) -> None:
    try:
        fields = read_yaml(text)
    except ValueError:
        return
    good, _ = checked(fields or {})
    metadata_hash(good)
    assert all(decode(type(v), encode(v)) == v for v in good.values() if not isinstance(v, tuple))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates() | st.datetimes(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_typed_is_total_and_stable(value: object) -> None:
    once = typed(value)
    assert typed(once) == once
    metadata_hash({"v": once}).encode()
