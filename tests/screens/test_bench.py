"""The Bench tab on the fake desk: measuring, stopping, going on, sorting, comparing, plots, history, export, delete."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from screens.help import sections
from screens.models.bench import Bench
from screens.models.bench_dialog import BenchDialog, read_depths
from screens.models.bench_plots import points
from screens.models.side_by_side import SideBySideDialog
from screens.widgets.grid import Grid
from screens.widgets.keys import KeyBar
from tests.screens.fake_benchmarks import FakeBenchmarks
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import LARGE, SMALL, app_on, sees, settle, until
from workbench.records.benchmarks import BenchPlan

PLAN = BenchPlan(depths=(0, 512), repetitions=5)
MODELS = ("/models/gguf/fast.gguf", "/models/gguf/slow.gguf")


def measured(benches: int = 1) -> FakeDesk:
    desk = FakeDesk()
    for _ in range(benches):
        for _ in desk.benchmarks.run(MODELS, PLAN):
            pass
    return desk


async def enter(pilot: Pilot[int]) -> Bench:
    await settle(pilot)
    await pilot.press("f1")
    await settle(pilot)
    await pilot.press("b")
    await settle(pilot)
    return pilot.app.screen.query_one(Bench)


def drawn(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#bench-drawn", Static).render())


def names(pilot: Pilot[int]) -> list[str]:
    return [str(row.cells[1]) for row in pilot.app.screen.query_one("#bench-rows-grid", Grid).rows]


async def test_marked_models_are_measured_and_rows_fill() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("space", "space")
        await enter(pilot)
        assert "n begins one" in drawn(pilot)
        await pilot.press("n")
        await settle(pilot)
        assert isinstance(app.screen, BenchDialog)
        assert len(app.screen.query_one(Grid).marked) == 2  # the library's marks
        assert app.screen.query_one(".dialog").outer_size.height < 30  # no taller than two models and a form
        app.screen.query_one("#repetitions", Input).value = "3"
        app.screen.query_one("#cooldown", Input).value = "0,5"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert len(names(pilot)) == 2
        (bench,) = app.desk.benchmarks.benches()
        assert bench.complete
        assert bench.plan.repetitions == 3
        assert bench.plan.cooldown_s == 0.5
        assert "tg128" in drawn(pilot)


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_plots_show_speeds_and_the_front(size: tuple[int, int]) -> None:
    app = app_on(measured())
    async with app.run_test(size=size) as pilot:
        await enter(pilot)
        assert "o Plot" in str(app.screen.query_one(KeyBar).render()), "the room's keys have the room"
        await pilot.press("o")
        await settle(pilot)
        assert "fast" in drawn(pilot)
        assert "102.0 ±1.6" in drawn(pilot)
        await pilot.press("o")
        await settle(pilot)
        assert "◆ 1 fast" in drawn(pilot)
        assert "◆ 2 slow" not in drawn(pilot)
        await pilot.press("o")
        await settle(pilot)
        assert app.screen.query_one("#bench-rows-grid").has_focus
        for key in ("o", "escape", "b", "slash", "w"):
            await pilot.press(key)
            await settle(pilot)
        assert isinstance(app.focused, Input)
        assert app.focused.region.area, "what is typed is seen, where a plot had the table's place too"
        assert names(pilot) == ["slow"]


async def test_sorting_and_depth_are_told_in_the_title() -> None:
    app = app_on(measured())
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        keys = str(app.screen.query_one(KeyBar).render())
        assert "Sort" in keys
        assert "Load" not in keys, "the library's keys are the library's"
        assert names(pilot) == ["fast", "slow"]
        for _ in range(3):
            await pilot.press("s")  # by tg, by pp, by TTFT
        await pilot.press("t")
        await settle(pilot)
        title = str(app.screen.query_one("#bench-rows").border_title)
        assert "after 512 tokens" in title
        assert "by TTFT" in title


async def test_marks_of_two_benches_are_compared() -> None:
    app = app_on(measured(2))
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        await pilot.press("space", "h")
        await settle(pilot)
        await pilot.press("down", "enter")
        await settle(pilot)
        await pilot.press("down", "space", "equals_sign")
        await settle(pilot)
        assert isinstance(app.screen, SideBySideDialog)
        told = str(app.screen.query_one(Static).render())
        assert "bench 2" in told
        assert "bench 1" in told
        assert "×0.50 ▼" in told
        await pilot.press("escape")


async def test_a_stopped_bench_goes_on() -> None:
    desk = FakeDesk()
    desk.benchmarks = FakeBenchmarks(slow=0.3)
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        await pilot.press("n")
        await settle(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: desk.benchmarks.stored and desk.benchmarks.benches()[0].done)
        await pilot.press("S")
        await settle(pilot)
        (bench,) = desk.benchmarks.benches()
        assert 0 < bench.done < bench.total
        assert "stopped at" in str(app.screen.query_one("#bench-line", Static).render())
        await pilot.press("h")
        await sees(pilot, f"~ {bench.done}/{bench.total} · ")
        await pilot.press("escape")
        samples = desk.benchmarks.stored[bench.id][1]
        whole, samples[0] = samples[0], replace(samples[0], problem="it broke")
        await settle(pilot)
        await pilot.press("h")
        await sees(pilot, f"✗ {bench.done - 1}/{bench.total} · ")
        await pilot.press("escape")
        samples[0] = whole
        await settle(pilot)
        desk.benchmarks.measuring = 4711  # another process took it up
        app.screen.query_one(Bench).view(bench.id)
        await sees(pilot, "process 4711 measures in this file")
        desk.benchmarks.slow = 0.0
        await pilot.press("g")
        await settle(pilot)
        assert desk.benchmarks.benches()[0].complete


async def test_an_export_is_written_and_a_bench_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = app_on(measured())
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        await pilot.press("x")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "102.0 ± 1.6" in (tmp_path / "bench-1.md").read_text("utf-8")
        await pilot.press("d")
        await settle(pilot)
        await pilot.press("y")
        await settle(pilot)
        assert app.desk.benchmarks.benches() == ()
        assert "n begins one" in drawn(pilot)


async def test_a_bad_form_says_what_is_wrong() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await enter(pilot)
        await pilot.press("n")
        await settle(pilot)
        app.screen.query_one("#depths", Input).value = "deep"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, BenchDialog)
        assert "whole numbers" in str(app.screen.query_one(".problem", Static).render())


def test_depths_are_sorted_and_each_once() -> None:
    assert read_depths("512, 0 512") == (0, 512)


def test_a_model_that_is_larger_and_slower_is_not_on_the_front() -> None:
    assert [point.front for point in points(measured().benchmarks.report(1), 0)] == [True, False]


def test_a_speed_within_the_intervals_puts_no_model_on_the_front() -> None:
    known = measured().benchmarks.report(1)
    fast, slow = known.rows
    small = replace(slow, rss=fast.rss - 1)
    assert [point.front for point in points(replace(known, rows=(fast, small)), 0)] == [True, True]
    alike = replace(small, speeds=tuple((test, replace(found, rank=1)) for test, found in small.speeds))
    assert [point.front for point in points(replace(known, rows=(fast, alike)), 0)] == [False, True]


async def test_help_begins_with_the_keys_of_the_open_tab() -> None:
    app = app_on(measured())
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        found = dict(sections(app.screen))
        assert next(iter(found)) == "Bench"
        assert "sort" in {binding.action for binding in found["Bench"]}
        await pilot.press("question_mark")
        await sees(pilot, "Choose models and tests, and measure")
