"""The doctor on a real file: what is broken is found, mended, and found no more; the space adds up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from storage.indexes import vectors_table, words_table
from storage.store import FileStore
from tests.ingest.conftest import Bench, bench
from tests.ingest.test_names import raw
from workbench.corpus.ingest import Ingester
from workbench.errors import Cancelled, NotFoundError
from workbench.health import Doctor
from workbench.ports import Cancel
from workbench.records.corpus import IngestProgress, IngestRequest, Recipe
from workbench.records.health import Health, HealthCheck, Repair

__all__ = ["bench"]


@pytest.fixture
def doctor(bench: Bench) -> Doctor:
    def ingest(request: IngestRequest, cancel: Cancel | None) -> Iterator[IngestProgress]:
        return Ingester(bench.store.corpus, bench.embedder).run(request, cancel)

    return Doctor(bench.store, lambda _: bench.embedder.info, lambda _: bench.embedder, ingest)


def examine(doctor: Doctor) -> dict[str, HealthCheck]:
    *_, health = doctor.examine("c")
    assert health.done == health.total
    return {check.key: check for check in health.checks}


def repair(doctor: Doctor, repair: Repair) -> str:
    *_, health = doctor.examine("c")
    *_, last = doctor.repair(health, repair)
    assert last.finished
    return last.told


def fill(bench: Bench, documents: int = 3) -> None:
    for number in range(documents):
        paragraphs = [f"Article {number}.{n} speaks of matter {number * 31 + n} and of nothing else." for n in range(4)]
        bench.write(f"{number}.md", "\n\n".join(f"# Part {n}\n\n{p}" for n, p in enumerate(paragraphs)))
    bench.ingest()


def write(bench: Bench, statement: str, *values: object) -> None:
    assert isinstance(bench.store, FileStore)
    bench.store._connections.write(lambda c: c.execute(statement, values))


def index_of(bench: Bench) -> int:
    index = bench.store.corpus.current_index("c")
    assert index
    return index.id


def test_a_fresh_collection_has_no_errors_and_every_character_is_covered(bench: Bench, doctor: Doctor) -> None:
    fill(bench)
    found = examine(doctor)
    assert [key for key, check in found.items() if check.severity == "error" and not check.passed] == []
    assert "100.00%" in found["coverage"].measured


def test_chunks_without_vectors_are_found_and_embedded_and_the_dense_lane_finds_them(
    bench: Bench, doctor: Doctor
) -> None:
    fill(bench)
    chunk = bench.store.corpus.chunks(bench.store.corpus.documents("c")[0].id)[0]
    number = index_of(bench)
    write(
        bench,
        f"DELETE FROM {vectors_table(number)} WHERE rowid = (SELECT key FROM chunk WHERE id = ? AND index_id = ?)",
        chunk.id,
        number,
    )
    assert [f.id for f in examine(doctor)["vectors"].findings] == [chunk.id]
    assert "embedded: 1" in repair(doctor, "embed")
    assert examine(doctor)["vectors"].passed
    index = bench.store.corpus.current_index("c")
    assert index
    assert chunk.id in bench.store.search.vectors(index.id, [chunk.id])
    assert chunk.id in bench.store.search.token_vectors(index, [chunk.id]).packed


def test_text_in_no_chunk_is_cut_again_and_the_other_chunks_stay_the_same(bench: Bench, doctor: Doctor) -> None:
    for name in ("a.txt", "b.txt"):
        bench.write(
            name, " ".join(f"Article {n} of {name} speaks of matter {n * 31} and of nothing else." for n in range(8))
        )
    bench.ingest(recipe=Recipe("sentence", size=32))
    corpus = bench.store.corpus
    index = corpus.current_index("c")
    assert index
    document, other = corpus.documents("c")
    whole, elsewhere = corpus.chunks(document.id), corpus.chunks(other.id)
    corpus.put_document(index, document, corpus.parsed_document(document.id), whole[:-1], {})
    assert [f.id for f in examine(doctor)["coverage"].findings] == [document.id]
    assert f"cut again: 1. Chunks as they were: {len(whole) - 1}; new ones: 1" in repair(doctor, "recut")
    assert len(whole) > 2
    assert examine(doctor)["coverage"].passed
    assert [chunk.id for chunk in corpus.chunks(document.id)] == [chunk.id for chunk in whole]
    assert corpus.chunks(other.id) == elsewhere
    assert whole[-1].id in bench.store.search.vectors(index.id, [whole[-1].id])


def test_a_zero_vector_is_found_and_replaced(bench: Bench, doctor: Doctor) -> None:
    fill(bench)
    index = bench.store.corpus.current_index("c")
    assert index
    chunk = bench.store.corpus.chunks(bench.store.corpus.documents("c")[0].id)[0]
    zero = np.zeros(index.embedder.dimension, np.float32).tobytes()
    table = vectors_table(index.id)
    write(bench, f"UPDATE {table} SET embedding = ? WHERE rowid = (SELECT key FROM chunk WHERE id = ?)", zero, chunk.id)
    assert [f.id for f in examine(doctor)["bad-vectors"].findings] == [chunk.id]
    repair(doctor, "embed")
    assert examine(doctor)["bad-vectors"].passed


def test_a_lost_full_text_row_is_found_and_made_anew(bench: Bench, doctor: Doctor) -> None:
    fill(bench)
    table = words_table(index_of(bench))
    chunk = bench.store.corpus.chunks(bench.store.corpus.documents("c")[0].id)[0]
    write(
        bench,
        f"INSERT INTO {table} ({table}, rowid, heading, text, stems, exact) "
        "SELECT 'delete', key, heading, text, stems, exact FROM chunk WHERE id = ?",
        chunk.id,
    )
    assert [f.id for f in examine(doctor)["words"].findings] == [chunk.id]
    repair(doctor, "words")
    assert examine(doctor)["words"].passed


def test_rows_of_no_chunk_are_found_and_deleted_and_the_others_stay(bench: Bench, doctor: Doctor) -> None:
    fill(bench)
    assert examine(doctor)["strays"].passed
    number, stray = index_of(bench), 987_654
    vectors, words = vectors_table(number), words_table(number)
    write(bench, f"INSERT INTO {vectors} (rowid, embedding) SELECT ?, embedding FROM {vectors} LIMIT 1", stray)
    write(bench, f"INSERT INTO {words} (rowid, text) VALUES (?, 'a ghost')", stray)
    assert "2" in examine(doctor)["strays"].findings[0].detail
    assert "2" in repair(doctor, "strays")
    found = examine(doctor)
    assert all(found[key].passed for key in ("strays", "vectors", "words"))


def test_an_examination_in_another_language_counts_as_none(
    bench: Bench, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(bench)
    monkeypatch.setenv("WORKBENCH_LANG", "es")
    *_, health = doctor.examine("c")
    doctor.keep(health)
    assert doctor.last("c") == health
    monkeypatch.setenv("WORKBENCH_LANG", "en")
    assert doctor.last("c") is None


def test_a_repair_of_one_check_leaves_what_another_found(bench: Bench, doctor: Doctor) -> None:
    fill(bench)
    bench.write("old.md", "---\nvalid_to: 2001-01-01\n---\n\nA rule of long ago.")
    bench.write("copy.md", (bench.folder / "0.md").read_text("utf-8"))
    bench.ingest()
    *_, health = doctor.examine("c")
    list(doctor.repair(health, "retire", only="validity"))
    found = examine(doctor)
    assert found["validity"].passed
    assert not found["document-copies"].passed


def test_a_changed_source_is_read_again_and_one_that_went_is_told(bench: Bench, doctor: Doctor) -> None:
    fill(bench)
    bench.write("0.md", "Something new altogether.")
    (bench.folder / "1.md").unlink()
    assert [f.name for f in examine(doctor)["sources"].findings] == ["0.md", "1.md"]
    told = repair(doctor, "ingest")
    assert "read again: 1" in told
    assert "gone: 1" in told
    assert bench.texts("0.md") == ["Something new altogether."]
    assert [f.name for f in examine(doctor)["sources"].findings] == ["1.md"]


def test_a_source_whose_name_is_no_utf8_is_found_and_read_again(bench: Bench, doctor: Doctor) -> None:
    path = raw(bench.folder, b"bad\xff.txt")
    bench.ingest()
    assert examine(doctor)["sources"].passed
    path.write_text("Other text.", "utf-8")
    assert repair(doctor, "ingest") == "Sources read again: 1."
    assert bench.texts("bad\\xff.txt") == ["Other text."]


def test_a_copy_is_retired_and_no_longer_a_copy(bench: Bench, doctor: Doctor) -> None:
    fill(bench)
    bench.write("copy.md", (bench.folder / "0.md").read_text("utf-8"))
    bench.ingest()
    assert not examine(doctor)["document-copies"].passed
    assert not examine(doctor)["copies"].passed
    repair(doctor, "retire")
    found = examine(doctor)
    assert found["document-copies"].passed
    assert found["copies"].passed
    assert [f.name for f in found["retired"].findings] == ["copy.md"]


def test_an_examination_stops_when_asked_and_an_unknown_collection_is_named(bench: Bench, doctor: Doctor) -> None:
    fill(bench)
    cancel = Cancel()
    steps = doctor.examine("c", cancel)
    first = next(steps)
    assert isinstance(first, Health)
    assert first.running
    cancel.set()
    with pytest.raises(Cancelled):
        list(steps)
    with pytest.raises(NotFoundError):
        list(doctor.examine("nothing"))


def test_every_byte_of_the_file_is_accounted_for(bench: Bench, doctor: Doctor) -> None:
    fill(bench, 6)
    bench.write("long.md", "word " * 40_000)  # overflow pages
    bench.ingest()
    space = doctor.space()
    assert sum(item.bytes for item in space.items) + space.free == space.file_bytes
    assert all(0 <= item.unused <= item.bytes for item in space.items)
    texts = next(item for item in space.items if item.name == "document_text")
    assert texts.bytes - texts.unused >= 5 * 40_000


def test_every_table_of_the_file_is_told_in_words(bench: Bench, doctor: Doctor) -> None:
    fill(bench)
    assert [item.name for item in doctor.space().items if not item.what] == []


def test_deleting_most_of_a_collection_and_compacting_gives_its_bytes_back(bench: Bench, doctor: Doctor) -> None:
    for number in range(40):
        parts = [f"# Part {n}\n\nMatter {number * 100 + n} of the file." for n in range(60)]
        bench.write(f"{number}.md", "\n\n".join(parts))
    bench.ingest()
    full = doctor.space()
    documents = bench.store.corpus.documents("c")
    bench.store.corpus.delete_documents([d.id for d in documents[2:]])
    emptied = doctor.space()
    assert emptied.file_bytes >= full.file_bytes
    assert emptied.reclaimable > full.reclaimable
    told: list[tuple[str, int, int]] = []
    freed = doctor.compact(lambda *progress: told.append(progress))
    after = doctor.space()
    assert freed >= emptied.reclaimable > 0.2 * full.file_bytes
    assert after.file_bytes == emptied.file_bytes - freed
    assert after.reclaimable == 0
    assert told[-1] == ("", 0, 0)
    kept = bench.store.corpus.chunks(documents[0].id)
    index = bench.store.corpus.current_index("c")
    assert index
    assert set(bench.store.search.vectors(index.id, [c.id for c in kept])) == {c.id for c in kept}
    assert examine(doctor)["vectors"].passed
    assert examine(doctor)["words"].passed


def test_what_is_still_in_the_log_counts(bench: Bench, doctor: Doctor) -> None:
    fill(bench)
    before = doctor.space()
    fill(bench, 8)
    after = doctor.space()
    assert sum(i.bytes - i.unused for i in after.items) > sum(i.bytes - i.unused for i in before.items)
    assert after.log_bytes == 0


def test_copies_of_a_text_are_told_once_beside_what_is_nearly_the_same(bench: Bench, doctor: Doctor) -> None:
    words = " ".join(f"word{n}" for n in range(60))
    for name, text in {"a.md": words, "b.md": words, "near.md": f"{words} and more"}.items():
        bench.write(name, text)
    bench.ingest()
    checks = examine(doctor)
    assert checks["copies"].count == 2
    head, other = checks["near-duplicates"].findings  # one of the copies, and the text that is nearly the same
    assert head.detail.startswith("2 alike")
    assert (other.group, other.detail) == (head.group, f"in the group of {head.name}")
    bench.store.corpus.set_status([other.document], "retired")
    near = examine(doctor)["near-duplicates"]
    assert (near.passed, near.of) == (True, 2), "what is retired competes with nothing"
