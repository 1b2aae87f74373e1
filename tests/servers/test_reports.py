"""Contract reports in the file: what is kept of each, and what changed since the one before."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from storage import open_store
from tests.cli.conftest import Cli, cli
from workbench.desk import Desk
from workbench.i18n import tr
from workbench.records.servers import ContractChange, ContractCheck, ContractReport, Outcome

__all__ = ["cli"]

URL = "http://127.0.0.1:9"


def report(day: int, *outcomes: tuple[str, Outcome], model: str = "m", version: str = "1") -> ContractReport:
    checks = tuple(ContractCheck(key, f"the {key}", outcome, "seen", 1.0) for key, outcome in outcomes)
    return ContractReport(URL, "llama-server", version, model, checks, datetime(2026, 11, day, tzinfo=UTC))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lab.db"


@pytest.fixture
def desk(file: Path) -> Iterator[Desk]:
    opened = Desk(open_store(file))
    yield opened
    opened.close()


def test_the_newest_comes_first_and_is_held_against_the_one_before_of_the_same_model(desk: Desk) -> None:
    old, other = report(1, ("stop", "kept"), ("schema", "kept")), report(2, ("stop", "kept"), model="n")
    new = report(3, ("stop", "broken"), ("schema", "kept"), ("grammar", "kept"), version="2")
    for one in (new, old, other):
        desk.servers.reports.keep(one)
    assert desk.servers.reports.all() == (new, other, old)
    assert desk.servers.reports.all(URL, "m") == (new, old)
    assert desk.servers.reports.before(new) == old
    assert desk.servers.reports.changes(new) == (
        ContractChange("stop", "stop strings hold", "kept", "broken"),
        ContractChange("grammar", "a grammar holds", None, "kept"),
    )
    assert desk.servers.reports.changes(old) == ()
    assert (new.kept, old.kept) == (2, 2)


def test_a_promise_that_is_no_longer_held_is_a_change(desk: Desk) -> None:
    for one in (report(1, ("stop", "kept"), ("grammar", "kept")), new := report(2, ("stop", "kept"))):
        desk.servers.reports.keep(one)
    assert desk.servers.reports.changes(new) == (ContractChange("grammar", "a grammar holds", "kept", None),)


def test_the_command_lists_them_and_prints_one_with_its_changes(cli: Cli, desk: Desk, file: Path) -> None:
    for one in (report(1, ("stop", "kept")), report(2, ("stop", "broken"))):
        desk.servers.reports.keep(one)
    desk.close()
    start = ("--db", file, "servers", "reports")
    listed = cli(*start).out.splitlines()
    assert [line.split()[-2:] for line in listed[1:]] == [["0/1", "1"], ["1/1", "–"]]
    assert "✓ → ✗ stop strings hold" in cli(*start, URL, "--show", "1").out
    assert "2 reports" in cli(*start, "--show", "3").err


def test_a_report_of_one_language_is_read_in_another(cli: Cli, desk: Desk, file: Path) -> None:
    details = {
        "stream": tr("{count} pieces of text", "es", count=24),
        "usage": tr("{prompt} tokens in, {output} out", "es", prompt=38, output=24),
        "repeat": tr("the same twice", "es"),
    }
    checks = tuple(ContractCheck(key, "en español", "kept", detail, 1.0) for key, detail in details.items())
    desk.servers.reports.keep(ContractReport(URL, "openai", "", "m", checks, datetime(2026, 11, 1, tzinfo=UTC)))
    desk.close()
    said = cli("--db", file, "servers", "reports", "--show", "1").out
    for line in ("streams in pieces: 24 pieces of text", "38 tokens in, 24 out", "repeats itself: the same twice"):
        assert line in said
    assert "| streams in pieces | holds | 24 pieces of text |" in cli(
        "--db", file, "servers", "reports", "--show", "1", "--markdown"
    ).out.replace("\\", "")
