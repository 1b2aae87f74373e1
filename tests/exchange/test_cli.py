"""The commands: what they say, what they leave, and how they fail."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Cli, cli
from tests.exchange.conftest import Bench
from tests.exchange.contents import contents
from tests.library import NAME

__all__ = ["cli"]


def test_export_and_import_by_command(bench: Bench, cli: Cli) -> None:
    db, out, other = bench.store.path, bench.folder / "out", bench.folder / "other.db"
    told = cli("--db", db, "export", out, "-c", NAME, "--format", "parquet", "-d", "coffee.md", "-d", "borrowing.md")
    assert told.code == 0
    assert "documents.parquet             2" in told.out
    assert cli("--db", other, "import", out).out.startswith(f"{NAME}: 2 documents came in")
    again = json.loads(cli("--db", other, "import", out, "--json").out)
    assert (again["added"], again["present"]) == (0, 2)


def test_an_export_in_the_way_exits_with_two_and_says_what_to_do(bench: Bench, cli: Cli) -> None:
    (bench.folder / "out").mkdir()
    told = cli("--db", bench.store.path, "export", bench.folder / "out", "-c", NAME)
    assert told.code == 2
    assert "→ Choose another name." in told.err


def test_parquet_that_is_not_installed_has_a_remedy(bench: Bench, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "arro3.io", None)
    told = cli("--db", bench.store.path, "export", bench.folder / "out", "-c", NAME, "--format", "parquet")
    assert told.code == 2
    assert "pip install 'rag-workbench[parquet]'" in told.err
    assert not (bench.folder / "out").exists()


def test_a_deletion_tells_where_it_looked_as_json(bench: Bench, cli: Cli) -> None:
    told = cli("--db", bench.store.path, "delete", "coffee.md", "borrowing.md", "-c", NAME, "--yes", "--json")
    checks = json.loads(told.out)
    assert [(check["source_id"], check["gone"]) for check in checks] == [("coffee.md", True), ("borrowing.md", True)]
    assert {"full text", "vectors", "token vectors", "chunks", "text"} <= checks[0]["remaining"].keys()
    assert not any(checks[0]["remaining"].values())


def test_an_import_under_another_name(bench: Bench, cli: Cli) -> None:
    db, out = bench.store.path, bench.folder / "out"
    cli("--db", db, "export", out, "-c", NAME)
    told = cli("--db", db, "import", out, "-c", "copy").out
    assert told.startswith("copy: 3 documents came in")
    assert "Datasets: loans-copy" in told


def test_move_prints_its_proof(bench: Bench, cli: Cli) -> None:
    before = contents(bench.store)
    told = cli("--db", bench.store.path, "move", NAME, bench.folder / "moved.db", "--remove")
    assert told.code == 0
    assert "removed here" in told.out
    assert [line.split()[1:3] for line in told.out.splitlines() if line.startswith("document ")] == [["3", "3"]]
    assert contents(bench.other("moved.db")) == before


def test_snapshots_by_command(bench: Bench, cli: Cli) -> None:
    db = bench.store.path
    assert cli("--db", db, "snapshot", "take", "first").code == 0
    told = "Snapshots keep what they hold: “first”."
    assert told in cli("--db", db, "delete", "coffee.md", "-c", NAME).err, "refused, as nobody can be asked"
    [check] = json.loads(cli("--db", db, "delete", "borrowing.md", "-c", NAME, "--yes", "--json").out)
    assert check["snapshots"] == ["first"]
    assert told in cli("--db", db, "delete", "coffee.md", "-c", NAME, "--yes").out
    listed = cli("--db", db, "snapshot", "list").out
    assert listed.splitlines()[0].index("name") == listed.splitlines()[1].index("first")
    assert "They keep what was deleted after they were taken." in listed
    assert cli("--db", db, "snapshot", "restore", "first").out.startswith("Restored “first”.")
    assert len(bench.store.corpus.documents(NAME)) == 3
    assert cli("--db", db, "snapshot", "delete", "first").code == 0
    assert cli("--db", db, "snapshot", "restore", "first").code == 1
