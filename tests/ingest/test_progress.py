"""The figures a person watches, by a clock that the test moves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from workbench.corpus import progress
from workbench.corpus.progress import Meter
from workbench.records.corpus import IngestOutcome


@pytest.fixture
def tick(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])

    def move(seconds: float) -> None:
        now[0] += seconds

    return move


def embed(meter: Meter, tick: Callable[[float], None], chunks: int, seconds_each: float) -> None:
    for _ in range(chunks):
        tick(seconds_each)
        meter.embedded()


def test_rate_and_time_left_follow_the_work(tick: Callable[[float], None]) -> None:
    meter = Meter("c", total=2)
    assert (meter.progress().rate, meter.progress().eta_s) == (0.0, None)
    meter.expect(40)
    embed(meter, tick, 20, 0.125)
    first = meter.progress()
    assert first.rate == pytest.approx(8)
    assert first.eta_s == pytest.approx((20 + 40) / 8)
    embed(meter, tick, 20, 0.25)
    second = meter.finished(IngestOutcome("a", "added"))
    assert 4 < second.rate < 8
    assert (second.done, second.chunks_done, second.chunks_known) == (1, 40, 40)


def test_the_time_left_weighs_sources_that_are_not_cut_yet_by_their_size(tick: Callable[[float], None]) -> None:
    meter = Meter("c", total=3, sizes=[9_000, 1_000, 500])
    meter.expect(90)
    embed(meter, tick, 50, 0.125)
    assert meter.progress().eta_s == pytest.approx((40 + 15) / 8)
    meter.expect(10)
    meter.expect(4)
    assert meter.progress().eta_s == pytest.approx((40 + 14) / 8)


def test_sources_of_unknown_size_are_as_large_as_the_others(tick: Callable[[float], None]) -> None:
    meter = Meter("c", total=3, sizes=[100])
    meter.expect(10)
    embed(meter, tick, 10, 0.125)
    assert meter.progress().eta_s == pytest.approx(20 / 8)


def test_empty_sources_tell_no_time(tick: Callable[[float], None]) -> None:
    meter = Meter("c", total=2, sizes=[0, 0])
    meter.expect(4)
    embed(meter, tick, 4, 0.25)
    assert meter.progress().eta_s == pytest.approx(1)


def test_the_last_figures_are_those_of_the_whole_run(tick: Callable[[float], None]) -> None:
    meter = Meter("c", total=1)
    meter.expect(10)
    embed(meter, tick, 10, 0.5)
    last = meter.last()
    assert (last.rate, last.eta_s, last.elapsed_s, last.finished) == (pytest.approx(2), 0.0, 5.0, True)
    assert meter.last(cancelled=True).eta_s is None


def test_a_progress_is_due_twice_a_second(tick: Callable[[float], None]) -> None:
    meter = Meter("c", total=1)
    tick(0.4)
    assert not meter.due
    tick(0.2)
    assert meter.due
    meter.progress()
    assert not meter.due
