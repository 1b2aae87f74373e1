"""Which files are found and how they are named."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from workbench.corpus.sources import find_sources
from workbench.errors import UsageError


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def ids(*paths: Path) -> list[str]:
    return [source.source_id for source in find_sources([str(path) for path in paths])]


def test_a_folder_is_walked_in_order_and_passes_over_what_is_no_source(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.txt", "a/y.pdf", ".hidden", ".git/config", "b.md.meta.yaml", "noext")
    connection = sqlite3.connect(tmp_path / "workbench.db")
    connection.execute("create table t (x)")
    connection.close()
    write(tmp_path, "workbench.db-wal", "other.db-wal")
    (tmp_path / "broken").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe")
    assert ids(tmp_path) == ["a/y.pdf", "a/z.txt", "b.md", "noext", "other.db-wal"]
    assert find_sources([str(tmp_path)])[0].size == len("a/y.pdf")


def test_links_that_lead_back_end(tmp_path: Path) -> None:
    write(tmp_path, "a/one.txt")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert ids(tmp_path) == ["a/one.txt"]


def test_names_of_files_and_of_colliding_folders(tmp_path: Path) -> None:
    write(tmp_path, "x/docs/n.txt", "y/docs/n.txt", "y/docs/only.txt")
    assert ids(tmp_path / "x/docs/n.txt") == ["n.txt"]
    assert ids(tmp_path / "x", tmp_path / "y") == ["x/docs/n.txt", "y/docs/n.txt", "docs/only.txt"]
    assert ids(tmp_path / "x/docs", tmp_path / "y/docs") == ["x/docs/n.txt", "y/docs/n.txt", "only.txt"]


def test_a_file_that_is_given_twice_is_one_source(tmp_path: Path) -> None:
    write(tmp_path, "d/a.txt")
    assert ids(tmp_path, tmp_path / "d/a.txt", tmp_path / "d") == ["d/a.txt"]


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        find_sources([str(tmp_path), "nowhere"])


def test_the_folder_itself_may_be_hidden_or_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, ".notes/a.txt", "b.txt")
    assert ids(tmp_path / ".notes") == ["a.txt"]
    monkeypatch.chdir(tmp_path)
    assert ids(Path()) == ["b.txt"]


def test_a_file_in_a_closed_folder_is_a_source_whose_reading_tells_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed" / "a.txt"
    (tmp_path / "open.txt").write_text("x")
    stat = os.stat

    def refusing(path: object, *args: object, **more: object) -> os.stat_result:
        if str(path).startswith(str(closed.parent)):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, *args, **more)

    monkeypatch.setattr(os, "stat", refusing)
    found = find_sources([str(closed), str(tmp_path / "open.txt")])
    assert [(source.source_id, source.size) for source in found] == [("a.txt", 0), ("open.txt", 1)]
