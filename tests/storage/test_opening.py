"""What opening a path does, and that a refusal leaves every byte as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import open_store
from storage.driver import APPLICATION_ID, PAGE_SIZE, connect
from storage.store import FileStore
from tests.storage.builders import document_of, embedder, put
from workbench.errors import FileError, UsageError
from workbench.records.corpus import Recipe


def refused(path: Path, **options: object) -> FileError:
    """Opens ``path``, expects a refusal in words, and checks that the folder holds what it held before."""
    before = {p.name: p.read_bytes() for p in path.parent.iterdir() if p.is_file()}
    with pytest.raises(FileError) as caught:
        open_store(path, **options)
    assert {p.name: p.read_bytes() for p in path.parent.iterdir() if p.is_file()} == before
    assert caught.value.title
    assert caught.value.message.count(". ") == 0
    assert caught.value.remedy.endswith(".")
    return caught.value


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A closed file with one document."""
    path = tmp_path / "workbench.db"
    store = open_store(path)
    store.corpus.create_collection("laws", Recipe())
    index = store.corpus.open_index("laws", embedder(), Recipe())
    assert isinstance(store, FileStore)
    put(store, index, document_of("a.txt", "…"), [f"paragraph {n} " + "words " * 200 for n in range(60)])
    store.close()
    return path


def test_a_new_file_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "new file #1?.db"
    open_store(path).close()
    header = path.read_bytes()[:100]
    assert struct.unpack_from(">I", header, 68)[0] == APPLICATION_ID
    assert struct.unpack_from(">H", header, 16)[0] == PAGE_SIZE
    assert header[18] == header[19] == 2  # WAL
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_an_empty_file_is_initialised(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    open_store(path).close()
    assert path.stat().st_size > 0


def test_one_file_is_left_after_readers_in_other_threads(filled: Path) -> None:
    store = open_store(filled)
    readers = [threading.Thread(target=store.corpus.documents) for _ in range(5)]
    for reader in readers:
        reader.start()
    store.settings.set("theme", "night")
    for reader in readers:
        reader.join()
    store.close()
    store.close()
    assert [p.name for p in filled.parent.iterdir()] == [filled.name]
    with pytest.raises(FileError, match="closed"):
        store.corpus.documents()
    with pytest.raises(FileError, match="closed"):
        store.settings.set("theme", "day")


def test_a_relative_path_and_a_link_stay_the_same_file(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = filled.with_name("link.db")
    link.symlink_to(filled.name)
    monkeypatch.chdir(filled.parent)
    store = open_store(Path("link.db"))
    monkeypatch.chdir("/")
    assert store.corpus.collection("laws").chunks == 60
    store.close()
    assert {p.name for p in filled.parent.iterdir()} == {filled.name, link.name}


def test_a_text_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes. " * 100)
    assert "another program" in refused(path).message


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    assert refused(path).title == "That is no workbench file"


def test_a_newer_file_is_refused(filled: Path) -> None:
    newer = connect(filled, "write")
    newer.execute("PRAGMA user_version = 999")
    newer.execute("PRAGMA journal_mode = DELETE")
    newer.close()
    assert "newer" in refused(filled).title


def test_a_newer_version_that_only_the_log_knows_is_refused(filled: Path) -> None:
    newer = connect(filled, "write")
    newer.execute("PRAGMA wal_autocheckpoint = 0")
    newer.execute("PRAGMA user_version = 999")
    with pytest.raises(FileError, match="newer"):
        open_store(filled)
    newer.close()


def test_a_file_with_another_history_is_refused(filled: Path) -> None:
    other = connect(filled, "write")
    other.execute("UPDATE migration SET name = '0002_of_another_branch' WHERE number = 2")
    other.close()
    assert "newer" in refused(filled).title


def test_a_folder_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert "folder" in refused(tmp_path / "folder").message
    with pytest.raises(FileError, match="folder isn't there"):
        open_store(tmp_path / "nowhere" / "workbench.db")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="device"):
        open_store(tmp_path / "pipe")


@pytest.mark.parametrize("cut", [50, 5_000, PAGE_SIZE, 3 * PAGE_SIZE, -1])
def test_a_truncated_file_is_refused(filled: Path, cut: int) -> None:
    data = filled.read_bytes()
    filled.write_bytes(data[:cut])
    refused(filled)


@pytest.mark.parametrize("page", [0, 1, 2, 5, 20])
def test_an_overwritten_page_is_refused(filled: Path, page: int) -> None:
    with filled.open("r+b") as file:
        file.seek(max(page * PAGE_SIZE, 100))  # the first page keeps its header
        file.write(b"\xa5" * (PAGE_SIZE - 100))
    assert refused(filled).title == "The file is damaged"


@pytest.mark.parametrize(("offset", "byte"), [(44, 0xFF), (47, 9), (56, 0xFF), (60, 0x00)])
def test_a_header_that_contradicts_the_file_is_refused(filled: Path, offset: int, byte: int) -> None:
    with filled.open("r+b") as file:
        file.seek(offset)
        file.write(bytes([byte]) * (4 if offset % 4 == 0 else 1))
    assert refused(filled).title == "The file is damaged"


def test_a_missing_file_is_made_only_when_asked(tmp_path: Path) -> None:
    assert "ingest" in refused(tmp_path / "absent.db", create=False).remedy
    assert not list(tmp_path.iterdir())


def test_damage_met_later_is_told_in_words(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.opening._QUICK_CHECK_BYTES", 0)
    connection = connect(filled, "read")
    root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'chunk'").fetchone()[0]
    connection.close()
    with filled.open("r+b") as file:
        file.seek((root - 1) * PAGE_SIZE)
        file.write(b"\xa5" * PAGE_SIZE)
    store = open_store(filled)
    with pytest.raises(FileError, match="damaged"):
        store.corpus.chunks("laws/a.txt")
    store.close()


def test_a_locked_file_is_refused_after_the_timeout(filled: Path) -> None:
    holder = connect(filled, "write")
    holder.execute("BEGIN IMMEDIATE")
    assert refused(filled, timeout=0.1).title == "The file is locked"
    holder.execute("ROLLBACK")
    holder.close()
    open_store(filled).close()


def test_a_write_that_waits_too_long_for_another_program_is_told(filled: Path) -> None:
    store = open_store(filled, timeout=0.1)
    holder = connect(filled, "write")
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(FileError, match="locked"):
        store.settings.set("theme", "night")
    assert store.settings.get("theme") == ""
    holder.execute("ROLLBACK")
    store.settings.set("theme", "night")
    assert store.settings.get("theme") == "night"
    holder.close()
    store.close()


def test_two_programs_share_a_file(filled: Path) -> None:
    one, two = open_store(filled), open_store(filled)
    one.corpus.create_collection("first", Recipe())
    two.corpus.create_collection("second", Recipe())
    assert [c.name for c in one.corpus.collections()] == ["first", "laws", "second"]
    with pytest.raises(UsageError, match="already"):
        one.corpus.create_collection("second", Recipe())
    one.close()
    assert [c.name for c in two.corpus.collections()] == ["first", "laws", "second"]
    two.close()
    assert [p.name for p in filled.parent.iterdir()] == [filled.name]


def test_programs_that_create_one_file_at_once_agree(tmp_path: Path) -> None:
    path = tmp_path / "workbench.db"
    code = (
        "import sys, pathlib; from storage import open_store; s = open_store(pathlib.Path(sys.argv[1])); "
        "s.settings.set(sys.argv[2], 'here'); s.close()"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)]) for n in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    store = open_store(path)
    assert [store.settings.get(str(n)) for n in range(4)] == ["here"] * 4
    store.close()


def test_reading_only_changes_nothing(filled: Path) -> None:
    before = filled.read_bytes()
    store = open_store(filled, read_only=True)
    assert store.corpus.collection("laws").chunks == 60
    with pytest.raises(FileError, match="reading only"):
        store.settings.set("theme", "night")
    store.close()
    assert filled.read_bytes() == before
    assert [p.name for p in filled.parent.iterdir()] == [filled.name]
    assert "no file" in refused(filled.parent / "absent.db", read_only=True).title


@pytest.fixture
def protected(filled: Path) -> Iterator[Path]:
    """A file in a folder that this process may only read; root, who may write anywhere, becomes nobody for a while."""
    owner = os.geteuid()
    with tempfile.TemporaryDirectory() as name:  # outside pytest's folders, which only their owner may enter
        folder = Path(name)
        path = Path(shutil.copy(filled, folder))
        path.chmod(0o444)
        folder.chmod(0o555)
        if owner == 0:
            os.seteuid(65534)
        try:
            yield path
        finally:
            if owner == 0:
                os.seteuid(0)
            folder.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work otherwise there")
def test_a_read_only_file_in_a_folder_of_ones_own_is_refused_for_writing(protected: Path) -> None:
    os.seteuid(os.getuid())
    protected.parent.chmod(0o777)
    os.seteuid(65534 if os.getuid() == 0 else os.getuid())
    assert refused(protected).title == "The file can't be written"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work otherwise there")
def test_a_read_only_folder_is_refused_for_writing_and_read_when_asked(protected: Path) -> None:
    assert refused(protected).title == "The file can't be written"
    assert refused(protected.parent / "new.db").title == "The file can't be written"
    store = open_store(protected, read_only=True)
    assert store.corpus.collection("laws").chunks == 60
    store.close()
    assert [p.name for p in protected.parent.iterdir()] == [protected.name]
