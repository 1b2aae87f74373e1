"""Snapshots: the whole file by name, and back, under open readers; what is damaged or foreign changes nothing."""

from __future__ import annotations

import json
import threading
from contextlib import closing

import pytest

from storage.driver import connect
from storage.migrations import MIGRATIONS, migrate
from tests.embedders import HashEmbedder
from tests.exchange.conftest import Bench
from tests.exchange.contents import contents
from tests.library import NAME
from workbench.corpus.ingest import Ingester
from workbench.errors import Cancelled, FileError, NotFoundError, UsageError
from workbench.records.corpus import IngestRequest
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher


def delete(bench: Bench, source_id: str) -> str:
    [found] = [d.id for d in bench.store.corpus.documents(NAME) if d.source_id == source_id]
    assert all(check.gone for check in bench.store.corpus.delete_documents([found]))
    return found


def found(bench: Bench, question: str) -> list[str]:
    result = Searcher(bench.store, HashEmbedder()).search(question, SearchOptions(NAME, lanes=("lexical",)))
    return [view.source_id for view in result.hits]


def test_restoring_brings_back_what_was(bench: Bench) -> None:
    before = contents(bench.store)
    taken = bench.exchange.take_snapshot("monday")
    assert taken.path == bench.folder / "library.snapshots" / "monday.db"
    delete(bench, "borrowing.md")
    bench.store.datasets.put("loans", NAME, ())
    until_now = bench.exchange.restore_snapshot("monday")
    assert contents(bench.store) == before
    assert len(bench.store.datasets.cases("loans")) == 3
    assert [s.name for s in bench.exchange.snapshots()] == [until_now.name, "monday"]
    bench.exchange.restore_snapshot(until_now.name)
    assert len(bench.store.corpus.documents(NAME)) == 2


def test_a_snapshot_keeps_what_was_deleted_after_it_and_nothing_deleted_before(bench: Bench) -> None:
    delete(bench, "coffee.md")
    path = bench.exchange.take_snapshot("after").path
    delete(bench, "borrowing.md")
    held = path.read_bytes()
    assert b"six books" in held
    assert "menú".encode() not in held


def test_open_readers_see_the_old_or_the_new(bench: Bench) -> None:
    bench.exchange.take_snapshot("whole")
    delete(bench, "borrowing.md")
    reader = connect(bench.store.path, "read")
    count = "SELECT count(*) FROM document"
    reader.execute("BEGIN")
    assert reader.execute(count).fetchone() == (2,)
    bench.exchange.restore_snapshot("whole")
    assert reader.execute(count).fetchone() == (2,)
    reader.execute("COMMIT")
    assert reader.execute(count).fetchone() == (3,)
    reader.close()


def test_what_memory_keeps_of_an_index_is_read_anew(bench: Bench) -> None:
    index = bench.store.corpus.current_index(NAME)
    assert index
    bench.exchange.take_snapshot("whole")
    assert bench.store.search.keep(index, 1 << 30)
    delete(bench, "borrowing.md")
    assert "borrowing.md" not in found(bench, "books")
    revision = bench.store.corpus.revision(NAME)
    bench.exchange.restore_snapshot("whole")
    assert found(bench, "books") == ["borrowing.md"]
    assert bench.store.corpus.revision(NAME) > revision


def test_the_file_goes_on_after_a_restore(bench: Bench) -> None:
    bench.exchange.take_snapshot("whole")
    delete(bench, "borrowing.md")
    bench.exchange.restore_snapshot("whole")
    (bench.folder / "sources" / "new.md").write_text("# Parking\n\nBicycles are parked in the yard.", "utf-8")
    for _ in Ingester(bench.store.corpus, HashEmbedder()).run(IngestRequest((str(bench.folder / "sources"),), NAME)):
        pass
    assert found(bench, "bicycles") == ["new.md"]
    bench.store.close()
    assert [p.name for p in bench.folder.glob("library.db*")] == ["library.db"]
    assert connect(bench.store.path, "read").execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("damage", ["cut", "overwritten", "foreign", "empty"])
def test_a_damaged_or_foreign_snapshot_is_refused(bench: Bench, damage: str) -> None:
    path = bench.exchange.take_snapshot("bad").path
    whole = path.read_bytes()
    path.write_bytes(
        {
            "cut": whole[: len(whole) // 2],
            "overwritten": whole[:200_000] + b"\xff" * 100_000 + whole[300_000:],
            "foreign": b"SQLite format 3\x00" + bytes(5000),
            "empty": b"",
        }[damage]
    )
    before = contents(bench.store)
    with pytest.raises(FileError) as told:
        bench.exchange.restore_snapshot("bad")
    assert ".restore-" not in told.value.message
    assert contents(bench.store) == before
    assert [s.name for s in bench.exchange.snapshots()] == ["bad"]
    assert not list(bench.folder.glob(".restore-*"))


def test_a_snapshot_of_an_older_version_is_brought_up_to_date_on_the_way(bench: Bench) -> None:
    path = bench.exchange.take_snapshot("old").path
    path.unlink()
    with closing(connect(path, "create")) as old:
        migrate(old, path, MIGRATIONS[:12])
        recipe = json.dumps({"name": "structure", "size": 64})
        old.execute("INSERT INTO collection (name, recipe, created) VALUES ('then', ?, '2025-01-01')", (recipe,))
    kept = path.read_bytes()
    bench.exchange.restore_snapshot("old")
    assert [c.name for c in bench.store.corpus.collections()] == ["then"]
    assert bench.store.corpus.indexes("then") == ()
    assert path.read_bytes() == kept


@pytest.mark.parametrize(
    "name", ["../x", "a/b", ".hidden", "a\x00b", "x" * 90, "ends.", "-x", "a\nb", "..", "/etc/passwd"]
)
def test_a_name_leads_nowhere_else(bench: Bench, name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        bench.exchange.take_snapshot(name)
    for act in (bench.exchange.restore_snapshot, bench.exchange.delete_snapshot):
        with pytest.raises(UsageError):
            act(name)
    assert not (bench.folder / "library.snapshots").exists()


def test_names_are_taken_once_and_missing_ones_told(bench: Bench) -> None:
    bench.exchange.take_snapshot("one")
    with pytest.raises(UsageError, match="already"):
        bench.exchange.take_snapshot("one")
    with pytest.raises(NotFoundError, match="There are: one"):
        bench.exchange.restore_snapshot("two")
    bench.exchange.delete_snapshot("one")
    assert bench.exchange.snapshots() == ()


def test_another_folder_holds_its_own(bench: Bench) -> None:
    place = bench.folder / "vault"
    bench.exchange.take_snapshot("safe", str(place))
    assert [s.name for s in bench.exchange.snapshots(str(place))] == ["safe"]
    assert bench.exchange.snapshots() == ()


def test_a_stopped_snapshot_leaves_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.connections._STEPS", 1)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        bench.exchange.take_snapshot("half", cancel=cancel)
    assert list((bench.folder / "library.snapshots").iterdir()) == []
