"""Metadata that a person gave at ingest are remembered per document, until they are given anew or cleared."""

from __future__ import annotations

from tests.ingest.conftest import Bench
from workbench.corpus.metadata import parse_assignments
from workbench.records.corpus import Metadata


def metadata(bench: Bench) -> dict[str, Metadata]:
    return {d.source_id: dict(d.metadata) for d in bench.store.corpus.documents("c")}


def test_what_was_given_stays_when_the_same_or_another_text_is_ingested_without_it(bench: Bench) -> None:
    bench.write("a.md", "---\nyear: 2026\nroles: everyone\n---\nSalaries of the staff.")
    bench.ingest(metadata=parse_assignments(["roles=staff", "valid_to=2026-12-31"]))
    kept = metadata(bench)
    assert bench.actions() == {"a.md": "unchanged"}
    assert metadata(bench) == kept
    bench.write("a.md", "---\nyear: 2027\nroles: everyone\n---\nSalaries of the staff, raised.")
    assert bench.actions() == {"a.md": "updated"}
    assert metadata(bench)["a.md"]["roles"] == ("staff",)
    assert metadata(bench)["a.md"]["year"] == 2027


def test_a_new_value_replaces_the_remembered_one_and_an_empty_one_clears_it(bench: Bench) -> None:
    bench.write("a.md", "---\nowner: Ana\n---\nSalaries of the staff.")
    bench.ingest(metadata=parse_assignments(["roles=staff", "owner=Berta"]))
    assert bench.actions(metadata=parse_assignments(["roles=student"])) == {"a.md": "metadata"}
    assert metadata(bench)["a.md"] == {"roles": ("student",), "owner": "Berta"}
    assert bench.actions(metadata=parse_assignments(["owner=", "roles="])) == {"a.md": "metadata"}
    assert metadata(bench)["a.md"] == {"owner": "Ana"}
    assert bench.actions() == {"a.md": "unchanged"}
    assert bench.embedder.embedded == []


def test_each_document_remembers_its_own(bench: Bench) -> None:
    bench.ingest(paths=(str(bench.write("a.txt", "One.")),), metadata={"roles": ("staff",)})
    bench.ingest(paths=(str(bench.write("b.txt", "Two.")),), metadata={"roles": ("student",)})
    bench.ingest(metadata={"year": 2026})
    assert metadata(bench) == {
        "a.txt": {"roles": ("staff",), "year": 2026},
        "b.txt": {"roles": ("student",), "year": 2026},
    }


def test_a_file_that_was_moved_keeps_what_was_given(bench: Bench) -> None:
    old = bench.write("one/a.txt", "Some text.")
    bench.ingest(paths=(str(old),), metadata={"roles": ("staff",)})
    new = bench.folder / "two" / "a.txt"
    new.parent.mkdir()
    old.rename(new)
    bench.ingest(paths=(str(new),))
    assert metadata(bench) == {"a.txt": {"roles": ("staff",)}}


def test_what_the_sidecar_says_as_well_outlives_the_sidecar_when_it_was_given(bench: Bench) -> None:
    bench.write("a.txt", "Some text.")
    sidecar = bench.write("a.txt.meta.yaml", "roles: [staff]\n")
    bench.ingest()
    bench.ingest(metadata={"roles": ("staff",)})
    sidecar.unlink()
    bench.ingest()
    assert metadata(bench) == {"a.txt": {"roles": ("staff",)}}


def test_a_field_of_another_type_than_before_is_told_once(bench: Bench) -> None:
    bench.write("a.md", "---\nyear: 2021\n---\nOne.")
    bench.ingest()
    for name in ("b", "c"):
        bench.write(f"{name}.md", f'---\nyear: "2023"\n---\nText {name}.')
    outcomes = bench.ingest()
    assert [bool(o.reason) for o in outcomes.values()] == [False, True, False]
    assert outcomes["b.md"].reason.startswith("“year” is of type text here, number elsewhere")
