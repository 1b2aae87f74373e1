"""``workbench datasets --import``: what was skipped is printed, and only nothing at all is a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.__main__ import open_desk
from workbench.cli import FrontEnds, run


def test_skipped_rows_are_told_and_nothing_at_all_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def cli(*arguments: str) -> int:
        return run(["--db", str(tmp_path / "w.db"), "datasets", *arguments], FrontEnds(open_desk, lambda _desk: 0))

    good = tmp_path / "mixed.csv"
    good.write_text("question,colour\nWhen?,red\n" + ",red\n" * 30, "utf-8")
    assert cli("--import", str(good), "--name", "set") == 0
    told = capsys.readouterr()
    assert "set" in told.out
    assert "✗ line 3: “question” is missing or empty" in told.err
    assert "· line 1: there is no field “colour”: it was left out" in told.err
    assert "… and 11 more" in told.err
    assert "1 cases came in, 30 rows stayed out" in told.err
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\nno \x1b[31m\n", "utf-8")
    assert cli("--import", str(bad)) == 1
    told = capsys.readouterr()
    assert "line 1: “question” is missing or empty; line 2" in told.err
    assert cli("--import", str(good), "--format", "parquet") == 2
    assert cli() == 0
    assert "bad" not in capsys.readouterr().out


def test_the_current_version_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def cli(*arguments: str) -> str:
        assert run(["--db", str(tmp_path / "w.db"), "datasets", *arguments], FrontEnds(open_desk, lambda _desk: 0)) == 0
        return capsys.readouterr().out

    file = tmp_path / "set.csv"
    for questions in ("When?\n", "When?\nWhere?\n"):
        file.write_text("question\n" + questions, "utf-8")
        cli("--import", str(file), "--name", "set")
    versions = cli("--versions", "set").splitlines()[1:]
    (marked,) = (line for line in versions if line.endswith("current"))
    assert " 2 " in marked, "the newer one has two cases"
    assert len(versions) == 2
    assert "current" not in cli()
