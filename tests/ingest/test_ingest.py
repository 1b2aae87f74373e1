"""What ingest does to a collection: adds, updates only what changed, and tells what went wrong with the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data import shared
from tests.embedders import HashEmbedder
from tests.ingest.conftest import Bench
from workbench.corpus import preparing
from workbench.errors import DocumentError, EngineError, UsageError

PAGE = "---\ntitle: Plazos\nyear: 2026\nowner: Ana\n---\n# Plazos\n\nEl plazo de la matrícula es de un mes.\n"


def test_a_folder_becomes_documents_with_chunks(bench: Bench) -> None:
    bench.write("a.md", PAGE)
    bench.write("sub/b.txt", "The deadline is in a month. There is no other.")
    outcomes = bench.ingest()
    assert {s: (o.action, o.chunks, o.embedded) for s, o in outcomes.items()} == {
        "a.md": ("added", 1, 1),
        "sub/b.txt": ("added", 1, 1),
    }
    one, two = bench.store.corpus.documents("c")
    assert (one.title, one.language, one.metadata["year"], one.uri) == (
        "Plazos",
        "es",
        2026,
        str(bench.folder / "a.md"),
    )
    assert (two.title, two.language, two.status) == ("b", "en", "current")
    (chunk,) = bench.store.corpus.chunks(one.id)
    assert bench.store.corpus.document_text(one.id)[chunk.start : chunk.end] == chunk.text
    assert chunk.heading == ("Plazos",)


def test_the_person_overrules_the_sidecar_and_that_overrules_the_document(bench: Bench) -> None:
    bench.write("a.md", PAGE)
    bench.write("a.md.meta.yaml", "owner: Berta\nyear: 2025\nstatus: retired\nlanguage: en\n")
    bench.ingest(metadata={"year": 2024})
    (document,) = bench.store.corpus.documents("c")
    assert (document.metadata["year"], document.metadata["owner"], document.title) == (2024, "Berta", "Plazos")
    assert (document.status, document.language) == ("retired", "en")


def test_nothing_changed_embeds_nothing(bench: Bench) -> None:
    bench.write("a.md", PAGE)
    bench.ingest()
    assert bench.actions() == {"a.md": "unchanged"}
    assert bench.embedder.embedded == []


def test_only_changed_chunks_are_embedded(bench: Bench) -> None:
    sections = [f"## S{i}\n\n" + f"Word{i} " * 60 for i in range(5)]
    bench.write("a.md", "\n\n".join(sections))
    assert bench.ingest(recipe=None)["a.md"].chunks > 1
    sections[2] = "## S2\n\nSomething new."
    bench.write("a.md", "\n\n".join(sections))
    outcome = bench.ingest()["a.md"]
    assert outcome.action == "updated"
    assert 0 < outcome.embedded < outcome.chunks
    assert any("Something new." in text for text in bench.embedder.embedded)
    assert not any("Word2" in text for text in bench.texts("a.md"))


def test_changed_metadata_is_stored_without_embedding(bench: Bench) -> None:
    bench.write("a.md", PAGE)
    bench.ingest()
    bench.write("a.md.meta.yaml", "owner: Berta\n")
    assert bench.actions() == {"a.md": "metadata"}
    assert bench.embedder.embedded == []
    (document,) = bench.store.corpus.documents("c")
    assert (document.metadata["owner"], document.metadata["year"]) == ("Berta", 2026)
    assert bench.actions() == {"a.md": "unchanged"}


def test_a_retired_document_stays_retired_and_says_so(bench: Bench) -> None:
    bench.write("a.md", PAGE)
    bench.ingest()
    (document,) = bench.store.corpus.documents("c")
    bench.store.corpus.set_status([document.id], "retired")
    assert "retired" in bench.ingest()["a.md"].reason
    bench.write("own.md", "---\nstatus: retired\n---\nOld.")
    bench.ingest()
    assert bench.ingest()["own.md"].reason == ""
    bench.write("a.md", PAGE + "\nMore.")
    bench.ingest()
    assert bench.store.corpus.document(document.id).status == "retired"


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_what_cant_be_read_is_reported_and_the_rest_goes_on(bench: Bench) -> None:
    (bench.folder / "binary.bin").write_bytes(bytes(range(256)) * 20)
    (bench.folder / "locked.pdf").write_bytes(shared("pdf", "libreoffice-writer-password.pdf").read_bytes())
    (bench.folder / "empty.txt").write_bytes(b"")
    bench.write("bad.md", "Text.")
    bench.write("bad.md.meta.yaml", "date: not a date\n")
    bench.write("z.md", PAGE)
    outcomes = bench.ingest()
    assert outcomes.pop("z.md").action == "added"
    assert {s: o.action for s, o in outcomes.items()} == dict.fromkeys(
        ["bad.md", "binary.bin", "empty.txt", "locked.pdf"], "failed"
    )
    assert all(o.reason and o.remedy for o in outcomes.values())


def test_a_document_that_fails_now_keeps_what_is_stored(bench: Bench) -> None:
    path = bench.write("a.md", PAGE)
    bench.ingest()
    path.write_bytes(b"\x00\xff" * 400)
    assert bench.actions(on_missing="delete") == {"a.md": "failed"}
    assert bench.texts("a.md")


def test_a_bad_vector_fails_its_document_only(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.md", "Zero here.")
    bench.write("b.md", "Text.")
    embed = HashEmbedder.embed_passages
    monkeypatch.setattr(
        HashEmbedder,
        "embed_passages",
        lambda *args: (v * ("Zero" not in t) for v, t in zip(embed(*args), args[1], strict=True)),
    )
    assert bench.actions() == {"a.md": "failed", "b.md": "added"}
    assert bench.texts("a.md") == []


def test_a_dead_embedder_stops_the_run_and_what_was_stored_stays(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(5):
        bench.write(f"{i}.md", f"Text {i}.")
    embed = HashEmbedder.embed_passages

    def dying(self: HashEmbedder, texts: list[str], cancel: object = None):
        for text, vector in zip(texts, embed(self, texts), strict=True):
            if text == "Text 3.":
                raise EngineError("Dead", "The child died.")
            yield vector

    with monkeypatch.context() as patch:
        patch.setattr(HashEmbedder, "embed_passages", dying)
        with pytest.raises(EngineError):
            bench.ingest()
    assert [d.source_id for d in bench.store.corpus.documents("c")] == ["0.md", "1.md", "2.md"]
    assert list(bench.actions().values()) == ["unchanged"] * 3 + ["added"] * 2


def test_a_path_that_doesnt_exist_leaves_no_collection_behind(bench: Bench) -> None:
    with pytest.raises(UsageError):
        bench.ingest(paths=(str(bench.folder / "nowhere"),))
    assert bench.store.corpus.collections() == ()


# -- identity ----------------------------------------------------------------------------------------------------------


def test_two_files_with_one_name_are_not_mixed(bench: Bench) -> None:
    bench.write("a.md", "---\nsource_id: rules\n---\nFirst.")
    bench.write("b.md", "---\nsource_id: rules\n---\nSecond.")
    outcomes = bench.ingest()
    assert outcomes["rules"].action == "added"
    assert outcomes["b.md"].action == "failed"
    assert str(bench.folder / "a.md") in outcomes["b.md"].reason
    assert bench.texts("rules") == ["First."]


def test_a_file_of_the_same_name_elsewhere_doesnt_replace_the_stored_one(bench: Bench, tmp_path: Path) -> None:
    bench.write("a.md", "First.")
    bench.ingest()
    other = tmp_path / "other" / "a.md"
    other.parent.mkdir()
    other.write_text("Second.")
    assert bench.actions(paths=(str(other),)) == {"a.md": "failed"}
    (bench.folder / "a.md").unlink()
    assert bench.actions(paths=(str(other),)) == {"a.md": "updated"}
    assert bench.texts("a.md") == ["Second."]


def test_a_file_named_through_another_folder_is_the_same_document(bench: Bench) -> None:
    bench.write("sub/a.md", "First.")
    bench.ingest()
    assert bench.actions(paths=(str(bench.folder / "sub"),)) == {"sub/a.md": "unchanged"}
    bench.write("sub/a.md", "Second.")
    assert bench.actions(paths=(str(bench.folder / "sub" / ".." / "sub" / "a.md"),)) == {"sub/a.md": "updated"}
    assert len(bench.store.corpus.documents("c")) == 1


@pytest.mark.parametrize(("on_missing", "left"), [("keep", 3), ("retire", 3), ("delete", 2)])
def test_sources_that_are_gone_are_kept_retired_or_deleted(bench: Bench, on_missing: str, left: int) -> None:
    gone = bench.write("in/gone.md", "Gone.")
    bench.write("in/here.md", "Here.")
    outside = bench.write("out/outside.md", "Outside.")
    bench.ingest()
    gone.unlink()
    outside.unlink()
    actions = bench.actions(paths=(str(bench.folder / "in"),), on_missing=on_missing)
    assert actions.get("in/gone.md") == {"keep": None, "retire": "retired", "delete": "deleted"}[on_missing]
    assert "out/outside.md" not in actions
    documents = bench.store.corpus.documents("c")
    assert len(documents) == left
    assert {d.source_id for d in documents if d.status == "retired"} == (
        {"in/gone.md"} if on_missing == "retire" else set()
    )
    assert actions["in/here.md"] == "unchanged"


def test_a_folder_that_cant_be_listed_loses_no_document(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("in/closed/a.md", "First.")
    bench.write("in/b.md", "Second.")
    bench.ingest()
    iterdir = Path.iterdir

    def refuse(path: Path) -> Iterator[Path]:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert bench.actions(on_missing="delete") == {"in/b.md": "unchanged", "in/closed": "failed"}
    assert bench.texts("in/closed/a.md") == ["First."]


def test_a_failed_document_says_what_its_error_says() -> None:
    outcome = preparing.failed("a.md", DocumentError("T", "Why.", "What next.")).outcome
    assert (outcome.action, outcome.reason, outcome.remedy) == ("failed", "Why.", "What next.")
