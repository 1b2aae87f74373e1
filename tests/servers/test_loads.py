"""Load tests in the file: listed newest first, held against each other with intervals, dropped."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from storage import open_store
from tests.cli.conftest import Cli, cli
from workbench.desk import Desk
from workbench.records.servers import Flight, LoadTest
from workbench.servers.concurrency import summary
from workbench.servers.loads import caveats
from workbench.servers.words import load_lines, load_rows

__all__ = ["cli"]
URL = "http://127.0.0.1:9"


def made(day: int, seconds: Sequence[float], rate: float = 2.0) -> LoadTest:
    flights = [Flight(n / rate, s / 2, n / rate + s, 16, estimated=False) for n, s in enumerate(seconds)]
    found = summary(URL, "m", rate, flights)
    return replace(found, asked=len(flights), created=datetime(2026, 11, day, tzinfo=UTC))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lab.db"


def test_two_tests_are_told_apart_only_beyond_chance(file: Path) -> None:
    desk = Desk(open_store(file))
    loads = desk.servers.loads
    slow, fast, again = made(1, [2.0 + n / 100 for n in range(80)]), made(2, [1.0] * 80), made(3, [0.9, 1.1] * 40)
    for one in (fast, slow, again):
        loads.keep(one)
    assert [(t.created.day, t.flights) for t in loads.all(URL, "m")] == [(3, ()), (2, ()), (1, ())]
    listed = loads.before(loads.all()[1])
    assert listed is not None
    assert loads.whole(listed) == slow
    p50, p95, first, _ = loads.figures(slow, fast)
    assert (p50.apart, p95.apart, first.apart) == (True, True, True)
    assert p50.now is not None
    assert p50.now.value == fast.p50_s == 1.0  # the list and the comparison tell the same figure
    assert not loads.figures(fast, again)[0].apart
    rows = {row[0]: row[1:] for row in load_rows(slow, fast, loads.figures(slow, fast))}
    assert rows["request p50, s"] == ("2.39 [2.30, 2.49]", "1.00 [1.00, 1.00]", "▼ -58%")
    assert rows["failed"] == ("0/80", "0/80", "")
    unnoted = summary(URL, "m", 2.0, [replace(flight, estimated=None) for flight in slow.flights])
    assert [row[1][:2] for row in load_rows(unnoted, fast, ())][1] == "≈?"
    guessed = summary(URL, "m", 2.0, [replace(flight, estimated=n == 0) for n, flight in enumerate(slow.flights)])
    assert load_rows(guessed, fast, ())[1][1].startswith("≈ ")
    assert load_lines(guessed)[-1] == "≈ estimated: its server counts no tokens"
    loads.remove(slow)
    assert loads.before(fast) is None
    assert loads.whole(replace(slow, flights=())).flights == ()
    desk.close()


def test_a_few_requests_bound_no_95th_percentile(file: Path) -> None:
    desk = Desk(open_store(file))
    slow, fast = made(1, [9.0] * 6, rate=1.0), made(2, [1.0] * 6)
    p95 = desk.servers.loads.figures(slow, fast)[1]
    assert p95.now is not None
    assert p95.now.high == math.inf
    assert not p95.apart
    assert caveats(slow, fast) == ("requests a second: 1 ↔ 2",)
    desk.close()


def test_the_command_lists_shows_compares_and_drops_them(cli: Cli, file: Path) -> None:
    desk = Desk(open_store(file))
    for one in (made(1, [2.0] * 3), made(2, [1.0] * 3)):
        desk.servers.loads.keep(one)
    desk.close()
    start = ("--db", file, "servers", "loads")
    assert [line.split()[0] for line in cli(*start).out.splitlines()[1:]] == ["1", "2"]
    assert "p50 1.00 s" in cli(*start, "--show", "1").out
    beside = cli(*start, URL, "--show", "1", "--against", "2").out
    assert "2.00 [2.00, ∞)" in beside
    assert len(json.loads(cli(*start, "--show", "1", "--json").out)["flights"]) == 3
    assert "2 load tests" in cli(*start, "--show", "3").err
    assert "is gone" in cli(*start, "--delete", "2").out
    assert len(cli(*start).out.splitlines()) == 2
